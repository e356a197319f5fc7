//! One decision per request, once executed; whatever fails, the answer is not yes.

use crate::*;
use blastshield_owner::{AskError, ClaimError, DecideError, Refusal, State, WaitError};
use tokio::task::JoinSet;

pub(crate) fn refused<T>(outcome: Result<T, DecideError>) -> Refusal {
    match outcome.err() {
        Some(DecideError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_decision_counts_once_and_survives_a_restart() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&payment()).await.unwrap();
    assert_eq!(request.state, State::Pending);
    let decided = approvals
        .decide(request.id.as_str(), &yes(), "cli")
        .await
        .unwrap();
    assert_eq!(
        (decided.state, decided.scope),
        (State::Approved, Some(Scope::Once))
    );
    drop(approvals);

    let approvals = world.open().await;
    let again = approvals.decide(request.id.as_str(), &no(), "cli").await;
    assert_eq!(refused(again), Refusal::Already(State::Approved));
    let kept = approvals.get(request.id.as_str()).await.unwrap().unwrap();
    assert_eq!(kept, decided);
    assert_eq!(world.log.count(&["ApprovalRequested"]), 1);
    assert_eq!(world.log.count(&["ApprovalDecided", "Approved", "cli"]), 1);
    assert_eq!(world.log.count(&["ApprovalRefused", "already approved"]), 1);
}

#[tokio::test]
async fn late_unknown_and_mismatched_replies_change_nothing() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&payment()).await.unwrap();
    let id = request.id.as_str();
    for unknown in ["00000000", "", "nonsense!", "k7f39xq2k7f39xq2"] {
        assert_eq!(
            refused(approvals.decide(unknown, &yes(), "cli").await),
            Refusal::Unknown
        );
    }
    let forged = Reply {
        shown: Some("0123456789abcdef"),
        ..yes()
    };
    assert_eq!(
        refused(approvals.decide(id, &forged, "cli").await),
        Refusal::Changed
    );
    assert_eq!(
        refused(approvals.decide(id, &yes_for(Scope::Always), "cli").await),
        Refusal::Scope
    );
    world.pass(Duration::from_secs(601));
    assert_eq!(
        refused(approvals.decide(id, &yes(), "cli").await),
        Refusal::Late
    );
    approvals.sweep().await.unwrap();
    assert_eq!(
        refused(approvals.decide(id, &yes(), "cli").await),
        Refusal::Already(State::Expired)
    );
    assert_eq!(world.log.count(&["ApprovalDecided", "Timeout"]), 1);
    assert_eq!(world.log.count(&["ApprovalDecided", "Approved"]), 0);
    assert_eq!(
        approvals.claim(id, &payment()).await,
        Err(ClaimError::Not(State::Expired))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_deciders_in_two_processes_one_wins() {
    let world = World::new();
    let (one, other) = (world.open().await, world.open().await);
    let request = one.ask(&payment()).await.unwrap();
    let mut tasks = JoinSet::new();
    for turn in 0..60 {
        let approvals = if turn % 2 == 0 {
            one.clone()
        } else {
            other.clone()
        };
        let id = request.id.clone();
        tasks.spawn(async move {
            let reply = if turn % 3 == 0 { yes() } else { no() };
            approvals.decide(id.as_str(), &reply, "cli").await
        });
    }
    let outcomes = tasks.join_all().await;
    let won: Vec<_> = outcomes.into_iter().filter_map(Result::ok).collect();
    assert_eq!(won.len(), 1);
    let kept = other.get(request.id.as_str()).await.unwrap().unwrap();
    assert_eq!(kept.state, won[0].state);
    assert_eq!(world.log.count(&["ApprovalDecided"]), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_is_used_once_for_exactly_what_was_asked() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&payment()).await.unwrap();
    let id = request.id.as_str();
    assert_eq!(
        approvals.claim(id, &payment()).await,
        Err(ClaimError::Not(State::Pending))
    );
    approvals.decide(id, &yes(), "cli").await.unwrap();
    // The same message would be shown for this invoice: the last four characters are equal.
    let mut other = payment();
    other.details[1].1 = Value::Secret(format!("lnbc20u1{}abcd", "p".repeat(180)));
    assert_eq!(approvals.claim(id, &other).await, Err(ClaimError::Changed));
    let mut dearer = payment();
    dearer.details[0].1 = Value::Number(2001);
    assert_eq!(approvals.claim(id, &dearer).await, Err(ClaimError::Changed));
    let mut tasks = JoinSet::new();
    for _ in 0..40 {
        let (approvals, id) = (approvals.clone(), request.id.clone());
        tasks.spawn(async move { approvals.claim(id.as_str(), &payment()).await });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert_eq!(
        outcomes
            .iter()
            .filter(|outcome| **outcome == Err(ClaimError::Used))
            .count(),
        39
    );
    assert_eq!(world.log.count(&["approval_used", id]), 1);

    // A use that cannot be recorded is none.
    let request = approvals.ask(&payment()).await.unwrap();
    let id = request.id.as_str();
    approvals.decide(id, &yes(), "cli").await.unwrap();
    world.log.broken.store(true, Ordering::SeqCst);
    assert_eq!(
        approvals.claim(id, &payment()).await,
        Err(ClaimError::Unrecorded)
    );
    world.log.broken.store(false, Ordering::SeqCst);
    assert_eq!(approvals.claim(id, &payment()).await, Err(ClaimError::Used));
}

#[tokio::test]
async fn a_yes_grows_old() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&payment()).await.unwrap();
    approvals
        .decide(request.id.as_str(), &yes(), "cli")
        .await
        .unwrap();
    world.pass(Duration::from_secs(3602));
    assert_eq!(
        approvals.claim(request.id.as_str(), &payment()).await,
        Err(ClaimError::Old)
    );
}

#[tokio::test]
async fn waiting_ends_with_the_decision_here_or_elsewhere_or_with_time() {
    let world = World::new();
    let (one, other) = (world.open().await, world.open().await);
    for decider in [one.clone(), other] {
        let request = one.ask(&payment()).await.unwrap();
        let id = request.id.clone();
        let waiter = tokio::spawn({
            let one = one.clone();
            async move { one.wait(id.as_str(), Duration::from_secs(60)).await }
        });
        tokio::task::yield_now().await;
        decider
            .decide(request.id.as_str(), &no(), "cli")
            .await
            .unwrap();
        assert_eq!(waiter.await.unwrap().unwrap().state, State::Denied);
    }
    let request = one.ask(&payment()).await.unwrap();
    let still = one
        .wait(request.id.as_str(), Duration::from_millis(20))
        .await
        .unwrap();
    assert_eq!(still.state, State::Pending);
    world.pass(Duration::from_secs(601));
    let over = one
        .wait(request.id.as_str(), Duration::from_secs(60))
        .await
        .unwrap();
    assert_eq!(
        (over.state, over.decided_by.as_deref()),
        (State::Expired, Some("timeout"))
    );
    assert_eq!(
        one.wait("00000000", Duration::ZERO).await,
        Err(WaitError::Unknown)
    );
}

#[tokio::test]
async fn open_requests_and_waiting_callers_are_bounded() {
    let mut world = World::new();
    world.options.max_pending = 3;
    world.options.max_per_requester = 2;
    world.options.max_waiting = 0;
    let approvals = world.open().await;
    let from = |who: &str| Ask::new(Action::Custom, "why not", who);
    let first = approvals.ask(&from("a")).await.unwrap();
    approvals.ask(&from("a")).await.unwrap();
    assert_eq!(
        approvals.ask(&from("a")).await,
        Err(AskError::TooManyOfYours)
    );
    approvals.ask(&from("b")).await.unwrap();
    assert_eq!(approvals.ask(&from("c")).await, Err(AskError::TooMany));
    approvals
        .decide(first.id.as_str(), &no(), "cli")
        .await
        .unwrap();
    approvals.ask(&from("c")).await.unwrap();
    // What has expired takes no room, swept or not.
    world.pass(Duration::from_secs(3600));
    approvals.ask(&from("d")).await.unwrap();
    assert_eq!(
        approvals.wait(first.id.as_str(), Duration::ZERO).await,
        Err(WaitError::TooMany)
    );
    assert_eq!(approvals.pending().await.unwrap().len(), 1);
}

#[tokio::test]
async fn malformed_requests_are_refused_by_field() {
    let world = World::new();
    let approvals = world.open().await;
    let base = || Ask::new(Action::Custom, "reason", "agent");
    let text = || Value::Text("x".into());
    let mut many = base();
    many.details = (0..17).map(|n| (format!("k{n}"), text())).collect();
    let mut nobody = base();
    nobody.requester.clear();
    let mut hasty = base();
    hasty.timeout = Some(Duration::ZERO);
    for (ask, field) in [
        (Ask::new(Action::Custom, "", "agent"), "reason"),
        (
            Ask::new(Action::Custom, "x".repeat(1025), "agent"),
            "reason",
        ),
        (nobody, "requester"),
        (many, "details"),
        (base().with("a b", text()), "details"),
        (base().with("", text()), "details"),
        (base().with("hоst", text()), "details"),
        (base().with("Host", text()), "details"),
        (
            base().with("amount", text()).with("AMOUNT", text()),
            "details",
        ),
        (base().with("a", Value::Text("x".repeat(16_385))), "details"),
        (Ask::new(Action::Http, "no host", "agent"), "host"),
        (visit("exa mple.com"), "host"),
        (visit(""), "host"),
        (hasty, "timeout"),
    ] {
        assert_eq!(
            approvals.ask(&ask).await,
            Err(AskError::Invalid(field)),
            "{field}"
        );
    }
    assert!(approvals.list(10).await.unwrap().is_empty());
}
