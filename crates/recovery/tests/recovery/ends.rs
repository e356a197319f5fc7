//! Every trigger, from the child's last words to what core makes of them.

use crate::*;
use blastshield_recovery::decision::Alert;
use blastshield_recovery::drafts::{self, Draft, DraftState};
use blastshield_recovery::{Hold, Kind, Respawn};

#[tokio::test]
async fn a_finished_task_leaves_a_report_and_no_trace_elsewhere() {
    let world = World::new();
    let recovery = world.open().await;
    for _ in 0..3 {
        let outcome = world.session(&recovery, Trigger::TaskComplete, post).await;
        assert!(outcome.is_clean());
        assert_eq!(outcome.decision.respawn, Respawn::NotNeeded);
        assert_eq!((outcome.hold, outcome.alert), (None, None));
        world.pass(1000);
    }
    let reports = std::fs::read_dir(world.workspace().join("logs"))
        .unwrap()
        .count();
    assert_eq!(reports, 4, "three reports and the trail");
    assert_eq!(world.log.all(), "");
    assert!(world.aside().is_empty());
    assert!(recovery.list(true).await.unwrap().is_empty());
}

#[tokio::test]
async fn trouble_is_logged_and_the_third_time_told() {
    for trigger in [Trigger::BurnLimit, Trigger::AuthFailure] {
        let world = World::new();
        let recovery = world.open().await;
        for time in 1..=3 {
            let outcome = world.session(&recovery, trigger, post).await;
            assert!(!outcome.is_clean());
            assert!(!outcome.decision.quarantine);
            assert_eq!(
                outcome.decision.alert,
                if time < 3 { Alert::Log } else { Alert::Ping }
            );
            assert_eq!(outcome.hold.is_some(), time == 3);
            world.pass(3_600_000);
        }
        assert!(world.is_held(&recovery).await);
        assert_eq!(world.log.count(&["ProxyHeld", "escalated: true"]), 1);
        assert_eq!(world.log.count(&["ProxyCrashed", "adversarial: false"]), 3);
        // Only a person ends it, and then the count begins anew.
        let id = recovery.list(false).await.unwrap()[0].id.clone();
        assert!(recovery.settle(&id, "tried").await.is_err());
        recovery.clear(&id, "owner", false).await.unwrap();
        let outcome = world.session(&recovery, trigger, post).await;
        assert_eq!(outcome.decision.respawn, Respawn::Yes);
    }
}

#[tokio::test]
async fn trouble_a_day_apart_is_no_pattern() {
    let world = World::new();
    let recovery = world.open().await;
    for _ in 0..5 {
        let outcome = world.session(&recovery, Trigger::AuthFailure, idle).await;
        assert_eq!(outcome.decision.respawn, Respawn::Yes);
        world.pass(DAY_MS / 2 + 1);
    }
}

#[tokio::test]
async fn an_exception_waits_for_its_cause() {
    let world = World::new();
    let recovery = world.open().await;
    let outcome = world.session(&recovery, Trigger::Exception, idle).await;
    assert_eq!(outcome.decision.respawn, Respawn::AfterInvestigation);
    assert_eq!(outcome.decision.hold, Some(Hold::Investigate));
    assert!(world.is_held(&recovery).await);
    let cleared = recovery
        .settle(&outcome.hold.unwrap(), "the service was down")
        .await
        .unwrap();
    assert_eq!(
        (cleared.service.as_str(), cleared.still_held),
        ("moltbook", 0)
    );
    assert_eq!(
        world
            .log
            .count(&["ProxyCleared", "core: the service was down"]),
        1
    );

    let session = recovery.begin(&moltbook()).await.unwrap();
    let code = world.child(&session, Trigger::Exception, idle);
    let facts = Facts {
        root_cause_known: true,
        ..exit(code)
    };
    let outcome = recovery.end(session, &facts).await.unwrap();
    assert_eq!(outcome.decision.respawn, Respawn::AfterFix);
}

#[tokio::test]
async fn exceptions_that_core_mends_are_a_pattern_all_the_same() {
    let world = World::new();
    let recovery = world.open().await;
    for expected in [Hold::Investigate, Hold::Investigate, Hold::Pattern] {
        let outcome = world.session(&recovery, Trigger::Exception, idle).await;
        assert_eq!(outcome.decision.hold, Some(expected));
        let settled = recovery.settle(&outcome.hold.unwrap(), "mended").await;
        assert_eq!(settled.is_ok(), expected == Hold::Investigate);
        world.pass(60_000);
    }
    assert!(world.is_held(&recovery).await);
}

#[tokio::test]
async fn an_attack_that_wrote_nothing_waits_for_the_owner() {
    for trigger in [Trigger::InjectionDetected, Trigger::PolicyViolation] {
        let world = World::new();
        let recovery = world.open().await;
        let outcome = world.session(&recovery, trigger, idle).await;
        assert_eq!(outcome.decision.respawn, Respawn::OnlyWhenCleared);
        assert!(!outcome.decision.quarantine);
        let report = outcome.evidence.report().unwrap();
        assert_eq!(report.suspicious().unwrap().length(), 15);
        assert_eq!(
            outcome.alert.unwrap(),
            format!(
                "🚨 [moltbook] adversarial crash\nTrigger: {} — as the test has it\nSession requests: 1\nFiles written: 0\n\
                 Action required: Review {}.json\nQuarantine: not triggered",
                trigger.as_str(),
                report.crash_id()
            )
        );
        assert_eq!(
            world
                .log
                .count(&["ProxyCrashed", "adversarial: true", trigger.as_str()]),
            1
        );
        assert!(world.is_held(&recovery).await);
        assert!(world.aside().is_empty());
        let id = outcome.hold.unwrap();
        for nobody in ["", "  ", "a\nb", &"x".repeat(65)] {
            assert!(recovery.clear(&id, nobody, false).await.is_err());
        }
        assert!(recovery.clear("zzzzzzzz", "owner", false).await.is_err());
        assert!(world.is_held(&recovery).await);
        recovery.clear(&id, "owner", false).await.unwrap();
        assert!(recovery.clear(&id, "owner", false).await.is_err(), "once");
        assert_eq!(world.log.count(&["ProxyCleared", "by: \"owner\""]), 1);
        assert!(recovery.begin(&moltbook()).await.is_ok());
    }
}

#[tokio::test]
async fn an_attack_that_wrote_is_put_aside() {
    let world = World::new();
    let recovery = world.open().await;
    let outcome = world
        .session(&recovery, Trigger::InjectionDetected, post)
        .await;
    assert!(outcome.decision.quarantine);
    assert_eq!(outcome.evidence.files, ["posts/thread-4829-clean.json"]);
    assert!(outcome.alert.unwrap().ends_with("Files written: 1\nAction required: Review crash-2027-01-15T08:00:00.005Z.json\nQuarantine: ACTIVE"));
    let aside = world.aside();
    assert_eq!(aside.len(), 1);
    assert!(aside[0].ends_with("moltbook-quarantine-20270115T080000"));
    assert!(aside[0].join("posts/thread-4829-clean.json").exists());
    assert_eq!(
        std::fs::read_dir(world.workspace().join("posts"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn no_report_is_the_worst_report() {
    let world = World::new();
    let recovery = world.open().await;
    let session = recovery.begin(&moltbook()).await.unwrap();
    let outcome = recovery
        .end(session, &Facts::new(Exit::Signal(9)))
        .await
        .unwrap();
    assert_eq!(outcome.decision.kind, Kind::Missing);
    assert!(outcome.decision.quarantine);
    let alert = outcome.alert.unwrap();
    let review =
        "Action required: Review moltbook-quarantine-20270115T080000 (no usable crash report)";
    assert!(alert.contains(review), "{alert}");
    assert!(world.is_held(&recovery).await);
    assert_eq!(world.aside().len(), 1);
}

#[tokio::test]
async fn drafts_are_given_up_whoever_is_left_to_do_it() {
    let world = World::new();
    let recovery = world.open().await;
    let outcome = world
        .session(&recovery, Trigger::TaskComplete, |workspace| {
            let draft = Draft::begin(workspace, "d1", "comment", "hello", world.now()).unwrap();
            vec![draft.path()]
        })
        .await;
    assert!(
        outcome.is_clean(),
        "the checklist names what it touches: {:?}",
        outcome.evidence
    );
    let workspace = Workspace::open(&world.workspace()).unwrap();
    assert_eq!(
        Draft::read(&workspace, "d1").unwrap().state(),
        DraftState::Abandoned
    );

    // A child that reports a fault and dies before the last step.
    let session = recovery.begin(&moltbook()).await.unwrap();
    let code = world.child(&session, Trigger::BurnLimit, |_| {
        vec![path("drafts/d2.json")]
    });
    Draft::begin(&workspace, "d2", "comment", "hello", world.now()).unwrap();
    assert!(
        !recovery
            .end(session, &exit(code))
            .await
            .unwrap()
            .decision
            .quarantine
    );
    assert!(drafts::in_progress(&workspace).unwrap().is_empty());
}

#[tokio::test]
async fn one_session_at_a_time() {
    let world = World::new();
    let (one, two) = (world.open().await, world.open().await);
    let session = one.begin(&moltbook()).await.unwrap();
    for core in [&one, &two] {
        assert!(matches!(
            core.begin(&moltbook()).await,
            Err(BeginError::Busy)
        ));
    }
    // A second core that starts does not judge what the first one is watching.
    assert!(two.resume().await.unwrap().is_empty());
    let code = world.child(&session, Trigger::TaskComplete, idle);
    assert!(one.end(session, &exit(code)).await.unwrap().is_clean());
    assert!(two.begin(&moltbook()).await.is_ok());
    let other = ServiceName::new("other").unwrap();
    assert!(one.begin(&other).await.is_ok());
}

#[tokio::test]
async fn what_core_wrote_is_not_held_against_the_child() {
    let world = World::new();
    let recovery = world.open().await;
    let session = recovery.begin(&moltbook()).await.unwrap();
    let code = world.child(&session, Trigger::TaskComplete, idle);
    session
        .workspace()
        .write(&path("posts/by-core.json"), b"{}")
        .unwrap();
    let facts = Facts {
        core_wrote: vec![path("posts/by-core.json")],
        ..exit(code)
    };
    assert!(recovery.end(session, &facts).await.unwrap().is_clean());
}

#[tokio::test]
async fn the_trail_and_the_reports_do_not_grow_for_ever() {
    let world = World::new();
    let mut options = world.options();
    options.keep_reports = 3;
    options.trail_bytes = 200;
    let recovery = world.open_with(options).await;
    for _ in 0..12 {
        assert!(
            world
                .session(&recovery, Trigger::TaskComplete, idle)
                .await
                .is_clean()
        );
        world.pass(1000);
    }
    let logs: Vec<String> = std::fs::read_dir(world.workspace().join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let count = |prefix: &str| logs.iter().filter(|name| name.starts_with(prefix)).count();
    assert!(count("crash-") <= 4, "{logs:?}");
    assert!((1..=5).contains(&count("audit")), "{logs:?}");
}

#[test]
fn every_channel_is_told_in_the_same_words() {
    use blastshield_audit::alerts::Rules;
    use blastshield_audit::{Alerts, Redact};
    let mut alerts = Alerts::new(Rules::default(), Arc::clone(&SCANNER) as Arc<dyn Redact>);
    // The second attack comes right after the first was cleared, and is told like the first.
    for report in [
        "crash-2026-02-23T14:32:01.443Z.json",
        "crash-2026-02-23T14:33:01.443Z.json",
    ] {
        let told = blastshield_recovery::alert::Told {
            service: "moltbook",
            trigger: "INJECTION_DETECTED",
            detail: "Stage 4: pattern 'ignore_prev_instructions' matched",
            requests: 47,
            files_written: 2,
            report,
            quarantined: true,
        };
        let event = Event::ProxyCrashed {
            proxy: told.service,
            trigger: told.trigger,
            detail: told.detail,
            adversarial: true,
            requests: told.requests,
            files_written: told.files_written,
            report: told.report,
            quarantined: told.quarantined,
        };
        let sent = alerts.observe(&event, Time::from_millis(START_MS));
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].to_text(), blastshield_recovery::alert::text(&told));
    }
}
