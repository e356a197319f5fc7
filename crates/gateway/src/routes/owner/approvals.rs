//! `/v1/approvals`: asking the owner, and where a request stands.

use super::wire::{ApprovalBody, UNKNOWN, Wait, WaitErrors, asked_wait, id};
use crate::error::{ApiError, ErrorBody};
use crate::front::Turn;
use crate::json::Strict;
use crate::owner::Owner;
use crate::routes::guard::wire::{BodyErrors, OwnerErrors};
use crate::state::App;
use crate::tokens::Role;
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::http::StatusCode;
use blastshield_owner::{Action, Ask, Page, State as Stand, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// What the owner is told about the words of a request that an agent made up itself.
const OWN_WORDS: (&str, &str) = ("asked_by", "the agent, in its own words");
const MAX_TIMEOUT_S: u64 = 30 * 86_400;

/// What to ask the owner for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskRequest {
    /// What for.
    action: ActionName,
    /// Why, in one sentence.
    #[schema(min_length = 1, max_length = 1024)]
    reason: String,
    /// Names and values, at most 15: texts, whole numbers, true or false.
    #[serde(default)]
    #[schema(value_type = Object)]
    details: BTreeMap<String, serde_json::Value>,
    /// The session that asks.
    #[schema(min_length = 1, max_length = 128)]
    session_key: Option<String>,
    /// The host it is about; needed for `http`.
    #[schema(max_length = 253)]
    host: Option<String>,
    /// How long the owner has, if less than the setting for the action.
    #[schema(minimum = 1)]
    timeout_seconds: Option<u64>,
}

/// What the owner is asked for.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActionName {
    /// Paying.
    Payment,
    /// Posting in public.
    Post,
    /// Installing or enabling a skill.
    SkillInstall,
    /// A request to a host that is not allowed yet.
    Http,
    /// Anything else.
    Custom,
}

impl From<ActionName> for Action {
    fn from(name: ActionName) -> Self {
        match name {
            ActionName::Payment => Self::Payment,
            ActionName::Post => Self::Post,
            ActionName::SkillInstall => Self::SkillInstall,
            ActionName::Http => Self::Http,
            ActionName::Custom => Self::Custom,
        }
    }
}

/// Reads details; whoever adds some of its own leaves room for them.
pub(super) fn details(
    given: BTreeMap<String, serde_json::Value>,
) -> Result<Vec<(String, Value)>, ApiError> {
    let wrong = || {
        ApiError::field(
            "details",
            "details are names with texts, whole numbers, true or false",
        )
    };
    let read = |(name, value): (String, serde_json::Value)| {
        let value = match value {
            serde_json::Value::String(text) => Value::Text(text),
            serde_json::Value::Bool(truth) => Value::Text(truth.to_string()),
            serde_json::Value::Number(number) => Value::Number(number.as_i64().ok_or_else(wrong)?),
            _ => return Err(wrong()),
        };
        Ok((name, value))
    };
    given.into_iter().map(read).collect()
}

/// Asks the owner.
#[utoipa::path(
    post,
    path = "/v1/approvals",
    request_body = AskRequest,
    responses(
        (status = 201, body = ApprovalBody),
        BodyErrors,
        WaitErrors
    )
)]
pub(crate) async fn ask(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Extension(_turn): Extension<Turn>,
    Strict(request): Strict<AskRequest>,
) -> Result<(StatusCode, Json<ApprovalBody>), ApiError> {
    app.guard.admit(request.session_key.as_deref())?;
    let mut ask = Ask::new(
        request.action.into(),
        request.reason,
        Owner::requester(role),
    );
    let (name, words) = OWN_WORDS;
    ask = ask.with(name, Value::Text(words.to_owned()));
    ask.details.extend(details(request.details)?);
    ask.session = request.session_key;
    ask.host = request.host;
    if request
        .timeout_seconds
        .is_some_and(|time| time > MAX_TIMEOUT_S)
    {
        return Err(ApiError::field(
            "timeout_seconds",
            format!("timeout_seconds may be at most {MAX_TIMEOUT_S}"),
        ));
    }
    ask.timeout = request.timeout_seconds.map(Duration::from_secs);
    let made = app.owner.approvals().ask(&ask).await?;
    Ok((StatusCode::CREATED, Json(ApprovalBody::of(&made, role))))
}

/// Where a request stands; an agent sees its own alone.
#[utoipa::path(
    get,
    path = "/v1/approvals/{id}",
    params(("id" = String, Path, description = "The request"), Wait),
    responses(
        (status = 200, body = ApprovalBody),
        (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 429, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<Wait>, QueryRejection>,
) -> Result<Json<ApprovalBody>, ApiError> {
    let id = id(path)?;
    let wait = asked_wait(&app, query)?;
    let approvals = app.owner.approvals();
    let mut request = approvals.get(&id).await?.ok_or(UNKNOWN)?;
    if !Owner::may_see(role, &request) {
        return Err(UNKNOWN);
    }
    if request.state == Stand::Pending && !wait.is_zero() {
        request = approvals.wait(&id, wait).await?;
    }
    Ok(Json(ApprovalBody::of(&request, role)))
}

/// Which requests.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those that are `pending`, `approved`, `denied` or `expired`.
    #[param(inline)]
    state: Option<StateName>,
    /// Only those for this action.
    action: Option<ActionName>,
    /// How many at most.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
    /// `next` of the page before.
    after: Option<String>,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateName {
    /// Nobody has decided.
    Pending,
    /// The owner said yes.
    Approved,
    /// The owner said no.
    Denied,
    /// Nobody answered in time.
    Expired,
}

impl From<StateName> for Stand {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Pending => Self::Pending,
            StateName::Approved => Self::Approved,
            StateName::Denied => Self::Denied,
            StateName::Expired => Self::Expired,
        }
    }
}

/// Requests, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    /// The requests.
    approvals: Vec<ApprovalBody>,
    /// Names the next page, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Lists requests.
#[utoipa::path(
    get,
    path = "/v1/approvals",
    params(Which),
    security(("bearer" = [])),
    responses(
        (status = 200, body = ApprovalList),
        (status = 400, body = ErrorBody),
        OwnerErrors
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    query: Result<Query<Which>, QueryRejection>,
) -> Result<Json<ApprovalList>, ApiError> {
    let Query(which) = query.map_err(|_| ApiError::BadRequest {
        field: None,
        message: "state, action, limit and after say which requests".to_owned(),
    })?;
    let limit = which.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(ApiError::field(
            "limit",
            "limit must be a number from 1 to 200",
        ));
    }
    let after = which.after.as_deref().map(place).transpose()?;
    let page = Page {
        state: which.state.map(Into::into),
        action: which.action.map(Into::into),
        after,
        limit,
    };
    let requests = app.owner.approvals().page(&page).await?;
    let next = requests
        .last()
        .filter(|_| requests.len() >= limit as usize)
        .map(|last| format!("{}.{}", last.created_ms, last.id));
    Ok(Json(ApprovalList {
        approvals: requests
            .iter()
            .map(|request| ApprovalBody::of(request, role))
            .collect(),
        next,
    }))
}

fn place(text: &str) -> Result<(i64, String), ApiError> {
    let parts = text.split_once('.').and_then(|(time, id)| {
        let id = blastshield_owner::RequestId::parse(id)?;
        Some((time.parse().ok()?, id.to_string()))
    });
    parts.ok_or_else(|| ApiError::field("after", "after must be the next of the page before"))
}
