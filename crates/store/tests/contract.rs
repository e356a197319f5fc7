//! What the store promises, on SQLite and on PostgreSQL alike.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod common;
mod payments;
mod recovery;

use blastshield_store::*;
use common::*;
use payments::*;
use recovery::*;
use std::time::Duration;
use tokio::task::JoinSet;

macro_rules! contract {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $case() {
                    let folder = tempfile::tempdir().unwrap();
                    super::$case(&super::file_in(folder.path())).await;
                }
            )*
        }

        /// One server for all cases: starting it costs more than they do.
        #[tokio::test]
        async fn postgres_keeps_the_same_contract() {
            let Some(cluster) = Cluster::start() else { return };
            $(
                eprintln!(stringify!($case));
                $case(&cluster.database()).await;
            )*
        }
    };
}

contract!(
    requests_within_an_hour_are_bounded_and_listed_page_by_page,
    results_are_found_until_they_expire,
    a_search_is_kept_whole_or_not_at_all,
    a_duplicate_harms_no_other_writer,
    every_field_of_a_fetch_comes_back,
    a_payload_comes_back_byte_for_byte,
    a_long_payload_is_cut,
    a_blocked_fetch_is_kept_with_its_payload_or_not_at_all,
    flagged_payloads_are_listed_page_by_page,
    pruning_takes_what_is_past_and_nothing_else,
    close_finishes_what_was_taken,
    a_newer_schema_is_refused,
    gateways_that_start_together_migrate_once,
    gateways_share_what_they_keep,
    a_full_queue_is_busy,
    a_heavy_queue_is_busy,
    hostile_values_are_values,
    bounds_are_kept,
    nul_in_text_is_replaced,
    holds_outlive_a_restart_until_they_end,
    canaries_are_kept_once,
    an_approval_is_decided_once,
    an_approval_expires_is_recorded_and_is_used_once,
    open_approvals_are_bounded,
    a_grant_is_made_with_its_decision,
    notices_and_cursors_outlive_a_restart,
    pruning_leaves_open_approvals_and_standing_grants,
    a_payment_comes_back_and_moves_once,
    a_day_is_never_overspent,
    pruning_leaves_what_may_still_be_paid_or_is_unknown,
    payments_are_bounded,
    a_session_ends_with_all_that_follows,
    nothing_begins_while_a_hold_is_on,
    trouble_counts_until_it_is_settled,
    pruning_leaves_holds_that_are_on,
);

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
}

async fn results_are_found_until_they_expire(location: &str) {
    let store = open(location).await;
    store.ping().await.unwrap();
    let mut bare = result("r2", 2_000);
    bare.published = None;
    bare.risk_hint = None;
    bare.title = String::new();
    store
        .save_search(search("s1", 1_000, vec![result("r1", 1_500), bare.clone()]))
        .await
        .unwrap();
    assert_eq!(
        store.find_result("r1", 1_499).await.unwrap(),
        Some(result("r1", 1_500))
    );
    assert_eq!(store.find_result("r1", 1_500).await.unwrap(), None);
    assert_eq!(store.find_result("r2", 1_500).await.unwrap(), Some(bare));
    assert_eq!(store.find_result("r3", 0).await.unwrap(), None);
    store
        .save_search(search("s2", 1_000, vec![]))
        .await
        .unwrap();
    store.close().await;
}

async fn a_search_is_kept_whole_or_not_at_all(location: &str) {
    let store = open(location).await;
    store
        .save_search(search("s1", 1, vec![result("taken", 99)]))
        .await
        .unwrap();
    let clash = search("s2", 1, vec![result("fresh", 99), result("taken", 99)]);
    assert_eq!(store.save_search(clash).await, Err(StoreError::Duplicate));
    assert_eq!(store.find_result("fresh", 0).await.unwrap(), None);
    store
        .save_search(search("s2", 1, vec![result("fresh", 99)]))
        .await
        .unwrap();
    assert!(store.find_result("fresh", 0).await.unwrap().is_some());
    store.close().await;
}

async fn a_duplicate_harms_no_other_writer(location: &str) {
    let store = open(location).await;
    store.record_fetch(fetch("f7", 1)).await.unwrap();
    let mut writers = JoinSet::new();
    for n in 0..90 {
        let store = store.clone();
        writers.spawn(async move { (n, store.record_fetch(fetch(&format!("f{n}"), 1)).await) });
    }
    for (n, outcome) in writers.join_all().await {
        let expected = if n == 7 {
            Err(StoreError::Duplicate)
        } else {
            Ok(())
        };
        assert_eq!(outcome, expected, "{n}");
    }
    assert_eq!(store.recent_fetches(500).await.unwrap().len(), 90);
    store.close().await;
}

async fn every_field_of_a_fetch_comes_back(location: &str) {
    let store = open(location).await;
    let mut full = fetch("f1", 5);
    full.kind = FetchKind::Fetch;
    full.result_id = Some("r1".into());
    full.final_host = Some("www.example.org".into());
    full.decision = FetchDecision::Block;
    full.flags = vec!["quote\"d".into(), "back\\slash".into(), "日本".into()];
    full.reason = Some("score 12.5 is at or above 10".into());
    full.bypassed = true;
    full.error_code = Some("upstream_timeout".into());
    let mut failed = fetch("f2", 6);
    failed.decision = FetchDecision::Error;
    failed.content_sha256 = None;
    store.record_fetch(full.clone()).await.unwrap();
    store.record_fetch(failed.clone()).await.unwrap();
    assert_eq!(
        store.recent_fetches(10).await.unwrap(),
        [failed.clone(), full]
    );
    assert_eq!(store.recent_fetches(1).await.unwrap(), [failed]);
    assert_eq!(store.recent_fetches(0).await.unwrap(), []);
    store.close().await;
}

async fn a_payload_comes_back_byte_for_byte(location: &str) {
    let store = open(location).await;
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    store.flag_payload(payload("f1", 1, &bytes)).await.unwrap();
    assert_eq!(
        store.get_flagged("f1").await.unwrap(),
        Some(payload("f1", 1, &bytes))
    );
    store.flag_payload(payload("f2", 1, b"")).await.unwrap();
    assert_eq!(store.get_flagged("f2").await.unwrap().unwrap().content, b"");
    assert_eq!(store.get_flagged("f3").await.unwrap(), None);
    store.close().await;
}

async fn a_long_payload_is_cut(location: &str) {
    let store = open(location).await;
    let long = vec![b'x'; 3 << 20];
    store.flag_payload(payload("f1", 1, &long)).await.unwrap();
    let kept = store.get_flagged("f1").await.unwrap().unwrap();
    assert_eq!((kept.content.len(), kept.len), (1 << 20, 3 << 20));
    store.close().await;
}

async fn a_blocked_fetch_is_kept_with_its_payload_or_not_at_all(location: &str) {
    let store = open(location).await;
    store
        .record_blocked(fetch("f1", 1), payload("f1", 1, b"bad"))
        .await
        .unwrap();
    assert_eq!(store.recent_fetches(9).await.unwrap().len(), 1);
    assert!(store.get_flagged("f1").await.unwrap().is_some());
    store
        .flag_payload(payload("f2", 1, b"already here"))
        .await
        .unwrap();
    let clash = store
        .record_blocked(fetch("f2", 1), payload("f2", 1, b"bad"))
        .await;
    assert_eq!(clash, Err(StoreError::Duplicate));
    assert_eq!(store.recent_fetches(9).await.unwrap().len(), 1);
    let mixed = store
        .record_blocked(fetch("f3", 1), payload("f4", 1, b"bad"))
        .await;
    assert_eq!(mixed, Err(StoreError::Invalid("fetch_id")));
    store.close().await;
}

async fn flagged_payloads_are_listed_page_by_page(location: &str) {
    let store = open(location).await;
    for (id, at_ms) in [("a", 1), ("b", 2), ("c", 2), ("d", 2), ("e", 3)] {
        store
            .flag_payload(payload(id, at_ms, b"bad"))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = store.list_flagged(2, before.as_ref()).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.cursor());
        assert_eq!(
            (page[0].len, page[0].score, page[0].flags.len()),
            (3, 12.5, 1)
        );
        seen.extend(page.into_iter().map(|summary| summary.fetch_id));
    }
    assert_eq!(seen, ["e", "d", "c", "b", "a"]);
    store.close().await;
}

async fn pruning_takes_what_is_past_and_nothing_else(location: &str) {
    const DAY: i64 = 86_400_000;
    let store = open(location).await;
    let now = 100 * DAY;
    let mut writers = JoinSet::new();
    // More than a slice.
    for n in 0..600 {
        let store = store.clone();
        let at = if n < 550 {
            now - 31 * DAY
        } else {
            now - 29 * DAY
        };
        writers.spawn(async move {
            store
                .record_fetch(fetch(&format!("f{n}"), at))
                .await
                .unwrap();
        });
    }
    writers.join_all().await;
    store
        .save_search(search("old", now - 31 * DAY, vec![result("gone", now)]))
        .await
        .unwrap();
    store
        .save_search(search("new", now - DAY, vec![result("live", now + 1)]))
        .await
        .unwrap();
    store
        .flag_payload(payload("old", now - 31 * DAY, b"x"))
        .await
        .unwrap();
    let mut expired = payload("expired", now - DAY, b"x");
    expired.expires_at_ms = now;
    store.flag_payload(expired).await.unwrap();
    store
        .flag_payload(payload("kept", now - DAY, b"x"))
        .await
        .unwrap();

    let pruned = store.prune(now, 30).await.unwrap();
    assert_eq!(
        pruned,
        Pruned {
            searches: 1,
            results: 1,
            fetches: 550,
            payloads: 2,
            more: false
        }
    );
    assert_eq!(store.prune(now, 30).await.unwrap(), Pruned::default());
    assert_eq!(store.recent_fetches(500).await.unwrap().len(), 50);
    assert!(store.find_result("live", now).await.unwrap().is_some());
    assert!(store.get_flagged("kept").await.unwrap().is_some());
    store.prune(i64::MIN, u32::MAX).await.unwrap();
    assert_eq!(store.recent_fetches(500).await.unwrap().len(), 50);
    store.close().await;
}

async fn close_finishes_what_was_taken(location: &str) {
    let store = open(location).await;
    let mut writers = JoinSet::new();
    for n in 0..40 {
        let store = store.clone();
        writers.spawn(async move { store.record_fetch(fetch(&format!("f{n}"), 1)).await });
    }
    tokio::task::yield_now().await;
    store.close().await;
    let outcomes = writers.join_all().await;
    let kept = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert!(
        outcomes
            .iter()
            .all(|outcome| matches!(outcome, Ok(()) | Err(StoreError::Closed)))
    );
    assert_eq!(
        store.record_fetch(fetch("late", 1)).await,
        Err(StoreError::Closed)
    );
    assert_eq!(store.find_result("r", 1).await, Err(StoreError::Closed));
    assert_eq!(store.ping().await, Err(StoreError::Closed));
    store.close().await;
    let again = open(location).await;
    assert_eq!(again.recent_fetches(500).await.unwrap().len(), kept);
    again.close().await;
}

async fn a_newer_schema_is_refused(location: &str) {
    open(location).await.close().await;
    execute(
        location,
        "INSERT INTO schema_versions (version) VALUES (99)",
    )
    .await;
    let refused = Store::open(options(location)).await.unwrap_err();
    assert_eq!(
        refused,
        StoreError::Newer {
            found: 99,
            known: SCHEMA_VERSION
        }
    );
}

async fn gateways_that_start_together_migrate_once(location: &str) {
    let mut gateways = JoinSet::new();
    for _ in 0..6 {
        let options = options(location);
        gateways.spawn(async move { Store::open(options).await.unwrap() });
    }
    for (n, store) in gateways.join_all().await.into_iter().enumerate() {
        store
            .record_fetch(fetch(&format!("f{n}"), 1))
            .await
            .unwrap();
        store.close().await;
    }
}

async fn gateways_share_what_they_keep(location: &str) {
    let (one, two) = (open(location).await, open(location).await);
    one.save_search(search("s1", 1, vec![result("r1", 99)]))
        .await
        .unwrap();
    assert!(two.find_result("r1", 1).await.unwrap().is_some());
    let mut writers = JoinSet::new();
    for n in 0..100 {
        let store = if n % 2 == 0 { one.clone() } else { two.clone() };
        writers.spawn(async move {
            store
                .record_fetch(fetch(&format!("f{n}"), 1))
                .await
                .unwrap();
        });
    }
    writers.join_all().await;
    assert_eq!(two.recent_fetches(500).await.unwrap().len(), 100);
    one.close().await;
    two.close().await;
}

async fn a_full_queue_is_busy(location: &str) {
    let mut options = options(location);
    options.queue_len = 4;
    options.batch_len = 1;
    let store = Store::open(options).await.unwrap();
    overload(&store, b"").await;
    store.close().await;
}

async fn a_heavy_queue_is_busy(location: &str) {
    let mut options = options(location);
    options.queue_bytes = 200_000;
    let store = Store::open(options).await.unwrap();
    overload(&store, &[b'x'; 50_000]).await;
    store
        .flag_payload(payload("alone", 1, &[b'x'; 400_000]))
        .await
        .unwrap();
    store.close().await;
}

/// Some are turned away at once; exactly the others are kept; afterwards there is room again.
async fn overload(store: &Store, content: &[u8]) {
    let mut writers = JoinSet::new();
    for n in 0..60 {
        let (store, id) = (store.clone(), format!("p{n}"));
        let payload = payload(&id, 1, content);
        writers.spawn(async move { (id, store.flag_payload(payload).await) });
    }
    let outcomes = writers.join_all().await;
    assert!(outcomes.iter().any(|(_, outcome)| outcome.is_ok()));
    assert!(
        outcomes
            .iter()
            .any(|(_, outcome)| *outcome == Err(StoreError::Busy))
    );
    for (id, outcome) in outcomes {
        assert!(matches!(outcome, Ok(()) | Err(StoreError::Busy)));
        assert_eq!(
            store.get_flagged(&id).await.unwrap().is_some(),
            outcome.is_ok(),
            "{id}"
        );
    }
    store
        .flag_payload(payload("after", 1, content))
        .await
        .unwrap();
}

async fn hostile_values_are_values(location: &str) {
    let store = open(location).await;
    let mut nasty = result("r'1", 99);
    nasty.title = "'); DROP TABLE search_results_cache; --".into();
    nasty.url = "https://example.org/$1?a=%00&b='\"\\".into();
    store
        .save_search(search("s';--", 1, vec![nasty.clone()]))
        .await
        .unwrap();
    assert_eq!(store.find_result("r'1", 1).await.unwrap(), Some(nasty));
    for id in ["", "' OR '1'='1", "r%", "r_1", &"r".repeat(100_000), "r\0"] {
        assert_eq!(store.find_result(id, 1).await.unwrap(), None);
        assert_eq!(store.get_flagged(id).await.unwrap(), None);
    }
    store.close().await;
}

async fn bounds_are_kept(location: &str) {
    let store = open(location).await;
    let many = (0..101).map(|n| result(&format!("r{n}"), 9)).collect();
    assert_eq!(
        store.save_search(search("s", 1, many)).await,
        Err(StoreError::Invalid("results"))
    );
    let hundred = (0..100).map(|n| result(&format!("r{n}"), 9)).collect();
    store.save_search(search("s", 1, hundred)).await.unwrap();
    assert!(store.find_result("r99", 1).await.unwrap().is_some());
    let mut long = result("long", 9);
    long.url = "u".repeat(9_000);
    assert_eq!(
        store.save_search(search("s2", 1, vec![long])).await,
        Err(StoreError::Invalid("url"))
    );
    let mut event = fetch("f", 1);
    event.score = f64::INFINITY;
    assert_eq!(
        store.record_fetch(event.clone()).await,
        Err(StoreError::Invalid("score"))
    );
    event.score = 0.1;
    event.bytes = u64::MAX;
    store.record_fetch(event).await.unwrap();
    assert_eq!(
        store.recent_fetches(1).await.unwrap()[0].bytes,
        i64::MAX.unsigned_abs()
    );
    tokio::time::timeout(Duration::from_secs(30), store.close())
        .await
        .unwrap();
}

async fn nul_in_text_is_replaced(location: &str) {
    let store = open(location).await;
    let mut odd = result("r1", 9);
    odd.title = "a\0b".into();
    store.save_search(search("s", 1, vec![odd])).await.unwrap();
    assert_eq!(
        store.find_result("r1", 1).await.unwrap().unwrap().title,
        "a\u{fffd}b"
    );
    let mut event = fetch("f", 1);
    event.flags = vec!["x\0y".into()];
    store.record_fetch(event).await.unwrap();
    assert_eq!(store.recent_fetches(1).await.unwrap()[0].flags, ["x\0y"]);
    store.close().await;
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

async fn holds_outlive_a_restart_until_they_end(location: &str) {
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

async fn canaries_are_kept_once(location: &str) {
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

fn asked(id: &str, requester: &str, expires_ms: i64) -> ApprovalRecord {
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

fn limits(pending: u32, per_requester: u32) -> ApprovalLimits {
    ApprovalLimits {
        pending,
        per_requester,
        per_hour: u32::MAX,
    }
}

fn ruling(id: &str, state: &'static str, now_ms: i64, until: Option<i64>) -> Ruling {
    Ruling {
        id: id.to_owned(),
        state,
        scope: "once".to_owned(),
        by: "cli".to_owned(),
        now_ms,
        grant_until_ms: until,
    }
}

async fn an_approval_is_decided_once(location: &str) {
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

async fn an_approval_expires_is_recorded_and_is_used_once(location: &str) {
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

async fn open_approvals_are_bounded(location: &str) {
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

async fn requests_within_an_hour_are_bounded_and_listed_page_by_page(location: &str) {
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

async fn a_grant_is_made_with_its_decision(location: &str) {
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
    let found = store.grant_for("http", "example.com", 60).await.unwrap();
    assert_eq!(found.as_ref(), grants.first());
    assert_eq!(
        store
            .grant_for("http", "www.example.com", 60)
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        store.grant_for("post", "example.com", 60).await.unwrap(),
        None
    );
    assert_eq!(
        store.grant_for("http", "example.com", 900).await.unwrap(),
        None
    );
    assert!(store.revoke_grant("a1", 70).await.unwrap());
    assert!(!store.revoke_grant("a1", 71).await.unwrap());
    assert!(store.grants(80).await.unwrap().is_empty());
    store.close().await;
}

async fn notices_and_cursors_outlive_a_restart(location: &str) {
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

async fn pruning_leaves_open_approvals_and_standing_grants(location: &str) {
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
    assert_eq!(left, ["open", "unrecorded"]);
    let grants = store.grants(5 * DAY).await.unwrap();
    assert_eq!(
        (grants.len(), grants[0].approval_id.as_str()),
        (1, "standing")
    );
    assert_eq!(store.stale_notices("chat").await.unwrap().len(), 1);
    assert!(
        store
            .unshown_approvals("chat", 50)
            .await
            .unwrap()
            .is_empty()
    );
    store.close().await;
}
