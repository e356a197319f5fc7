//! `POST /v1/memory/scan`: what an agent remembers, before it is loaded.

use super::wire::{AssessmentBody, BodyErrors, CanaryLeak, risk, round};
use crate::error::ApiError;
use crate::json::Large;
use crate::state::App;
use crate::work::work;
use axum::Json;
use axum::extract::State;
use blastshield_audit::{Decision, Event, Fingerprint, Origin};
use blastshield_guard::memory::scan_memory;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// A piece of memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryRequest {
    /// What it says.
    content: String,
    /// Where it is kept, such as `MEMORY.md`.
    #[schema(min_length = 1, max_length = 512)]
    source: String,
}

/// What may be loaded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MemoryResponse {
    /// The memory, or a note that it was blocked.
    sanitized: String,
    /// What somebody should know.
    warnings: Vec<String>,
    /// Whether it was blocked.
    blocked: bool,
    /// What the detector thinks of it.
    assessment: AssessmentBody,
    /// Canaries in it: they may belong there, so nobody is alarmed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    canaries: Vec<CanaryLeak>,
}

/// Scans a piece of memory.
#[utoipa::path(
    post,
    path = "/v1/memory/scan",
    request_body = MemoryRequest,
    responses(
        (status = 200, body = MemoryResponse),
        BodyErrors
    )
)]
pub(crate) async fn scan(
    State(app): State<Arc<App>>,
    Large(request): Large<MemoryRequest>,
) -> Result<Json<MemoryResponse>, ApiError> {
    if request.source.is_empty() || request.source.len() > 512 {
        return Err(ApiError::field("source", "source must have 1 to 512 bytes"));
    }
    let shared = Arc::clone(&app);
    let (request, scan) = work(request.content.len(), move || {
        let scan = scan_memory(&request.content, &request.source, &shared.detector);
        (request, scan)
    })
    .await?;
    let canaries = app.guard.canaries_in(&request.content, true, None);
    if scan.blocked {
        let categories: Vec<&str> = scan
            .assessment
            .categories()
            .iter()
            .map(|c| c.name())
            .collect();
        app.guard.note(&Event::Injection {
            origin: Origin::Memory,
            source: &request.source,
            session: None,
            score: round(scan.assessment.score),
            risk: risk(scan.assessment.score),
            rules: &categories,
            content: Fingerprint::of(&request.content),
            decision: Decision::Block,
        });
    }
    Ok(Json(MemoryResponse {
        sanitized: scan.sanitized,
        warnings: scan.warnings,
        blocked: scan.blocked,
        assessment: AssessmentBody::from(&scan.assessment),
        canaries: canaries.iter().map(CanaryLeak::from).collect(),
    }))
}
