//! New files, new days, old files: the chain goes on.

use super::*;
use blastshield_audit::log::{Filter, LOG_NAME, query};
use std::collections::BTreeSet;

fn events(folder: &Path, name: &str) -> Vec<Map<String, Value>> {
    query(folder, Filter::default())
        .unwrap()
        .map(|entry| entry.unwrap().details)
        .filter(|details| details["event"] == name)
        .collect()
}

#[test]
fn a_full_file_is_followed_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    for round in 0..3 {
        let log = open(folder.path(), small(), &hands);
        for _ in 0..20 {
            log.append(&note("fills the file")).unwrap();
        }
        drop(log);
        assert_eq!(entries(folder.path()), 21 * (round + 1));
    }
    let logs: Vec<_> = files(folder.path())
        .into_iter()
        .filter(|name| name.ends_with(".log"))
        .collect();
    assert!(logs.len() > 10);
    for name in &logs {
        assert!(std::fs::metadata(folder.path().join(name)).unwrap().len() < 1500 + 600);
    }
}

#[test]
fn a_day_ends_with_an_anchor() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), Options::default(), &hands);
    log.append(&note("first day")).unwrap();
    let head = log.head();
    hands.forward(DAY);
    log.append(&note("second day")).unwrap();
    hands.forward(DAY);
    log.flush().unwrap();
    // The clock going back does not end a day again.
    hands.0.fetch_sub(DAY, Ordering::SeqCst);
    log.append(&note("back")).unwrap();
    hands.forward(DAY);
    log.append(&note("forth")).unwrap();
    drop(log);
    let anchors = events(folder.path(), "audit_anchor");
    assert_eq!(anchors.len(), 2);
    assert_eq!(anchors[0]["day"], "2023-11-14");
    assert_eq!(anchors[0]["entries"], 2);
    assert_eq!(anchors[0]["through"], head.seq);
    assert_eq!(anchors[0]["hash"], head.hash.to_string());
    assert_eq!(anchors[1]["day"], "2023-11-15");
    assert_eq!(entries(folder.path()), 7);
    assert_eq!(
        files(folder.path())
            .iter()
            .filter(|name| name.ends_with(".log"))
            .count(),
        3
    );
}

#[test]
fn a_day_that_ended_while_nobody_wrote_is_closed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    drop(open(folder.path(), Options::default(), &hands));
    hands.forward(3 * DAY);
    drop(open(folder.path(), Options::default(), &hands));
    assert_eq!(events(folder.path(), "audit_anchor").len(), 1);
    assert_eq!(entries(folder.path()), 3);
}

#[test]
fn old_files_go_and_the_rest_is_still_proven() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let options = Options {
        retain_days: Some(3),
        ..small()
    };
    let mut seen = BTreeSet::new();
    for _ in 0..12 {
        let log = open(folder.path(), options, &hands);
        for _ in 0..7 {
            log.append(&note("another day")).unwrap();
        }
        drop(log);
        let Verdict::Verified {
            first,
            entries,
            last,
            ..
        } = verify(folder.path()).unwrap()
        else {
            panic!("broken");
        };
        assert_eq!(entries, last.seq - first.seq + 1);
        seen.insert(first.seq);
        hands.forward(DAY);
    }
    assert!(seen.len() > 5, "nothing was deleted: {seen:?}");
    let oldest = query(folder.path(), Filter::default())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert!(oldest.timestamp.day() + 5 >= Time::from_millis(START + 12 * DAY).day());
    assert!(!events(folder.path(), "audit_pruned").is_empty());

    // Deleting one more by hand is not covered by any entry.
    let first = files(folder.path())
        .into_iter()
        .find(|name| name.ends_with(".log"))
        .unwrap();
    std::fs::remove_file(folder.path().join(first)).unwrap();
    assert!(matches!(
        verify(folder.path()).unwrap(),
        Verdict::Broken { .. }
    ));
}

#[test]
fn a_start_between_the_two_renames_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let hands = Hands::new();
    let log = open(folder.path(), Options::default(), &hands);
    log.append(&note("one")).unwrap();
    drop(log);
    let rotated = format!("security-supervisor-audit.{:020}.log", 1);
    std::fs::rename(folder.path().join(LOG_NAME), folder.path().join(&rotated)).unwrap();
    std::fs::write(folder.path().join("security-supervisor-audit.next"), "").unwrap();
    drop(open(folder.path(), Options::default(), &hands));
    assert_eq!(entries(folder.path()), 3);

    // And right after them, before anything was written.
    std::fs::rename(folder.path().join(LOG_NAME), folder.path().join(&rotated)).unwrap();
    std::fs::write(folder.path().join(LOG_NAME), "").unwrap();
    drop(open(folder.path(), Options::default(), &hands));
    assert_eq!(entries(folder.path()), 4);

    // And with a first line torn.
    let second = format!("security-supervisor-audit.{:020}.log", 4);
    std::fs::rename(folder.path().join(LOG_NAME), folder.path().join(second)).unwrap();
    std::fs::write(folder.path().join(LOG_NAME), "{\"seq\":5,\"tim").unwrap();
    drop(open(folder.path(), Options::default(), &hands));
    let Verdict::Verified {
        entries: 6,
        incidents,
        ..
    } = verify(folder.path()).unwrap()
    else {
        panic!("broken");
    };
    assert_eq!(incidents.len(), 1);
}
