//! The usual way: asked for, approved, paid once.

use crate::lnbits::Fault;
use crate::*;
use blastshield_wallet::{Outcome, ResolveError};

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_is_asked_for_approved_and_paid() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 900);
    let asked = life
        .wallet
        .request(&Wish {
            memo: Some("the report that you wanted"),
            amount_sats: Some(900),
            ..wish(&bolt11)
        })
        .await
        .unwrap();
    assert_eq!(asked.state, State::Asked);
    assert!(!asked.must_confirm);
    let shown = life
        .approvals
        .get(asked.approval_id.as_deref().unwrap())
        .await
        .unwrap()
        .unwrap();
    for line in [
        "Action: payment",
        "amount_sats: 900",
        "fees_up_to_sats: 9",
        "payee_says: order 1",
        "agent_says: the report that you wanted",
    ] {
        assert!(shown.shown.contains(line), "{line}: {}", shown.shown);
    }
    let tail = &bolt11[bolt11.len() - 4..];
    let fingerprint = format!("invoice: lnbc...[redacted]...{tail}");
    assert!(shown.shown.contains(&fingerprint), "{}", shown.shown);
    let status = life.wallet.status().await.unwrap();
    assert_eq!((status.spent_sats, status.reserved_sats), (0, 909));
    assert_eq!(
        world.fake.posts(&bolt11),
        0,
        "nothing leaves before the yes"
    );
    life.approve(&asked).await;
    let paid = life.outcome(&asked.id).await;
    assert_eq!(paid.state, State::Paid);
    assert_eq!(paid.fee_sats, Some(4));
    assert_eq!(world.fake.times(&bolt11), 1);
    let status = life.wallet.status().await.unwrap();
    assert_eq!((status.spent_sats, status.reserved_sats), (904, 0));
    assert_eq!(status.left_sats(), 100_000 - 904);
    assert_eq!(status.balance_sats, Some(12_345));
    assert_eq!(world.log.count(&["Payment", "Intended", &asked.id]), 1);
    assert_eq!(world.log.count(&["Payment", "Paid", &asked.id]), 1);
    assert_eq!(world.fake.complaints(), Vec::<String>::new());
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_threshold_the_owner_repeats_the_amount() {
    let world = World::new().await;
    let life = world.open().await;
    let at = life
        .wallet
        .request(&wish(&world.invoice(1, 1000)))
        .await
        .unwrap();
    assert!(!at.must_confirm);
    let bolt11 = world.invoice(2, 1001);
    let over = life.wallet.request(&wish(&bolt11)).await.unwrap();
    assert!(over.must_confirm);
    let id = over.approval_id.clone().unwrap();
    for wrong in [None, Some("1000"), Some("yes")] {
        let reply = Reply {
            verdict: Verdict::Approve(Scope::Once),
            shown: None,
            confirm: wrong,
        };
        assert!(life.approvals.decide(&id, &reply, "test").await.is_err());
    }
    life.approve(&over).await;
    assert_eq!(life.outcome(&over.id).await.state, State::Paid);
    assert_eq!(world.fake.times(&bolt11), 1);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_and_silence_free_the_sats() {
    let world = World::new().await;
    let life = world.open().await;
    let no = Reply {
        verdict: Verdict::Deny,
        shown: None,
        confirm: None,
    };
    let first = world.invoice(1, 500);
    let denied = life.wallet.request(&wish(&first)).await.unwrap();
    let id = denied.approval_id.clone().unwrap();
    life.approvals.decide(&id, &no, "test").await.unwrap();
    let denied = life.outcome(&denied.id).await;
    assert_eq!(
        (denied.state, &*denied.why),
        (State::Denied, "owner_denied")
    );
    let second = world.invoice(2, 500);
    let silent = life.wallet.request(&wish(&second)).await.unwrap();
    world.pass(Duration::from_secs(601));
    life.approvals.sweep().await.unwrap();
    let silent = life.outcome(&silent.id).await;
    assert_eq!(
        (silent.state, &*silent.why),
        (State::Expired, "owner_timeout")
    );
    let status = life.wallet.status().await.unwrap();
    assert_eq!((status.spent_sats, status.reserved_sats), (0, 0));
    // The answer stands: the owner is not asked twice about the same invoice.
    let again = life.wallet.request(&wish(&first)).await.unwrap();
    assert_eq!((again.id, again.state), (denied.id, State::Denied));
    assert_eq!(world.fake.total_sats(), 0);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_invoice_is_the_same_payment() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 700);
    let mut asking = tokio::task::JoinSet::new();
    for number in 0..20 {
        let wallet = life.wallet.clone();
        let text = if number % 2 == 0 {
            bolt11.to_uppercase()
        } else {
            bolt11.clone()
        };
        asking.spawn(async move { wallet.request(&wish(&text)).await.unwrap().id });
    }
    let ids = asking.join_all().await;
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(life.approvals.pending().await.unwrap().len(), 1);
    let payment = life.until(&ids[0], State::Asked).await;
    life.approve(&payment).await;
    life.outcome(&ids[0]).await;
    // Long after it expired, the answer is still how it went.
    world.pass(2 * HOUR);
    let again = life.wallet.request(&wish(&bolt11)).await.unwrap();
    assert_eq!((again.id.as_str(), again.state), (&*ids[0], State::Paid));
    assert_eq!(world.fake.posts(&bolt11), 1);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_yes_pays_one_invoice_even_in_two_processes() {
    let world = World::new().await;
    let (one, two) = (world.open().await, world.open().await);
    let mut all = Vec::new();
    for number in 0..12 {
        let bolt11 = world.invoice(number, 300);
        let payment = one.wallet.request(&wish(&bolt11)).await.unwrap();
        one.approve(&payment).await;
        all.push((bolt11, payment.id));
    }
    for (bolt11, id) in &all {
        assert_eq!(two.until(id, State::Paid).await.state, State::Paid);
        assert_eq!(world.fake.posts(bolt11), 1);
    }
    one.end().await;
    two.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_its_way_is_waited_for() {
    let world = World::new().await;
    let life = world.open().await;
    let (slow, failing) = (world.invoice(1, 400), world.invoice(2, 400));
    world.fake.fault("pay", &[Fault::PendingThenPaid(3)]);
    assert_eq!(life.pay(&slow).await.state, State::Paid);
    world.fake.fault("pay", &[Fault::PendingThenFailed(3)]);
    let failed = life.pay(&failing).await;
    assert_eq!(
        (failed.state, &*failed.why),
        (State::Failed, "payment_failed")
    );
    assert_eq!(world.log.count(&["Unknown"]), 0, "the owner is not alarmed");
    assert_eq!(
        life.wallet.status().await.unwrap().spent_sats,
        world.fake.total_sats()
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_on_its_way_for_long_is_unknown_until_it_ends() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 400);
    world.fake.fault("pay", &[Fault::PendingThenPaid(25)]);
    let payment = life.wallet.request(&wish(&bolt11)).await.unwrap();
    life.approve(&payment).await;
    life.until(&payment.id, State::Sending).await;
    world.pass(Duration::from_secs(125));
    let open = life.until(&payment.id, State::Unknown).await;
    assert_eq!(open.why, "pending");
    assert_eq!(open.counted_sats, 404);
    assert_eq!(life.until(&payment.id, State::Paid).await.fee_sats, Some(2));
    assert_eq!(world.fake.posts(&bolt11), 1);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_paid_past_us_is_not_paid_again() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 400);
    let payment = life.wallet.request(&wish(&bolt11)).await.unwrap();
    world.fake.pay_directly(&bolt11);
    life.approve(&payment).await;
    let paid = life.outcome(&payment.id).await;
    assert_eq!((paid.state, &*paid.why), (State::Paid, "paid_before"));
    assert_eq!(
        (world.fake.times(&bolt11), world.fake.posts(&bolt11)),
        (1, 0)
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_word_ends_what_nobody_else_can_tell() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 400);
    world.fake.fault("pay", &[Fault::Drop]);
    let open = life.pay(&bolt11).await;
    assert_eq!(
        (open.state, &*open.why),
        (State::Unknown, "no_clear_answer")
    );
    let word = Some(Outcome::Failed);
    world.log.broken.store(true, Ordering::SeqCst);
    let refused = resolve(&life, &open.id, word).await;
    assert_eq!(refused, Err(ResolveError::Unrecorded));
    world.log.broken.store(false, Ordering::SeqCst);
    let ended = resolve(&life, &open.id, word).await.unwrap();
    assert_eq!((ended.state, ended.counted_sats), (State::Failed, 0));
    let twice = resolve(&life, &open.id, Some(Outcome::Paid)).await;
    assert_eq!(twice, Err(ResolveError::NotOpen(State::Failed)));
    assert_eq!(
        resolve(&life, "pay_0", None).await,
        Err(ResolveError::Unknown)
    );
    life.end().await;
}

/// Asks again while the driver has the turn.
async fn resolve(life: &Life, id: &str, word: Option<Outcome>) -> Result<Payment, ResolveError> {
    loop {
        match life.wallet.resolve(id, word).await {
            Err(ResolveError::Busy) => tokio::task::yield_now().await,
            done => return done,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_and_keys_show_nowhere() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 400);
    let paid = life.pay(&bolt11).await;
    let refused = life
        .wallet
        .request(&Wish {
            amount_sats: Some(1),
            ..wish(&bolt11)
        })
        .await
        .unwrap_err();
    let record = life.store.payment(&paid.id).await.unwrap().unwrap();
    assert_eq!(
        record.invoice, "",
        "an invoice is kept no longer than needed"
    );
    let shown = format!(
        "{paid:?} {refused:?} {refused} {record:?} {:?} {:?} {:?} {}",
        life.wallet,
        wish(&bolt11),
        client(&world.fake.base, KEY),
        world.log.all()
    );
    assert!(!shown.contains(&bolt11[20..60]), "{shown}");
    assert!(!shown.contains(&KEY[..12]), "{shown}");
    life.end().await;
}
