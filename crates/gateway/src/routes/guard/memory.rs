//! `POST /v1/memory/scan`: what an agent remembers, before it is loaded. `POST /v1/memory/findings`: what a scan of the
//! files found, for the record and the owner.

use super::wire::{AssessmentBody, BodyErrors, CanaryLeak, OwnerErrors, risk, round};
use crate::error::ApiError;
use crate::json::{Large, Strict};
use crate::routes::owner::wire::UNRECORDED;
use crate::state::App;
use crate::work::work;
use axum::Json;
use axum::extract::State;
use blastshield_audit::{Decision, Digest, Event, Fingerprint, Origin};
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
        app.guard.note(&Event::MemoryPoisoned {
            file: &request.source,
            risk: risk(scan.assessment.score),
            content: Fingerprint::of(&request.content),
            quarantined: false,
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

/// A poisoned memory file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingRequest {
    /// Its name within the watched folder.
    #[schema(min_length = 1, max_length = 4096)]
    file: String,
    /// What the detector thinks of it.
    #[schema(minimum = 0)]
    score: f32,
    /// Hash of what it says.
    #[schema(min_length = 64, max_length = 64)]
    sha256: String,
    /// How long that is, in bytes.
    length: u64,
    /// Whether it was moved away.
    quarantined: bool,
}

/// What became of a finding.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FindingResponse {
    /// It is in the audit log.
    recorded: bool,
}

/// Records a poisoned memory file; the owner is told.
#[utoipa::path(
    post,
    path = "/v1/memory/findings",
    request_body = FindingRequest,
    security(("bearer" = [])),
    responses((status = 200, body = FindingResponse), BodyErrors, OwnerErrors)
)]
pub(crate) async fn found(
    State(app): State<Arc<App>>,
    Strict(request): Strict<FindingRequest>,
) -> Result<Json<FindingResponse>, ApiError> {
    if request.file.is_empty() || request.file.len() > 4096 {
        return Err(ApiError::field("file", "file must have 1 to 4096 bytes"));
    }
    if request.score < 0.0 {
        return Err(ApiError::field("score", "score must not be below 0"));
    }
    let Some(sha256) = Digest::parse(&request.sha256) else {
        return Err(ApiError::field("sha256", "sha256 must have 64 digits"));
    };
    let event = Event::MemoryPoisoned {
        file: &request.file,
        risk: risk(request.score),
        content: Fingerprint {
            sha256,
            length: request.length,
        },
        quarantined: request.quarantined,
    };
    app.guard.must_note(&event).map_err(|_| UNRECORDED)?;
    Ok(Json(FindingResponse { recorded: true }))
}
