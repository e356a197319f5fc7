//! What a child that was taken over may leave behind, and what it gains by it: nothing.

use crate::*;
use blastshield_recovery::{Contradiction, Kind};
use std::fs;
use std::os::unix::fs::symlink;

/// A session whose child ends as it pleases.
pub(crate) async fn ends(
    world: &World,
    facts: &Facts,
    deed: impl FnOnce(&Path),
) -> (Outcome, Recovery) {
    let recovery = world.open().await;
    let session = recovery.begin(&moltbook()).await.unwrap();
    world.pass(5);
    deed(session.path());
    world.pass(5);
    let outcome = recovery.end(session, facts).await.unwrap();
    (outcome, recovery)
}

pub(crate) fn clean_report(world: &World, workspace: &Path, files: &[&str]) {
    let files: Vec<RelPath> = files.iter().map(|file| path(file)).collect();
    let words = LastWords {
        trigger: Trigger::TaskComplete,
        detail: "all is well",
        last_action: "none",
        requests: 1,
        suspicious: None,
        files_written: &files,
    };
    let workspace = Workspace::open(workspace).unwrap();
    blastshield_recovery::CrashReport::new(&words, &SCANNER, world.now())
        .write(&workspace)
        .unwrap();
}

async fn found_out(why: Contradiction, facts: &Facts, deed: impl FnOnce(&World, &Path)) {
    let world = World::new();
    let (outcome, recovery) = ends(&world, facts, |place| {
        deed(&world, place);
    })
    .await;
    assert_eq!(outcome.decision.kind, Kind::Lied, "{why:?}");
    assert_eq!(outcome.evidence.contradictions, [why]);
    assert!(outcome.decision.quarantine);
    assert!(world.is_held(&recovery).await);
    assert_eq!(world.aside().len(), 1);
    let fresh = Workspace::open(&world.workspace())
        .unwrap()
        .snapshot(&Options::new(".").bounds)
        .unwrap();
    assert_eq!(
        (fresh.paths().count(), fresh.oddities().count()),
        (0, 0),
        "nothing of it stays"
    );
}

#[tokio::test]
async fn a_clean_report_hides_no_file() {
    found_out(Contradiction::Files, &exit(0), |world, place| {
        befriend(&["mallory"])(&Workspace::open(place).unwrap());
        clean_report(world, place, &["posts/a.json"]);
    })
    .await;
}

#[tokio::test]
async fn damaged_relationships_are_found_out() {
    found_out(Contradiction::Relationships, &exit(0), |world, place| {
        fs::write(place.join("relationships.json"), "{}").unwrap();
        clean_report(world, place, &["relationships.json"]);
    })
    .await;
}

#[tokio::test]
async fn a_child_ends_no_review() {
    use blastshield_recovery::relationships::Status;
    for ends in [false, true] {
        let world = World::new();
        let recovery = world.open().await;
        let outcome = world
            .session(&recovery, Trigger::TaskComplete, befriend(&["ann", "bob"]))
            .await;
        assert!(outcome.is_clean());
        let workspace = Workspace::open(&world.workspace()).unwrap();
        let mut all = Relationships::read(&workspace).unwrap();
        all.set_status("bob", Status::ReviewRequired);
        all.write(&workspace).unwrap();
        world.pass(1000);
        let outcome = world
            .session(&recovery, Trigger::TaskComplete, |workspace| {
                let mut all = Relationships::read(workspace).unwrap();
                all.set_tier("ann", Tier::Ally).unwrap();
                if ends {
                    all.set_status("bob", Status::Active);
                }
                all.write(workspace).unwrap();
                vec![path("relationships.json")]
            })
            .await;
        assert_eq!(outcome.is_clean(), !ends);
    }
}

#[tokio::test]
async fn a_clean_report_hides_no_exit() {
    for exit in [
        Exit::Code(1),
        Exit::Code(101),
        Exit::Signal(31),
        Exit::Signal(9),
        Exit::TimedOut,
    ] {
        let facts = Facts {
            requests: 1,
            ..Facts::new(exit)
        };
        found_out(Contradiction::Exit, &facts, |world, place| {
            clean_report(world, place, &[]);
        })
        .await;
    }
}

#[tokio::test]
async fn a_clean_report_hides_no_request() {
    let facts = Facts {
        requests: 2,
        ..exit(0)
    };
    found_out(Contradiction::Requests, &facts, |world, place| {
        clean_report(world, place, &[]);
    })
    .await;
    let facts = Facts {
        violations: 1,
        ..exit(0)
    };
    found_out(Contradiction::Requested, &facts, |world, place| {
        clean_report(world, place, &[]);
    })
    .await;
    let facts = Facts {
        burned: true,
        ..exit(0)
    };
    found_out(Contradiction::Burned, &facts, |world, place| {
        clean_report(world, place, &[]);
    })
    .await;
}

#[tokio::test]
async fn links_pipes_and_giants_are_found_out() {
    type Deed = fn(&Path);
    let deeds: [Deed; 7] = [
        |place| fs::create_dir(place.join("logs/crash-zzz")).unwrap(),
        |place| symlink("/etc/passwd", place.join("posts/a.json")).unwrap(),
        |place| symlink("/", place.join("drafts/root")).unwrap(),
        |place| {
            fs::create_dir_all(place.join("posts/a/b/c/d/e/f/g/h")).unwrap();
        },
        |place| {
            let status = std::process::Command::new("mkfifo")
                .arg(place.join("posts/pipe"))
                .status();
            assert!(status.unwrap().success());
        },
        |place| {
            fs::create_dir(place.join("posts/.hidden")).unwrap();
        },
        |place| {
            let file = fs::File::create(place.join("relationships.json")).unwrap();
            file.set_len(1 << 30).unwrap();
        },
    ];
    for deed in deeds {
        found_out(Contradiction::Oddities, &exit(0), |world, place| {
            deed(place);
            clean_report(world, place, &["relationships.json"]);
        })
        .await;
    }
}

/// Means little as root, to whom nothing is closed.
#[tokio::test]
async fn a_workspace_that_is_closed_to_core_is_put_aside() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for closed in ["logs", "posts", ""] {
        let world = World::new();
        let (outcome, recovery) = ends(&world, &exit(0), |place| {
            clean_report(&world, place, &[]);
            mode(&place.join(closed), 0o000).unwrap();
        })
        .await;
        let aside = world.aside();
        if rustix::process::geteuid().is_root() {
            eprintln!("left out for {closed}: nothing is closed to root");
            assert!(outcome.is_clean());
            continue;
        }
        mode(&aside[0].join(closed), 0o700).unwrap();
        assert!(outcome.decision.quarantine, "{closed}");
        assert!(world.is_held(&recovery).await, "{closed}");
    }
}

#[tokio::test]
async fn the_trail_can_be_added_to_and_nothing_else() {
    type Deed = fn(&Path);
    let deeds: [Deed; 4] = [
        |place| fs::write(place.join("logs/audit.jsonl"), "{}\n").unwrap(),
        |place| fs::remove_file(place.join("logs/audit.jsonl")).unwrap(),
        |place| {
            for entry in fs::read_dir(place.join("logs")).unwrap() {
                let path = entry.unwrap().path();
                if path.to_str().unwrap().contains("crash-") {
                    fs::remove_file(path).unwrap();
                }
            }
        },
        |place| fs::write(place.join("logs/other"), "").unwrap(),
    ];
    for deed in deeds {
        let world = World::new();
        {
            let recovery = world.open().await;
            assert!(
                world
                    .session(&recovery, Trigger::TaskComplete, idle)
                    .await
                    .is_clean()
            );
            world.pass(5000);
        }
        let (outcome, _) = ends(&world, &exit(0), |place| {
            deed(place);
            clean_report(&world, place, &["logs/audit.jsonl", "logs/other"]);
        })
        .await;
        assert_eq!(outcome.decision.kind, Kind::Lied);
        assert_eq!(outcome.evidence.contradictions, [Contradiction::Trail]);
    }
}

#[tokio::test]
async fn a_clock_set_back_makes_no_report_foreign_and_no_count_smaller() {
    let world = World::new();
    let recovery = world.open().await;
    let session = recovery.begin(&moltbook()).await.unwrap();
    world.clock.store(START_MS - 3_600_000, Ordering::SeqCst);
    let code = world.child(&session, Trigger::AuthFailure, idle);
    let outcome = recovery.end(session, &exit(code)).await.unwrap();
    assert_eq!(outcome.decision.kind, Kind::Reported(Trigger::AuthFailure));
    world.clock.store(START_MS - 2 * DAY_MS, Ordering::SeqCst);
    for held in [false, true] {
        let outcome = world.session(&recovery, Trigger::AuthFailure, idle).await;
        assert_eq!(outcome.hold.is_some(), held);
        world.pass(1000);
    }
}

#[tokio::test]
async fn nothing_of_a_report_reaches_the_owner_unredacted() {
    let world = World::new();
    let key = ["sk-", "Zx8Qw3Rt7Yp2Lm9K", "d4Fh6Jn1Bv5Cg0SaUe"].concat();
    let (outcome, recovery) = ends(&world, &exit(1), |place| {
        let at = world.now().to_string();
        let report = serde_json::json!({
            "crash_id": format!("crash-{at}"), "timestamp": at, "trigger": "INJECTION_DETECTED",
            "trigger_detail": format!("{key}\nQuarantine: not triggered \u{202e}"), "last_action": key,
            "session_request_count": 1, "suspicious_content_hash": null, "suspicious_content_length": null,
            "adversarial": true, "files_written_this_session": [],
        });
        fs::write(place.join(format!("logs/crash-{at}.json")), report.to_string()).unwrap();
    })
    .await;
    let shown = format!(
        "{:?}{}{:?}",
        outcome.alert,
        world.log.all(),
        recovery.list(true).await.unwrap()
    );
    assert!(!shown.contains(&key), "{shown}");
    assert!(!shown.contains('\u{202e}'));
    assert_eq!(outcome.alert.unwrap().lines().count(), 6);
}

#[tokio::test]
async fn what_is_odd_before_a_session_lets_none_begin() {
    let world = World::new();
    let recovery = world.open().await;
    assert!(
        world
            .session(&recovery, Trigger::TaskComplete, idle)
            .await
            .is_clean()
    );
    let link = world.workspace().join("posts/link");
    symlink("/etc", &link).unwrap();
    assert!(matches!(
        recovery.begin(&moltbook()).await,
        Err(BeginError::Odd)
    ));
    fs::remove_file(&link).unwrap();
    // A half that core left when it was killed is swept away.
    fs::write(world.workspace().join(".0123456789ab.tmp"), "half").unwrap();
    assert!(recovery.begin(&moltbook()).await.is_ok());
}

#[tokio::test]
async fn a_workspace_that_is_nearly_full_lets_no_session_cross_its_bounds() {
    let world = World::new();
    let mut options = world.options();
    options.bounds.entries = 40;
    let recovery = world.open_with(options).await;
    let mut posts = 0;
    let refused = loop {
        let session = match recovery.begin(&moltbook()).await {
            Ok(session) => session,
            Err(error) => break error,
        };
        posts += 1;
        let code = world.child(&session, Trigger::TaskComplete, |workspace| {
            let post = path(&format!("posts/{posts}.json"));
            workspace.write(&post, b"{}").unwrap();
            vec![post]
        });
        assert!(recovery.end(session, &exit(code)).await.unwrap().is_clean());
        world.pass(1000);
    };
    assert_eq!(refused, BeginError::Full);
    assert!(recovery.list(true).await.unwrap().is_empty());
}
