//! What the store promises about messages that went out to the owner, answers that came in, and alerts that wait.

use crate::approvals::{asked, limits, ruling};
use crate::common::*;
use blastshield_store::*;

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
}

pub(crate) async fn notices_and_cursors_outlive_a_restart(location: &str) {
    let store = open(location).await;
    assert!(
        store
            .add_approval(asked("a1", "x", 100), limits(9, 9))
            .await
            .unwrap()
    );
    assert_eq!(store.unshown_approvals("chat", 50).await.unwrap().len(), 1);
    for _ in 0..2 {
        store.add_notice("chat", "a1", 7).await.unwrap();
    }
    assert_eq!(store.cursor("chat").await.unwrap(), None);
    store.set_cursor("chat", 5, 1).await.unwrap();
    store.set_cursor("chat", 6, 2).await.unwrap();
    store.close().await;

    let store = open(location).await;
    assert_eq!(store.cursor("chat").await.unwrap(), Some((6, 2)));
    assert!(
        store
            .unshown_approvals("chat", 50)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(store.unshown_approvals("mail", 50).await.unwrap().len(), 1);
    assert!(store.stale_notices("chat").await.unwrap().is_empty());
    assert!(
        store
            .rule_approval(ruling("a1", "denied", 50, None))
            .await
            .unwrap()
    );
    let notice = Notice {
        approval_id: "a1".to_owned(),
        message_id: 7,
    };
    assert_eq!(
        store.stale_notices("chat").await.unwrap(),
        std::slice::from_ref(&notice)
    );
    store.close_notice("chat", &notice).await.unwrap();
    assert!(store.stale_notices("chat").await.unwrap().is_empty());
    store.close().await;
}

fn alert(id: &str, at_ms: i64, grave: bool) -> WaitingAlert {
    WaitingAlert {
        id: id.to_owned(),
        at_ms,
        grave,
        text: format!("Alert {id} – 😀"),
        body: "{}".to_owned(),
    }
}

pub(crate) async fn alerts_wait_for_each_channel_across_restarts(location: &str) {
    let store = open(location).await;
    for channel in ["chat", "mail"] {
        for (id, at_ms) in [("b", 20), ("a", 10)] {
            let kept = store.keep_alert(channel, alert(id, at_ms, false), 9).await;
            assert_eq!(kept, Ok(0));
        }
    }
    let again = store.keep_alert("chat", alert("a", 10, false), 9).await;
    assert_eq!(again, Err(StoreError::Duplicate));
    let mut long = alert("c", 1, false);
    long.text = "x".repeat(40_000);
    let long = store.keep_alert("chat", long, 9).await;
    assert_eq!(long, Err(StoreError::Invalid("text")));
    store.close().await;

    let store = open(location).await;
    let first = store.take_alert("chat", 100, 50).await.unwrap();
    assert_eq!(
        first,
        Some(alert("a", 10, false)),
        "the oldest, word for word"
    );
    store.forget_alert("chat", "a").await.unwrap();
    assert_eq!(store.waiting_alerts("chat").await, Ok(1));
    assert_eq!(store.waiting_alerts("mail").await, Ok(2));
    // Nobody carried it in all that time.
    store.prune(3 * 86_400_000, 2).await.unwrap();
    assert_eq!(store.waiting_alerts("mail").await, Ok(0));
    store.close().await;
}

pub(crate) async fn too_many_alerts_cost_the_ordinary_first(location: &str) {
    let store = open(location).await;
    for (id, grave, gone) in [
        ("a", false, 0),
        ("b", true, 0),
        ("c", false, 0),
        ("d", true, 1),
        ("e", false, 1),
        ("f", true, 1),
        ("g", true, 1),
        ("h", false, 1),
    ] {
        let at_ms = i64::from(id.as_bytes()[0]);
        let kept = store.keep_alert("chat", alert(id, at_ms, grave), 3).await;
        assert_eq!(kept, Ok(gone), "{id}");
    }
    let mut left = Vec::new();
    while let Some(one) = store.take_alert("chat", 999, 50).await.unwrap() {
        left.push(one.id);
    }
    assert_eq!(left, ["d", "f", "g"]);
    store.close().await;
}

pub(crate) async fn an_alert_is_carried_by_one_at_a_time(location: &str) {
    let (store, other) = (open(location).await, open(location).await);
    store
        .keep_alert("chat", alert("a", 1, true), 9)
        .await
        .unwrap();
    let id = async |store: &Store, now_ms: i64| {
        let taken = store.take_alert("chat", now_ms, 50).await.unwrap();
        taken.map(|alert| alert.id)
    };
    assert_eq!(id(&store, 100).await.as_deref(), Some("a"));
    assert_eq!(id(&other, 149).await, None, "somebody carries it");
    assert_eq!(
        id(&other, 150).await.as_deref(),
        Some("a"),
        "its time is over"
    );
    assert_eq!(id(&store, 151).await, None);
    other.give_back_alert("chat", "a").await.unwrap();
    assert_eq!(id(&store, 152).await.as_deref(), Some("a"));
    store.close().await;
    other.close().await;
}
