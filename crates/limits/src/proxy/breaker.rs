//! A breaker for services that answer 429.
//!
//! Closed, it counts 429s in a row; enough of them open it. Open, nothing goes out until the pause is over. Then it is
//! half open: one probe goes out, and everything else waits for its answer. Any answer but 429 closes it again; a 429 opens it for
//! twice as long. A probe without an answer opens it for as long as before, and one that is never heard of again gives
//! way to another after the length of the pause.

use super::{Declined, ProxyLimits};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Any answer but 429.
    Served,
    /// 429, with the wait that the service asked for. It is heeded up to the longest pause.
    TooMany {
        /// The `Retry-After` of the answer.
        retry_after: Option<Duration>,
    },
    /// No answer: it could not be sent, or timed out. Says nothing about how busy the service is.
    Lost,
}

/// The breaker has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The pause.
    pub pause: Duration,
    /// How often it has opened since the service was last well.
    pub times: u32,
}

/// The states are told above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Breaker {
    /// How often it has opened since it was last closed.
    times: u32,
    circuit: Circuit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Circuit {
    Closed { in_a_row: u32 },
    Open { until: Moment },
    HalfOpen { probe: u64, until: Moment },
}

impl Default for Circuit {
    fn default() -> Self {
        Self::Closed { in_a_row: 0 }
    }
}

impl Breaker {
    /// Whether a request may go out.
    pub(super) fn check(&self, now: Moment) -> Result<(), Declined> {
        match self.circuit {
            Circuit::Open { until } if until > now => Err(Declined::Open {
                retry_after: until.since(now),
            }),
            Circuit::HalfOpen { until, .. } if until > now => Err(Declined::Probing {
                retry_after: until.since(now),
            }),
            _ => Ok(()),
        }
    }

    /// A request of this number goes out. Says whether it is a probe.
    pub(super) fn sent(&mut self, number: u64, now: Moment, limits: &ProxyLimits) -> bool {
        if let Circuit::Closed { .. } = self.circuit {
            return false;
        }
        self.circuit = Circuit::HalfOpen {
            probe: number,
            until: now.plus_millis(pause(self.times, limits)),
        };
        true
    }

    /// What came of the request of this number.
    pub(super) fn answered(
        &mut self,
        number: u64,
        answer: Answer,
        now: Moment,
        limits: &ProxyLimits,
    ) -> Option<Opened> {
        match (self.circuit, answer) {
            (Circuit::Closed { .. }, Answer::Served) => {
                *self = Self::default();
                None
            }
            (Circuit::Closed { in_a_row }, Answer::TooMany { retry_after }) => {
                let in_a_row = in_a_row.saturating_add(1);
                if in_a_row >= limits.cb_threshold {
                    return Some(self.open(retry_after, now, limits));
                }
                self.circuit = Circuit::Closed { in_a_row };
                None
            }
            (Circuit::HalfOpen { probe, .. }, answer) if probe == number => match answer {
                Answer::Served => {
                    *self = Self::default();
                    None
                }
                Answer::TooMany { retry_after } => Some(self.open(retry_after, now, limits)),
                Answer::Lost => {
                    let until = now.plus_millis(pause(self.times, limits));
                    self.circuit = Circuit::Open { until };
                    None
                }
            },
            // Lost without a breaker to move, or sent before it opened: too old to tell.
            _ => None,
        }
    }

    fn open(&mut self, asked: Option<Duration>, now: Moment, limits: &ProxyLimits) -> Opened {
        self.times = self.times.saturating_add(1);
        let asked = asked.map_or(0, |wait| {
            u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
        });
        let pause = pause(self.times, limits).max(asked.min(limits.cb_max_ms));
        self.circuit = Circuit::Open {
            until: now.plus_millis(pause),
        };
        Opened {
            pause: Duration::from_millis(pause),
            times: self.times,
        }
    }
}

/// The pause after it has opened so often.
fn pause(times: u32, limits: &ProxyLimits) -> u64 {
    let doublings = times.saturating_sub(1);
    let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
    limits
        .cb_base_ms
        .saturating_mul(factor)
        .min(limits.cb_max_ms)
}
