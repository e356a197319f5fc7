//! A process killed while it writes loses nothing that it acknowledged.
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
use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
};

const LOCATION: &str = "BLASTSHIELD_STORE_TEST_LOCATION";
const ROUND: &str = "BLASTSHIELD_STORE_TEST_ROUND";

#[tokio::test]
async fn a_killed_process_loses_nothing_acknowledged_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    survive(&file_in(folder.path())).await;
}

#[tokio::test]
async fn a_killed_process_loses_nothing_acknowledged_on_postgres() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    survive(&cluster.database()).await;
}

async fn survive(location: &str) {
    let mut acknowledged = Vec::new();
    for round in 0..4 {
        let before = acknowledged.len();
        acknowledged.extend(write_until_killed(location, round, 250));
        assert!(
            acknowledged.len() >= before + 250,
            "the child wrote too little"
        );
    }
    let store = Store::open(options(location)).await.unwrap();
    let fetches: HashSet<String> = column(location, "SELECT fetch_id FROM fetch_events")
        .await
        .into_iter()
        .collect();
    for id in &acknowledged {
        let found = match id.split_once('-').unwrap().0 {
            "fetch" => fetches.contains(id),
            "search" => store.find_result(id, 1).await.unwrap().is_some(),
            _ => fetches.contains(id) && store.get_flagged(id).await.unwrap().is_some(),
        };
        assert!(found, "{id} was acknowledged and is gone");
    }
    store.close().await;
}

/// Runs [`child`] until it acknowledged `count` ids, kills it, and gives all ids that it got out.
fn write_until_killed(location: &str, round: u32, count: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "child",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(LOCATION, location)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (mut ids, mut line) = (Vec::new(), String::new());
    while out.read_line(&mut line).unwrap() > 0 {
        // A line cut short by the kill was not read by anyone in full.
        if let Some(id) = line
            .strip_suffix('\n')
            .and_then(|line| line.strip_prefix("ack "))
        {
            ids.push(id.to_owned());
        }
        line.clear();
        if ids.len() == count {
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(!status.success(), "the child ended by itself");
    ids
}

/// Not a test of its own: the process that is killed.
#[test]
#[ignore = "run by the tests above"]
fn child() {
    let Ok(location) = std::env::var(LOCATION) else {
        return;
    };
    let round = std::env::var(ROUND).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(options(&location)).await.unwrap();
        let next = std::sync::Arc::new(AtomicU64::new(0));
        let mut writers = tokio::task::JoinSet::new();
        println!();
        for _ in 0..24 {
            let (store, next, round) = (store.clone(), next.clone(), round.clone());
            writers.spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let kind = ["fetch", "search", "blocked"][(n % 3) as usize];
                    let id = format!("{kind}-{round}-{n}");
                    match kind {
                        "fetch" => store.record_fetch(fetch(&id, 1)).await,
                        "search" => {
                            store
                                .save_search(search(&id, 1, vec![result(&id, 99)]))
                                .await
                        }
                        _ => {
                            store
                                .record_blocked(fetch(&id, 1), payload(&id, 1, &[b'x'; 9_000]))
                                .await
                        }
                    }
                    .unwrap();
                    let mut out = std::io::stdout().lock();
                    out.write_all(format!("ack {id}\n").as_bytes()).unwrap();
                    out.flush().unwrap();
                }
            });
        }
        writers.join_all().await;
    });
}
