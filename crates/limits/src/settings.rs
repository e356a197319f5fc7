//! What an operator may set, and the defaults.

use crate::abuse::AbuseSettings;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The tables are split so often; a session waits only for its own part.
pub const SHARDS: usize = 64;

/// More messages or tool calls a minute cannot be configured: each costs four bytes a session.
pub const MAX_PER_MINUTE: u32 = 10_000;

/// More sessions cannot be configured.
pub const MAX_SESSIONS: usize = 4_000_000;

/// Quotas of one session. A limit of zero allows none and starts no cooldown; it is never "unlimited".
///
/// The defaults suit one person or agent at work: a message every two seconds and a tool call a second on average for
/// a whole minute, and a hundred thousand tokens an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionLimits {
    /// Whether the quotas hold. Blocks and terminations hold in any case.
    pub enabled: bool,
    /// Messages in any sixty seconds.
    pub messages_per_minute: u32,
    /// Tool calls in any sixty seconds.
    pub tool_calls_per_minute: u32,
    /// Tokens in any sixty minutes, counted by minute.
    pub tokens_per_hour: u32,
    /// How long a session that hit a limit waits, in milliseconds; everything it asks is refused meanwhile.
    pub cooldown_ms: u64,
    /// Keys of sessions without quotas and throttling. They can still be blocked and terminated.
    pub exempt_sessions: Vec<String>,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            enabled: true,
            messages_per_minute: 30,
            tool_calls_per_minute: 60,
            tokens_per_hour: 100_000,
            cooldown_ms: 60_000,
            exempt_sessions: Vec::new(),
        }
    }
}

/// Everything about sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Quotas.
    pub limits: SessionLimits,
    /// Abuse patterns.
    pub abuse: AbuseSettings,
    /// How many sessions are remembered at once, rounded up to a multiple of [`SHARDS`]. The longest unused one that is not
    /// held gives way to a new one and, should it come back, starts over.
    pub max_sessions: usize,
    /// How long a terminated session's key stays refused, in milliseconds.
    pub termination_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: SessionLimits::default(),
            abuse: AbuseSettings::default(),
            max_sessions: 65_536,
            termination_ms: 24 * 3_600_000,
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// A limit a minute is too large to be counted exactly.
    #[error("{setting} may be at most {MAX_PER_MINUTE}")]
    PerMinute {
        /// The setting.
        setting: &'static str,
    },
    /// The number of remembered sessions is zero or too large.
    #[error("the number of remembered sessions must be 1 to {MAX_SESSIONS}")]
    Sessions,
    /// An exempt session key is empty or too long.
    #[error("exempt session {place} must have 1 to 256 bytes")]
    Exempt {
        /// Its place in the list, from 1.
        place: usize,
    },
    /// A pattern's id is empty, too long, or not made of lower-case letters, digits and underscores.
    #[error("abuse pattern {place}: an id has 1 to 64 lower-case letters, digits and underscores")]
    PatternId {
        /// Its place in the list, from 1.
        place: usize,
    },
    /// Two patterns have the same id.
    #[error("abuse pattern {place}: its id stands twice")]
    PatternTwice {
        /// The second's place in the list, from 1.
        place: usize,
    },
    /// A rule counts to nothing, or beyond what is remembered.
    #[error("abuse pattern {place}: count and last must be 1 to 32, and count at most last")]
    PatternCount {
        /// Its place in the list, from 1.
        place: usize,
    },
    /// A rule has no trigger, or one that is empty or cannot be compared.
    #[error("abuse pattern {place}: a trigger is missing, empty or not a number")]
    PatternTrigger {
        /// Its place in the list, from 1.
        place: usize,
    },
    /// An expression is not valid, or too large.
    #[error("abuse pattern {place}: the expression is not valid or too large")]
    PatternText {
        /// Its place in the list, from 1.
        place: usize,
    },
    /// There are more rules than can be told apart.
    #[error("abuse patterns may have at most 32 rules together")]
    TooManyRules,
    /// No shipped pattern has that name.
    #[error("abuse pattern {place}: no such shipped pattern")]
    UnknownPattern {
        /// Its place in the list, from 1.
        place: usize,
    },
}

impl Settings {
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let limits = &self.limits;
        for (setting, value) in [
            ("messagesPerMinute", limits.messages_per_minute),
            ("toolCallsPerMinute", limits.tool_calls_per_minute),
        ] {
            if value > MAX_PER_MINUTE {
                return Err(SettingsError::PerMinute { setting });
            }
        }
        if !(1..=MAX_SESSIONS).contains(&self.max_sessions) {
            return Err(SettingsError::Sessions);
        }
        Ok(())
    }
}
