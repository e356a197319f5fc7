//! What is, and what is not, the report of a session.

use crate::hostile::{clean_report, ends};
use crate::*;
use blastshield_recovery::CrashReport;
use blastshield_recovery::Kind;
use blastshield_recovery::report::{Found, Unusable};
use blastshield_recovery::snapshot::Bounds;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::symlink;

#[tokio::test]
async fn what_is_no_report_of_this_session_is_none() {
    let world = World::new();
    let stamp = |offset: i64| Time::from_millis(START_MS.saturating_add_signed(offset)).to_string();
    let good = |at: &str| {
        serde_json::json!({
            "crash_id": format!("crash-{at}"), "timestamp": at, "trigger": "TASK_COMPLETE", "trigger_detail": "",
            "last_action": "", "session_request_count": 1, "suspicious_content_hash": null,
            "suspicious_content_length": null, "adversarial": false, "files_written_this_session": [],
        })
    };
    let with = |field: &str, value: serde_json::Value| {
        let mut report = good(&stamp(5));
        report[field] = value;
        report.to_string()
    };
    let mut unknown = good(&stamp(5));
    unknown["note"] = "x".into();
    let mut short = good(&stamp(5));
    short.as_object_mut().unwrap().remove("adversarial");
    let twice = good(&stamp(5))
        .to_string()
        .replacen('{', "{\"adversarial\":false,", 1);
    let cases: Vec<(String, i64, Unusable)> = vec![
        (String::new(), 5, Unusable::Malformed),
        ("[]".to_owned(), 5, Unusable::Malformed),
        (unknown.to_string(), 5, Unusable::Malformed),
        (short.to_string(), 5, Unusable::Malformed),
        (twice, 5, Unusable::Malformed),
        (with("trigger", "CLEAN".into()), 5, Unusable::Malformed),
        (with("adversarial", true.into()), 5, Unusable::Inconsistent),
        (
            with("trigger", "INJECTION_DETECTED".into()),
            5,
            Unusable::Inconsistent,
        ),
        (with("crash_id", "crash-x".into()), 5, Unusable::Malformed),
        (
            with("timestamp", "yesterday".into()),
            5,
            Unusable::Malformed,
        ),
        (
            with("session_request_count", (-1).into()),
            5,
            Unusable::Malformed,
        ),
        (
            with("suspicious_content_hash", "0123456789abcdef".into()),
            5,
            Unusable::Malformed,
        ),
        (
            with("trigger_detail", "x".repeat(5000).into()),
            5,
            Unusable::Malformed,
        ),
        (
            with("files_written_this_session", vec!["/etc/passwd"].into()),
            5,
            Unusable::Malformed,
        ),
        (
            with("files_written_this_session", vec!["../../x"].into()),
            5,
            Unusable::Malformed,
        ),
        (
            with("files_written_this_session", vec!["a"; 2000].into()),
            5,
            Unusable::Malformed,
        ),
        (
            good(&stamp(-60_000)).to_string(),
            -60_000,
            Unusable::OtherTime,
        ),
        (
            good(&stamp(60_000)).to_string(),
            60_000,
            Unusable::OtherTime,
        ),
        ("x".repeat(300 << 10), 5, Unusable::TooLarge),
    ];
    let recovery = world.open().await;
    for (content, offset, why) in cases {
        world.clock.store(START_MS, Ordering::SeqCst);
        let session = recovery.begin(&moltbook()).await.unwrap();
        let name = format!("logs/crash-{}.json", stamp(offset));
        fs::write(session.path().join(name), &content).unwrap();
        world.pass(10);
        let outcome = recovery.end(session, &exit(0)).await.unwrap();
        let shown: String = content.chars().take(300).collect();
        assert_eq!(outcome.evidence.found, Found::Unusable(why), "{shown}");
        assert!(outcome.decision.quarantine);
        recovery
            .clear(&outcome.hold.unwrap(), "owner", false)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_report_that_is_no_file_is_none() {
    type Deed = fn(&Path);
    let name = "logs/crash-2027-01-15T08:00:00.005Z.json";
    let deeds: [Deed; 4] = [
        |place| fs::create_dir(place).unwrap(),
        |place| {
            let status = std::process::Command::new("mkfifo").arg(place).status();
            assert!(status.unwrap().success());
        },
        |place| symlink("/etc/hostname", place).unwrap(),
        |place| {
            fs::write(place, "{}").unwrap();
            fs::hard_link(place, place.with_extension("other")).unwrap();
        },
    ];
    for deed in deeds {
        let world = World::new();
        let (outcome, _) = ends(&world, &exit(0), |place| deed(&place.join(name))).await;
        assert_ne!(outcome.decision.kind, Kind::Reported(Trigger::TaskComplete));
        assert!(outcome.decision.quarantine);
    }
}

#[tokio::test]
async fn an_old_report_is_nobody_elses() {
    let world = World::new();
    {
        let recovery = world.open().await;
        assert!(
            world
                .session(&recovery, Trigger::TaskComplete, idle)
                .await
                .is_clean()
        );
    }
    // The child touches the report of the session before and leaves none of its own.
    let (outcome, _) = ends(&world, &exit(0), |place| {
        for entry in fs::read_dir(place.join("logs")).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().contains("crash-") {
                let text = fs::read(&path).unwrap();
                fs::write(&path, text).unwrap();
            }
        }
    })
    .await;
    assert_eq!(outcome.evidence.found, Found::Missing);
    // Two reports are none.
    let world = World::new();
    let (outcome, _) = ends(&world, &exit(0), |place| {
        clean_report(&world, place, &[]);
        clean_report(&world, place, &[]);
    })
    .await;
    assert_eq!(outcome.evidence.found, Found::Unusable(Unusable::Several));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever a child has to say, core can read it, and what was taken out stays out.
    #[test]
    fn every_report_that_is_written_is_read(
        detail in "(\\PC|[\\x00-\\x1f]|/srv/a/b ){0,400}",
        action in "\\PC{0,300}",
        trigger in 0_usize..6,
        requests in any::<u64>(),
        files in 0_usize..1200,
    ) {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("logs")).unwrap();
        let workspace = Workspace::open(place.path()).unwrap();
        let before = workspace.snapshot(&Bounds::default()).unwrap();
        let files: Vec<RelPath> = (0..files).map(|number| path(&format!("posts/{number}"))).collect();
        let words = LastWords {
            trigger: Trigger::ALL[trigger],
            detail: &detail,
            last_action: &action,
            requests,
            suspicious: Some(Suspicious::of(detail.as_bytes())),
            files_written: &files,
        };
        let now = Time::from_millis(START_MS);
        let written = CrashReport::new(&words, &SCANNER, now);
        written.write(&workspace).unwrap();
        let after = workspace.snapshot(&Bounds::default()).unwrap();
        let found = blastshield_recovery::report::find(&workspace, &before, &after, &SCANNER, (now, now));
        let Found::Report(read, _) = found else {
            panic!("{found:?}");
        };
        prop_assert_eq!(read.trigger(), written.trigger());
        prop_assert_eq!(read.requests(), requests);
        prop_assert_eq!(read.suspicious(), written.suspicious());
        prop_assert_eq!(read.files_written(), written.files_written());
        prop_assert!(!read.detail().chars().any(char::is_control));
    }
}
