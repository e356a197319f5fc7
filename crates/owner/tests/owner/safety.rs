//! What is not recorded does not count, what was granted ends, and no secret is kept.

use crate::approvals::refused;
use crate::*;
use blastshield_owner::{AskError, ClaimError, DecideError, Refusal, State};

#[tokio::test]
async fn a_standing_yes_is_for_one_host_and_ends() {
    let world = World::new();
    let approvals = world.open().await;
    let ask = visit("API.Example.com.");
    let request = approvals.ask(&ask).await.unwrap();
    approvals
        .decide(request.id.as_str(), &yes_for(Scope::Hours(2)), "cli")
        .await
        .unwrap();
    let granted = async |host: &str| {
        approvals
            .granted(Action::Http, host, "agent")
            .await
            .unwrap()
            .is_some()
    };
    assert!(granted("api.example.com").await && granted("api.EXAMPLE.com").await);
    for other in [
        "example.com",
        "x.api.example.com",
        "api.example.com.evil.net",
        "",
    ] {
        assert!(!granted(other).await, "{other}");
    }
    assert!(
        approvals
            .granted(Action::Post, "api.example.com", "agent")
            .await
            .unwrap()
            .is_none()
    );
    for other in ["agent/builder", "owner", ""] {
        let theirs = approvals.granted(Action::Http, "api.example.com", other);
        assert!(theirs.await.unwrap().is_none(), "{other}");
    }
    world.pass(Duration::from_secs(7201));
    assert!(!granted("api.example.com").await);

    let request = approvals.ask(&visit("b.example")).await.unwrap();
    approvals
        .decide(request.id.as_str(), &yes_for(Scope::Always), "cli")
        .await
        .unwrap();
    world.pass(Duration::from_secs(86_400 * 365));
    assert!(granted("b.example").await);
    assert_eq!(approvals.grants().await.unwrap()[0].until_ms, None);
    assert!(
        approvals
            .revoke(request.id.as_str(), "owner")
            .await
            .unwrap()
    );
    assert!(
        !approvals
            .revoke(request.id.as_str(), "owner")
            .await
            .unwrap()
    );
    assert!(!granted("b.example").await);
    assert_eq!(world.log.count(&["allowlist_extended"]), 2);
    assert_eq!(world.log.count(&["ConfigChanged"]), 1);
}

#[tokio::test]
async fn a_no_grants_nothing_even_with_a_scope_before_it() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&visit("a.example")).await.unwrap();
    approvals
        .decide(request.id.as_str(), &no(), "cli")
        .await
        .unwrap();
    let late = approvals
        .decide(request.id.as_str(), &yes_for(Scope::Always), "cli")
        .await;
    assert_eq!(refused(late), Refusal::Already(State::Denied));
    assert!(approvals.grants().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_large_payment_needs_its_amount_repeated() {
    let world = World::new();
    let approvals = world.open().await;
    let mut ask = payment();
    ask.confirm = Some(2000);
    let request = approvals.ask(&ask).await.unwrap();
    assert!(
        request.must_confirm
            && request.shown.contains("approve ")
            && request.shown.contains(" <amount>")
    );
    let id = request.id.as_str();
    assert_eq!(
        refused(approvals.decide(id, &yes(), "cli").await),
        Refusal::Confirm
    );
    let with = |confirm| Reply {
        confirm: Some(confirm),
        ..yes()
    };
    assert_eq!(
        refused(approvals.decide(id, &with("200"), "cli").await),
        Refusal::Confirm
    );
    assert_eq!(
        approvals
            .decide(id, &with("2000"), "cli")
            .await
            .unwrap()
            .state,
        State::Approved
    );
}

#[tokio::test]
async fn nothing_counts_before_it_is_recorded() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&visit("a.example")).await.unwrap();
    let id = request.id.as_str();
    world.log.broken.store(true, Ordering::SeqCst);
    assert_eq!(
        approvals.ask(&visit("b.example")).await,
        Err(AskError::Unrecorded)
    );
    assert_eq!(
        approvals.decide(id, &yes_for(Scope::Always), "cli").await,
        Err(DecideError::Unrecorded)
    );
    assert_eq!(
        approvals.get(id).await.unwrap().unwrap().state,
        State::Pending
    );
    assert_eq!(
        approvals.claim(id, &visit("a.example")).await,
        Err(ClaimError::Not(State::Pending))
    );
    assert!(
        approvals
            .granted(Action::Http, "a.example", "agent")
            .await
            .unwrap()
            .is_none()
    );
    // The decision stands: nobody can turn it round meanwhile.
    assert_eq!(
        refused(approvals.decide(id, &no(), "cli").await),
        Refusal::Already(State::Approved)
    );
    world.log.broken.store(false, Ordering::SeqCst);
    world.pass(Duration::from_secs(11));
    drop(approvals);
    let approvals = world.open().await;
    assert_eq!(
        approvals.get(id).await.unwrap().unwrap().state,
        State::Approved
    );
    assert!(
        approvals
            .granted(Action::Http, "a.example", "agent")
            .await
            .unwrap()
            .is_some()
    );
    approvals.claim(id, &visit("a.example")).await.unwrap();
    assert_eq!(world.log.count(&["ApprovalDecided", id, "Approved"]), 1);
}

#[tokio::test]
async fn a_clock_set_back_revives_nothing() {
    let world = World::new();
    let approvals = world.open().await;
    let request = approvals.ask(&payment()).await.unwrap();
    world.pass(Duration::from_secs(601));
    assert!(approvals.pending().await.unwrap().is_empty());
    world.clock.store(START_MS - 86_400_000, Ordering::SeqCst);
    assert_eq!(
        refused(approvals.decide(request.id.as_str(), &yes(), "cli").await),
        Refusal::Late
    );
    approvals.sweep().await.unwrap();
    drop(approvals);
    // After a restart the store still knows how late it was.
    let approvals = world.open().await;
    let next = approvals.ask(&payment()).await.unwrap();
    assert!(next.created_ms >= i64::try_from(START_MS).unwrap() + 601_000);
}

#[tokio::test]
async fn with_no_channel_that_is_said_once() {
    let world = World::new();
    let approvals = world.open().await;
    approvals.ask(&payment()).await.unwrap();
    approvals.ask(&payment()).await.unwrap();
    assert_eq!(world.log.count(&["Undeliverable", "none", "last: true"]), 1);
}

#[tokio::test]
async fn no_secret_of_a_request_is_kept() {
    let world = World::new();
    let key = ["sk-", "proj-", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"].concat();
    let ask = Ask::new(Action::Custom, format!("because {key}"), "agent")
        .with("note", Value::Text(format!("with {key}")))
        .with("proof", Value::Secret(key.clone()))
        .with("password", Value::Text(key.clone()));
    let approvals = world.open().await;
    let request = approvals.ask(&ask).await.unwrap();
    approvals
        .decide(request.id.as_str(), &yes(), "cli")
        .await
        .unwrap();
    approvals.claim(request.id.as_str(), &ask).await.unwrap();
    let secret = &key.as_bytes()[8..];
    for file in std::fs::read_dir(world.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
    let told = format!("{}{request:?}{ask:?}", world.log.all());
    assert!(!told.contains(&key[8..]), "{told}");
}
