//! What a durable write costs, alone and in company: `cargo nextest run -p blastshield-store --run-ignored only -E
//! 'test(throughput)' --no-capture --release`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod common;

use blastshield_store::Store;
use common::*;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn throughput_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    measure("sqlite", &file_in(folder.path())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn throughput_on_postgres() {
    let Some(cluster) = Cluster::synced() else {
        return;
    };
    measure("postgres", &cluster.database()).await;
}

async fn measure(name: &str, location: &str) {
    let store = Store::open(options(location)).await.unwrap();
    for kind in ["fetch", "search of 10", "blocked 50 KB", "find_result"] {
        for writers in [1, 16, 128] {
            let started = Instant::now();
            let mut tasks = tokio::task::JoinSet::new();
            for writer in 0..writers {
                let store = store.clone();
                tasks.spawn(async move {
                    let mut waits = Vec::new();
                    while started.elapsed() < Duration::from_secs(2) {
                        let id = format!(
                            "{}-{writers}-{writer}-{}",
                            kind.replace(' ', "_"),
                            waits.len()
                        );
                        let at = Instant::now();
                        one(&store, kind, &id).await;
                        waits.push(at.elapsed());
                    }
                    waits
                });
            }
            let mut waits: Vec<Duration> = tasks.join_all().await.into_iter().flatten().collect();
            let seconds = started.elapsed().as_secs_f64();
            waits.sort();
            let (p50, p99) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
            println!(
                "{name:9} {kind:14} {writers:4} at once: {:8.0}/s  p50 {p50:>10.2?}  p99 {p99:>10.2?}",
                waits.len() as f64 / seconds
            );
        }
    }
    store.close().await;
}

async fn one(store: &Store, kind: &str, id: &str) {
    match kind {
        "fetch" => store.record_fetch(fetch(id, 1)).await.unwrap(),
        "search of 10" => {
            let results = (0..10).map(|n| result(&format!("{id}-{n}"), 99)).collect();
            store.save_search(search(id, 1, results)).await.unwrap();
        }
        "blocked 50 KB" => {
            store
                .record_blocked(fetch(id, 1), payload(id, 1, &[b'x'; 50_000]))
                .await
                .unwrap();
        }
        _ => {
            store
                .find_result("search_of_10-1-0-0-3", 1)
                .await
                .unwrap()
                .unwrap();
        }
    }
}
