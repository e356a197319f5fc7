//! Whatever goes wrong with LNbits or on the way to it: each invoice is paid at most once, and what is on record is what
//! went out, or is unknown.

use crate::lnbits::Fault;
use crate::*;
use proptest::prelude::*;

/// What one fault of a payment comes to while looking works.
#[tokio::test(flavor = "multi_thread")]
async fn each_fault_ends_as_it_must() {
    let world = World::new().await;
    let life = world.open().await;
    for (number, (fault, state, why, paid)) in [
        (Fault::Lose, State::Paid, "", 1),
        (Fault::StatusAfter(500), State::Paid, "", 1),
        (Fault::StatusAfter(502), State::Paid, "", 1),
        (Fault::StatusAfter(520), State::Paid, "", 1),
        (Fault::StatusAfter(400), State::Paid, "", 1),
        (Fault::Garbage, State::Paid, "", 1),
        (Fault::Half, State::Paid, "", 1),
        (Fault::HangAfter, State::Paid, "", 1),
        (Fault::Slow(200), State::Paid, "", 1),
        (Fault::Fail, State::Failed, "refused", 0),
        (
            Fault::Refuse("Insufficient balance."),
            State::Failed,
            "too_little_balance",
            0,
        ),
        (
            Fault::Refuse("Wallet is frozen."),
            State::Failed,
            "refused",
            0,
        ),
        (Fault::Drop, State::Unknown, "no_clear_answer", 0),
        (Fault::Hang, State::Unknown, "no_clear_answer", 0),
        (Fault::Status(500), State::Unknown, "no_clear_answer", 0),
        (Fault::Status(503), State::Unknown, "no_clear_answer", 0),
        (Fault::Status(520), State::Unknown, "no_clear_answer", 0),
        (Fault::Status(429), State::Unknown, "no_clear_answer", 0),
    ]
    .into_iter()
    .enumerate()
    {
        let bolt11 = world.invoice(number as u64, 500);
        world.fake.fault("pay", &[fault]);
        let payment = life.pay(&bolt11).await;
        assert_eq!((payment.state, &*payment.why), (state, why), "{fault:?}");
        assert_eq!(world.fake.times(&bolt11), paid, "{fault:?}");
        assert!(world.fake.posts(&bolt11) <= 1, "{fault:?}");
    }
    let status = life.wallet.status().await.unwrap();
    assert_eq!(status.spent_sats, world.fake.total_sats());
    assert_eq!(status.reserved_sats, 6 * 505);
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_arrives_late_is_found() {
    let world = World::new().await;
    let life = world.open().await;
    let bolt11 = world.invoice(1, 500);
    world.fake.fault("pay", &[Fault::Late(300)]);
    let open = life.pay(&bolt11).await;
    assert_eq!(open.state, State::Unknown);
    let paid = life.until(&open.id, State::Paid).await;
    assert_eq!(paid.counted_sats, 502);
    assert_eq!(
        (world.fake.times(&bolt11), world.fake.posts(&bolt11)),
        (1, 1)
    );
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn before_a_payment_nobody_must_know_of_it_and_somebody_must_say_so() {
    let world = World::new().await;
    let life = world.open().await;
    for (number, fault) in [
        Fault::Drop,
        Fault::Hang,
        Fault::Status(404),
        Fault::Status(500),
        Fault::Garbage,
        Fault::Half,
        Fault::Foreign,
        Fault::Status(302),
    ]
    .into_iter()
    .enumerate()
    {
        let bolt11 = world.invoice(number as u64, 500);
        world.fake.fault("look", &[fault; 2]);
        let looks = world.fake.looks();
        assert_eq!(life.pay(&bolt11).await.state, State::Paid, "{fault:?}");
        assert!(world.fake.looks() > looks, "{fault:?}");
        assert_eq!(world.fake.posts(&bolt11), 1, "{fault:?}");
    }
    life.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_lnbits_that_is_gone_is_not_sent_to() {
    let world = World::new().await;
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let clock = Arc::clone(&world.clock);
    let life = live(
        world.folder.path(),
        client(&base, KEY),
        Arc::clone(&world.log) as Arc<dyn Recorder>,
        Arc::new(move || Time::from_millis(clock.load(Ordering::SeqCst))),
        &world.options,
        world.owner,
    )
    .await;
    let payment = life.wallet.request(&wish(&world.invoice(1, 500))).await;
    let payment = payment.unwrap();
    life.approve(&payment).await;
    life.until(&payment.id, State::Approved).await;
    assert_eq!(life.wallet.status().await.unwrap().balance_sats, None);
    world.pass(Duration::from_secs(601));
    assert_eq!(life.outcome(&payment.id).await.why, "not_sent_in_time");
    life.end().await;
}

fn pay_fault() -> impl Strategy<Value = Option<Fault>> {
    prop_oneof![
        3 => Just(None),
        1 => prop::sample::select(vec![
            Fault::Drop, Fault::Lose, Fault::Status(500), Fault::StatusAfter(502), Fault::StatusAfter(520), Fault::Garbage,
            Fault::Half, Fault::Late(20), Fault::Slow(20), Fault::Refuse("no"), Fault::Fail,
            Fault::PendingThenPaid(2), Fault::PendingThenFailed(2),
        ]).prop_map(Some),
    ]
}

fn look_faults() -> impl Strategy<Value = Vec<Fault>> {
    let fault = prop::sample::select(vec![
        Fault::Drop,
        Fault::Status(500),
        Fault::Status(404),
        Fault::Garbage,
        Fault::Half,
        Fault::Foreign,
    ]);
    prop::collection::vec(fault, 0..6)
}

/// Payments under faults, with the process stopped and started again in between.
async fn storm(pays: Vec<Option<Fault>>, looks: Vec<Fault>, restart_after: usize) {
    let world = World::new().await;
    let mut life = world.open().await;
    let mut all = Vec::new();
    for (number, fault) in pays.into_iter().enumerate() {
        let bolt11 = world.invoice(number as u64, 100 + number as u64);
        let payment = life.wallet.request(&wish(&bolt11)).await.unwrap();
        if let Some(fault) = fault {
            world.fake.fault("pay", &[fault]);
        }
        world.fake.fault("look", &looks);
        life.approve(&payment).await;
        if number == restart_after {
            life.running.take().unwrap().stop(Duration::ZERO).await;
            life.store.close().await;
            life = world.open().await;
        }
        all.push((bolt11, payment.id));
    }
    // What was cut off is taken for unknown once nobody can be at it any more.
    for (_, id) in &all {
        for _ in 0..2000 {
            let payment = life.wallet.get(id).await.unwrap().unwrap();
            if payment.state.is_over() || payment.state == State::Unknown {
                break;
            }
            if payment.state == State::Sending {
                world.pass(Duration::from_secs(1));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (mut counted, mut open) = (0, 0);
    for (bolt11, id) in &all {
        let payment = life.wallet.get(id).await.unwrap().unwrap();
        let times = world.fake.times(bolt11);
        assert!(times <= 1 && world.fake.posts(bolt11) <= 1, "{payment:?}");
        match payment.state {
            State::Paid => assert_eq!(times, 1, "{payment:?}"),
            State::Failed => assert_eq!(times, 0, "{payment:?}"),
            State::Unknown => open += payment.counted_sats,
            _ => panic!("{payment:?}"),
        }
        counted += payment.counted_sats;
    }
    let total = world.fake.total_sats();
    assert!(counted >= total && counted - open <= total);
    life.end().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn no_storm_pays_twice(
        pays in prop::collection::vec(pay_fault(), 1..8),
        looks in look_faults(),
        restart_after in 0_usize..8,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(storm(pays, looks, restart_after));
    }
}
