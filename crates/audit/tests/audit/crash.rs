//! A process killed while it writes loses nothing that it acknowledged, and what it left torn is told.

use super::*;
use blastshield_audit::log::{Filter, LOG_NAME, query, tail};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const FOLDER: &str = "BLASTSHIELD_AUDIT_TEST_FOLDER";

/// Not a test: the process that is killed. It says what was acknowledged.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let hands = Hands::new();
    let options = Options {
        max_bytes: 20_000,
        retain_days: None,
        ..Options::default()
    };
    let log = open(Path::new(&folder), options, &hands);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (log, hands) = (&log, &hands);
            scope.spawn(move || {
                for step in 0.. {
                    let message = format!("{}-{thread}-{step}", std::process::id());
                    let event = if step % 5 == thread {
                        critical(&message)
                    } else {
                        note(&message)
                    };
                    log.append(&event).unwrap();
                    hands.forward(DAY / 500);
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "ack {message}").unwrap();
                    out.flush().unwrap();
                }
            });
        }
    });
}

fn acknowledged_until_killed(folder: &Path, count: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "crash::child",
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    let mut take = |line: String| seen.extend(line.split_once("ack ").map(|(_, id)| id.to_owned()));
    for line in lines.by_ref().map_while(Result::ok).take(count) {
        take(line);
    }
    child.kill().unwrap();
    for line in lines.map_while(Result::ok) {
        take(line);
    }
    child.wait().unwrap();
    // The last line may be cut by the kill.
    seen.pop();
    seen
}

#[test]
fn nothing_acknowledged_is_lost_to_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 0..8 {
        acknowledged.extend(acknowledged_until_killed(folder.path(), 150 + 37 * round));
        let verdict = verify(folder.path()).unwrap();
        assert!(matches!(verdict, Verdict::Verified { .. }), "{verdict:?}");
    }
    assert!(acknowledged.len() > 1500);
    drop(open(folder.path(), small(), &Hands::new()));
    let kept: HashSet<String> = query(folder.path(), Filter::default())
        .unwrap()
        .map(|entry| entry.unwrap().message)
        .collect();
    for id in &acknowledged {
        assert!(kept.contains(id), "{id} was acknowledged and is gone");
    }
    assert!(matches!(
        verify(folder.path()).unwrap(),
        Verdict::Verified { torn: 0, .. }
    ));
}

#[test]
fn a_torn_end_is_put_aside_and_told_at_every_length() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), Options::default(), &hands);
    log.append(&critical("whole")).unwrap();
    drop(log);
    let path = folder.path().join(LOG_NAME);
    let line = std::fs::read(&path).unwrap();
    let line = line
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap()
        .to_vec();
    let mut due = 2;
    for length in (1..line.len()).step_by(29) {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(&line[..length]);
        std::fs::write(&path, bytes).unwrap();
        assert!(
            matches!(verify(folder.path()).unwrap(), Verdict::Verified { torn, .. } if torn == length as u64)
        );
        drop(open(folder.path(), Options::default(), &hands));
        due += 2;
        assert_eq!(entries(folder.path()), due);
        let told = tail(folder.path(), 2).unwrap().remove(0);
        assert_eq!(told.details["event"], "audit_torn");
        assert_eq!(told.details["content"]["length"], length as u64);
        let aside = told.details["file"].as_str().unwrap();
        assert_eq!(
            std::fs::read(folder.path().join(aside)).unwrap(),
            &line[..length]
        );
    }
    assert!(
        !files(folder.path())
            .iter()
            .any(|name| name.ends_with(".pending"))
    );
}

#[test]
fn what_a_power_cut_left_of_unsynced_entries_is_put_aside_whole() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), Options::default(), &hands);
    log.append(&critical("synced")).unwrap();
    drop(log);
    let path = folder.path().join(LOG_NAME);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(&[0; 700]);
    bytes.extend_from_slice(b"\n{\"seq\":9}\nrest");
    std::fs::write(&path, bytes).unwrap();
    drop(open(folder.path(), Options::default(), &hands));
    assert_eq!(entries(folder.path()), 4);
    assert_eq!(
        tail(folder.path(), 2).unwrap()[0].details["content"]["length"],
        715
    );
}

#[test]
fn a_kill_while_a_torn_end_is_put_aside_is_told_too() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    drop(open(folder.path(), Options::default(), &hands));
    let pending = format!("security-supervisor-audit.{:020}.torn.pending", 1);
    std::fs::write(folder.path().join(&pending), "torn earlier").unwrap();
    drop(open(folder.path(), Options::default(), &hands));
    let told = tail(folder.path(), 2).unwrap().remove(0);
    assert_eq!(told.details["content"]["length"], 12);
    assert!(!folder.path().join(pending).exists());
}
