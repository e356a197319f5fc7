//! How fast a channel tries again, and when it counts as down.

use std::time::Duration;

/// A service that asks for more patience than this gets this much.
const LONGEST_WISH: Duration = Duration::from_secs(3600);

/// How fast a channel tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Pause after the first failure; each further one doubles it.
    pub first: Duration,
    /// Longest pause.
    pub longest: Duration,
    /// How often it looks for what other processes did.
    pub idle: Duration,
    /// Failures in a row after which the channel counts as down.
    pub patience: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            idle: Duration::from_secs(5),
            patience: 3,
        }
    }
}

/// Pauses that grow.
pub(crate) struct Backoff {
    pace: Pace,
    failures: u32,
}

impl Backoff {
    pub(crate) const fn new(pace: Pace) -> Self {
        Self { pace, failures: 0 }
    }

    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }

    /// Notes a failure: how long to pause, and whether that makes too many.
    pub(crate) fn fail(&mut self, wish: Option<Duration>) -> (Duration, bool) {
        let pause = self.pace.first * 2_u32.saturating_pow(self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        let pause = wish.map_or(pause.min(self.pace.longest), |wish| {
            wish.clamp(self.pace.first, LONGEST_WISH.max(self.pace.first))
        });
        (pause, self.failures >= self.pace.patience)
    }
}
