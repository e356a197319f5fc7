//! A day's limit holds, however many ask at once.

use crate::lnbits::Fault;
use crate::*;
use blastshield_wallet::PayError;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_at_once_do_not_overspend() {
    let mut world = World::new().await;
    world.options.daily_limit_sats = 10_000;
    let life = world.open().await;
    let mut asking = tokio::task::JoinSet::new();
    for number in 0..1000 {
        let wallet = life.wallet.clone();
        let bolt11 = world.invoice(number, 90 + number % 7);
        asking.spawn(async move {
            loop {
                match wallet.request(&wish(&bolt11)).await {
                    Err(PayError::Store(error)) if error.is_temporary() => {
                        tokio::task::yield_now().await;
                    }
                    done => return done,
                }
            }
        });
    }
    let (mut taken, mut refused) = (Vec::new(), 0);
    for outcome in asking.join_all().await {
        match outcome {
            Ok(payment) => taken.push(payment),
            Err(PayError::DailyLimit { .. }) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(taken.len() + refused, 1000);
    let reserved: u64 = taken.iter().map(|payment| payment.counted_sats).sum();
    assert!((9_900..=10_000).contains(&reserved), "{reserved}");
    for payment in &taken {
        life.approve(payment).await;
    }
    for payment in &taken {
        assert_eq!(life.outcome(&payment.id).await.state, State::Paid);
    }
    let status = life.wallet.status().await.unwrap();
    assert_eq!(
        (status.spent_sats, status.reserved_sats),
        (world.fake.total_sats(), 0)
    );
    assert!(status.spent_sats <= 10_000);
    assert_eq!(world.fake.most_times(), 1);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_counts_fees_and_refuses_without_asking() {
    let mut world = World::new().await;
    world.options.daily_limit_sats = 1_000;
    let life = world.open().await;
    let refused = life.wallet.request(&wish(&world.invoice(1, 1000))).await;
    assert_eq!(
        refused,
        Err(PayError::DailyLimit {
            needed_sats: 1010,
            left_sats: 1000
        })
    );
    assert!(life.approvals.pending().await.unwrap().is_empty());
    assert_eq!(world.log.count(&["ApprovalRequested"]), 0);
    assert_eq!(world.log.count(&["Refused", "daily_limit"]), 1);
    let all = world.invoice(2, 990);
    assert_eq!(life.pay(&all).await.state, State::Paid);
    // The true fee was lower than what was set aside.
    let left = life.wallet.status().await.unwrap().left_sats();
    assert_eq!(left, 1000 - 990 - 4);
    assert!(
        life.wallet
            .request(&wish(&world.invoice(3, 4)))
            .await
            .is_ok()
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_day_has_a_new_limit_at_midnight_where_the_owner_lives() {
    let mut world = World::new().await;
    world.options.daily_limit_sats = 1_000;
    let life = world.open().await;
    assert_eq!(life.pay(&world.invoice(1, 900)).await.state, State::Paid);
    world.pass(Duration::from_secs(11 * 3600 - 1)); // 23:59:59 in Vienna
    let late = world.invoice(2, 900);
    assert_eq!(
        life.wallet.request(&wish(&late)).await.unwrap_err().code(),
        "daily_limit"
    );
    world.pass(Duration::from_secs(1));
    assert_eq!(life.wallet.status().await.unwrap().day, "2026-11-17");
    assert_eq!(life.pay(&late).await.state, State::Paid);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_counts_for_the_day_on_which_it_is_sent() {
    let mut world = World::new().await;
    world.options.daily_limit_sats = 1_000;
    let life = world.open().await;
    world.pass(Duration::from_secs(11 * 3600 - 60)); // 23:59 in Vienna
    let (one, two) = (world.invoice(1, 600), world.invoice(2, 600));
    let before = life.wallet.request(&wish(&one)).await.unwrap();
    world.pass(Duration::from_secs(120));
    let after = life.wallet.request(&wish(&two)).await.unwrap();
    life.approve(&after).await;
    life.until(&after.id, State::Paid).await;
    life.approve(&before).await;
    let failed = life.outcome(&before.id).await;
    assert_eq!((failed.state, &*failed.why), (State::Failed, "daily_limit"));
    assert_eq!(world.fake.posts(&one), 0);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unknown_keeps_its_sats() {
    let mut world = World::new().await;
    world.options.daily_limit_sats = 1_000;
    let life = world.open().await;
    world.fake.fault("pay", &[Fault::Drop]);
    let open = life.pay(&world.invoice(1, 900)).await;
    assert_eq!((open.state, open.counted_sats), (State::Unknown, 909));
    let refused = life.wallet.request(&wish(&world.invoice(2, 500))).await;
    assert_eq!(refused.unwrap_err().code(), "daily_limit");
    life.end().await;
}
