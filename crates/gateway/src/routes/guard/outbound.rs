//! `POST /v1/outbound/check`: stage 6b. Any match is a block; nothing is redacted in part.

use super::wire::{BodyErrors, CanaryLeak, DecisionBody, SessionErrors};
use crate::error::ApiError;
use crate::guard::outbound_blocked;
use crate::json::Large;
use crate::state::App;
use crate::work::work;
use axum::Json;
use axum::extract::State;
use blastshield_leak::{Finding, Scope};
use blastshield_pipeline::Fingerprint;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What is about to leave.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutboundRequest {
    /// All of it: address, headers and body, as they would be sent.
    content: String,
    /// Where to, in the caller's words.
    #[schema(max_length = 512)]
    destination: Option<String>,
    /// The session that sends it.
    #[schema(min_length = 1, max_length = 256)]
    session_key: Option<String>,
}

/// Whether it may leave.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OutboundResponse {
    /// Allow or block.
    decision: DecisionBody,
    /// What must not leave, in order: rules and places, never the values.
    matches: Vec<LeakMatch>,
    /// Canaries among it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    canaries: Vec<CanaryLeak>,
    /// SHA-256 of the content, as the log has it.
    content_sha256: String,
}

/// Something that must not leave.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LeakMatch {
    /// The pattern.
    kind: String,
    /// `credential`, `personal`, `internal`, `registered` or `canary`.
    class: String,
    /// First byte.
    start: usize,
    /// The byte after the last.
    end: usize,
    /// `plain`, `url`, `encoded` or `split`.
    seen: String,
}

impl From<&Finding> for LeakMatch {
    fn from(found: &Finding) -> Self {
        Self {
            kind: found.rule.to_owned(),
            class: found.class.name().to_owned(),
            start: found.start,
            end: found.end,
            seen: found.seen.name().to_owned(),
        }
    }
}

/// Checks what is about to leave.
#[utoipa::path(
    post,
    path = "/v1/outbound/check",
    request_body = OutboundRequest,
    responses(
        (status = 200, body = OutboundResponse),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    Large(request): Large<OutboundRequest>,
) -> Result<Json<OutboundResponse>, ApiError> {
    let place = request.destination.as_ref();
    if place.is_some_and(|place| place.len() > 512) {
        return Err(ApiError::field(
            "destination",
            "destination may have 512 bytes",
        ));
    }
    app.guard.admit(request.session_key.as_deref())?;
    let scanner = app.guard.scanner();
    let scope = app.guard.scope(Scope::OUTBOUND);
    let text = request.content;
    let (text, findings, print) = work(text.len(), {
        let scanner = scanner.clone();
        move || {
            let findings = scanner.scan_with(&text, scope);
            let print = Fingerprint::of(&text);
            (text, findings, print)
        }
    })
    .await?;
    if !findings.is_empty() {
        let (session, place) = (
            request.session_key.as_deref(),
            request.destination.as_deref(),
        );
        outbound_blocked(&app, session, place, &findings, &text).await?;
    }
    Ok(Json(OutboundResponse {
        decision: if findings.is_empty() {
            DecisionBody::Allow
        } else {
            DecisionBody::Block
        },
        matches: findings.iter().map(LeakMatch::from).collect(),
        canaries: scanner
            .leaks(&findings)
            .iter()
            .map(CanaryLeak::from)
            .collect(),
        content_sha256: print.sha256,
    }))
}
