//! `blastshield quarantine` and `blastshield backup`.

use super::{code, command, lines, run, text};
use blastshield_audit::{Event, SystemClock};
use blastshield_leak::Scanner;
use blastshield_recovery::relationships::{Relationships, Tier};
use blastshield_recovery::{Options, Recorder, Recovery, ServiceName, Unrecorded, Workspace};
use blastshield_store::{Store, StoreOptions};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Anybody;

impl Recorder for Anybody {
    fn record(&self, _: &Event<'_>) -> Result<(), Unrecorded> {
        Ok(())
    }
}

/// A service whose session nobody saw end.
fn lose_a_session(folder: &Path) {
    let data = folder.join("data");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(StoreOptions::sqlite(data.join("blastshield.db")))
            .await
            .unwrap();
        let recovery = Recovery::open(
            Options::new(&data),
            store.clone(),
            Arc::new(Anybody),
            Arc::new(Scanner::shipped()),
            Arc::new(SystemClock),
        )
        .unwrap();
        let service = ServiceName::new("moltbook").unwrap();
        drop(recovery.begin(&service).await.unwrap());
        assert_eq!(recovery.resume().await.unwrap(), [service]);
        store.close().await;
    });
}

fn id_of_hold(folder: &Path) -> String {
    let listed = run(folder, &["quarantine", "list", "--json"]);
    assert_eq!(code(&listed), 0, "{}", text(&listed.stderr));
    let holds = lines(&listed);
    assert_eq!(holds.len(), 1);
    assert_eq!(
        (&holds[0]["service"], &holds[0]["kind"]),
        (&"moltbook".into(), &"adversarial".into())
    );
    holds[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_hold_is_listed_shown_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let listed = run(at, &["quarantine", "list"]);
    assert_eq!(text(&listed.stdout), "nothing waits\n");
    lose_a_session(at);
    let id = id_of_hold(at);
    let shown = run(at, &["quarantine", "show", &id]);
    let said = text(&shown.stdout);
    assert_eq!(code(&shown), 0);
    assert!(
        said.contains("MISSING_REPORT") && said.contains("proxies/workspaces/moltbook-quarantine-")
    );
    assert!(said.contains("no known-good backup"), "{said}");
    assert_eq!(code(&run(at, &["quarantine", "show", "zzzzzzzz"])), 1);

    let backup = run(at, &["backup", "now", "--json"]);
    assert_eq!(code(&backup), 1);
    assert_eq!(lines(&backup)[0]["outcome"], "left out");

    let cleared = run(at, &["quarantine", "clear", &id, "--by", "ann"]);
    assert_eq!(code(&cleared), 0, "{}", text(&cleared.stderr));
    assert_eq!(text(&cleared.stdout), "moltbook may go on\n");
    assert_eq!(code(&run(at, &["quarantine", "clear", &id])), 1);
    assert_eq!(code(&run(at, &["quarantine", "clear", "../x"])), 1);
    let log = run(at, &["audit-log", "verify"]);
    assert_eq!(code(&log), 0, "{}", text(&log.stderr));
    let written =
        std::fs::read_to_string(at.join("data/logs/security-supervisor-audit.log")).unwrap();
    assert!(
        written.contains("proxy_cleared") && written.contains("ann"),
        "{written}"
    );
    let all = run(at, &["quarantine", "list", "--all", "--json"]);
    assert_eq!(lines(&all)[0]["cleared_by"], "ann");
}

#[test]
fn backups_are_made_listed_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    lose_a_session(at);
    let id = id_of_hold(at);
    assert_eq!(code(&run(at, &["quarantine", "clear", &id])), 0);
    let workspace = Workspace::open(&at.join("data/proxies/workspaces/moltbook")).unwrap();
    let mut all = Relationships::default();
    all.set_tier("ann", Tier::Friend).unwrap();
    all.write(&workspace).unwrap();
    for (outcome, expected) in [("made", 0), ("unchanged", 0)] {
        let made = run(at, &["backup", "now", "moltbook", "--json"]);
        assert_eq!(code(&made), expected, "{}", text(&made.stderr));
        assert_eq!(lines(&made)[0]["outcome"], outcome);
    }
    let listed = run(at, &["backup", "list", "--json"]);
    assert_eq!(
        (code(&listed), &lines(&listed)[0]["good"]),
        (0, &true.into())
    );
    let backups = at.join("data/proxies/backups/moltbook");
    for entry in std::fs::read_dir(&backups).unwrap() {
        let path = entry.unwrap().path();
        if path.to_str().unwrap().contains("relationships-") {
            std::fs::write(path, "damaged").unwrap();
        }
    }
    let listed = run(at, &["backup", "list"]);
    assert_eq!(code(&listed), 1);
    assert!(text(&listed.stdout).contains("damaged"));
    assert_eq!(code(&run(at, &["backup", "now", "No Service"])), 2);
}

/// A gateway that ends with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_running_gateway_is_asked_to_clear() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    lose_a_session(at);
    let id = id_of_hold(at);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let child = command(at, &["serve", "--port", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _serving = Serving(child);
    let deadline = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "the gateway does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    let there = format!("server.port={port}");
    let cleared = run(at, &["quarantine", "clear", &id, "--json", "--set", &there]);
    assert_eq!(code(&cleared), 0, "{}", text(&cleared.stderr));
    assert_eq!(lines(&cleared)[0]["service"], "moltbook");
    let again = run(at, &["quarantine", "clear", &id, "--set", &there]);
    assert_eq!(code(&again), 1, "{}", text(&again.stderr));
    let written =
        std::fs::read_to_string(at.join("data/logs/security-supervisor-audit.log")).unwrap();
    assert!(written.contains("proxy_cleared"));
}
