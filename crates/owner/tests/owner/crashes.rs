//! Random orders of requests, decisions, sweeps, jumps of the clock and crashes, against the rules without any I/O.

use crate::*;
use blastshield_owner::state::{Facts, is_due, judge};
use blastshield_owner::{DecideError, Refusal, State};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Ask,
    Decide { which: usize, yes: bool },
    Sweep,
    Jump { by_s: i64 },
    Crash,
    Break(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Ask),
        6 => (0_usize..6, any::<bool>()).prop_map(|(which, yes)| Step::Decide { which, yes }),
        2 => Just(Step::Sweep),
        3 => (-900_i64..900).prop_map(|by_s| Step::Jump { by_s }),
        1 => Just(Step::Crash),
        1 => any::<bool>().prop_map(Step::Break),
    ]
}

/// What the rules say about one request.
struct Expected {
    id: String,
    shown: String,
    state: State,
    expires_ms: i64,
}

async fn run(steps: Vec<Step>) {
    let world = World::new();
    let mut approvals = world.open().await;
    let mut all: Vec<Expected> = Vec::new();
    let facts = |one: &Expected| -> (State, i64) { (one.state, one.expires_ms) };
    for step in steps {
        match step {
            Step::Ask => {
                if let Ok(request) = approvals.ask(&payment()).await {
                    all.push(Expected {
                        id: request.id.to_string(),
                        shown: request.shown_sha256,
                        state: State::Pending,
                        expires_ms: request.expires_ms,
                    });
                }
            }
            Step::Decide {
                which,
                yes: approve,
            } => {
                let Some(one) = all.get_mut(which) else {
                    continue;
                };
                let reply = if approve { yes() } else { no() };
                let outcome = approvals.decide(&one.id, &reply, "cli").await;
                let (state, expires_ms) = facts(one);
                let known = Facts {
                    state,
                    expires_ms,
                    shown: &one.shown,
                    confirm: None,
                    may_widen: false,
                };
                // The time of the decision is on record when it counted; otherwise it is told by the refusal.
                match outcome {
                    Ok(request) => {
                        let at_ms = request.decided_ms.unwrap();
                        assert_eq!(judge(&known, &reply, at_ms), Ok(request.state));
                        one.state = request.state;
                    }
                    Err(DecideError::Unrecorded) => {
                        assert_eq!(state, State::Pending);
                        one.state = if approve {
                            State::Approved
                        } else {
                            State::Denied
                        };
                    }
                    Err(DecideError::Refused(Refusal::Already(told))) => {
                        let expired = told == State::Expired && state == State::Pending;
                        assert!(told == state || expired, "{told:?} {state:?}");
                        one.state = told;
                    }
                    Err(DecideError::Refused(refusal)) => {
                        assert_eq!((refusal, state), (Refusal::Late, State::Pending));
                        assert!(is_due(&known, i64::MAX));
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
            Step::Sweep => approvals.sweep().await.unwrap(),
            Step::Jump { by_s } => {
                let now = world.clock.load(Ordering::SeqCst);
                world
                    .clock
                    .store(now.saturating_add_signed(by_s * 1000), Ordering::SeqCst);
            }
            Step::Crash => {
                drop(approvals);
                approvals = world.open().await;
            }
            Step::Break(broken) => world.log.broken.store(broken, Ordering::SeqCst),
        }
    }
    // In the end, with the disk in order and all time passed, everything is settled as the rules say.
    world.log.broken.store(false, Ordering::SeqCst);
    world.pass(Duration::from_secs(86_400));
    approvals.sweep().await.unwrap();
    for one in &all {
        let kept = approvals.get(&one.id).await.unwrap().unwrap();
        let expected = if one.state == State::Pending {
            State::Expired
        } else {
            one.state
        };
        assert_eq!(kept.state, expected);
        assert_eq!(
            world.log.count(&["ApprovalDecided", &one.id]),
            1,
            "{}",
            one.id
        );
        let told = match expected {
            State::Approved => "Approved",
            State::Denied => "Denied",
            _ => "Timeout",
        };
        assert_eq!(world.log.count(&["ApprovalDecided", &one.id, told]), 1);
        let mayact = approvals.claim(&one.id, &payment()).await.is_ok();
        assert!(!mayact, "a day later nothing may be used");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 64, ..ProptestConfig::default() })]
    #[test]
    fn every_order_of_events_ends_as_the_rules_say(steps in proptest::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps));
    }
}
