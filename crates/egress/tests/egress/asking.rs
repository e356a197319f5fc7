//! Hosts on no list: the owner is asked, once, and the answer counts as far as it reaches.

use crate::origin::{Origin, reply};
use crate::world::{Plan, World, YES, until};
use blastshield_egress::Agent;
use blastshield_owner::{Reply, Scope, Verdict};
use std::sync::Arc;
use std::time::Duration;

fn quick() -> Plan {
    let mut plan = Plan::default();
    plan.limits.ask = Duration::from_millis(300);
    plan
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_who_wait_share_one_question_and_its_yes() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let world = Arc::new(World::new().await);
    let url = origin.url("other.test", "/");
    let asking: Vec<_> = (0..20)
        .map(|_| {
            let (world, url) = (Arc::clone(&world), url.clone());
            tokio::spawn(async move { world.get(&url).await.status })
        })
        .collect();
    let request = world.question().await;
    assert_eq!(
        (request.host.as_deref(), request.requester.as_str()),
        (Some("other.test"), "agent")
    );
    until("all wait", || world.metrics.connections() == 20).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(origin.count(), 0, "nothing is sent before the yes");
    world.answer(request.id.as_str(), YES).await;
    for one in asking {
        assert_eq!(one.await.unwrap(), 200);
    }
    // A yes for one time is used up: the next one asks again.
    let (again, url) = (Arc::clone(&world), url.clone());
    let next = tokio::spawn(async move { again.get(&url).await.code() });
    let second = world.question().await;
    assert_ne!(second.id, request.id);
    world.answer(second.id.as_str(), Verdict::Deny).await;
    assert_eq!(next.await.unwrap(), "approval_denied");
}

#[tokio::test]
async fn a_no_counts_for_a_while_without_asking_again() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let world = Arc::new(World::new().await);
    let url = origin.url("other.test", "/");
    let (first, asked) = (Arc::clone(&world), url.clone());
    let first = tokio::spawn(async move { first.get(&asked).await });
    let request = world.question().await;
    world.answer(request.id.as_str(), Verdict::Deny).await;
    let answer = first.await.unwrap();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "approval_denied")
    );
    assert_eq!(answer.error()["details"]["approvalId"], request.id.as_str());
    assert_eq!(world.get(&url).await.code(), "approval_denied");
    assert!(world.approvals.pending().await.unwrap().is_empty());
    assert_eq!(origin.count(), 0);
}

#[tokio::test]
async fn no_answer_in_time_says_so_and_a_late_yes_serves_the_next() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let world = World::with(quick()).await;
    let url = origin.url("other.test", "/");
    let answer = world.get(&url).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "approval_pending")
    );
    let request = world.question().await;
    assert_eq!(answer.error()["details"]["approvalId"], request.id.as_str());
    assert!(
        answer.error()["message"]
            .as_str()
            .unwrap()
            .contains("try again")
    );
    // Asking again joins the same question.
    assert_eq!(world.get(&url).await.code(), "approval_pending");
    assert_eq!(world.question().await.id, request.id);
    world.answer(request.id.as_str(), YES).await;
    // Twice does not count twice.
    let reply = Reply {
        verdict: Verdict::Deny,
        shown: None,
        confirm: None,
    };
    assert!(
        world
            .approvals
            .decide(request.id.as_str(), &reply, "test")
            .await
            .is_err()
    );
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(world.get(&url).await.status, 200);
    assert_eq!(origin.count(), 1);
    assert_eq!(world.get(&url).await.code(), "approval_pending", "used up");
}

#[tokio::test]
async fn a_yes_for_hours_or_always_is_a_grant_until_it_is_taken_back() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    for scope in [Scope::Hours(1), Scope::Always] {
        let world = Arc::new(World::new().await);
        let url = origin.url("other.test", "/");
        let (first, asked) = (Arc::clone(&world), url.clone());
        let first = tokio::spawn(async move { first.get(&asked).await.status });
        let request = world.question().await;
        world
            .answer(request.id.as_str(), Verdict::Approve(scope))
            .await;
        assert_eq!(first.await.unwrap(), 200);
        for _ in 0..3 {
            assert_eq!(world.get(&url).await.status, 200);
        }
        assert!(world.approvals.pending().await.unwrap().is_empty());
        assert!(
            world
                .approvals
                .revoke(request.id.as_str(), "test")
                .await
                .unwrap()
        );
        let (again, asked) = (Arc::clone(&world), url.clone());
        let again = tokio::spawn(async move { again.get(&asked).await.status });
        let second = world.question().await;
        world.answer(second.id.as_str(), Verdict::Deny).await;
        assert_eq!(again.await.unwrap(), 403);
    }
}

#[tokio::test]
async fn a_grant_is_for_the_agent_that_asked() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let mut plan = quick();
    plan.agents.known = ["one", "two"]
        .map(|name| Agent {
            name: name.into(),
            token: "0123456789abcdef".into(),
        })
        .into();
    let world = World::with(plan).await;
    let url = origin.url("other.test", "/");
    let ask = async |name: &str| world.get_as(name, &url).await;
    let (one, two) = ("one:0123456789abcdef", "two:0123456789abcdef");
    assert_eq!(ask(one).await.code(), "approval_pending");
    let request = world.question().await;
    assert_eq!(request.requester, "agent/one");
    assert!(request.shown.contains("agent: one"), "{}", request.shown);
    let always = Verdict::Approve(Scope::Always);
    world.answer(request.id.as_str(), always).await;
    assert_eq!(ask(one).await.status, 200);
    // Neither another agent nor one without a name has any use of it.
    assert_eq!(ask(two).await.code(), "approval_pending");
    let second = world.question().await;
    assert_eq!(second.requester, "agent/two");
    world.answer(second.id.as_str(), Verdict::Deny).await;
    assert_eq!(ask("").await.code(), "approval_pending");
    assert_eq!(ask(one).await.status, 200);
    assert_eq!(origin.count(), 2);
}

#[tokio::test]
async fn a_restart_finds_open_questions_and_unused_answers_again() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let world = World::with(quick()).await;
    let folder = Arc::clone(&world.folder);
    for host in ["other.test", "more.test"] {
        assert_eq!(
            world.get(&origin.url(host, "/")).await.code(),
            "approval_pending"
        );
    }
    let before: Vec<_> = world.approvals.pending().await.unwrap();
    assert_eq!(before.len(), 2);
    let id_of = |host: &str| {
        let request = before
            .iter()
            .find(|request| request.host.as_deref() == Some(host));
        request.unwrap().id.to_string()
    };
    world.store.close().await;
    drop(world);
    let world = World::at(folder, quick()).await;
    // Answered while nobody waits, before anything is asked of the new proxy.
    world.answer(&id_of("more.test"), YES).await;
    assert_eq!(world.get(&origin.url("more.test", "/")).await.status, 200);
    assert_eq!(
        world.get(&origin.url("other.test", "/")).await.code(),
        "approval_pending"
    );
    assert_eq!(
        world.question().await.id.as_str(),
        id_of("other.test"),
        "not asked twice"
    );
}

#[tokio::test]
async fn waiting_is_bounded_and_ends_with_the_client() {
    let mut plan = Plan::default();
    plan.limits.waiting = 1;
    let world = Arc::new(World::with(plan).await);
    let first = Arc::clone(&world);
    let first = tokio::spawn(async move {
        first
            .tunnel("other.test:443")
            .await
            .map(drop)
            .unwrap_err()
            .code()
    });
    let request = world.question().await;
    assert_eq!(
        world.tunnel("more.test:443").await.unwrap_err().code(),
        "busy"
    );
    first.abort();
    let _ = first.await;
    until("the place is free", || world.metrics.connections() == 0).await;
    let next = Arc::clone(&world);
    let next = tokio::spawn(async move {
        next.tunnel("other.test:443")
            .await
            .map(drop)
            .unwrap_err()
            .code()
    });
    until("it waits", || world.metrics.connections() == 1).await;
    assert_eq!(world.question().await.id, request.id);
    tokio::time::sleep(Duration::from_millis(50)).await;
    world.answer(request.id.as_str(), Verdict::Deny).await;
    assert_eq!(next.await.unwrap(), "approval_denied");
}

#[tokio::test]
async fn nobody_is_asked_about_what_no_answer_could_allow() {
    let world = World::with(Plan {
        except: "",
        ..Plan::default()
    })
    .await;
    for (target, code) in [
        ("10.0.0.1:443", "address_not_public"),
        ("[::1]:443", "address_not_public"),
        ("169.254.169.254:80", "address_not_public"),
        ("printer.local:443", "local_name"),
        ("bad.test:443", "host_blocked"),
    ] {
        assert_eq!(
            world.tunnel(target).await.unwrap_err().code(),
            code,
            "{target}"
        );
    }
    assert!(world.approvals.list(10).await.unwrap().is_empty());
}
