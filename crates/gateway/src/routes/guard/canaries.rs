//! `/v1/canaries`: texts placed where only the agent's inside is. For the owner: an agent that knew them could avoid them.

use super::wire::{BodyErrors, OwnerErrors};
use crate::clock;
use crate::error::{ApiError, ErrorBody};
use crate::guard::random;
use crate::json::Strict;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use blastshield_leak::{Canary, Severity};
use blastshield_store::CanaryRecord;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Where a canary is to be placed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CanaryRequest {
    /// A name for the place: letters, digits, `_`, `-` and `.`.
    #[schema(min_length = 1, max_length = 64)]
    location: String,
    /// How bad it is when it leaks.
    #[serde(default)]
    severity: CanarySeverity,
}

/// How bad it is when a canary leaks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CanarySeverity {
    /// A warning.
    Warn,
    /// The session that leaked it is ended.
    #[default]
    Critical,
}

/// A canary.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CanaryBody {
    /// The text to place; whole only in the answer that made it.
    value: String,
    /// Where it was placed.
    location: String,
    /// `warn` or `critical`.
    severity: String,
    /// When it was made, in milliseconds since the epoch.
    at_ms: i64,
}

/// All canaries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CanaryList {
    /// Oldest first.
    canaries: Vec<CanaryBody>,
}

/// Makes a canary; it is looked for from now on.
#[utoipa::path(
    post,
    path = "/v1/canaries",
    request_body = CanaryRequest,
    responses(
        (status = 200, body = CanaryBody),
        BodyErrors,
        (status = 403, body = ErrorBody)
    )
)]
pub(crate) async fn place(
    State(app): State<Arc<App>>,
    Strict(request): Strict<CanaryRequest>,
) -> Result<Json<CanaryBody>, ApiError> {
    let severity = match request.severity {
        CanarySeverity::Warn => Severity::Warn,
        CanarySeverity::Critical => Severity::Critical,
    };
    let canary = Canary::new(&request.location, severity, random()?)
        .map_err(|error| ApiError::field("location", error.to_string()))?;
    let record = CanaryRecord {
        value: canary.token().to_owned(),
        location: canary.location().to_string(),
        severity: severity.name().to_owned(),
        at_ms: clock::now_ms(),
    };
    match app.store.add_canary(record.clone()).await {
        Err(blastshield_store::StoreError::Invalid("count")) => {
            return Err(ApiError::field(
                "location",
                "there are too many canaries already",
            ));
        }
        other => other?,
    }
    app.guard.watch_for(canary)?;
    Ok(Json(body(record, true)))
}

/// Lists canaries, by their first characters.
#[utoipa::path(
    get,
    path = "/v1/canaries",
    responses(
        (status = 200, body = CanaryList),
        OwnerErrors
    )
)]
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Json<CanaryList>, ApiError> {
    let canaries = app.store.canaries().await?;
    Ok(Json(CanaryList {
        canaries: canaries
            .into_iter()
            .map(|record| body(record, false))
            .collect(),
    }))
}

fn body(record: CanaryRecord, whole: bool) -> CanaryBody {
    let value = if whole {
        record.value
    } else {
        let start: String = record.value.chars().take(8).collect();
        format!("{start}...")
    };
    CanaryBody {
        value,
        location: record.location,
        severity: record.severity,
        at_ms: record.at_ms,
    }
}
