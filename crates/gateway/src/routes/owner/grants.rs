//! `/v1/grants`: hosts that the owner allowed for longer than one request.

use super::wire::id;
use crate::error::{ApiError, ErrorBody};
use crate::routes::guard::wire::OwnerErrors;
use crate::state::App;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use blastshield_owner::Grant;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A standing yes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GrantBody {
    /// The request from which it comes.
    id: String,
    /// For which action.
    action: String,
    /// To which host, exactly.
    host: String,
    /// Who may go there: whose request it was.
    requester: String,
    /// Since when, in milliseconds since the epoch.
    at_ms: i64,
    /// Until when; absent when until it is taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    until_ms: Option<i64>,
}

impl From<Grant> for GrantBody {
    fn from(grant: Grant) -> Self {
        Self {
            id: grant.id,
            action: grant.action,
            host: grant.host,
            requester: grant.requester,
            at_ms: grant.at_ms,
            until_ms: grant.until_ms,
        }
    }
}

/// Standing yeses, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GrantList {
    /// Those that count now.
    grants: Vec<GrantBody>,
}

/// What became of a grant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Revoked {
    /// Always true: one that does not exist is 404.
    revoked: bool,
}

/// Lists what the owner allowed for longer than one request.
#[utoipa::path(
    get,
    path = "/v1/grants",
    security(("bearer" = [])),
    responses((status = 200, body = GrantList), OwnerErrors)
)]
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Json<GrantList>, ApiError> {
    let grants = app.owner.approvals().grants().await?;
    Ok(Json(GrantList {
        grants: grants.into_iter().map(Into::into).collect(),
    }))
}

/// Takes a standing yes back.
#[utoipa::path(
    delete,
    path = "/v1/grants/{id}",
    params(("id" = String, Path, description = "From the list")),
    security(("bearer" = [])),
    responses(
        (status = 200, body = Revoked),
        (status = 404, body = ErrorBody),
        OwnerErrors
    )
)]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Revoked>, ApiError> {
    let unknown = ApiError::NotFound("there is no grant with this id");
    let Some(id) = blastshield_owner::RequestId::parse(&id(path)?) else {
        return Err(unknown);
    };
    let approvals = app.owner.approvals();
    if approvals.revoke(id.as_str(), "owner").await? {
        Ok(Json(Revoked { revoked: true }))
    } else {
        Err(unknown)
    }
}
