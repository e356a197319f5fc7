//! What the store promises about held sessions and canaries.

use crate::common::*;
use blastshield_store::*;

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
}

fn hold(key: &str, until_ms: i64) -> SessionHold {
    SessionHold {
        session_key: key.to_owned(),
        kind: "block".to_owned(),
        reason: "credential_probing".to_owned(),
        at_ms: 1,
        until_ms,
    }
}

pub(crate) async fn holds_outlive_a_restart_until_they_end(location: &str) {
    let store = open(location).await;
    for (key, until) in [("a", 100), ("b", 200), ("c", 300)] {
        store.hold_session(hold(key, until)).await.unwrap();
    }
    // A shorter hold does not shorten a longer one; a longer one replaces it.
    store.hold_session(hold("c", 250)).await.unwrap();
    store.hold_session(hold("a", 400)).await.unwrap();
    assert!(store.pardon_session("b").await.unwrap());
    assert!(!store.pardon_session("b").await.unwrap());
    store.close().await;

    let store = open(location).await;
    let held = store.session_holds(100, 10).await.unwrap();
    assert_eq!(held, [hold("a", 400), hold("c", 300)]);
    store.prune(300, 1).await.unwrap();
    let all = store.session_holds(0, 10).await.unwrap();
    assert_eq!(all, [hold("a", 400)]);
    assert_eq!(
        store.hold_session(hold(&"x".repeat(257), 1)).await,
        Err(StoreError::Invalid("session_key"))
    );
    store.close().await;
}

pub(crate) async fn canaries_are_kept_once(location: &str) {
    let store = open(location).await;
    let canary = |value: &str, at_ms| CanaryRecord {
        value: value.to_owned(),
        location: "memory".to_owned(),
        severity: "critical".to_owned(),
        at_ms,
    };
    store.add_canary(canary("one", 2)).await.unwrap();
    store.add_canary(canary("two", 1)).await.unwrap();
    assert!(store.add_canary(canary("one", 3)).await.is_err());
    assert_eq!(
        store.canaries().await.unwrap(),
        [canary("two", 1), canary("one", 2)]
    );
    assert_eq!(store.canary_count().await.unwrap(), 2);
    assert!(!format!("{:?}", canary("one", 2)).contains("one"));
    store.close().await;
}
