//! What the store promises, on SQLite and on PostgreSQL alike.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod approvals;
mod channels;
mod common;
mod guarding;
mod payments;
mod recovery;
mod web;

use approvals::*;
use blastshield_store::*;
use channels::*;
use common::*;
use guarding::*;
use payments::*;
use recovery::*;
use std::time::Duration;
use tokio::task::JoinSet;
use web::*;

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
    alerts_wait_for_each_channel_across_restarts,
    too_many_alerts_cost_the_ordinary_first,
    an_alert_is_carried_by_one_at_a_time,
    a_payment_comes_back_and_moves_once,
    a_day_is_never_overspent,
    pruning_leaves_what_may_still_be_paid_or_is_unknown,
    payments_are_bounded,
    a_session_ends_with_all_that_follows,
    nothing_begins_while_a_hold_is_on,
    trouble_counts_until_it_is_settled,
    pruning_leaves_holds_that_are_on,
    tasks_are_kept_interrupted_and_trimmed,
);

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
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
