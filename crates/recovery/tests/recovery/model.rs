//! Random orders of ends, crashes of core, clears, jumps of the clock and a failing log, against the rules: nothing begins
//! while a hold is on.

use crate::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Move {
    Session {
        trigger: usize,
        wrote: bool,
        lies: bool,
    },
    Lost,
    Clear,
    Settle,
    Restart,
    Jump {
        hours: i64,
    },
    Break(bool),
    Backup,
}

fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        8 => (0_usize..6, any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(trigger, wrote, lies)| Move::Session { trigger, wrote, lies }),
        1 => Just(Move::Lost),
        5 => Just(Move::Clear),
        2 => Just(Move::Settle),
        2 => Just(Move::Restart),
        2 => (-30_i64..30).prop_map(|hours| Move::Jump { hours }),
        1 => any::<bool>().prop_map(Move::Break),
        1 => Just(Move::Backup),
    ]
}

/// What the rules say.
#[derive(Default)]
struct Rules {
    /// The hold that is on: whether core may end it.
    held: Option<bool>,
    /// Trouble that nobody settled, by kind, with its time.
    trouble: BTreeMap<&'static str, Vec<u64>>,
    /// A session that nobody saw end.
    lost: bool,
}

impl Rules {
    fn ended(&mut self, trigger: Trigger, lies: bool, now: u64) {
        match trigger {
            Trigger::InjectionDetected | Trigger::PolicyViolation => self.held = Some(false),
            _ if lies => self.held = Some(false),
            Trigger::TaskComplete => {}
            _ => {
                let times = self.trouble.entry(trigger.as_str()).or_default();
                times.push(now);
                let recent = times
                    .iter()
                    .filter(|at| **at > now.saturating_sub(DAY_MS))
                    .count();
                if recent >= 3 {
                    self.held = Some(false);
                } else if trigger == Trigger::Exception {
                    self.held = Some(true);
                }
            }
        }
    }

    fn cleared(&mut self, by_core: bool) {
        self.held = None;
        if !by_core {
            self.trouble.clear();
        }
    }
}

async fn run(moves: Vec<Move>) {
    let world = World::new();
    let mut recovery = world.open().await;
    let mut rules = Rules::default();
    for one in moves {
        world.pass(1000);
        let broken = world.log.broken.load(Ordering::SeqCst);
        match one {
            Move::Session {
                trigger,
                wrote,
                lies,
            } => {
                let begun = recovery.begin(&moltbook()).await;
                if rules.lost {
                    assert!(begun.is_err(), "begun although nobody saw the last one end");
                    rules.held = Some(false);
                    rules.lost = false;
                }
                if rules.held.is_some() {
                    assert!(begun.is_err(), "begun although on hold");
                    continue;
                }
                let session = begun.unwrap();
                let trigger = Trigger::ALL[trigger];
                let code = world.child(&session, trigger, if wrote { post } else { idle });
                let facts = Facts {
                    violations: u64::from(lies),
                    ..exit(code)
                };
                let now = world.clock.load(Ordering::SeqCst);
                let outcome = recovery.end(session, &facts).await;
                rules.ended(trigger, lies, now);
                assert!(outcome.is_ok() || broken);
                if let Ok(outcome) = outcome {
                    assert_eq!(outcome.hold.is_some(), rules.held.is_some());
                    let clean = trigger == Trigger::TaskComplete && !lies;
                    assert_eq!(outcome.is_clean(), clean);
                }
            }
            Move::Lost => {
                if let Ok(session) = recovery.begin(&moltbook()).await {
                    assert!(rules.held.is_none() && !rules.lost);
                    drop(session);
                    rules.lost = true;
                } else if rules.lost {
                    rules.held = Some(false);
                    rules.lost = false;
                }
            }
            Move::Clear | Move::Settle => {
                let holds = recovery.list(false).await.unwrap();
                let Some(hold) = holds.first() else {
                    continue;
                };
                let by_core = matches!(one, Move::Settle);
                let done = if by_core {
                    recovery.settle(&hold.id, "mended").await.is_ok()
                } else {
                    recovery.clear(&hold.id, "owner", false).await.is_ok()
                };
                assert_eq!(done, !broken && (!by_core || rules.held == Some(true)));
                if done {
                    rules.cleared(by_core);
                }
            }
            Move::Restart => {
                drop(recovery);
                recovery = world.open().await;
                let resumed = recovery.resume().await;
                assert!(resumed.is_ok() || broken);
                if rules.lost {
                    rules.held = Some(false);
                    rules.lost = false;
                }
            }
            Move::Jump { hours } => {
                let now = world.clock.load(Ordering::SeqCst);
                world.clock.store(
                    now.saturating_add_signed(hours * 3_600_000),
                    Ordering::SeqCst,
                );
            }
            Move::Break(broken) => world.log.broken.store(broken, Ordering::SeqCst),
            Move::Backup => {
                let made = recovery.backup(&moltbook(), &[]).await;
                assert!(made.is_err() || (rules.held.is_none() && !rules.lost));
            }
        }
        assert!(world.workspaces().exists());
    }
    // In the end, with the log in order, everything that was begun is finished.
    world.log.broken.store(false, Ordering::SeqCst);
    recovery.resume().await.unwrap();
    for hold in recovery.list(false).await.unwrap() {
        assert!(hold.quarantine.is_none_or(|one| one.step == "placed"));
        recovery.clear(&hold.id, "owner", false).await.unwrap();
    }
    assert!(recovery.begin(&moltbook()).await.is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, max_shrink_iters: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_order_of_events_begins_a_session_while_a_hold_is_on(moves in proptest::collection::vec(a_move(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(moves));
    }
}
