//! `/v1/actions/…`: allow, ask or deny, so that an agent's hook asks one endpoint before it acts.
//!
//! Where the owner is asked, the answer names the request; the same call again with that name and exactly the same
//! content is allowed once after a yes. With `wait` one call is enough.

pub(crate) mod custom;
pub(crate) mod http;
pub(crate) mod post;
pub(crate) mod skill;

use super::wire::{ApprovalBody, UNRECORDED, reason};
use crate::error::ApiError;
use crate::owner::Owner;
use crate::state::App;
use crate::tokens::Role;
use crate::work::work;
use blastshield_audit::{Decision, Event};
use blastshield_leak::{Finding, Scope};
use blastshield_owner::{Ask, ClaimError, State};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// What an agent may do now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ActionResponse {
    /// Allow, ask or deny. Only allow is a yes.
    pub(crate) decision: Word,
    /// For programs.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) reason: String,
    /// The request to the owner, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<ApprovalBody>,
    /// Rules by which something was found in it; never the words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<String>,
}

/// Allow, ask or deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// Go on.
    Allow,
    /// The owner has not answered yet: do not go on.
    Ask,
    /// Do not go on.
    Deny,
}

impl Word {
    pub(crate) const fn decision(self) -> Decision {
        match self {
            Self::Allow => Decision::Allow,
            Self::Ask => Decision::Ask,
            Self::Deny => Decision::Deny,
        }
    }
}

impl ActionResponse {
    pub(crate) fn new(decision: Word, code: &'static str, reason: impl Into<String>) -> Self {
        Self {
            decision,
            code,
            reason: reason.into(),
            approval: None,
            findings: Vec::new(),
        }
    }
}

/// How a caller wants to hear of the answer.
pub(crate) struct Terms {
    pub(crate) role: Role,
    /// A request that was made before.
    pub(crate) approval: Option<String>,
    pub(crate) wait: Duration,
}

/// Asks the owner, or takes up a request that was made before.
pub(crate) async fn ask_owner(
    app: &App,
    ask: &Ask,
    terms: &Terms,
) -> Result<ActionResponse, ApiError> {
    let approvals = app.owner.approvals();
    let mut request = match &terms.approval {
        Some(id) => match approvals.get(id).await? {
            Some(request) if Owner::may_see(terms.role, &request) => request,
            _ => {
                let why = "there is no request with this id";
                return Ok(ActionResponse::new(Word::Deny, "unknown_approval", why));
            }
        },
        None => approvals.ask(ask).await?,
    };
    if request.state == State::Pending && !terms.wait.is_zero() {
        request = approvals.wait(request.id.as_str(), terms.wait).await?;
    }
    let mut answer = match request.state {
        State::Pending => ActionResponse::new(Word::Ask, "approval_needed", reason(request.state)),
        State::Denied => ActionResponse::new(Word::Deny, "owner_denied", reason(request.state)),
        State::Expired => ActionResponse::new(Word::Deny, "timeout", reason(request.state)),
        State::Approved => match approvals.claim(request.id.as_str(), ask).await {
            Ok(()) => {
                request.used = true;
                ActionResponse::new(Word::Allow, "owner_approved", reason(State::Approved))
            }
            Err(error) => refused(error)?,
        },
    };
    answer.approval = Some(ApprovalBody::of(&request, terms.role));
    Ok(answer)
}

/// An approval that cannot be used is a no, unless the store or the log may say otherwise later.
fn refused(error: ClaimError) -> Result<ActionResponse, ApiError> {
    let code = match error {
        ClaimError::Unknown => "unknown_approval",
        ClaimError::Not(_) => "not_approved",
        ClaimError::Changed => "changed",
        ClaimError::Used => "already_used",
        ClaimError::Old => "approval_too_old",
        ClaimError::Unrecorded => return Err(UNRECORDED),
        ClaimError::Store(error) => return Err(error.into()),
    };
    Ok(ActionResponse::new(Word::Deny, code, error.to_string()))
}

impl Terms {
    /// Whether an answer is worth an entry: that a request still waits was told when it was made.
    pub(crate) fn is_news(&self, answer: &ActionResponse) -> bool {
        self.approval.is_none() || answer.decision != Word::Ask
    }
}

/// Writes a decision down; without that nothing is allowed.
pub(crate) fn recorded(app: &App, event: &Event<'_>) -> Result<(), ApiError> {
    app.guard.must_note(event).map_err(|_| UNRECORDED)
}

/// What must not leave in a text that is about to: stage 6b.
pub(crate) async fn leaks(app: &App, text: String) -> Result<(String, Vec<Finding>), ApiError> {
    let scanner = app.guard.scanner();
    let scope = app.guard.scope(Scope::OUTBOUND);
    work(text.len(), move || {
        let findings = scanner.scan_with(&text, scope);
        (text, findings)
    })
    .await
}

/// The answer to something that would leak.
pub(crate) fn leaking(findings: &[Finding]) -> ActionResponse {
    let mut rules: Vec<String> = findings.iter().map(|found| found.rule.to_owned()).collect();
    rules.sort_unstable();
    rules.dedup();
    let why = "it holds something that must not leave";
    ActionResponse {
        findings: rules,
        ..ActionResponse::new(Word::Deny, "leak", why)
    }
}

/// The beginning of a text, as long as a detail may be.
pub(crate) fn beginning(text: &str) -> String {
    let mut end = text.len().min(blastshield_owner::MAX_VALUE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// A name that a caller gives to something.
pub(crate) fn name(field: &'static str, text: &str, most: usize) -> Result<(), ApiError> {
    if text.is_empty() || text.len() > most || text.chars().any(char::is_control) {
        let message = format!("{field} has 1 to {most} bytes and no control characters");
        return Err(ApiError::field(field, message));
    }
    Ok(())
}
