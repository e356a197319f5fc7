//! What is written, and reading it.

use super::*;
use blastshield_audit::log::{self, Filter, LOG_NAME, query, tail};
use blastshield_audit::{Digest, LogError};

#[test]
fn an_entry_has_the_fields_and_the_chain() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), Options::default(), &hands);
    hands.forward(1500);
    log.append(&note("first")).unwrap();
    log.append(&critical("second")).unwrap();
    drop(log);
    let text = std::fs::read_to_string(folder.path().join(LOG_NAME)).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["prev"], Digest::ZERO.to_string());
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], index as u64 + 1);
        if index > 0 {
            assert_eq!(line["prev"], lines[index - 1]["hash"]);
        }
    }
    assert_eq!(lines[1]["timestamp"], "2023-11-14T22:13:21.500Z");
    assert_eq!(lines[1]["severity"], "INFO");
    assert_eq!(lines[2]["severity"], "CRITICAL");
    assert_eq!(lines[1]["category"], "THREAT");
    assert_eq!(lines[1]["message"], "first");
    assert_eq!(
        lines[1]["details"],
        serde_json::json!({"event": "test", "n": 1})
    );
    assert_eq!(entries(folder.path()), 3);
}

#[test]
fn planted_secrets_are_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), Options::default(), &Hands::new());
    let mut details = Map::new();
    details.insert(
        format!("name {SECRET}"),
        Value::from(format!("value {SECRET}")),
    );
    details.insert("list".to_owned(), serde_json::json!([[{"deep": SECRET}]]));
    details.insert("api_key".to_owned(), Value::from("looks harmless"));
    log.append(&Event::Note {
        severity: Severity::Warn,
        category: Category::Leak,
        name: SECRET,
        message: &format!("message {SECRET}"),
        details,
    })
    .unwrap();
    log.append(&Event::HttpDecision {
        host: SECRET,
        method: SECRET,
        session: Some(SECRET),
        decision: blastshield_audit::Decision::Deny,
        why: SECRET,
    })
    .unwrap();
    drop(log);
    for name in files(folder.path()) {
        let text = std::fs::read_to_string(folder.path().join(&name)).unwrap();
        assert!(
            !text.contains(SECRET) && !text.contains("looks harmless"),
            "{name}"
        );
    }
    assert_eq!(entries(folder.path()), 3);
}

#[test]
fn the_shipped_scanner_redacts() {
    let key = format!(
        "sk-{}{}",
        "proj-", "Zq3vT9xLm2Rk8WbN5yHc7JdF4gPs6AeU1oViXwBzCqKtYrMh"
    );
    let folder = tempfile::tempdir().unwrap();
    let scanner = Arc::new(blastshield_leak::Scanner::shipped());
    let log = Log::open(
        folder.path(),
        Options::default(),
        scanner,
        Hands::new().clock(),
    )
    .unwrap();
    log.append(&note(&format!("found {key} there"))).unwrap();
    drop(log);
    let text = std::fs::read_to_string(folder.path().join(LOG_NAME)).unwrap();
    assert!(!text.contains(&key[10..30]));
}

#[test]
fn oversize_is_cut_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), Options::default(), &Hands::new());
    let details =
        Map::from_iter((0..500).map(|n| (format!("k{n}"), Value::from("ü\"\\\n".repeat(100)))));
    log.append(&Event::Note {
        severity: Severity::Info,
        category: Category::Http,
        name: &"n".repeat(500),
        message: &"long ".repeat(1000),
        details,
    })
    .unwrap();
    let last = tail(folder.path(), 1).unwrap().remove(0);
    assert!(last.message.len() <= 1024 && last.message.ends_with("…[cut]"));
    assert_eq!(last.details["_cut"], true);
    assert!(serde_json::to_string(&last.details).unwrap().len() <= 16 * 1024);
    assert_eq!(entries(folder.path()), 2);
}

#[test]
fn two_writers_are_one_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let first = open(folder.path(), small(), &hands);
    let second = Log::open(folder.path(), small(), Arc::new(Planted), hands.clock());
    assert_eq!(second.unwrap_err(), LogError::Busy);
    first.append(&note("still mine")).unwrap();
    drop(first);
    open(folder.path(), small(), &hands);
}

#[test]
fn many_threads_make_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), small(), &Hands::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (log, folder) = (&log, &folder);
            scope.spawn(move || {
                for step in 0..50 {
                    let event = if step % 10 == 0 {
                        critical("c")
                    } else {
                        note("n")
                    };
                    log.append(&event).unwrap();
                    if thread == 0 && step % 7 == 0 {
                        // A log in use can be checked.
                        assert!(matches!(
                            verify(folder.path()).unwrap(),
                            Verdict::Verified { .. }
                        ));
                    }
                }
            });
        }
    });
    drop(log);
    assert_eq!(entries(folder.path()), 201);
}

#[test]
fn tail_and_query_cross_files() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), small(), &hands);
    for step in 0..40 {
        hands.forward(1000);
        let message = format!("Number {step}");
        log.append(&if step % 4 == 0 {
            critical(&message)
        } else {
            note(&message)
        })
        .unwrap();
    }
    drop(log);
    let last = tail(folder.path(), 10).unwrap();
    let numbers: Vec<u64> = last.iter().map(|entry| entry.seq).collect();
    assert_eq!(numbers, (32..=41).collect::<Vec<_>>());
    assert_eq!(tail(folder.path(), 1000).unwrap().len(), 41);
    assert_eq!(tail(folder.path(), 0).unwrap().len(), 0);

    let count = |filter| {
        query(folder.path(), filter)
            .unwrap()
            .map(Result::unwrap)
            .count()
    };
    let moment = |seconds: u64| Some(Time::from_millis(START + seconds * 1000));
    assert_eq!(count(Filter::default()), 41);
    assert_eq!(
        count(Filter {
            severity: Some(Severity::Critical),
            ..Filter::default()
        }),
        10
    );
    assert_eq!(
        count(Filter {
            category: Some(Category::Threat),
            ..Filter::default()
        }),
        30
    );
    assert_eq!(
        count(Filter {
            since: moment(11),
            until: moment(21),
            ..Filter::default()
        }),
        10
    );
    assert_eq!(
        count(Filter {
            text: Some("nUMBER 3".to_owned()),
            ..Filter::default()
        }),
        11
    );
    assert_eq!(
        count(Filter {
            text: Some("audit_opened".to_owned()),
            ..Filter::default()
        }),
        1
    );
}

#[test]
fn an_empty_folder_is_no_log() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(verify(folder.path()), Err(LogError::Missing));
    assert_eq!(tail(folder.path(), 1), Err(LogError::Missing));
    assert!(query(folder.path(), Filter::default()).is_err());
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    drop(open(&data, small(), &Hands::new()));
    assert_eq!(
        std::fs::metadata(&data).unwrap().permissions().mode() & 0o777,
        0o700
    );
    for name in files(&data) {
        let mode = std::fs::metadata(data.join(&name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_noted_entry_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), small(), &Hands::new());
    log.append(&note("one")).unwrap();
    let noted = log.head();
    log.append(&note("two")).unwrap();
    drop(log);
    assert!(matches!(
        log::verify_with(folder.path(), &[noted]).unwrap(),
        Verdict::Verified { .. }
    ));
    let other = log::Mark {
        seq: noted.seq,
        hash: Digest::of(b"other"),
    };
    assert!(matches!(
        log::verify_with(folder.path(), &[other]).unwrap(),
        Verdict::Broken {
            seq: 2,
            why: log::Why::NotAsKnown,
            ..
        }
    ));
    let later = log::Mark { seq: 99, ..noted };
    assert!(matches!(
        log::verify_with(folder.path(), &[later]).unwrap(),
        Verdict::Broken {
            why: log::Why::EndMissing(99),
            ..
        }
    ));
}

#[test]
fn the_shipped_scanner_leaves_ordinary_words_alone() {
    let scanner = blastshield_leak::Scanner::shipped();
    for word in [
        "agent:main:discord",
        "api.telegram.org",
        "repeated_injection_attempts",
        "messagesPerMinute",
        "6f1c2a34-9b7d-4c1e-8f00-2b5a9d3e7c61",
        "crash-2026-11-16T03-04-27Z.json",
        "MEMORY.md",
        "security-supervisor-audit.00000000000000000042.log",
        "18c5f2a9b3d-1f",
        "203.0.113.7",
    ] {
        assert_eq!(Redact::redact(&scanner, word), word);
    }
    let told = Redact::redact(
        &scanner,
        "wrote to /home/openclaw/.openclaw/MEMORY.md twice",
    )
    .into_owned();
    assert!(!told.contains("MEMORY"), "{told}");
}
