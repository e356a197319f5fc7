//! What the store promises about searches, fetches and flagged payloads.

use crate::common::*;
use blastshield_store::*;
use tokio::task::JoinSet;

async fn open(location: &str) -> Store {
    Store::open(options(location)).await.unwrap()
}

pub(crate) async fn results_are_found_until_they_expire(location: &str) {
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

pub(crate) async fn a_search_is_kept_whole_or_not_at_all(location: &str) {
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

pub(crate) async fn a_duplicate_harms_no_other_writer(location: &str) {
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

pub(crate) async fn every_field_of_a_fetch_comes_back(location: &str) {
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

pub(crate) async fn a_payload_comes_back_byte_for_byte(location: &str) {
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

pub(crate) async fn a_long_payload_is_cut(location: &str) {
    let store = open(location).await;
    let long = vec![b'x'; 3 << 20];
    store.flag_payload(payload("f1", 1, &long)).await.unwrap();
    let kept = store.get_flagged("f1").await.unwrap().unwrap();
    assert_eq!((kept.content.len(), kept.len), (1 << 20, 3 << 20));
    store.close().await;
}

pub(crate) async fn a_blocked_fetch_is_kept_with_its_payload_or_not_at_all(location: &str) {
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

pub(crate) async fn flagged_payloads_are_listed_page_by_page(location: &str) {
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

pub(crate) async fn pruning_takes_what_is_past_and_nothing_else(location: &str) {
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
