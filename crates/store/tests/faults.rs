//! What the store says when its ground gives way, and that it comes back by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod common;

use blastshield_store::*;
use common::*;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

const FOLDER: &str = "BLASTSHIELD_STORE_TEST_TMPFS";

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn impatient(location: &str) -> StoreOptions {
    let mut options = options(location);
    options.busy_timeout = Duration::from_millis(100);
    options.write_timeout = Duration::from_secs(2);
    options
}

#[tokio::test]
async fn files_belong_to_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("made/for it");
    let path = inner.join("50%?#.db");
    let store = Store::open(StoreOptions::sqlite(&path)).await.unwrap();
    store.record_fetch(fetch("f", 1)).await.unwrap();
    assert_eq!(mode(&inner), 0o700);
    let files: Vec<_> = fs::read_dir(&inner).unwrap().flatten().collect();
    assert!(files.len() >= 2, "the file and its log");
    for file in files {
        assert_eq!(mode(file.path()), 0o600, "{:?}", file.file_name());
    }
    store.close().await;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let again = Store::open(StoreOptions::sqlite(&path)).await.unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(again.recent_fetches(9).await.unwrap().len(), 1);
    again.close().await;
    assert_eq!(
        fs::read_dir(&inner).unwrap().count(),
        1,
        "closing folds the log into the file"
    );
}

#[tokio::test]
async fn a_lone_record_is_brought_to_the_disk_soon() {
    const SYNCED: &str = "SELECT CAST(count AS TEXT) FROM store_probe";
    let folder = tempfile::tempdir().unwrap();
    let location = file_in(folder.path());
    let store = Store::open(options(&location)).await.unwrap();
    store.record_fetch(fetch("f", 1)).await.unwrap();
    let patience = Instant::now() + Duration::from_secs(30);
    while column(&location, SYNCED).await.is_empty() {
        assert!(Instant::now() < patience, "no commit that waits came after");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    store.close().await;
}

#[tokio::test]
async fn the_last_records_reach_the_disk_at_the_end_though_another_has_the_file_open() {
    let folder = tempfile::tempdir().unwrap();
    let location = file_in(folder.path());
    let store = Store::open(options(&location)).await.unwrap();
    let other = Store::open(options(&location)).await.unwrap();
    store.record_fetch(fetch("f", 1)).await.unwrap();
    store.close().await;
    let synced = column(&location, "SELECT CAST(count AS TEXT) FROM store_probe").await;
    assert_eq!(
        synced,
        ["1"],
        "closing folds nothing while another is there"
    );
    other.close().await;
}

#[tokio::test]
async fn what_is_no_database_of_ours_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    let letter = "Dear all, ".repeat(1000);
    fs::write(&path, &letter).unwrap();
    let error = Store::open(StoreOptions::sqlite(&path)).await.unwrap_err();
    assert_eq!(error, StoreError::Corrupt);
    assert_eq!(fs::read_to_string(&path).unwrap(), letter);
    let error = Store::open(StoreOptions::sqlite(folder.path()))
        .await
        .unwrap_err();
    assert_eq!(
        error,
        StoreError::Config("the location is not a regular file")
    );
    let error = Store::open(StoreOptions::sqlite(path.join("below.db")))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Config(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("letter"));
}

#[tokio::test]
async fn a_damaged_file_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_in(folder.path());
    let store = Store::open(options(&path)).await.unwrap();
    for n in 0..50 {
        store
            .flag_payload(payload(&format!("f{n}"), n, &[b'x'; 5_000]))
            .await
            .unwrap();
    }
    store.close().await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[8192..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let outcome = match Store::open(options(&path)).await {
        Ok(store) => store.list_flagged(500, None).await.map(drop),
        Err(error) => Err(error),
    };
    assert_eq!(outcome, Err(StoreError::Corrupt));
}

#[tokio::test]
async fn a_locked_file_is_busy_until_it_is_free() {
    use sqlx::{ConnectOptions, Connection};
    let folder = tempfile::tempdir().unwrap();
    let path = file_in(folder.path());
    let store = Store::open(impatient(&path)).await.unwrap();
    store.record_fetch(fetch("before", 1)).await.unwrap();
    let mut other = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(&path)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    assert_eq!(
        store.record_fetch(fetch("during", 1)).await,
        Err(StoreError::Busy)
    );
    assert_eq!(store.ping().await, Err(StoreError::Busy));
    assert_eq!(
        store.recent_fetches(9).await.unwrap().len(),
        1,
        "reading goes on"
    );
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    store.record_fetch(fetch("after", 1)).await.unwrap();
    store.ping().await.unwrap();
    assert_eq!(
        store.recent_fetches(9).await.unwrap().len(),
        2,
        "what was refused is not there"
    );
    other.close().await.unwrap();
    store.close().await;
}

/// SQLite's own quota: the same result code as a full disk, from the same place in a write.
#[tokio::test]
async fn a_full_store_recovers_when_rows_are_pruned() {
    let folder = tempfile::tempdir().unwrap();
    let mut small = options(&file_in(folder.path()));
    small.max_pages = Some(100);
    let store = Store::open(small).await.unwrap();
    let (kept, error) = fill(&store, "f").await;
    assert_eq!(error, StoreError::Full);
    assert!(error.is_temporary());
    assert_eq!(
        store.recent_fetches(500).await.unwrap().len(),
        kept,
        "reading goes on"
    );
    let pruned = store.prune(10_000, 0).await.unwrap();
    assert_eq!(
        (pruned.fetches, pruned.payloads),
        (kept as u64, kept as u64)
    );
    store
        .record_blocked(fetch("after", 1), payload("after", 1, &[b'x'; 20_000]))
        .await
        .unwrap();
    store.ping().await.unwrap();
    store.close().await;
}

async fn fill(store: &Store, prefix: &str) -> (usize, StoreError) {
    for n in 0..500 {
        let id = format!("{prefix}{n}");
        if let Err(error) = store
            .record_blocked(fetch(&id, 1), payload(&id, 1, &[b'x'; 20_000]))
            .await
        {
            return (n, error);
        }
    }
    panic!("it never filled up");
}

/// A real file system without space, mounted in a namespace of its own, where the machine allows that.
#[test]
fn a_full_disk_is_full_until_there_is_space() {
    let folder = tempfile::tempdir().unwrap();
    let namespace = ["--user", "--map-root-user", "--mount"];
    let mount = "mount -t tmpfs -o size=1m tmpfs \"$0\"";
    let possible = Command::new("unshare")
        .args(namespace)
        .args(["sh", "-c", mount])
        .arg(folder.path())
        .output();
    if !possible.is_ok_and(|output| output.status.success()) {
        eprintln!("left out: no mount in a namespace here; the quota test stands for it");
        return;
    }
    let outcome = Command::new("unshare")
        .args(namespace)
        .args(["sh", "-c", &format!("{mount} && exec \"$@\"")])
        .arg(folder.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "on_a_small_disk", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&outcome.stdout),
        String::from_utf8_lossy(&outcome.stderr),
    );
    assert!(
        outcome.status.success() && out.contains("1 passed"),
        "{out}\n{err}"
    );
}

#[tokio::test]
#[ignore = "run by the test above, inside its namespace"]
async fn on_a_small_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![0; 400_000]).unwrap();
    let path = file_in(folder);
    let store = Store::open(options(&path)).await.unwrap();
    let (kept, error) = fill(&store, "f").await;
    assert_eq!(error, StoreError::Full);
    // The probe is small and may still find room.
    assert!(matches!(store.ping().await, Ok(()) | Err(StoreError::Full)));
    assert_eq!(
        store.recent_fetches(500).await.unwrap().len(),
        kept,
        "reading goes on"
    );
    fs::remove_file(&ballast).unwrap();
    store.ping().await.unwrap();
    store.record_fetch(fetch("after", 1)).await.unwrap();
    let (more, error) = fill(&store, "g").await;
    assert_eq!(error, StoreError::Full);
    store.close().await;

    let read_only = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(folder)
        .status()
        .unwrap();
    assert!(read_only.success());
    let error = Store::open(options(&path)).await.unwrap_err();
    assert_eq!(error, StoreError::ReadOnly);
    assert!(
        Command::new("mount")
            .args(["-o", "remount,rw,size=8m"])
            .arg(folder)
            .status()
            .unwrap()
            .success()
    );
    let store = Store::open(options(&path)).await.unwrap();
    assert_eq!(
        store.recent_fetches(500).await.unwrap().len(),
        kept + more + 1
    );
    store.close().await;
}

#[tokio::test]
async fn postgres_may_fail_and_come_back() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    locked_tables_are_busy(&cluster.database()).await;
    settings_that_cannot_work_are_named(&cluster).await;
    a_killed_server_is_unavailable_until_it_is_back(&mut cluster).await;
    a_server_proves_its_name(&mut cluster).await;
}

async fn a_server_proves_its_name(cluster: &mut Cluster) {
    let (url, cert) = cluster.secure();
    let url = format!("{url}?sslmode=verify-full");
    let stranger = Store::open(options(&url)).await.unwrap_err();
    assert!(matches!(stranger, StoreError::Config(_)), "{stranger:?}");
    let trusted = format!("{url}&sslrootcert={}", cert.display());
    let store = Store::open(options(&trusted)).await.unwrap();
    store.record_fetch(fetch("over_tls", 1)).await.unwrap();
    store.close().await;
    let other_name = trusted.replace("localhost", "127.0.0.1");
    let stranger = Store::open(options(&other_name)).await.unwrap_err();
    assert!(matches!(stranger, StoreError::Config(_)), "{stranger:?}");
}

async fn locked_tables_are_busy(url: &str) {
    use sqlx::Connection;
    let store = Store::open(impatient(url)).await.unwrap();
    let mut other = sqlx::postgres::PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE fetch_events IN SHARE MODE")
        .execute(&mut other)
        .await
        .unwrap();
    assert_eq!(
        store.record_fetch(fetch("during", 1)).await,
        Err(StoreError::Busy)
    );
    assert!(
        store.recent_fetches(9).await.unwrap().is_empty(),
        "reading goes on"
    );
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    store.record_fetch(fetch("after", 1)).await.unwrap();
    store.close().await;
}

async fn settings_that_cannot_work_are_named(cluster: &Cluster) {
    let error = Store::open(options(&cluster.url("absent")))
        .await
        .unwrap_err();
    assert_eq!(error, StoreError::Config("PostgreSQL has no such database"));
    let url = cluster.database();
    let read_only = format!("{url}?options=-c%20default_transaction_read_only%3Don");
    let error = Store::open(options(&read_only)).await.unwrap_err();
    assert_eq!(error, StoreError::ReadOnly);
}

async fn a_killed_server_is_unavailable_until_it_is_back(cluster: &mut Cluster) {
    let store = Store::open(impatient(&cluster.database())).await.unwrap();
    for n in 0..20 {
        store
            .record_blocked(
                fetch(&format!("f{n}"), 1),
                payload(&format!("f{n}"), 1, b"x"),
            )
            .await
            .unwrap();
    }
    cluster.crash();
    assert_eq!(
        store.record_fetch(fetch("lost", 1)).await,
        Err(StoreError::Unavailable)
    );
    assert_eq!(store.recent_fetches(9).await, Err(StoreError::Unavailable));
    assert_eq!(store.ping().await, Err(StoreError::Unavailable));
    cluster.resume();
    assert_eq!(store.list_flagged(500, None).await.unwrap().len(), 20);
    store.ping().await.unwrap();
    store.record_fetch(fetch("after", 1)).await.unwrap();
    // With nobody writing meanwhile, a restart goes unnoticed.
    cluster.crash();
    cluster.resume();
    store.record_fetch(fetch("unnoticed", 1)).await.unwrap();
    assert_eq!(store.recent_fetches(500).await.unwrap().len(), 22);
    store.close().await;
}

#[tokio::test]
async fn a_server_that_never_answers_costs_bounded_time() {
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = mute.local_addr().unwrap().port();
    let mut options = options(&format!("postgres://me:hunter2@127.0.0.1:{port}/x"));
    options.write_timeout = Duration::from_millis(200);
    let started = Instant::now();
    let error = Store::open(options.clone()).await.unwrap_err();
    assert_eq!(error, StoreError::Unavailable);
    assert!(started.elapsed() < Duration::from_secs(20));
    drop(mute);
    let error = Store::open(options).await.unwrap_err();
    assert_eq!(error, StoreError::Unavailable);
    assert!(!format!("{error:?} {error}").contains("hunter2"));
}
