//! Where a session stands, for its owner.

use crate::abuse::{PastEvent, Watch};
use crate::hold::HoldKind;
use crate::moment::Moment;
use crate::refused::Standing;
use crate::session::Session;
use crate::settings::SessionLimits;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// The windows, holds and detections of one session at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionStatus {
    /// Whether anything is remembered of it.
    pub known: bool,
    /// Whether quotas do not apply to it.
    pub exempt: bool,
    /// Messages of the last minute.
    pub messages: Standing,
    /// Tool calls of the last minute.
    pub tool_calls: Standing,
    /// Tokens of the last hour.
    pub tokens: Standing,
    /// What holds it.
    pub hold: Option<HoldStatus>,
    /// How often each pattern was seen.
    pub detections: Vec<(Arc<str>, u32)>,
    /// The last events, oldest first: hashes and scores, no contents.
    pub events: Vec<PastEvent>,
}

/// What holds a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldStatus {
    /// Why.
    pub kind: HoldKind,
    /// A limit's name, a pattern's id, or the reason given for ending it.
    pub reason: Arc<str>,
    /// Until when.
    pub until: Moment,
    /// How long from now.
    #[serde(skip)]
    pub remaining: Duration,
}

impl SessionStatus {
    pub(crate) fn of(
        session: Option<&Session>,
        limits: Option<&SessionLimits>,
        exempt: bool,
        watch: &Watch,
        now: Moment,
    ) -> Self {
        let now = session.map_or(now, |session| now.max(session.seen()));
        let standing = |used: Option<u32>, limit: fn(&SessionLimits) -> u32| Standing {
            used: used.unwrap_or(0),
            limit: limits.map(limit),
        };
        let conduct = session.and_then(|session| session.conduct.as_ref());
        Self {
            known: session.is_some(),
            exempt,
            messages: standing(session.map(|s| s.messages.used(now)), |l| {
                l.messages_per_minute
            }),
            tool_calls: standing(session.map(|s| s.tool_calls.used(now)), |l| {
                l.tool_calls_per_minute
            }),
            tokens: standing(session.map(|s| s.tokens.used(now)), |l| l.tokens_per_hour),
            hold: session.and_then(|s| hold(s, now)),
            detections: conduct.map_or_else(Vec::new, |c| c.detections(watch)),
            events: conduct.map_or_else(Vec::new, |c| c.events(watch)),
        }
    }
}

fn hold(session: &Session, now: Moment) -> Option<HoldStatus> {
    session.held(now).map(|held| HoldStatus {
        kind: held.kind,
        reason: Arc::clone(&held.reason),
        until: held.until,
        remaining: held.until.since(now),
    })
}
