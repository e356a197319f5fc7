//! `POST /v1/approvals/{id}/decision`: the owner's yes or no. The first that counts wins; any other changes nothing.

use super::wire::{ApprovalBody, DecideErrors, id};
use crate::error::ApiError;
use crate::json::Strict;
use crate::routes::guard::wire::BodyErrors;
use crate::state::App;
use crate::tokens::Role;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use blastshield_owner::state::MAX_HOURS;
use blastshield_owner::{Reply, Scope, Verdict};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Hours of a scope that says none.
const HOURS: u16 = 24;

/// The owner's answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionRequest {
    /// Yes or no.
    decision: Answer,
    /// How far a yes reaches: `once`, `hours` or `always`; for a host also as `24h`.
    #[schema(default = "once", max_length = 16)]
    scope: Option<String>,
    /// How many hours.
    #[schema(minimum = 1, maximum = 720, default = 24)]
    hours: Option<u16>,
    /// The amount, where it has to be repeated.
    #[schema(value_type = Option<u64>)]
    confirm: Option<Amount>,
    /// Hash of what was seen, or at least its first sixteen digits.
    #[schema(min_length = 16, max_length = 64)]
    shown_sha256: Option<String>,
    /// With what the owner decides.
    #[serde(default)]
    via: Via,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// Yes.
    Approve,
    /// No.
    Deny,
}

/// An amount as a number or as its digits.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Amount {
    Number(u64),
    Digits(String),
}

/// With what the owner decides; for the record.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Via {
    /// A program.
    #[default]
    Http,
    /// The command line.
    Cli,
    /// The page behind a link.
    Page,
}

impl Via {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Cli => "cli",
            Self::Page => "page",
        }
    }
}

fn scope(request: &DecisionRequest) -> Result<Scope, ApiError> {
    let wrong = || {
        let message = format!("scope must be once, hours (1 to {MAX_HOURS}) or always");
        ApiError::field("scope", message)
    };
    match request.scope.as_deref().unwrap_or("once") {
        "hours" => Scope::parse(&format!("{}h", request.hours.unwrap_or(HOURS))).ok_or_else(wrong),
        _ if request.hours.is_some() => Err(ApiError::field(
            "hours",
            "hours go with the scope hours alone",
        )),
        word => Scope::parse(word).ok_or_else(wrong),
    }
}

/// Decides a request.
#[utoipa::path(
    post,
    path = "/v1/approvals/{id}/decision",
    params(("id" = String, Path, description = "The request")),
    request_body = DecisionRequest,
    security(("bearer" = [])),
    responses(
        (status = 200, body = ApprovalBody),
        BodyErrors,
        DecideErrors
    )
)]
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Strict(request): Strict<DecisionRequest>,
) -> Result<Json<ApprovalBody>, ApiError> {
    let id = id(path)?;
    let scope = scope(&request)?;
    let verdict = match request.decision {
        Answer::Approve => Verdict::Approve(scope),
        Answer::Deny if request.scope.is_none() => Verdict::Deny,
        Answer::Deny => return Err(ApiError::field("scope", "only a yes has a scope")),
    };
    let confirm = request.confirm.map(|amount| match amount {
        Amount::Number(number) => number.to_string(),
        Amount::Digits(digits) => digits,
    });
    let reply = Reply {
        verdict,
        shown: request.shown_sha256.as_deref(),
        confirm: confirm.as_deref(),
    };
    let approvals = app.owner.approvals();
    let decided = approvals.decide(&id, &reply, request.via.as_str()).await?;
    Ok(Json(ApprovalBody::of(&decided, Role::Owner)))
}
