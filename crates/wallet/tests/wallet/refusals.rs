//! What is not paid, and what that is called.

use crate::lnbits::Fault;
use crate::*;
use blastshield_wallet::{InvoiceError, Network, PayError};

#[tokio::test(flavor = "multi_thread")]
async fn modes_without_spending_refuse() {
    for (mode, code) in [
        (Mode::Disabled, "wallet_disabled"),
        (
            Mode::Incomplete(vec!["WALLET_DAILY_LIMIT_SATS".to_owned()]),
            "wallet_disabled",
        ),
        (Mode::ReceiveOnly, "receive_only"),
    ] {
        let mut world = World::new().await;
        world.options.mode = mode;
        let life = world.open().await;
        let refused = life.wallet.request(&wish(&world.invoice(1, 5))).await;
        assert_eq!(refused.unwrap_err().code(), code);
        assert_eq!(world.log.count(&["Refused", code]), 1);
        assert!(life.approvals.pending().await.unwrap().is_empty());
        life.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_operator_takes_back_is_not_sent() {
    let world = World::new().await;
    let life = world.open().await;
    let allowed = Arc::new(AtomicBool::new(true));
    life.wallet.narrow_by({
        let allowed = Arc::clone(&allowed);
        move || {
            if allowed.load(Ordering::SeqCst) {
                Mode::ApprovalGated
            } else {
                Mode::ReceiveOnly
            }
        }
    });
    let bolt11 = world.invoice(1, 5);
    let payment = life.wallet.request(&wish(&bolt11)).await.unwrap();
    allowed.store(false, Ordering::SeqCst);
    life.approve(&payment).await;
    let failed = life.outcome(&payment.id).await;
    assert_eq!(
        (failed.state, &*failed.why),
        (State::Failed, "wallet_disabled")
    );
    assert_eq!(world.fake.posts(&bolt11), 0);
    let refused = life.wallet.request(&wish(&world.invoice(2, 5))).await;
    assert_eq!(refused.unwrap_err().code(), "receive_only");
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_that_cannot_be_paid_are_refused_by_name() {
    let world = World::new().await;
    let life = world.open().await;
    let made = |msat, expiry, currency| invoice(1, msat, START_MS, expiry, currency);
    let good = made(Some(5000), HOUR, Currency::Bitcoin);
    let forged = good.replace("lnbc50n1", "lnbc50u1");
    for (bolt11, code) in [
        ("", "invoice_invalid"),
        ("lnbc", "invoice_invalid"),
        (&*forged, "invoice_invalid"),
        (&*"lnbc1".repeat(2000), "invoice_invalid"),
        (&*made(None, HOUR, Currency::Bitcoin), "amount_missing"),
        (
            &*made(Some(5000), HOUR, Currency::BitcoinTestnet),
            "network_mismatch",
        ),
        (
            &*made(Some(5000), HOUR, Currency::Signet),
            "network_mismatch",
        ),
        (
            &*made(Some(5000), HOUR, Currency::Regtest),
            "network_mismatch",
        ),
        (
            &*made(Some(5000), HOUR, Currency::Simnet),
            "network_mismatch",
        ),
        (
            &*made(Some(5000), Duration::from_secs(29), Currency::Bitcoin),
            "invoice_expired",
        ),
    ] {
        let refused = life.wallet.request(&wish(bolt11)).await.unwrap_err();
        assert_eq!(refused.code(), code, "{refused}");
    }
    let wrong = Wish {
        amount_sats: Some(6),
        ..wish(&good)
    };
    assert_eq!(
        life.wallet.request(&wrong).await,
        Err(PayError::AmountMismatch {
            invoice_sats: 5,
            wanted_sats: 6
        })
    );
    for memo in ["", " ", "a\nb", "x\u{7}", &*"x".repeat(201)] {
        let odd = Wish {
            memo: Some(memo),
            ..wish(&good)
        };
        assert_eq!(life.wallet.request(&odd).await, Err(PayError::Memo));
    }
    assert!(life.approvals.pending().await.unwrap().is_empty());
    assert_eq!(life.wallet.status().await.unwrap().reserved_sats, 0);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_network_may_be_set() {
    let mut world = World::new().await;
    world.options.network = Network::Regtest;
    let life = world.open().await;
    let test = invoice(1, Some(5000), START_MS, HOUR, Currency::Regtest);
    assert!(life.wallet.request(&wish(&test)).await.is_ok());
    let real = world.invoice(2, 5);
    assert_eq!(
        life.wallet.request(&wish(&real)).await,
        Err(InvoiceError::Network(Network::Regtest).into())
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_invoice_with_a_known_hash_is_a_trick() {
    let world = World::new().await;
    let life = world.open().await;
    let small = world.invoice(1, 5);
    life.wallet.request(&wish(&small)).await.unwrap();
    let large = world.invoice(1, 500);
    assert_eq!(
        life.wallet.request(&wish(&large)).await,
        Err(PayError::Conflict)
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_sat_counts_as_one() {
    let world = World::new().await;
    let life = world.open().await;
    let odd = invoice(1, Some(1_000_001), START_MS, HOUR, Currency::Bitcoin);
    let payment = life.wallet.request(&wish(&odd)).await.unwrap();
    assert_eq!(payment.amount_sats, 1001);
    assert!(payment.must_confirm, "1000 sats are the threshold");
    assert_eq!(payment.counted_sats, 1001 + 11);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_payment_is_not_sent_once_its_invoice_expired() {
    let world = World::new().await;
    let life = world.open().await;
    let short = invoice(
        1,
        Some(5000),
        START_MS,
        Duration::from_secs(120),
        Currency::Bitcoin,
    );
    world.fake.fault("look", &[Fault::Status(503); 40]);
    let payment = life.wallet.request(&wish(&short)).await.unwrap();
    life.approve(&payment).await;
    life.until(&payment.id, State::Approved).await;
    world.pass(Duration::from_secs(100));
    let failed = life.outcome(&payment.id).await;
    assert_eq!(
        (failed.state, &*failed.why),
        (State::Failed, "invoice_expired")
    );
    assert_eq!(world.fake.posts(&short), 0);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_not_acted_on_hours_later() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 5);
    world.fake.fault("look", &[Fault::Status(503); 400]);
    let payment = life.wallet.request(&wish(&bolt11)).await.unwrap();
    life.approve(&payment).await;
    life.until(&payment.id, State::Approved).await;
    world.pass(Duration::from_secs(601));
    let failed = life.outcome(&payment.id).await;
    assert_eq!(
        (failed.state, &*failed.why),
        (State::Failed, "not_sent_in_time")
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fees_over_what_was_set_aside_are_not_risked() {
    let world = World::new().await;
    let life = world.open().await;
    world.fake.reserve_fees(10_000);
    let bolt11 = world.invoice(1, 900);
    let failed = life.pay(&bolt11).await;
    assert_eq!(
        (failed.state, &*failed.why),
        (State::Failed, "fee_too_high")
    );
    assert_eq!(world.fake.posts(&bolt11), 0);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_that_cannot_be_recorded() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 900);
    // LNbits keeps the payment waiting while the log breaks.
    world.fake.fault("look", &[Fault::Status(503); 400]);
    let payment = life.wallet.request(&wish(&bolt11)).await.unwrap();
    life.approve(&payment).await;
    life.until(&payment.id, State::Approved).await;
    world.log.broken.store(true, Ordering::SeqCst);
    world.fake.mend();
    let failed = life.outcome(&payment.id).await;
    assert_eq!((failed.state, &*failed.why), (State::Failed, "unrecorded"));
    assert_eq!(world.fake.posts(&bolt11), 0);
    // And nobody is asked either, so that the invoice may be tried again later.
    let other = world.invoice(2, 900);
    assert!(life.wallet.request(&wish(&other)).await.is_err());
    world.log.broken.store(false, Ordering::SeqCst);
    assert!(life.wallet.request(&wish(&other)).await.is_ok());
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_that_changed_neither_pays_nor_explains_old_payments() {
    let world = World::new().await;
    let life = world.open().await;
    let (lost, waiting) = (world.invoice(1, 900), world.invoice(2, 900));
    world.fake.fault("pay", &[Fault::Lose]);
    world.fake.fault("look", &[Fault::Status(404)]);
    let open = life.wallet.request(&wish(&waiting)).await.unwrap();
    let payment = life.wallet.request(&wish(&lost)).await.unwrap();
    world.fake.mend();
    world.fake.fault("pay", &[Fault::Lose]);
    world.fake.fault("look", &[]);
    life.approve(&payment).await;
    life.until(&payment.id, State::Paid).await;
    life.end().await;
    // The next life has another key: it does not use the yes that was given for the old wallet.
    let clock = Arc::clone(&world.clock);
    let life = live(
        world.folder.path(),
        client(&world.fake.base, "another0another0another0another0"),
        Arc::clone(&world.log) as Arc<dyn Recorder>,
        Arc::new(move || Time::from_millis(clock.load(Ordering::SeqCst))),
        &world.options,
        world.owner,
    )
    .await;
    life.approve(&open).await;
    let failed = life.outcome(&open.id).await;
    assert_eq!(
        (failed.state, &*failed.why),
        (State::Failed, "wallet_changed")
    );
    assert_eq!(world.fake.posts(&waiting), 0);
    life.end().await;
}
