//! `GET /v1/flagged`: what was blocked, for the owner alone.

use crate::error::{ApiError, ErrorBody};
use crate::state::App;
use axum::Json;
use axum::extract::{Path, Query, State};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Which payloads.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// How many at most.
    #[param(minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
}

/// A blocked payload, without its content.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlaggedEntry {
    /// The fetch.
    fetch_id: String,
    /// When, in milliseconds since the epoch.
    at_ms: i64,
    /// Hash of the content.
    sha256: String,
    /// Bytes of the content.
    length: u64,
    /// Its score.
    score: f64,
    /// What was found.
    flags: Vec<String>,
}

/// Blocked payloads, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlaggedList {
    /// The payloads.
    flagged: Vec<FlaggedEntry>,
}

/// A blocked payload with its content: hostile text, never to be shown to an agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlaggedContent {
    /// About it.
    #[serde(flatten)]
    entry: FlaggedEntry,
    /// The content, or its beginning.
    content: String,
}

/// Lists what was blocked.
#[utoipa::path(
    get,
    path = "/v1/flagged",
    params(Which),
    security(("bearer" = [])),
    responses(
        (status = 200, body = FlaggedList),
        (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    which: Result<Query<Which>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<FlaggedList>, ApiError> {
    let Query(which) =
        which.map_err(|_| ApiError::field("limit", "limit must be a number from 1 to 500"))?;
    let limit = which.limit.unwrap_or(50);
    if !(1..=500).contains(&limit) {
        return Err(ApiError::field(
            "limit",
            "limit must be a number from 1 to 500",
        ));
    }
    let flagged = app.store.list_flagged(limit, None).await?;
    let entry = |summary: blastshield_store::FlaggedSummary| FlaggedEntry {
        fetch_id: summary.fetch_id,
        at_ms: summary.at_ms,
        sha256: summary.sha256,
        length: summary.len,
        score: summary.score,
        flags: summary.flags,
    };
    Ok(Json(FlaggedList {
        flagged: flagged.into_iter().map(entry).collect(),
    }))
}

/// Shows one blocked payload.
#[utoipa::path(
    get,
    path = "/v1/flagged/{fetch_id}",
    params(("fetch_id" = String, Path, description = "From the list")),
    security(("bearer" = [])),
    responses(
        (status = 200, body = FlaggedContent),
        (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    fetch_id: Result<Path<String>, axum::extract::rejection::PathRejection>,
) -> Result<Json<FlaggedContent>, ApiError> {
    let unknown = ApiError::NotFound("no payload was kept for this fetch");
    let Ok(Path(fetch_id)) = fetch_id else {
        return Err(unknown);
    };
    if fetch_id.is_empty() || fetch_id.len() > 128 {
        return Err(unknown);
    }
    let payload = app.store.get_flagged(&fetch_id).await?.ok_or(unknown)?;
    Ok(Json(FlaggedContent {
        entry: FlaggedEntry {
            fetch_id: payload.fetch_id,
            at_ms: payload.at_ms,
            sha256: payload.sha256,
            length: payload.len,
            score: payload.score,
            flags: payload.flags,
        },
        content: String::from_utf8_lossy(&payload.content).into_owned(),
    }))
}
