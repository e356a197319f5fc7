use super::*;
use Trigger::{
    AuthFailure, BurnLimit, Exception, InjectionDetected, PolicyViolation, TaskComplete,
};

const CLEAN: Situation<'static> = Situation {
    reported: Reported::Trigger(TaskComplete),
    exit: Exit::Code(0),
    files_written: 0,
    contradictions: &[],
    same_kind_in_a_day: 1,
    root_cause_known: false,
    owner_stop: false,
    held: false,
};

fn after(trigger: Trigger) -> Situation<'static> {
    Situation {
        reported: Reported::Trigger(trigger),
        exit: Exit::Code(trigger.exit_code().into()),
        ..CLEAN
    }
}

/// Respawn, quarantine, alert.
fn row(situation: &Situation<'_>) -> (Respawn, bool, Alert) {
    let decision = decide(situation);
    (decision.respawn, decision.quarantine, decision.alert)
}

#[test]
fn the_decision_tree() {
    use Respawn::{AfterInvestigation, NotNeeded, OnlyWhenCleared, Yes};
    let missing = |exit| Situation {
        reported: Reported::Missing,
        exit,
        ..CLEAN
    };
    // The file is missing: potential adversarial.
    for exit in [
        Exit::Signal(9),
        Exit::Signal(31),
        Exit::Code(0),
        Exit::TimedOut,
        Exit::Lost,
    ] {
        assert_eq!(
            row(&missing(exit)),
            (OnlyWhenCleared, true, Alert::Immediate),
            "{exit:?}"
        );
    }
    // Not adversarial.
    assert_eq!(row(&after(BurnLimit)), (Yes, false, Alert::Log));
    assert_eq!(row(&after(AuthFailure)), (Yes, false, Alert::Log));
    assert_eq!(
        row(&after(Exception)),
        (AfterInvestigation, false, Alert::Log)
    );
    assert_eq!(row(&after(TaskComplete)), (NotNeeded, false, Alert::None));
    // Adversarial, nothing written, then something written.
    for trigger in [InjectionDetected, PolicyViolation] {
        assert_eq!(
            row(&after(trigger)),
            (OnlyWhenCleared, false, Alert::Immediate)
        );
        let wrote = Situation {
            files_written: 1,
            ..after(trigger)
        };
        assert_eq!(row(&wrote), (OnlyWhenCleared, true, Alert::Immediate));
    }
}

#[test]
fn the_respawn_guide() {
    use Respawn::{AfterFix, AfterInvestigation, NotNeeded, OnlyWhenCleared};
    let wrote = |trigger, files_written| Situation {
        files_written,
        ..after(trigger)
    };
    // Clean task completion.
    assert_eq!(decide(&wrote(TaskComplete, 3)).respawn, NotNeeded);
    // Not adversarial, the cause known, then unknown.
    let known = Situation {
        root_cause_known: true,
        ..after(Exception)
    };
    assert_eq!(
        (decide(&known).respawn, decide(&known).hold),
        (AfterFix, Some(Hold::Fix))
    );
    let unknown = decide(&after(Exception));
    assert_eq!(
        (unknown.respawn, unknown.hold),
        (AfterInvestigation, Some(Hold::Investigate))
    );
    // Adversarial without and with files: a person clears it.
    for files in [0, 1] {
        let decision = decide(&wrote(InjectionDetected, files));
        assert_eq!(decision.hold, Some(Hold::Adversarial));
        assert_eq!(
            (decision.respawn, decision.quarantine),
            (OnlyWhenCleared, files > 0)
        );
    }
    // A missing report is an attack that wrote files, also where core saw none.
    let missing = decide(&Situation {
        reported: Reported::Missing,
        exit: Exit::Signal(9),
        ..CLEAN
    });
    assert!(missing.quarantine && missing.is_adversarial());
    // The same three times in a day.
    for trigger in [BurnLimit, AuthFailure, Exception] {
        for (times, expected) in [(2, false), (3, true), (4, true)] {
            let again = decide(&Situation {
                same_kind_in_a_day: times,
                ..after(trigger)
            });
            assert_eq!(again.alert == Alert::Ping, expected, "{trigger:?} {times}");
            assert_eq!(again.hold == Some(Hold::Pattern), expected);
            assert!(!again.quarantine);
        }
    }
    let done = Situation {
        same_kind_in_a_day: 500,
        ..CLEAN
    };
    assert_eq!(row(&done), (NotNeeded, false, Alert::None));
}

#[test]
fn a_burn_limit_is_not_tried_again() {
    assert!(!decide(&after(BurnLimit)).retry_task);
    assert!(decide(&after(AuthFailure)).retry_task);
}

#[test]
fn a_report_makes_nothing_better() {
    for trigger in [BurnLimit, AuthFailure, Exception, TaskComplete] {
        let lied = decide(&Situation {
            contradictions: &[Contradiction::Files],
            ..after(trigger)
        });
        assert_eq!(
            (lied.kind, lied.quarantine, lied.alert),
            (Kind::Lied, true, Alert::Immediate)
        );
        let lost = decide(&Situation {
            exit: Exit::Lost,
            ..after(trigger)
        });
        assert_eq!((lost.kind, lost.quarantine), (Kind::Missing, true));
    }
    let unusable = decide(&Situation {
        reported: Reported::Unusable,
        ..CLEAN
    });
    assert_eq!(
        (unusable.kind, unusable.respawn),
        (Kind::Missing, Respawn::OnlyWhenCleared)
    );
}

#[test]
fn while_a_hold_is_on_nothing_says_yes() {
    for trigger in Trigger::ALL {
        let decision = decide(&Situation {
            held: true,
            ..after(trigger)
        });
        assert!(matches!(
            decision.respawn,
            Respawn::OnlyWhenCleared | Respawn::NotNeeded
        ));
        assert!(!decision.retry_task);
    }
}

#[test]
fn an_unknown_hold_is_the_strictest() {
    for hold in [
        Hold::Adversarial,
        Hold::Pattern,
        Hold::Fix,
        Hold::Investigate,
    ] {
        assert_eq!(Hold::parse(hold.as_str()), hold);
    }
    assert_eq!(Hold::parse("anything"), Hold::Adversarial);
}

/// The owner closed all ways out: no hold, no pattern, no attack; but only for a worker that did as it was told.
#[test]
fn a_stop_by_the_owner_is_nobodys_fault() {
    let stopped = Situation {
        owner_stop: true,
        same_kind_in_a_day: 9,
        ..after(Exception)
    };
    let decision = decide(&stopped);
    assert_eq!(decision.kind, Kind::Stopped);
    assert_eq!(
        (
            decision.respawn,
            decision.quarantine,
            decision.alert,
            decision.hold
        ),
        (Respawn::Yes, false, Alert::Log, None)
    );
    assert!(!decision.is_adversarial() && !decision.retry_task);
    let silent = Situation {
        reported: Reported::Missing,
        ..stopped
    };
    assert_eq!(decide(&silent).kind, Kind::Missing);
    let belied = Situation {
        contradictions: &[Contradiction::Files],
        ..stopped
    };
    assert_eq!(decide(&belied).kind, Kind::Lied);
    let attacked = Situation {
        owner_stop: true,
        ..after(InjectionDetected)
    };
    assert!(decide(&attacked).is_adversarial());
    let done = Situation {
        owner_stop: true,
        ..after(TaskComplete)
    };
    assert_eq!(decide(&done).kind, Kind::Reported(TaskComplete));
}
