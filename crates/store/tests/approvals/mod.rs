//! What the store promises about requests to the owner and what they grant.

use crate::common::*;
use blastshield_store::*;
use tokio::task::JoinSet;

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
}

pub(crate) fn asked(id: &str, requester: &str, expires_ms: i64) -> ApprovalRecord {
    ApprovalRecord {
        id: id.to_owned(),
        action: "http".to_owned(),
        requester: requester.to_owned(),
        session: None,
        host: Some("example.com".to_owned()),
        confirm: None,
        shown: "Shown – 😀".to_owned(),
        shown_sha256: "s".repeat(64),
        subject_sha256: "u".repeat(64),
        created_ms: 10,
        expires_ms,
        state: "pending".to_owned(),
        scope: String::new(),
        decided_by: String::new(),
        decided_ms: 0,
        recorded: false,
        used_ms: 0,
    }
}

pub(crate) fn limits(pending: u32, per_requester: u32) -> ApprovalLimits {
    ApprovalLimits {
        pending,
        per_requester,
        per_hour: u32::MAX,
    }
}

pub(crate) fn ruling(id: &str, state: &'static str, now_ms: i64, until: Option<i64>) -> Ruling {
    Ruling {
        id: id.to_owned(),
        state,
        scope: "once".to_owned(),
        by: "cli".to_owned(),
        now_ms,
        grant_until_ms: until,
    }
}

pub(crate) async fn an_approval_is_decided_once(location: &str) {
    let (store, other) = (open(location).await, open(location).await);
    assert!(
        store
            .add_approval(asked("a1", "x", 100), limits(9, 9))
            .await
            .unwrap()
    );
    assert_eq!(
        store
            .add_approval(asked("a1", "x", 100), limits(9, 9))
            .await,
        Err(StoreError::Duplicate)
    );
    assert_eq!(
        store.approval("a1").await.unwrap(),
        Some(asked("a1", "x", 100))
    );
    assert!(
        !store
            .rule_approval(ruling("a2", "approved", 50, None))
            .await
            .unwrap()
    );
    assert!(
        !store
            .rule_approval(ruling("a1", "approved", 100, None))
            .await
            .unwrap()
    );
    let mut tasks = JoinSet::new();
    for turn in 0..20 {
        let store = if turn % 2 == 0 {
            store.clone()
        } else {
            other.clone()
        };
        let state = if turn % 3 == 0 { "approved" } else { "denied" };
        tasks.spawn(async move {
            store
                .rule_approval(ruling("a1", state, 50, Some(900)))
                .await
        });
    }
    let won = tasks
        .join_all()
        .await
        .into_iter()
        .filter(|won| *won == Ok(true))
        .count();
    assert_eq!(won, 1);
    assert_eq!(other.latest_approval_ms().await.unwrap(), 50);
    store.close().await;
    other.close().await;
}

pub(crate) async fn an_approval_expires_is_recorded_and_is_used_once(location: &str) {
    let store = open(location).await;
    for id in ["a1", "a2"] {
        assert!(
            store
                .add_approval(asked(id, "x", 100), limits(9, 9))
                .await
                .unwrap()
        );
    }
    assert!(!store.expire_approval("a1", 99).await.unwrap());
    assert!(store.due_approvals(99).await.unwrap().is_empty());
    assert!(
        store
            .rule_approval(ruling("a2", "approved", 60, None))
            .await
            .unwrap()
    );
    assert_eq!(store.due_approvals(100).await.unwrap().len(), 1);
    assert!(store.expire_approval("a1", 100).await.unwrap());
    assert!(!store.expire_approval("a1", 101).await.unwrap());
    assert_eq!(store.unrecorded_approvals(60).await.unwrap().len(), 1);
    let subject = "u".repeat(64);
    assert!(
        !store.use_approval("a2", &subject, 70).await.unwrap(),
        "not recorded"
    );
    store.approval_recorded("a2").await.unwrap();
    assert!(!store.use_approval("a2", &"v".repeat(64), 70).await.unwrap());
    assert!(store.use_approval("a2", &subject, 70).await.unwrap());
    assert!(!store.use_approval("a2", &subject, 70).await.unwrap());
    store.approval_recorded("a1").await.unwrap();
    assert!(
        !store.use_approval("a1", &subject, 70).await.unwrap(),
        "expired"
    );
    store.close().await;
}

pub(crate) async fn open_approvals_are_bounded(location: &str) {
    let store = open(location).await;
    assert!(
        store
            .add_approval(asked("a1", "x", 100), limits(3, 2))
            .await
            .unwrap()
    );
    assert!(
        store
            .add_approval(asked("a2", "x", 100), limits(3, 2))
            .await
            .unwrap()
    );
    assert!(
        !store
            .add_approval(asked("a3", "x", 100), limits(3, 2))
            .await
            .unwrap()
    );
    assert!(
        store
            .add_approval(asked("a4", "y", 100), limits(3, 2))
            .await
            .unwrap()
    );
    assert!(
        !store
            .add_approval(asked("a5", "z", 100), limits(3, 2))
            .await
            .unwrap()
    );
    assert_eq!(store.count_pending("x", 50).await.unwrap(), (3, 2));
    assert_eq!(store.count_pending("x", 100).await.unwrap(), (0, 0));
    assert_eq!(store.pending_approvals(50).await.unwrap().len(), 3);
    let mut long = asked("a6", "z", 100);
    long.shown = "x".repeat(40_000);
    assert_eq!(
        store.add_approval(long, limits(9, 9)).await,
        Err(StoreError::Invalid("shown"))
    );
    store.close().await;
}

pub(crate) async fn requests_within_an_hour_are_bounded_and_listed_page_by_page(location: &str) {
    let store = open(location).await;
    let two_an_hour = ApprovalLimits {
        per_hour: 2,
        ..limits(99, 99)
    };
    for (id, at_ms, kept) in [
        ("a1", 10, true),
        ("a2", 20, true),
        ("a3", 30, false),
        ("a4", 3_600_010, true),
        ("a5", 3_600_011, false),
    ] {
        let mut record = asked(id, "x", 9_000_000);
        record.created_ms = at_ms;
        assert_eq!(
            store.add_approval(record, two_an_hour).await,
            Ok(kept),
            "{id}"
        );
    }
    let rule = ruling("a1", "denied", 50, None);
    assert!(store.rule_approval(rule).await.unwrap());
    let ids = async |page: ApprovalPage| -> Vec<String> {
        let list = store.approvals_page(&page).await.unwrap();
        list.into_iter().map(|record| record.id).collect()
    };
    let page = |state, after: Option<(i64, &str)>| ApprovalPage {
        state,
        action: Some("http"),
        after: after.map(|(at_ms, id)| (at_ms, id.to_owned())),
        limit: 2,
    };
    assert_eq!(ids(page(None, None)).await, ["a4", "a2"]);
    assert_eq!(ids(page(None, Some((20, "a2")))).await, ["a1"]);
    assert!(
        ids(page(Some("denied"), None)).await.is_empty(),
        "not recorded yet"
    );
    store.approval_recorded("a1").await.unwrap();
    assert_eq!(ids(page(Some("denied"), None)).await, ["a1"]);
    let mut other = page(None, None);
    other.action = Some("post");
    assert!(ids(other).await.is_empty());
    store.close().await;
}

pub(crate) async fn a_grant_is_made_with_its_decision(location: &str) {
    let store = open(location).await;
    for id in ["a1", "a2"] {
        assert!(
            store
                .add_approval(asked(id, "x", 100), limits(9, 9))
                .await
                .unwrap()
        );
    }
    assert!(
        store
            .rule_approval(ruling("a2", "denied", 50, None))
            .await
            .unwrap()
    );
    assert!(
        !store
            .rule_approval(ruling("a2", "approved", 51, Some(900)))
            .await
            .unwrap()
    );
    assert!(
        store
            .rule_approval(ruling("a1", "approved", 50, Some(900)))
            .await
            .unwrap()
    );
    assert!(
        !store
            .rule_approval(ruling("a1", "approved", 50, Some(999)))
            .await
            .unwrap()
    );
    assert!(store.grants(60).await.unwrap().is_empty(), "not recorded");
    store.approval_recorded("a1").await.unwrap();
    let grants = store.grants(60).await.unwrap();
    assert_eq!((grants.len(), grants[0].until_ms), (1, 900));
    let found = store
        .grant_for("http", "example.com", "x", 60)
        .await
        .unwrap();
    let of_another = store.grant_for("http", "example.com", "y", 60).await;
    assert_eq!(of_another.unwrap(), None);
    assert_eq!(found.as_ref(), grants.first());
    assert_eq!(
        store
            .grant_for("http", "www.example.com", "x", 60)
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        store
            .grant_for("post", "example.com", "x", 60)
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        store
            .grant_for("http", "example.com", "x", 900)
            .await
            .unwrap(),
        None
    );
    assert!(store.revoke_grant("a1", 70).await.unwrap());
    assert!(!store.revoke_grant("a1", 71).await.unwrap());
    assert!(store.grants(80).await.unwrap().is_empty());
    store.close().await;
}

pub(crate) async fn pruning_leaves_open_approvals_and_standing_grants(location: &str) {
    const DAY: i64 = 86_400_000;
    let store = open(location).await;
    for id in ["open", "unrecorded", "done", "standing"] {
        assert!(
            store
                .add_approval(asked(id, "x", 9 * DAY), limits(9, 9))
                .await
                .unwrap()
        );
        store.add_notice("chat", id, 1).await.unwrap();
    }
    assert!(
        store
            .rule_approval(ruling("unrecorded", "denied", 50, None))
            .await
            .unwrap()
    );
    assert!(
        store
            .rule_approval(ruling("done", "approved", 50, Some(60)))
            .await
            .unwrap()
    );
    assert!(
        store
            .rule_approval(ruling("standing", "approved", 50, Some(i64::MAX)))
            .await
            .unwrap()
    );
    for id in ["done", "standing"] {
        store.approval_recorded(id).await.unwrap();
    }
    store.prune(5 * DAY, 2).await.unwrap();
    let mut left: Vec<String> = store
        .approvals(9)
        .await
        .unwrap()
        .into_iter()
        .map(|one| one.id)
        .collect();
    left.sort();
    assert_eq!(left, ["open", "standing", "unrecorded"]);
    let grants = store.grants(5 * DAY).await.unwrap();
    assert_eq!(
        (grants.len(), grants[0].approval_id.as_str()),
        (1, "standing")
    );
    assert_eq!(store.stale_notices("chat").await.unwrap().len(), 2);
    assert!(
        store
            .unshown_approvals("chat", 50)
            .await
            .unwrap()
            .is_empty()
    );
    store.close().await;
}
