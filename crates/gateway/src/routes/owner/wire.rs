//! What travels about requests to the owner.

use crate::error::{ApiError, ErrorBody};
use crate::state::App;
use crate::tokens::Role;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query};
use blastshield_owner::{AskError, DecideError, Refusal, Request, State, WaitError};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::{IntoParams, IntoResponses, ToSchema};

/// Longest wait that a caller may ask for.
pub(crate) const MAX_WAIT_S: u64 = 60;

/// A request to the owner. An agent sees how its own requests stand; the rest is for the owner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalBody {
    /// Its name.
    pub(crate) id: String,
    /// `payment`, `post`, `skill_install`, `http` or `custom`.
    pub(crate) action: String,
    /// `pending`, `approved`, `denied` or `expired`.
    pub(crate) state: String,
    /// The state in a few words; `timeout` when nobody answered.
    pub(crate) reason: String,
    /// When it was made, in milliseconds since the epoch.
    pub(crate) created_ms: i64,
    /// From when on the answer is no.
    pub(crate) expires_ms: i64,
    /// When it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decided_ms: Option<i64>,
    /// Whether the approval was used.
    pub(crate) used: bool,
    /// For the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<OwnerPart>,
}

/// What only the owner sees of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct OwnerPart {
    /// Whose it is.
    pub(crate) requester: String,
    /// In which session.
    pub(crate) session: Option<String>,
    /// The host it is about.
    pub(crate) host: Option<String>,
    /// Whether a yes has to repeat the amount.
    pub(crate) must_confirm: bool,
    /// Whether a yes may reach further than this request.
    pub(crate) may_widen: bool,
    /// Exactly what the owner is shown.
    pub(crate) shown: String,
    /// Its hash: sent back with a decision, it binds the answer to what was seen.
    pub(crate) shown_sha256: String,
    /// How far the yes reaches.
    pub(crate) scope: Option<String>,
    /// Through which channel it was decided, or `timeout`.
    pub(crate) decided_by: Option<String>,
}

impl ApprovalBody {
    /// The request as this caller may see it.
    pub(crate) fn of(request: &Request, role: Role) -> Self {
        let owner = (role == Role::Owner).then(|| OwnerPart {
            may_widen: request.may_widen(),
            requester: request.requester.clone(),
            session: request.session.clone(),
            host: request.host.clone(),
            must_confirm: request.must_confirm,
            shown: request.shown.clone(),
            shown_sha256: request.shown_sha256.clone(),
            scope: request.scope.map(|scope| scope.to_word()),
            decided_by: request.decided_by.clone(),
        });
        Self {
            id: request.id.to_string(),
            action: request.action.as_str().to_owned(),
            state: request.state.as_str().to_owned(),
            reason: reason(request.state).to_owned(),
            created_ms: request.created_ms,
            expires_ms: request.expires_ms,
            decided_ms: request.decided_ms,
            used: request.used,
            owner,
        }
    }
}

/// A state in a few words.
pub(crate) const fn reason(state: State) -> &'static str {
    match state {
        State::Pending => "the owner has not answered yet",
        State::Approved => "the owner said yes",
        State::Denied => "the owner said no",
        State::Expired => "timeout: nobody answered in time, which means no",
    }
}

/// How long to wait: as asked, and never so long that the request itself runs out of time.
pub(crate) fn patience(app: &App, wait: Option<u64>) -> Result<Duration, ApiError> {
    let seconds = wait.unwrap_or(0);
    if seconds > MAX_WAIT_S {
        return Err(ApiError::field(
            "wait",
            format!("wait may be at most {MAX_WAIT_S} seconds"),
        ));
    }
    let most = app.settings.server.request_timeout;
    let most = most.saturating_sub(Duration::from_secs(5).min(most / 4));
    Ok(Duration::from_secs(seconds).min(most))
}

/// How long to wait for something to change.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wait {
    /// Seconds to wait; what is asked for comes back as it stands when they are over.
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait: Option<u64>,
}

/// The wait in a query.
pub(crate) fn asked_wait(
    app: &App,
    query: Result<Query<Wait>, QueryRejection>,
) -> Result<Duration, ApiError> {
    let Query(Wait { wait }) = query.map_err(|_| {
        ApiError::field(
            "wait",
            format!("wait must be a number from 0 to {MAX_WAIT_S}"),
        )
    })?;
    patience(app, wait)
}

/// The id in a path; what cannot be one is unknown.
pub(crate) fn id(path: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    path.map(|Path(id)| id).map_err(|_| UNKNOWN)
}

pub(crate) const UNKNOWN: ApiError = ApiError::NotFound("there is no request with this id");

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Invalid(field) => Self::field(field, error.to_string()),
            AskError::TooManyOfYours => Self::TooMany(
                "too many of your requests wait for the owner; wait for an answer first",
            ),
            AskError::TooOften => Self::TooMany(
                "too many requests within an hour; the owner is not asked again so soon",
            ),
            AskError::TooMany => {
                Self::TooMany("too many requests wait for the owner; try again later")
            }
            AskError::Store(error) => error.into(),
            AskError::Unrecorded => UNRECORDED,
            AskError::NoRandom => Self::Internal,
        }
    }
}

pub(crate) const UNRECORDED: ApiError =
    ApiError::Busy("the audit log cannot take this now, so nothing was decided; try again");

impl From<WaitError> for ApiError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Unknown => UNKNOWN,
            WaitError::TooMany => {
                Self::TooMany("too many wait for answers; ask again without waiting")
            }
            WaitError::Store(error) => error.into(),
        }
    }
}

impl From<DecideError> for ApiError {
    fn from(error: DecideError) -> Self {
        let conflict = |code| Self::Conflict {
            code,
            message: error.to_string(),
        };
        match error {
            DecideError::Refused(refusal) => match refusal {
                Refusal::Unknown => UNKNOWN,
                Refusal::Late | Refusal::Already(State::Expired) => {
                    Self::Gone("the request's time is up; the answer was no")
                }
                Refusal::Already(_) => conflict("already_decided"),
                Refusal::Changed => conflict("changed"),
                Refusal::Confirm => Self::field("confirm", error.to_string()),
                Refusal::Scope => Self::field("scope", error.to_string()),
            },
            DecideError::Store(error) => error.into(),
            DecideError::Unrecorded => {
                Self::Busy("the decision stands, and counts once the audit log has it")
            }
        }
    }
}

/// How a request that may wait for the owner may fail besides.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "a description, never made")]
pub(crate) enum WaitErrors {
    /// The session is blocked.
    #[response(status = 403)]
    Blocked(ErrorBody),
    /// Too many requests wait for the owner, or the session has to.
    #[response(status = 429)]
    TooMany(ErrorBody),
}

/// How a decision may fail besides.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "a description, never made")]
pub(crate) enum DecideErrors {
    /// The agent's token does not open this.
    #[response(status = 403)]
    Forbidden(ErrorBody),
    /// There is no such request.
    #[response(status = 404)]
    Unknown(ErrorBody),
    /// It was decided before, or something else was shown.
    #[response(status = 409)]
    Conflict(ErrorBody),
    /// Its time is up.
    #[response(status = 410)]
    Gone(ErrorBody),
}
