//! Requests to the owner and what becomes of them, as the store keeps them.

use crate::{StoreError, backend::Row};

/// A request to the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRecord {
    /// Unique.
    pub id: String,
    /// What is asked for.
    pub action: String,
    /// Who asks.
    pub requester: String,
    /// In which session.
    pub session: Option<String>,
    /// The host it is about.
    pub host: Option<String>,
    /// What the owner has to repeat.
    pub confirm: Option<String>,
    /// Exactly what is shown.
    pub shown: String,
    /// Its hash.
    pub shown_sha256: String,
    /// Hash of what is to be done, unredacted.
    pub subject_sha256: String,
    /// When it was made, in milliseconds since the epoch.
    pub created_ms: i64,
    /// From when on the answer is no.
    pub expires_ms: i64,
    /// `pending`, `approved`, `denied` or `expired`.
    pub state: String,
    /// How far a yes reaches; empty before.
    pub scope: String,
    /// Through which channel it was decided; empty before.
    pub decided_by: String,
    /// When; 0 before.
    pub decided_ms: i64,
    /// Whether the decision is in the audit log.
    pub recorded: bool,
    /// When the approval was used; 0 before.
    pub used_ms: i64,
}

/// How many requests there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalLimits {
    /// Pending, of everybody.
    pub pending: u32,
    /// Pending, of one requester.
    pub per_requester: u32,
    /// Made by one requester within an hour.
    pub per_hour: u32,
}

/// Which requests to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalPage {
    /// Only in this state.
    pub state: Option<&'static str>,
    /// Only for this action.
    pub action: Option<&'static str>,
    /// Only after this one: when it was made, and its id.
    pub after: Option<(i64, String)>,
    /// How many.
    pub limit: u32,
}

/// What is to become of a pending request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Which request.
    pub id: String,
    /// `approved` or `denied`.
    pub state: &'static str,
    /// How far a yes reaches.
    pub scope: String,
    /// Through which channel.
    pub by: String,
    /// When.
    pub now_ms: i64,
    /// Until when its host is allowed as well.
    pub grant_until_ms: Option<i64>,
}

pub(super) fn approval(row: &Row) -> Result<ApprovalRecord, StoreError> {
    Ok(ApprovalRecord {
        id: row.text(0)?,
        action: row.text(1)?,
        requester: row.text(2)?,
        session: row.maybe_text(3)?,
        host: row.maybe_text(4)?,
        confirm: row.maybe_text(5)?,
        shown: row.text(6)?,
        shown_sha256: row.text(7)?,
        subject_sha256: row.text(8)?,
        created_ms: row.int(9)?,
        expires_ms: row.int(10)?,
        state: row.text(11)?,
        scope: row.text(12)?,
        decided_by: row.text(13)?,
        decided_ms: row.int(14)?,
        recorded: row.int(15)? != 0,
        used_ms: row.int(16)?,
    })
}
