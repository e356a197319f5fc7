//! What keeps a session back for a time, in the form that survives a restart.

use crate::moment::Moment;
use crate::refused::Refused;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A longer reason is cut.
const MAX_REASON_BYTES: usize = 128;

/// Why a session is held; the later outranks the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HoldKind {
    /// It hit a limit or was throttled.
    Cooldown,
    /// An abuse pattern blocked it.
    Block,
    /// It was ended.
    Terminated,
}

impl HoldKind {
    /// The name on the wire and in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cooldown => "cooldown",
            Self::Block => "block",
            Self::Terminated => "terminated",
        }
    }
}

/// A session that is held back. There is at most one for each key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The session's key.
    pub key: String,
    /// Why it is held.
    pub kind: HoldKind,
    /// From this moment on it is free, in milliseconds since the Unix epoch.
    pub until: Moment,
    /// A limit's name, a pattern's id, or the reason given for ending it.
    pub reason: String,
}

/// The same beside the session.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) key: Box<str>,
    pub(crate) kind: HoldKind,
    pub(crate) until: Moment,
    pub(crate) reason: Arc<str>,
}

impl Held {
    /// The refusal that whoever asks at that moment gets.
    pub(crate) fn refusal(&self, now: Moment) -> Refused {
        let remaining = self.until.since(now);
        let reason = Arc::clone(&self.reason);
        match self.kind {
            HoldKind::Cooldown => Refused::Cooldown { remaining },
            HoldKind::Block => Refused::Blocked { reason, remaining },
            HoldKind::Terminated => Refused::Terminated { reason, remaining },
        }
    }

    /// This hold, or the other where it is stronger; never shorter than either.
    pub(crate) fn joined(self, other: Self) -> Self {
        let until = self.until.max(other.until);
        let stronger = if other.kind > self.kind { other } else { self };
        Self { until, ..stronger }
    }
}

impl From<&Held> for Hold {
    fn from(held: &Held) -> Self {
        Self {
            key: held.key.to_string(),
            kind: held.kind,
            until: held.until,
            reason: held.reason.to_string(),
        }
    }
}

/// A reason as it is kept: short and on one line.
pub(crate) fn bounded(reason: &str) -> Arc<str> {
    let cut = reason.floor_char_boundary(MAX_REASON_BYTES);
    let (start, _) = reason.split_at_checked(cut).unwrap_or_default();
    start.replace(char::is_control, " ").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_between_characters_and_stays_on_one_line() {
        assert_eq!(&*bounded("a\nb"), "a b");
        assert_eq!(bounded(&"é".repeat(100)).len(), 128);
        assert_eq!(bounded(&format!("x{}", "é".repeat(100))).len(), 127);
    }
}
