//! A request as others see it.

use crate::state::{Facts, Scope, State};
use crate::{Action, RequestId};
use blastshield_store::{ApprovalRecord, GrantRecord};

/// A request and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// What for.
    pub action: Action,
    /// Whose it is.
    pub requester: String,
    /// In which session.
    pub session: Option<String>,
    /// The host it is about, in the form in which it is dialled.
    pub host: Option<String>,
    /// Whether a yes has to repeat an amount.
    pub must_confirm: bool,
    /// Exactly what the owner is shown.
    pub shown: String,
    /// Hash of that and of all else that is shown: who asks, for which host, until when, how far a yes may reach.
    pub shown_sha256: String,
    /// When it was made, in milliseconds since the epoch.
    pub created_ms: i64,
    /// From when on the answer is no.
    pub expires_ms: i64,
    /// Where it stands. A decision shows only once it is in the audit log.
    pub state: State,
    /// How far a yes reaches.
    pub scope: Option<Scope>,
    /// Through which channel it was decided, or `timeout`.
    pub decided_by: Option<String>,
    /// When.
    pub decided_ms: Option<i64>,
    /// Whether the approval was used.
    pub used: bool,
}

impl Request {
    /// Whether a yes may be given for longer than this request.
    #[must_use]
    pub fn may_widen(&self) -> bool {
        may_widen(self.action, self.host.is_some())
    }

    /// Nothing when the store holds something that no request of ours is.
    pub(crate) fn of(record: ApprovalRecord) -> Option<Self> {
        let decided = record.recorded && record.state != "pending";
        Some(Self {
            id: RequestId::parse(&record.id)?,
            action: Action::parse(&record.action)?,
            requester: record.requester,
            session: record.session,
            host: record.host,
            must_confirm: record.confirm.is_some(),
            shown: record.shown,
            shown_sha256: record.shown_sha256,
            created_ms: record.created_ms,
            expires_ms: record.expires_ms,
            state: if decided {
                State::parse(&record.state)
            } else {
                State::Pending
            },
            scope: Scope::parse(&record.scope).filter(|_| decided),
            decided_by: decided.then_some(record.decided_by),
            decided_ms: decided.then_some(record.decided_ms),
            used: record.used_ms > 0,
        })
    }
}

pub(crate) fn facts(record: &ApprovalRecord) -> Facts<'_> {
    let action = Action::parse(&record.action);
    Facts {
        state: State::parse(&record.state),
        expires_ms: record.expires_ms,
        shown: &record.shown_sha256,
        confirm: record.confirm.as_deref(),
        may_widen: action.is_some_and(|action| may_widen(action, record.host.is_some())),
    }
}

/// Only requests to a host are ever allowed in advance: each payment, post and skill is asked for by itself.
fn may_widen(action: Action, has_host: bool) -> bool {
    action == Action::Http && has_host
}

/// Which requests to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Only in this state.
    pub state: Option<State>,
    /// Only for this action.
    pub action: Option<Action>,
    /// Only after this one: when it was made, in milliseconds since the epoch, and its id.
    pub after: Option<(i64, String)>,
    /// How many; 500 at most.
    pub limit: u32,
}

/// A host that the owner allowed for longer than one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The request from which it comes; names it for [`revoke`](crate::Approvals::revoke).
    pub id: String,
    /// For which action.
    pub action: String,
    /// Which host, exactly.
    pub host: String,
    /// Who may go there: whose request it was.
    pub requester: String,
    /// Since when, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Until when; nothing when until it is revoked.
    pub until_ms: Option<i64>,
}

impl Grant {
    pub(crate) fn of(record: GrantRecord) -> Self {
        Self {
            id: record.approval_id,
            action: record.action,
            host: record.host,
            requester: record.requester,
            at_ms: record.at_ms,
            until_ms: Some(record.until_ms).filter(|until| *until != i64::MAX),
        }
    }
}
