//! A point in time that a caller passes in.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Milliseconds since the Unix epoch. Arithmetic saturates.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// From milliseconds since the Unix epoch.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The time from an earlier moment to this one; zero if it is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The moment so much later.
    #[must_use]
    pub const fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}

impl From<Duration> for Moment {
    /// From the time since the Unix epoch.
    fn from(since_epoch: Duration) -> Self {
        Self(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}
