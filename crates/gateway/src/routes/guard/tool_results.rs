//! `POST /v1/tool-results`: a fence around what a tool returned.

use super::wire::{
    AssessmentBody, BodyErrors, CanaryLeak, SessionErrors, is_suspicious, risk, round,
};
use crate::error::ApiError;
use crate::guard::random;
use crate::json::Large;
use crate::state::App;
use crate::work::work;
use axum::Json;
use axum::extract::State;
use blastshield_audit::{Decision, Event, Fingerprint, Origin};
use blastshield_guard::fence::{Wrap, withheld, wrap as fence};
use blastshield_limits::Sighting;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What a tool returned.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ToolResultRequest {
    /// The tool.
    #[schema(min_length = 1, max_length = 256)]
    tool_name: String,
    /// What it returned.
    result: String,
    /// How long it took.
    #[schema(minimum = 0, maximum = 31_536_000_000_u64)]
    execution_time_ms: Option<u64>,
    /// Whether the result was cut before.
    #[serde(default)]
    truncated: bool,
    /// The session that it belongs to.
    #[schema(min_length = 1, max_length = 256)]
    session_key: Option<String>,
}

/// What to give to the model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolResultResponse {
    /// The result behind its fence; without the result when it is blocked.
    wrapped: String,
    /// What the detector thinks of the result, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    assessment: Option<AssessmentBody>,
    /// Whether policy says that the model must not read it.
    blocked: bool,
    /// Forged markers and chat-template tokens that were made harmless.
    neutralised: usize,
    /// Canaries in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    canaries: Vec<CanaryLeak>,
}

/// No tool runs longer than a year.
const MAX_TIME: u64 = 31_536_000_000;

/// Fences a tool's result.
#[utoipa::path(
    post,
    path = "/v1/tool-results",
    request_body = ToolResultRequest,
    responses(
        (status = 200, body = ToolResultResponse),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn wrap(
    State(app): State<Arc<App>>,
    Large(request): Large<ToolResultRequest>,
) -> Result<Json<ToolResultResponse>, ApiError> {
    if request.tool_name.is_empty() || request.tool_name.len() > 256 {
        return Err(ApiError::field(
            "toolName",
            "toolName must have 1 to 256 bytes",
        ));
    }
    if request
        .execution_time_ms
        .is_some_and(|time| time > MAX_TIME)
    {
        return Err(ApiError::field(
            "executionTimeMs",
            "executionTimeMs may be a year at most",
        ));
    }
    let session = request.session_key.clone();
    app.guard.admit(session.as_deref())?;
    let id = random()?;
    let (shared, length) = (Arc::clone(&app), request.result.len());
    let (request, wrapped) = work(length, move || {
        let call = Wrap {
            tool_name: &request.tool_name,
            execution_ms: request.execution_time_ms,
            truncated: request.truncated,
            id,
        };
        let mut wrapped = fence(
            &request.result,
            &call,
            &shared.detector,
            &shared.guard.isolation,
        );
        if wrapped.blocked {
            wrapped.text = withheld(&call, wrapped.assessment.as_ref());
        }
        (request, wrapped)
    })
    .await?;
    let guard = &app.guard;
    let canaries = guard.canaries_in(&request.result, false, session.as_deref());
    let score = wrapped.assessment.as_ref().map_or(0.0, |found| found.score);
    let categories: Vec<&str> = wrapped
        .assessment
        .iter()
        .flat_map(|found| found.categories())
        .map(|category| category.name())
        .collect();
    if wrapped.blocked || is_suspicious(score) || wrapped.neutralised > 0 {
        guard.note(&Event::Injection {
            origin: Origin::ToolResult,
            source: &request.tool_name,
            session: session.as_deref(),
            score: round(score),
            risk: risk(score),
            rules: &categories,
            content: Fingerprint::of(&request.result),
            decision: if wrapped.blocked {
                Decision::Block
            } else {
                Decision::Allow
            },
        });
    }
    if let Some(key) = &session {
        let seen = Sighting::content(&request.result).scored(score, &categories);
        guard.observe(&app.store, key, &seen).await?;
    }
    Ok(Json(ToolResultResponse {
        wrapped: wrapped.text,
        assessment: wrapped.assessment.as_ref().map(AssessmentBody::from),
        blocked: wrapped.blocked,
        neutralised: wrapped.neutralised,
        canaries: canaries.iter().map(CanaryLeak::from).collect(),
    }))
}
