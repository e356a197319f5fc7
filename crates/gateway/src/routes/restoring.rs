//! `/v1/proxies/{service}/restore`: a backup put back because the owner says so.

use super::guard::wire::BodyErrors;
use super::quarantine::failed;
use crate::error::{ApiError, ErrorBody};
use crate::front;
use crate::json::Strict;
use crate::state::App;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::routing::post;
use axum::{Json, Router, middleware};
use blastshield_recovery::{RecoveryError, RestoreError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const NO_SERVICE: ApiError = ApiError::NotFound("there is no service of this name");

/// What only the owner may call.
pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/proxies/{service}/restore", post(restore))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}

/// The owner's word.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RestoreRequest {
    /// Of which day, as `20260223` or `2026-02-23`, or by its name, as `20260223-2`; the newest good one without.
    from: Option<String>,
    /// Who says so; `owner` by default.
    #[schema(min_length = 1, max_length = 64)]
    by: Option<String>,
}

/// A backup that was put back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RestoredBody {
    /// The service.
    service: String,
    /// The backup.
    backup: String,
    /// Files that were put back.
    files: usize,
    /// Where what was there lies now, in `proxies/workspaces` of the data folder.
    put_aside: String,
    /// Holds of the service that are on.
    still_held: usize,
}

/// Puts a backup of a service's workspace back; what is there is put aside.
#[utoipa::path(post, path = "/v1/proxies/{service}/restore", tag = "proxies", request_body = RestoreRequest,
    params(("service" = String, Path, description = "The service")),
    responses(
        (status = 200, description = "It is restored", body = RestoredBody),
        (status = 403, description = "The agent's token does not open this", body = ErrorBody),
        (status = 404, description = "There is no such service or backup", body = ErrorBody),
        (status = 409, description = "A task is on, or the backup is damaged", body = ErrorBody),
        BodyErrors
    ),
    security(("bearer" = [])))]
pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    service: Result<Path<String>, PathRejection>,
    Strict(request): Strict<RestoreRequest>,
) -> Result<Json<RestoredBody>, ApiError> {
    let Path(service) = service.map_err(|_| NO_SERVICE)?;
    let proxies = app.proxies.get(&app).await?;
    if !proxies.has(&service) {
        return Err(NO_SERVICE);
    }
    let by = request.by.as_deref().unwrap_or("owner");
    let restored = proxies
        .restore(&service, request.from.as_deref(), by)
        .await
        .map_err(|error| refused(&error))?;
    Ok(Json(RestoredBody {
        service,
        backup: restored.backup.name,
        files: restored.backup.files.len(),
        put_aside: restored.folder,
        still_held: restored.still_held,
    }))
}

fn refused(error: &RestoreError) -> ApiError {
    match error {
        RestoreError::Name => ApiError::field("from", error.to_string()),
        RestoreError::Who => ApiError::field("by", error.to_string()),
        RestoreError::Unknown => ApiError::NotFound("there is no such backup"),
        RestoreError::Damaged => ApiError::Conflict {
            code: "backup_damaged",
            message: error.to_string(),
        },
        RestoreError::Recovery(RecoveryError::Busy) => ApiError::Conflict {
            code: "task_running",
            message: "a task of this service is on, or somebody else works on it; try again later"
                .to_owned(),
        },
        RestoreError::Recovery(error) => failed(*error),
    }
}
