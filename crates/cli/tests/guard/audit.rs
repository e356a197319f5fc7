//! `blastshield audit` and `blastshield audit-log` as an operator runs them.

use super::{code, command, lines, text};
use blastshield_audit::{Event, Log, SystemClock, log};
use blastshield_leak::Scanner;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A run in a folder that is also the home, without credentials of whoever runs the tests.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    alone(folder, arguments).output().unwrap()
}

fn alone(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, arguments);
    command.env_clear().env("HOME", folder);
    command
}

fn open(folder: &Path) -> Log {
    let redact = Arc::new(Scanner::shipped());
    let clock = Arc::new(SystemClock);
    Log::open(folder, log::Options::default(), redact, clock).unwrap()
}

fn write(log: &Log, by: &str) {
    let event = Event::ConfigChanged {
        key: "policy.profile",
        by,
    };
    log.append(&event).unwrap();
}

/// A log of an opening and two changes, where the configuration says that it is.
fn logged(folder: &Path) -> String {
    let log = open(&folder.join("data/logs"));
    write(&log, "owner");
    write(&log, "somebody-else");
    let mark = log.head();
    format!("{}:{}", mark.seq, mark.hash)
}

fn shut(folder: &Path) {
    for path in ["data", "data/logs"] {
        fs::set_permissions(folder.join(path), Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_whole_log_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let mark = logged(folder.path());
    let output = run(folder.path(), &["audit-log", "verify", "--mark", &mark]);
    assert_eq!(code(&output), 0, "{output:?}");
    let said = text(&output.stdout);
    assert!(
        said.starts_with("verified: 3 entries, 1 to 3, from 2"),
        "{said}"
    );
    assert!(
        said.contains(&mark) && said.contains("marks found: 1"),
        "{said}"
    );
    let output = run(
        folder.path(),
        &["audit-log", "verify", "--dir", "data/logs", "--json"],
    );
    let answer = &lines(&output)[0];
    assert_eq!(
        (&answer["verified"], &answer["entries"]),
        (&true.into(), &3.into())
    );
}

#[test]
fn a_changed_log_and_a_forged_mark_are_pointed_at() {
    let folder = tempfile::tempdir().unwrap();
    let mark = logged(folder.path());
    let (_, hash) = mark.split_once(':').unwrap();
    let forged = format!("2:{hash}");
    let output = run(folder.path(), &["audit-log", "verify", "--mark", &forged]);
    assert_eq!(code(&output), 1);
    assert!(
        text(&output.stdout)
            .starts_with("BROKEN at security-supervisor-audit.log, line 2 (entry 2)")
    );

    let file = folder
        .path()
        .join("data/logs/security-supervisor-audit.log");
    let changed = fs::read_to_string(&file)
        .unwrap()
        .replacen("somebody-else", "somebody-good", 1);
    fs::write(&file, changed).unwrap();
    let output = run(folder.path(), &["audit-log", "verify", "--json"]);
    assert_eq!(code(&output), 1);
    let answer = &lines(&output)[0];
    assert_eq!((&answer["line"], &answer["seq"]), (&3.into(), &3.into()));
    let output = run(folder.path(), &["audit"]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stdout).contains("log.broken"));
}

#[test]
fn no_log_is_an_answer_and_nonsense_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["verify", "tail", "query"] {
        assert_eq!(
            code(&run(folder.path(), &["audit-log", command])),
            1,
            "{command}"
        );
    }
    for wrong in [
        ["--since", "soon"],
        ["--severity", "loud"],
        ["--category", "x"],
    ] {
        let output = run(folder.path(), &["audit-log", "query", wrong[0], wrong[1]]);
        assert_eq!(code(&output), 2, "{wrong:?}");
    }
    assert_eq!(
        code(&run(
            folder.path(),
            &["audit-log", "verify", "--mark", "1:x"]
        )),
        2
    );
    fs::write(folder.path().join("file"), "").unwrap();
    assert_eq!(
        code(&run(
            folder.path(),
            &["audit-log", "verify", "--dir", "file"]
        )),
        2
    );
}

#[test]
fn entries_are_found_and_cannot_steer_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    logged(folder.path());
    let output = run(
        folder.path(),
        &[
            "audit-log",
            "query",
            "--category",
            "config",
            "--text",
            "SOMEBODY",
        ],
    );
    assert_eq!(
        (code(&output), text(&output.stdout).lines().count()),
        (0, 1)
    );
    for nothing in [
        ["--until", "1d"],
        ["--severity", "critical"],
        ["--text", "no such words"],
    ] {
        let output = run(
            folder.path(),
            &["audit-log", "query", nothing[0], nothing[1]],
        );
        assert_eq!((code(&output), output.stdout.len()), (1, 0), "{nothing:?}");
    }
    let output = run(folder.path(), &["audit-log", "tail", "-n", "2", "--json"]);
    let shown: Vec<Value> = lines(&output);
    assert_eq!(
        shown.iter().map(|entry| &entry["seq"]).collect::<Vec<_>>(),
        [2, 3]
    );

    let file = folder
        .path()
        .join("data/logs/security-supervisor-audit.log");
    let hostile = fs::read_to_string(&file)
        .unwrap()
        .replace("somebody-else", "x\u{9b}2J\u{202e}\\u001b[2J");
    fs::write(&file, hostile).unwrap();
    for arguments in [
        vec!["audit-log", "tail"],
        vec!["audit-log", "tail", "--json"],
    ] {
        let output = run(folder.path(), &arguments);
        assert!(
            !text(&output.stdout).contains(['\u{9b}', '\u{202e}', '\u{1b}']),
            "{output:?}"
        );
    }
}

#[test]
fn a_followed_log_shows_what_comes() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(&folder.path().join("data/logs"));
    write(&log, "before");
    let told = folder.path().join("told");
    let mut child = alone(folder.path(), &["audit-log", "tail", "-n", "1", "--follow"])
        .stdout(fs::File::create(&told).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = |word: &str| {
        let end = Instant::now() + Duration::from_secs(30);
        while !fs::read_to_string(&told).unwrap().contains(word) {
            assert!(Instant::now() < end, "{word} does not come");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("before");
    write(&log, "after-that");
    wait("after-that");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_to_string(&told).unwrap().lines().count(), 2);
}

#[test]
fn the_exit_code_is_the_gravest_finding() {
    let folder = tempfile::tempdir().unwrap();
    logged(folder.path());
    shut(folder.path());
    let judged = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["audit", "--json"], arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (code(&output), report)
    };
    let (exit, report) = judged(&[]);
    assert_eq!(exit, 1, "{report}");
    assert!(report["summary"]["checks"].as_u64().unwrap() >= 40);
    assert_eq!(report["summary"]["critical"], 0, "{report}");
    let (exit, report) = judged(&["--set", "policy.fail_closed=false"]);
    assert_eq!((exit, &report["summary"]["critical"]), (2, &1.into()));
    let found = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["id"] == "policy.fail_open")
        .unwrap();
    assert_eq!(
        (&found["severity"], &found["status"]),
        (&"critical".into(), &"found".into())
    );
    assert!(found["evidence"].as_str().unwrap().contains("flag") && found["fix"].is_string());
    assert_eq!(judged(&["--set", "policy.profile=nonsense"]).0, 3);
    assert!(
        !folder.path().join("data/blastshield.db").exists(),
        "an audit makes nothing"
    );
}

#[test]
fn fixing_says_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    logged(folder.path());
    shut(folder.path());
    let token = folder.path().join("data/owner-token");
    let secret = "0f3c9a71b2d84e65".repeat(4);
    fs::write(&token, &secret).unwrap();
    fs::set_permissions(&token, Permissions::from_mode(0o644)).unwrap();
    let output = run(folder.path(), &["audit"]);
    assert_eq!(code(&output), 2, "{output:?}");
    assert!(text(&output.stdout).contains("chmod g-rwx,o-rwx 'data/owner-token'"));
    let output = run(folder.path(), &["audit", "--fix"]);
    assert_eq!(code(&output), 1, "{output:?}");
    assert!(text(&output.stdout).starts_with("fixed: data/owner-token was 0644, is 0600\n"));
    assert!(!text(&output.stdout).contains(&secret));
    assert_eq!(
        fs::metadata(&token).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn openclaw_is_found_at_home_or_where_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".openclaw")).unwrap();
    let config = "{ // mine\n channels: { telegram: { dmPolicy: 'open' } }, }";
    fs::write(folder.path().join(".openclaw/openclaw.json"), config).unwrap();
    fs::write(
        folder.path().join("other.json"),
        "{ tools: { exec: { security: 'full' } } }",
    )
    .unwrap();
    let at_home = run(folder.path(), &["audit"]);
    assert_eq!(code(&at_home), 2);
    let said = text(&at_home.stdout);
    assert!(said.contains("openclaw.open_messages") && !said.contains("openclaw.exec_full"));
    assert!(!said.contains(folder.path().to_str().unwrap()), "{said}");
    let named = run(folder.path(), &["audit", "--openclaw", "other.json"]);
    let said = text(&named.stdout);
    assert!(!said.contains("openclaw.open_messages") && said.contains("openclaw.exec_full"));
}

#[test]
fn the_documented_list_of_checks_is_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["audit", "--list"]);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let documented = fs::read_to_string(docs).unwrap();
    assert!(
        documented.contains(text(&output.stdout).trim_end()),
        "run `blastshield audit --list`"
    );
}
