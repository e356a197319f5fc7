//! What core keeps of security proxies.

use blastshield_store::*;

use super::open;

const DONE: i64 = 3;

fn session(id: &str, service: &str) -> ProxySession {
    ProxySession {
        spawn_id: id.into(),
        service: service.into(),
        home: "here".into(),
        started_ms: 10,
    }
}

fn crash(id: &str, kind: &str, at_ms: i64) -> ProxyCrash {
    ProxyCrash {
        id: id.into(),
        service: "moltbook".into(),
        kind: kind.into(),
        at_ms,
        adversarial: kind == "INJECTION_DETECTED",
        detail: "stage 4".into(),
        last_action: "web_fetch: moltbook.com".into(),
        requests: 47,
        files: vec!["posts/a.json".into()],
        files_count: 1,
        report: "crash-x.json".into(),
    }
}

fn hold(id: &str, crash_id: &str) -> ProxyHold {
    ProxyHold {
        id: id.into(),
        service: "moltbook".into(),
        crash_id: crash_id.into(),
        kind: "adversarial".into(),
        reason: "INJECTION_DETECTED: stage 4".into(),
        at_ms: 20,
        cleared_ms: 0,
        cleared_by: String::new(),
    }
}

fn quarantine(id: &str) -> ProxyQuarantine {
    ProxyQuarantine {
        id: id.into(),
        service: "moltbook".into(),
        home: "here".into(),
        folder: "moltbook-quarantine-20260223T143201".into(),
        step: 0,
        before_ms: 10,
        backup: String::new(),
        review: vec![],
    }
}

fn attack(spawn_id: &str) -> ProxyEnd {
    ProxyEnd {
        spawn_id: spawn_id.into(),
        crash: Some(crash("c1", "INJECTION_DETECTED", 20)),
        hold: Some(hold("h1", "c1")),
        quarantine: Some(quarantine("h1")),
    }
}

pub(crate) async fn a_session_ends_with_all_that_follows(location: &str) {
    let store = open(location).await;
    assert!(
        store
            .begin_proxy_session(session("s1", "moltbook"))
            .await
            .unwrap()
    );
    assert_eq!(
        store.begin_proxy_session(session("s1", "moltbook")).await,
        Err(StoreError::Duplicate)
    );
    assert_eq!(store.proxy_sessions("there").await.unwrap(), []);
    store.close().await;

    let store = open(location).await;
    assert_eq!(
        store.proxy_sessions("here").await.unwrap(),
        [session("s1", "moltbook")]
    );
    // All or nothing: a crash whose id is taken keeps the session.
    store
        .end_proxy_session(ProxyEnd {
            spawn_id: "other".into(),
            crash: Some(crash("taken", "EXCEPTION", 5)),
            ..ProxyEnd::default()
        })
        .await
        .unwrap();
    let mut clash = attack("s1");
    clash.crash = Some(crash("taken", "EXCEPTION", 20));
    assert_eq!(
        store.end_proxy_session(clash).await,
        Err(StoreError::Duplicate)
    );
    assert_eq!(store.proxy_sessions("here").await.unwrap().len(), 1);
    assert_eq!(store.proxy_hold("h1").await.unwrap(), None);

    store.end_proxy_session(attack("s1")).await.unwrap();
    assert_eq!(store.proxy_sessions("here").await.unwrap(), []);
    assert_eq!(
        store.proxy_crash("c1").await.unwrap(),
        Some(crash("c1", "INJECTION_DETECTED", 20))
    );
    assert_eq!(
        store.proxy_hold("h1").await.unwrap(),
        Some(hold("h1", "c1"))
    );
    assert_eq!(
        store.proxy_quarantine("h1").await.unwrap(),
        Some(quarantine("h1"))
    );
    store.close().await;
}

pub(crate) async fn nothing_begins_while_a_hold_is_on(location: &str) {
    let store = open(location).await;
    store.end_proxy_session(attack("-")).await.unwrap();
    assert!(
        !store
            .begin_proxy_session(session("s2", "moltbook"))
            .await
            .unwrap()
    );
    assert!(
        store
            .begin_proxy_session(session("s3", "other"))
            .await
            .unwrap()
    );
    // Not before its quarantine is complete, and then once.
    assert!(
        !store
            .clear_proxy_hold("h1", "owner", true, DONE, 90)
            .await
            .unwrap()
    );
    let mut next = quarantine("h1");
    for step in 1..=DONE {
        next.step = step;
        next.backup = "20260223".into();
        next.review = vec!["bob".into()];
        assert!(
            store
                .advance_proxy_quarantine(&next, step - 1)
                .await
                .unwrap()
        );
        assert!(
            !store
                .advance_proxy_quarantine(&next, step - 1)
                .await
                .unwrap()
        );
    }
    assert_eq!(
        store
            .unfinished_proxy_quarantines("here", DONE)
            .await
            .unwrap(),
        []
    );
    assert_eq!(store.proxy_quarantine("h1").await.unwrap(), Some(next));
    assert!(
        !store
            .clear_proxy_hold("h9", "owner", true, DONE, 90)
            .await
            .unwrap()
    );
    assert!(
        store
            .clear_proxy_hold("h1", "owner", true, DONE, 0)
            .await
            .unwrap()
    );
    assert!(
        !store
            .clear_proxy_hold("h1", "mallory", true, DONE, 91)
            .await
            .unwrap()
    );
    let cleared = store.proxy_hold("h1").await.unwrap().unwrap();
    assert_eq!(
        (cleared.cleared_ms, cleared.cleared_by.as_str()),
        (1, "owner")
    );
    assert_eq!(store.open_proxy_holds(None).await.unwrap(), []);
    assert_eq!(store.proxy_holds(9).await.unwrap().len(), 1);
    assert!(
        store
            .begin_proxy_session(session("s2", "moltbook"))
            .await
            .unwrap()
    );
    store.close().await;
}

pub(crate) async fn trouble_counts_until_it_is_settled(location: &str) {
    let store = open(location).await;
    for (id, kind, at_ms) in [
        ("a", "EXCEPTION", 10),
        ("b", "EXCEPTION", 50),
        ("c", "BURN_LIMIT", 50),
        ("d", "EXCEPTION", i64::MAX),
    ] {
        let end = ProxyEnd {
            crash: Some(crash(id, kind, at_ms)),
            ..ProxyEnd::default()
        };
        store.end_proxy_session(end).await.unwrap();
    }
    let count = async |kind, since| {
        store
            .count_proxy_crashes("moltbook", kind, since)
            .await
            .unwrap()
    };
    assert_eq!(count("EXCEPTION", 0).await, 3);
    assert_eq!(count("EXCEPTION", 10).await, 2, "the future counts");
    assert_eq!(count("BURN_LIMIT", 0).await, 1);
    // A hold that core ends by itself leaves the count alone.
    for (id, settle, left) in [("h0", false, 3), ("h1", true, 0)] {
        let end = ProxyEnd {
            hold: Some(hold(id, "d")),
            ..ProxyEnd::default()
        };
        store.end_proxy_session(end).await.unwrap();
        assert!(
            store
                .clear_proxy_hold(id, "x", settle, DONE, 60)
                .await
                .unwrap()
        );
        assert_eq!(count("EXCEPTION", 0).await, left);
    }
    assert_eq!(count("BURN_LIMIT", 0).await, 0);
    store.close().await;
}

pub(crate) async fn pruning_leaves_holds_that_are_on(location: &str) {
    const DAY: i64 = 86_400_000;
    let store = open(location).await;
    store.end_proxy_session(attack("-")).await.unwrap();
    let mut old = attack("-");
    old.crash = Some(crash("c2", "INJECTION_DETECTED", 20));
    old.hold = Some(hold("h2", "c2"));
    old.quarantine = Some(ProxyQuarantine {
        step: DONE,
        ..quarantine("h2")
    });
    store.end_proxy_session(old).await.unwrap();
    assert!(
        store
            .clear_proxy_hold("h2", "owner", true, DONE, 60)
            .await
            .unwrap()
    );
    store.prune(9 * DAY, 2).await.unwrap();
    assert!(store.proxy_hold("h1").await.unwrap().is_some());
    assert!(store.proxy_crash("c1").await.unwrap().is_some());
    assert!(store.proxy_quarantine("h1").await.unwrap().is_some());
    assert!(store.proxy_hold("h2").await.unwrap().is_none());
    assert!(store.proxy_crash("c2").await.unwrap().is_none());
    assert!(store.proxy_quarantine("h2").await.unwrap().is_none());
    store.close().await;
}

fn task(id: &str, created_ms: i64) -> ProxyTask {
    ProxyTask {
        id: id.into(),
        service: "moltbook".into(),
        operation: "read_feed".into(),
        home: "here".into(),
        created_ms,
        finished_ms: 0,
        answer: String::new(),
    }
}

pub(crate) async fn tasks_are_kept_interrupted_and_trimmed(location: &str) {
    let store = open(location).await;
    for (at, id) in [(1, "t1"), (2, "t2"), (3, "t3"), (4, "t4")] {
        store.begin_proxy_task(&task(id, at)).await.unwrap();
    }
    assert_eq!(
        store.begin_proxy_task(&task("t1", 9)).await,
        Err(StoreError::Duplicate)
    );
    for (id, at) in [("t1", 10), ("t2", 20), ("t3", 30)] {
        let answer = format!("{{\"of\":\"{id}\"}}");
        store.end_proxy_task(id, answer, at).await.unwrap();
    }
    // What is over stays as it is, and what is too long is not taken.
    store
        .end_proxy_task("t1", "other".into(), 99)
        .await
        .unwrap();
    let long = "x".repeat(MAX_TASK_ANSWER + 1);
    assert_eq!(
        store.end_proxy_task("t4", long, 40).await,
        Err(StoreError::Invalid("answer"))
    );
    let kept = store.proxy_task("t1").await.unwrap().unwrap();
    assert_eq!(
        (kept.finished_ms, kept.answer.as_str()),
        (10, "{\"of\":\"t1\"}")
    );
    assert_eq!(store.proxy_task("t9").await, Ok(None));
    // Only what was on is interrupted, and only here.
    assert_eq!(store.interrupt_proxy_tasks("elsewhere", 50).await, Ok(0));
    assert_eq!(store.interrupt_proxy_tasks("here", 50).await, Ok(1));
    let cut = store.proxy_task("t4").await.unwrap().unwrap();
    assert_eq!((cut.finished_ms, cut.answer.as_str()), (50, ""));
    // The newest stay, by number and by bytes.
    assert_eq!(store.trim_proxy_tasks("here", 3, 1 << 20).await, Ok(1));
    assert_eq!(store.proxy_task("t1").await, Ok(None));
    assert_eq!(store.trim_proxy_tasks("here", 3, 12).await, Ok(1));
    assert_eq!(store.proxy_task("t2").await, Ok(None));
    assert!(store.proxy_task("t3").await.unwrap().is_some());
    store.close().await;
}
