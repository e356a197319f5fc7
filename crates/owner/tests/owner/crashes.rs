//! Random orders of requests, decisions, uses, sweeps, jumps of the clock and crashes, against the rules without any I/O.
//! A crash comes between two steps or in the middle of one, and every time the next life begins on the same store.

use crate::*;
use blastshield_owner::state::{Facts, is_due, judge};
use blastshield_owner::{DecideError, Refusal, State};
use proptest::prelude::*;
use std::pin::pin;
use std::task::Poll;

#[derive(Clone, Debug)]
enum Step {
    Ask {
        cut: Option<usize>,
    },
    Decide {
        which: usize,
        yes: bool,
        cut: Option<usize>,
    },
    Claim {
        which: usize,
        cut: Option<usize>,
    },
    Sweep {
        cut: Option<usize>,
    },
    Jump {
        by_s: i64,
    },
    Crash,
    Break(bool),
}

fn step() -> impl Strategy<Value = Step> {
    // After so many turns in the middle of its work the process ends; mostly it does not.
    let cut = || proptest::option::weighted(0.25, 0_usize..8);
    prop_oneof![
        3 => cut().prop_map(|cut| Step::Ask { cut }),
        6 => (0_usize..6, any::<bool>(), cut()).prop_map(|(which, yes, cut)| Step::Decide { which, yes, cut }),
        3 => (0_usize..6, cut()).prop_map(|(which, cut)| Step::Claim { which, cut }),
        2 => cut().prop_map(|cut| Step::Sweep { cut }),
        3 => (-900_i64..900).prop_map(|by_s| Step::Jump { by_s }),
        1 => Just(Step::Crash),
        1 => any::<bool>().prop_map(Step::Break),
    ]
}

/// Does work until it is done, or until it has waited so often: nothing when it was cut off.
async fn cut_off<T>(work: impl Future<Output = T>, after: Option<usize>) -> Option<T> {
    let mut work = pin!(work);
    let mut waits = 0;
    std::future::poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if after == Some(waits) => Poll::Ready(None),
        Poll::Pending => {
            waits += 1;
            Poll::Pending
        }
    })
    .await
}

/// One life of the process.
struct Life {
    store: Store,
    approvals: Approvals,
}

impl Life {
    async fn begin(world: &World) -> Self {
        let store = world.store().await;
        let approvals = world.open_on(store.clone()).await;
        Self { store, approvals }
    }

    /// Ends it; what was not on disk is gone.
    async fn end(self) {
        drop(self.approvals);
        self.store.close().await;
    }
}

/// What the rules say about one request.
struct Expected {
    id: String,
    shown: String,
    state: State,
    expires_ms: i64,
    uses: usize,
    /// A crash came between decision and record, so that it may be in the log twice.
    torn: bool,
}

impl Expected {
    fn decided(&mut self, outcome: Result<blastshield_owner::Request, DecideError>, approve: bool) {
        let reply = if approve { yes() } else { no() };
        let known = Facts {
            state: self.state,
            expires_ms: self.expires_ms,
            shown: &self.shown,
            confirm: None,
            may_widen: false,
        };
        // The time of the decision is on record when it counted; otherwise it is told by the refusal.
        match outcome {
            Ok(request) => {
                let at_ms = request.decided_ms.unwrap();
                assert_eq!(judge(&known, &reply, at_ms), Ok(request.state));
                self.state = request.state;
            }
            Err(DecideError::Unrecorded) => {
                assert_eq!(self.state, State::Pending);
                self.state = verdict(approve);
            }
            Err(DecideError::Refused(Refusal::Already(told))) => {
                let expired = told == State::Expired && self.state == State::Pending;
                assert!(told == self.state || expired, "{told:?} {:?}", self.state);
                self.state = told;
            }
            Err(DecideError::Refused(refusal)) => {
                assert_eq!((refusal, self.state), (Refusal::Late, State::Pending));
                assert!(is_due(&known, i64::MAX));
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    /// After a crash the store says how far the decision came: not at all, or all the way.
    async fn found(&mut self, store: &Store, approve: bool) {
        let record = store.approval(&self.id).await.unwrap().unwrap();
        let now = [
            State::Pending,
            State::Approved,
            State::Denied,
            State::Expired,
        ]
        .into_iter()
        .find(|state| state.as_str() == record.state)
        .unwrap();
        if self.state == State::Pending {
            assert!([State::Pending, State::Expired, verdict(approve)].contains(&now));
            self.state = now;
        }
        assert_eq!(now, self.state, "no state but pending has a way out");
        self.torn = true;
    }
}

fn verdict(approve: bool) -> State {
    if approve {
        State::Approved
    } else {
        State::Denied
    }
}

async fn run(steps: Vec<Step>) {
    let world = World::new();
    let mut life = Life::begin(&world).await;
    let mut all: Vec<Expected> = Vec::new();
    for step in steps {
        let approvals = &life.approvals;
        let mut crashed = false;
        match step {
            Step::Ask { cut } => {
                let asked = cut_off(approvals.ask(&payment()), cut).await;
                crashed = asked.is_none();
                if let Some(Ok(request)) = asked {
                    all.push(Expected {
                        id: request.id.to_string(),
                        shown: request.shown_sha256,
                        state: State::Pending,
                        expires_ms: request.expires_ms,
                        uses: 0,
                        torn: false,
                    });
                }
            }
            Step::Decide {
                which,
                yes: approve,
                cut,
            } => {
                let Some(one) = all.get_mut(which) else {
                    continue;
                };
                let reply = if approve { yes() } else { no() };
                match cut_off(approvals.decide(&one.id, &reply, "cli"), cut).await {
                    Some(outcome) => one.decided(outcome, approve),
                    None => {
                        life.end().await;
                        let store = world.store().await;
                        one.found(&store, approve).await;
                        store.close().await;
                        life = Life::begin(&world).await;
                    }
                }
            }
            Step::Claim { which, cut } => {
                let Some(one) = all.get_mut(which) else {
                    continue;
                };
                match cut_off(approvals.claim(&one.id, &payment()), cut).await {
                    Some(Ok(())) => {
                        assert_eq!(one.state, State::Approved);
                        one.uses += 1;
                    }
                    Some(Err(_)) => {}
                    None => crashed = true,
                }
            }
            Step::Sweep { cut } => crashed = cut_off(approvals.sweep(), cut).await.is_none(),
            Step::Jump { by_s } => {
                let now = world.clock.load(Ordering::SeqCst);
                world
                    .clock
                    .store(now.saturating_add_signed(by_s * 1000), Ordering::SeqCst);
            }
            Step::Crash => crashed = true,
            Step::Break(broken) => world.log.broken.store(broken, Ordering::SeqCst),
        }
        if crashed {
            // A sweep that was cut off may have expired any of them, and not have said so.
            all.iter_mut().for_each(|one| one.torn = true);
            life.end().await;
            life = Life::begin(&world).await;
        }
    }
    // In the end, with the disk in order and all time passed, everything is settled as the rules say.
    world.log.broken.store(false, Ordering::SeqCst);
    world.pass(Duration::from_secs(86_400));
    let approvals = life.approvals;
    approvals.sweep().await.unwrap();
    for one in &all {
        let kept = approvals.get(&one.id).await.unwrap().unwrap();
        let expected = if one.state == State::Pending {
            State::Expired
        } else {
            one.state
        };
        assert_eq!(kept.state, expected);
        let told = match expected {
            State::Approved => "Approved",
            State::Denied => "Denied",
            _ => "Timeout",
        };
        let recorded = world.log.count(&["ApprovalDecided", &one.id]);
        assert_eq!(
            recorded,
            world.log.count(&["ApprovalDecided", &one.id, told])
        );
        assert!(recorded == 1 || (one.torn && recorded > 1), "{recorded}");
        assert!(one.uses <= 1, "used {} times", one.uses);
        let mayact = approvals.claim(&one.id, &payment()).await.is_ok();
        assert!(!mayact, "a day later nothing may be used");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 64, ..ProptestConfig::default() })]
    #[test]
    fn every_order_of_events_ends_as_the_rules_say(steps in proptest::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(steps));
    }
}
