//! `/v1/quarantines`: services that wait after an end that was no good one, and the owner's word that lets them go on.

use super::guard::wire::{BodyErrors, OwnerErrors};
use crate::error::{ApiError, ErrorBody};
use crate::front;
use crate::json::Strict;
use crate::state::App;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use blastshield_recovery::{ClearError, HoldView, RecoveryError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

const UNKNOWN: ApiError = ApiError::NotFound("there is no hold with this id");

/// What only the owner may call.
pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/quarantines", get(list))
        .route("/v1/quarantines/{id}", get(one))
        .route("/v1/quarantines/{id}/clear", post(clear))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}

/// Holds, each with its quarantine if it has one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuarantineList {
    /// Those that are on, oldest first; all of them newest first.
    #[schema(value_type = Vec<Object>)]
    quarantines: Vec<HoldView>,
}

/// A hold.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuarantineBody {
    /// With what led to it, and what became of the workspace.
    #[schema(value_type = Object)]
    quarantine: HoldView,
}

/// Which ones.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Also those that were cleared.
    #[serde(default)]
    all: bool,
}

/// The owner's word.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearRequest {
    /// Who says so; `owner` by default.
    #[schema(min_length = 1, max_length = 64)]
    by: Option<String>,
    /// Leave relationships under review that the quarantine put there.
    #[serde(default)]
    keep_review: bool,
}

/// A hold that ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClearedBody {
    /// Which.
    id: String,
    /// The service.
    service: String,
    /// Relationships that are in use again.
    reviewed: Vec<String>,
    /// Further holds of the service that are still on.
    still_held: usize,
}

/// Holds and quarantines.
#[utoipa::path(get, path = "/v1/quarantines", tag = "proxies", params(ListQuery),
    responses(
        (status = 200, description = "Holds", body = QuarantineList),
        (status = 400, description = "The query is malformed", body = ErrorBody),
        OwnerErrors
    ),
    security(("bearer" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<QuarantineList>, ApiError> {
    let Query(query) = query.map_err(|_| ApiError::field("all", "all is true or false"))?;
    let recovery = app.proxies.get(&app).await?.recovery();
    let quarantines = recovery.list(query.all).await.map_err(failed)?;
    Ok(Json(QuarantineList { quarantines }))
}

/// One hold, on or cleared.
#[utoipa::path(get, path = "/v1/quarantines/{id}", tag = "proxies",
    params(("id" = String, Path, description = "The hold")),
    responses(
        (status = 200, description = "The hold", body = QuarantineBody),
        (status = 404, description = "There is none with this id", body = ErrorBody),
        OwnerErrors
    ),
    security(("bearer" = [])))]
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<QuarantineBody>, ApiError> {
    let Path(id) = id.map_err(|_| UNKNOWN)?;
    let recovery = app.proxies.get(&app).await?.recovery();
    let quarantine = recovery.show(&id).await.map_err(failed)?.ok_or(UNKNOWN)?;
    Ok(Json(QuarantineBody { quarantine }))
}

/// Lets a service go on.
#[utoipa::path(post, path = "/v1/quarantines/{id}/clear", tag = "proxies", request_body = ClearRequest,
    params(("id" = String, Path, description = "The hold")),
    responses(
        (status = 200, description = "It is cleared", body = ClearedBody),
        (status = 403, description = "The agent's token does not open this", body = ErrorBody),
        (status = 404, description = "There is none with this id", body = ErrorBody),
        (status = 409, description = "It was cleared before", body = ErrorBody),
        BodyErrors
    ),
    security(("bearer" = [])))]
pub(crate) async fn clear(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
    Strict(request): Strict<ClearRequest>,
) -> Result<Json<ClearedBody>, ApiError> {
    let Path(id) = id.map_err(|_| UNKNOWN)?;
    let by = request.by.as_deref().unwrap_or("owner");
    let recovery = app.proxies.get(&app).await?.recovery();
    let cleared =
        recovery
            .clear(&id, by, request.keep_review)
            .await
            .map_err(|error| match error {
                ClearError::Unknown => UNKNOWN,
                ClearError::Already => ApiError::Conflict {
                    code: "already_cleared",
                    message: error.to_string(),
                },
                ClearError::Who => ApiError::field("by", error.to_string()),
                ClearError::OwnerOnly => ApiError::Forbidden("only the owner may clear this hold"),
                ClearError::Recovery(error) => failed(error),
            })?;
    Ok(Json(ClearedBody {
        id: cleared.id,
        service: cleared.service,
        reviewed: cleared.reviewed,
        still_held: cleared.still_held,
    }))
}

pub(super) fn failed(error: RecoveryError) -> ApiError {
    tracing::error!(target: "security", %error, "a quarantine could not be worked on");
    match error {
        RecoveryError::Store(error) => error.into(),
        RecoveryError::Busy => ApiError::Busy("the service is being worked on; try again"),
        RecoveryError::Unrecorded => {
            ApiError::Busy("the audit log does not take it, so it does not count; try again")
        }
        RecoveryError::Inconsistent => ApiError::Conflict {
            code: "inconsistent",
            message: error.to_string(),
        },
        RecoveryError::Workspace(_) | RecoveryError::NoRandom => ApiError::Internal,
    }
}
