//! The answer to "may this session?": where it stands, or why not and when to ask again.

use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// How much of a limit is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// What counts in the window now, this one included.
    pub used: u32,
    /// The most that the window may hold; none for an exempt session or with limits switched off.
    pub limit: Option<u32>,
}

impl Standing {
    pub(crate) const FREE: Self = Self {
        used: 0,
        limit: None,
    };

    /// What is left, where there is a limit.
    #[must_use]
    pub fn remaining(&self) -> Option<u32> {
        self.limit.map(|limit| limit.saturating_sub(self.used))
    }
}

/// Why a session may not go on. The text is fit for the caller; it never holds the session's key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// It hit a limit, or was throttled, a while ago.
    #[error("Rate limit cooldown: {}s remaining", seconds(*.remaining))]
    Cooldown {
        /// Until the cooldown is over.
        remaining: Duration,
    },
    /// The messages of the last minute are used up; a cooldown begins.
    #[error("Message rate limit exceeded: {limit}/min")]
    Messages {
        /// The limit.
        limit: u32,
        /// When to ask again; never, if the limit is zero.
        retry_after: Option<Duration>,
    },
    /// The tool calls of the last minute are used up; a cooldown begins.
    #[error("Tool call rate limit exceeded: {limit}/min")]
    ToolCalls {
        /// The limit.
        limit: u32,
        /// When to ask again; never, if the limit is zero.
        retry_after: Option<Duration>,
    },
    /// The tokens of the last hour are used up, or so many never fit; a cooldown begins.
    #[error("Token limit exceeded: {limit}/hour")]
    Tokens {
        /// The limit.
        limit: u32,
        /// When to ask again for as many; never, if they do not fit into an hour.
        retry_after: Option<Duration>,
    },
    /// An abuse pattern blocked it.
    #[error("Session blocked by {reason}: {}s remaining", seconds(*.remaining))]
    Blocked {
        /// The id of the pattern.
        reason: Arc<str>,
        /// Until the block ends by itself.
        remaining: Duration,
    },
    /// It was ended, as after a leaked credential.
    #[error("Session terminated: {reason}")]
    Terminated {
        /// Why, in the words of whoever ended it.
        reason: Arc<str>,
        /// Until the key may be used again.
        remaining: Duration,
    },
    /// Every session that is remembered is held back and none may be forgotten, so no new one is let in.
    #[error("Too many sessions are held; no new session is accepted now")]
    Full {
        /// Until the first of them is free.
        retry_after: Duration,
    },
    /// The session key is empty or too long.
    #[error("A session key has 1 to 256 bytes")]
    Key,
}

impl Refused {
    /// When it makes sense to ask again; none, if waiting does not help.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Cooldown { remaining }
            | Self::Blocked { remaining, .. }
            | Self::Terminated { remaining, .. } => Some(*remaining),
            Self::Messages { retry_after, .. }
            | Self::ToolCalls { retry_after, .. }
            | Self::Tokens { retry_after, .. } => *retry_after,
            Self::Full { retry_after } => Some(*retry_after),
            Self::Key => None,
        }
    }

    /// A stable name for the wire and for counters.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cooldown { .. } => "cooldown",
            Self::Messages { .. } => "message_rate",
            Self::ToolCalls { .. } => "tool_call_rate",
            Self::Tokens { .. } => "token_limit",
            Self::Blocked { .. } => "session_blocked",
            Self::Terminated { .. } => "session_terminated",
            Self::Full { .. } => "sessions_full",
            Self::Key => "session_key",
        }
    }
}

/// Whole seconds, rounded up, so that nobody asks too early.
fn seconds(time: Duration) -> u128 {
    time.as_millis().div_ceil(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cooldown_is_told_in_whole_seconds_rounded_up() {
        let told = |millis| {
            let remaining = Duration::from_millis(millis);
            Refused::Cooldown { remaining }.to_string()
        };
        assert_eq!(told(11_001), "Rate limit cooldown: 12s remaining");
        assert_eq!(told(12_000), "Rate limit cooldown: 12s remaining");
        assert_eq!(told(1), "Rate limit cooldown: 1s remaining");
    }
}
