//! What the store promises about payments.

use crate::common::*;
use blastshield_store::*;
use tokio::task::JoinSet;

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
}

fn payment(id: &str, hash: &str, day: &str, sats: i64) -> PaymentRecord {
    PaymentRecord {
        id: id.into(),
        payment_hash: hash.into(),
        invoice: format!("lnbc1{}", "q".repeat(60)),
        invoice_sha256: "i".repeat(64),
        invoice_shown: "lnbc...[redacted]...qqqq".into(),
        invoice_expires_ms: 5_000,
        memo: Some("for ünïcode 😀".into()),
        requester: "agent".into(),
        backend: "mark".into(),
        amount_msat: sats * 1000,
        fee_limit_sats: 0,
        fee_msat: 0,
        confirm: true,
        day: day.into(),
        counted_sats: sats,
        state: "requested".into(),
        why: String::new(),
        approval_id: String::new(),
        sender: String::new(),
        created_ms: 1_000,
        changed_ms: 1_000,
    }
}

fn step<'a>(id: &'a str, from: &'a str, to: &'a str, counted_sats: i64) -> PaymentStep<'a> {
    PaymentStep {
        id,
        from,
        to,
        why: "because",
        approval_id: "a1",
        counted_sats,
        fee_msat: 7,
        over: matches!(to, "paid" | "failed"),
        now_ms: 2_000,
    }
}

pub(crate) async fn a_payment_comes_back_and_moves_once(location: &str) {
    let (store, other) = (open(location).await, open(location).await);
    let record = payment("p1", "h1", "2026-11-16", 90);
    let kept = store.reserve_payment(record.clone(), 100).await.unwrap();
    assert_eq!(kept, Reserved::Kept);
    assert_eq!(other.payment("p1").await.unwrap(), Some(record.clone()));
    assert_eq!(
        other.payment_by_hash("h1").await.unwrap(),
        Some(record.clone())
    );
    let again = payment("p2", "h1", "2026-11-16", 1);
    assert_eq!(
        other.reserve_payment(again, 100).await.unwrap(),
        Reserved::Known(Box::new(record))
    );
    let mut movers = JoinSet::new();
    for n in 0..8 {
        let store = if n % 2 == 0 {
            store.clone()
        } else {
            other.clone()
        };
        movers.spawn(async move {
            store
                .move_payment(step("p1", "requested", "asked", 90))
                .await
                .unwrap()
        });
    }
    let moved = movers.join_all().await;
    assert_eq!(moved.iter().filter(|moved| **moved).count(), 1);
    assert!(!store.forget_payment("p1", "asked").await.unwrap());
    assert!(
        store
            .move_payment(step("p1", "asked", "paid", 91))
            .await
            .unwrap()
    );
    let paid = store.payment("p1").await.unwrap().unwrap();
    assert_eq!(
        (&*paid.invoice, paid.fee_msat, &*paid.why),
        ("", 7, "because")
    );
    assert_eq!(
        store.payments_on("2026-11-16").await.unwrap(),
        DaySum {
            spent_sats: 91,
            reserved_sats: 0
        }
    );
    assert_eq!(store.payments(9).await.unwrap().len(), 1);
    assert!(
        store
            .open_payments((i64::MIN, ""))
            .await
            .unwrap()
            .is_empty()
    );
    store.close().await;
    other.close().await;
}

pub(crate) async fn a_day_is_never_overspent(location: &str) {
    let stores = [open(location).await, open(location).await];
    let mut asking = JoinSet::new();
    for n in 0..200_usize {
        let store = stores[n % 2].clone();
        asking.spawn(async move {
            let record = payment(&format!("p{n}"), &format!("h{n}"), "2026-11-16", 30);
            loop {
                match store.reserve_payment(record.clone(), 1000).await {
                    Err(StoreError::Busy) => tokio::task::yield_now().await,
                    outcome => return outcome.unwrap() == Reserved::Kept,
                }
            }
        });
    }
    let kept = asking.join_all().await;
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 33);
    let full = payment("x", "x", "2026-11-16", 11);
    assert_eq!(
        stores[0].reserve_payment(full, 1000).await.unwrap(),
        Reserved::Full { counted_sats: 990 }
    );
    let next_day = payment("y", "y", "2026-11-17", 1000);
    assert_eq!(
        stores[0].reserve_payment(next_day, 1000).await.unwrap(),
        Reserved::Kept
    );
    // What is sent on another day needs room there.
    let late = stores[0].open_payments((i64::MIN, "")).await.unwrap();
    let late = late.iter().find(|one| one.day == "2026-11-16").unwrap();
    let way = (late.id.as_str(), "requested", "sending");
    let sent = |day, limit, name| stores[1].send_payment(way, name, (day, limit), 9);
    assert!(!sent("2026-11-17", 1000, "s1").await.unwrap());
    assert!(sent("2026-11-17", 1030, "s2").await.unwrap());
    assert!(!sent("2026-11-17", 9999, "s3").await.unwrap(), "sent twice");
    assert_eq!(
        stores[0]
            .payments_on("2026-11-16")
            .await
            .unwrap()
            .reserved_sats,
        960
    );
    for store in stores {
        store.close().await;
    }
}

pub(crate) async fn pruning_leaves_what_may_still_be_paid_or_is_unknown(location: &str) {
    const DAY: i64 = 86_400_000;
    let store = open(location).await;
    for (id, to, expires_ms) in [
        ("gone", "paid", 5_000),
        ("alive", "paid", 40 * DAY),
        ("open", "unknown", 5_000),
    ] {
        let mut record = payment(id, id, "1970-01-01", 1);
        record.invoice_expires_ms = expires_ms;
        store.reserve_payment(record, 100).await.unwrap();
        store
            .move_payment(step(id, "requested", to, 1))
            .await
            .unwrap();
    }
    store.prune(30 * DAY, 20).await.unwrap();
    let mut left: Vec<String> = store
        .payments(9)
        .await
        .unwrap()
        .into_iter()
        .map(|p| p.id)
        .collect();
    left.sort();
    assert_eq!(left, ["alive", "open"]);
    store.close().await;
}

pub(crate) async fn payments_are_bounded(location: &str) {
    let store = open(location).await;
    let refused = async |change: fn(&mut PaymentRecord)| {
        let mut record = payment("p1", "h1", "2026-11-16", 1);
        change(&mut record);
        store.reserve_payment(record, 100).await
    };
    let invalid = |field| Err(StoreError::Invalid(field));
    assert_eq!(refused(|p| p.id = "a b".into()).await, invalid("id"));
    assert_eq!(
        refused(|p| p.invoice = "q".repeat(9000)).await,
        invalid("invoice")
    );
    assert_eq!(
        refused(|p| p.memo = Some(String::new())).await,
        invalid("memo")
    );
    assert_eq!(
        refused(|p| p.counted_sats = -1).await,
        invalid("counted_sats")
    );
    assert_eq!(refused(|p| p.day = "a\0".into()).await, invalid("day"));
    assert!(!format!("{:?}", payment("p1", "h1", "d", 1)).contains("qqqqq"));
    store.close().await;
}
