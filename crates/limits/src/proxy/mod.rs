//! The limits that an outbound proxy imposes on itself: requests a minute and an hour, a burn limit that ends it, and a
//! breaker for services that answer 429.
//!
//! Ask [`Outbound::request`] before each request and report what came of it to [`Outbound::answered`]. The state can be
//! stored after each step and taken up again after a restart; it starts no fresher than it was.

mod breaker;

pub use breaker::{Answer, Opened};

use crate::moment::Moment;
use breaker::Breaker;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Duration;
use thiserror::Error;

/// More requests an hour cannot be configured: each is remembered for an hour.
pub const MAX_PER_HOUR: u32 = 100_000;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 3_600_000;

/// What a proxy allows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProxyLimits {
    /// Requests in any sixty seconds.
    pub max_per_minute: u32,
    /// Requests in any sixty minutes; at most [`MAX_PER_HOUR`] count.
    pub max_per_hour: u32,
    /// Requests in all. Asking for one more burns the proxy for good.
    pub burn_limit: u32,
    /// So many 429s in a row open the breaker; zero counts as one.
    pub cb_threshold: u32,
    /// The first pause, in milliseconds; each further one is twice as long.
    pub cb_base_ms: u64,
    /// The longest pause, in milliseconds.
    pub cb_max_ms: u64,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            max_per_minute: 10,
            max_per_hour: 100,
            burn_limit: 200,
            cb_threshold: 3,
            cb_base_ms: 30_000,
            cb_max_ms: 900_000,
        }
    }
}

/// Leave for one request. Hand it back with what came of it.
#[must_use = "a request was counted; report its answer"]
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    number: u64,
    probe: bool,
}

impl Permit {
    /// Whether this request tries out a service that answered 429 too often.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.probe
    }
}

/// Why a request may not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Declined {
    /// The burn limit is exceeded. The proxy must end with a report and not try again, ever.
    #[error("burn limit of {limit} requests exceeded")]
    Burned {
        /// The limit.
        limit: u32,
    },
    /// The service answered 429 too often in a row.
    #[error("circuit open after repeated 429 answers")]
    Open {
        /// Until a probe may be sent.
        retry_after: Duration,
    },
    /// A probe is on its way; its answer decides.
    #[error("circuit half open: a probe is on its way")]
    Probing {
        /// Until the probe counts as lost.
        retry_after: Duration,
    },
    /// The requests of the last minute are used up.
    #[error("outbound limit exceeded: {limit}/min")]
    Minute {
        /// The limit.
        limit: u32,
        /// Until there is room; none, if the limit is zero.
        retry_after: Option<Duration>,
    },
    /// The requests of the last hour are used up.
    #[error("outbound limit exceeded: {limit}/hour")]
    Hour {
        /// The limit.
        limit: u32,
        /// Until there is room; none, if the limit is zero.
        retry_after: Option<Duration>,
    },
}

impl Declined {
    /// When it makes sense to ask again; none, if waiting does not help.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Burned { .. } => None,
            Self::Open { retry_after } | Self::Probing { retry_after } => Some(*retry_after),
            Self::Minute { retry_after, .. } | Self::Hour { retry_after, .. } => *retry_after,
        }
    }
}

/// Everything that must survive a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyState {
    /// When the requests of the last hour were sent, oldest first.
    sent: VecDeque<Moment>,
    /// Requests in all.
    total: u64,
    burned: bool,
    /// The latest moment seen; it never goes back.
    latest: Moment,
    breaker: Breaker,
}

/// The limiter of one proxy.
#[derive(Clone, Debug)]
pub struct Outbound {
    limits: ProxyLimits,
    state: ProxyState,
}

impl Outbound {
    /// A limiter that has seen nothing yet.
    #[must_use]
    pub fn new(limits: ProxyLimits) -> Self {
        Self::resume(limits, ProxyState::default())
    }

    /// Takes up a stored state.
    #[must_use]
    pub fn resume(mut limits: ProxyLimits, mut state: ProxyState) -> Self {
        limits.max_per_hour = limits.max_per_hour.min(MAX_PER_HOUR);
        // A state from elsewhere may be in any order; the youngest requests hold back the longest.
        state.sent.make_contiguous().sort_unstable();
        let most = usize::try_from(limits.max_per_hour).unwrap_or(usize::MAX);
        let surplus = state.sent.len().saturating_sub(most);
        state.sent.drain(..surplus);
        let last = state.sent.back().copied().unwrap_or_default();
        state.latest = state.latest.max(last);
        state.total = state.total.max(state.sent.len() as u64);
        Self { limits, state }
    }

    /// What to store.
    #[must_use]
    pub fn state(&self) -> &ProxyState {
        &self.state
    }

    /// Requests sent in all, for the crash report.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.state.total
    }

    /// Whether the burn limit was exceeded.
    #[must_use]
    pub fn burned(&self) -> bool {
        self.state.burned
    }

    /// Checks and counts one request.
    pub fn request(&mut self, now: Moment) -> Result<Permit, Declined> {
        let now = self.advance(now);
        let limit = self.limits.burn_limit;
        if self.state.burned || self.state.total >= u64::from(limit) {
            self.state.burned = true;
            return Err(Declined::Burned { limit });
        }
        self.state.breaker.check(now)?;
        self.windows(now)?;
        let number = self.state.total;
        let probe = self.state.breaker.sent(number, now, &self.limits);
        self.state.sent.push_back(now);
        self.state.total += 1;
        Ok(Permit { number, probe })
    }

    /// Takes note of what came of a request. If that opens the breaker, pause and alert the core.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a permit is good for one answer"
    )]
    pub fn answered(&mut self, permit: Permit, answer: Answer, now: Moment) -> Option<Opened> {
        let now = self.advance(now);
        let limits = &self.limits;
        self.state
            .breaker
            .answered(permit.number, answer, now, limits)
    }

    fn windows(&self, now: Moment) -> Result<(), Declined> {
        let (minute, hour) = (self.limits.max_per_minute, self.limits.max_per_hour);
        if let Err(retry_after) = self.room(hour, HOUR, now) {
            let limit = hour;
            return Err(Declined::Hour { limit, retry_after });
        }
        if let Err(retry_after) = self.room(minute, MINUTE, now) {
            let limit = minute;
            return Err(Declined::Minute { limit, retry_after });
        }
        Ok(())
    }

    /// There is room if the request that stands so many places from the end has left the window.
    fn room(&self, limit: u32, window: u64, now: Moment) -> Result<(), Option<Duration>> {
        let Some(back) = usize::try_from(limit).ok().and_then(|l| l.checked_sub(1)) else {
            return Err(None);
        };
        match self.state.sent.iter().rev().nth(back) {
            Some(sent) if sent.plus_millis(window) > now => {
                Err(Some(sent.plus_millis(window).since(now)))
            }
            _ => Ok(()),
        }
    }

    fn advance(&mut self, now: Moment) -> Moment {
        let state = &mut self.state;
        state.latest = state.latest.max(now);
        while let Some(first) = state.sent.front()
            && first.plus_millis(HOUR) <= state.latest
        {
            state.sent.pop_front();
        }
        state.latest
    }
}
