//! `/v1/lockdown`: the kill switch. On, every way out is closed at once, and stays closed through restarts.

use super::guard::wire::OwnerErrors;
use crate::error::{ApiError, ErrorBody};
use crate::front;
use crate::json::Strict;
use crate::routes::guard::wire::BodyErrors;
use crate::state::App;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use blastshield_egress::LockdownError;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The switch as it is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LockdownRequest {
    /// Whether everything is to be closed.
    on: bool,
}

/// The switch as it is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LockdownState {
    /// Whether everything is closed.
    on: bool,
}

/// Whether everything is closed.
#[utoipa::path(
    get,
    path = "/v1/lockdown",
    security(("bearer" = [])),
    responses((status = 200, body = LockdownState), OwnerErrors)
)]
pub(crate) async fn state(State(app): State<Arc<App>>) -> Json<LockdownState> {
    let lockdown = &app.exits.lockdown;
    lockdown.look().await;
    Json(LockdownState {
        on: lockdown.is_on(),
    })
}

/// Closes every way out at once, or opens them again.
#[utoipa::path(
    post,
    path = "/v1/lockdown",
    request_body = LockdownRequest,
    security(("bearer" = [])),
    responses(
        (status = 200, body = LockdownState),
        (status = 403, body = ErrorBody),
        BodyErrors
    )
)]
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    Strict(request): Strict<LockdownRequest>,
) -> Result<Json<LockdownState>, ApiError> {
    let outcome = app.exits.lockdown.set(request.on, "api").await;
    outcome.map_err(|error| match error {
        LockdownError::Store(error) => error.into(),
        LockdownError::Unrecorded(_) => {
            ApiError::Busy("the audit log cannot take this now; everything is closed; try again")
        }
    })?;
    Ok(Json(LockdownState { on: request.on }))
}

/// These routes behind the gate. Whoever may not call them is told so first: put the roles around it.
pub(super) fn gated(app: &Arc<App>, routes: Router<Arc<App>>) -> Router<Arc<App>> {
    routes.route_layer(middleware::from_fn_with_state(Arc::clone(app), gate))
}

/// The same for routes whose work may be dropped at any time: what is under way when everything is closed ends at once.
pub(super) fn cut(app: &Arc<App>, routes: Router<Arc<App>>) -> Router<Arc<App>> {
    let routes = routes.route_layer(middleware::from_fn_with_state(Arc::clone(app), cutting));
    gated(app, routes)
}

pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/lockdown", get(state).post(set))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}

async fn cutting(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let closed = app.exits.lockdown.turned_on();
    tokio::select! {
        response = next.run(request) => response,
        () = closed => closed_by_owner(),
    }
}

fn closed_by_owner() -> Response {
    ApiError::Forbidden("the owner has closed all ways out; only the owner can open them again")
        .into_response()
}

/// Nothing is fetched, sent or paid for agents while everything is closed.
pub(super) async fn gate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if app.exits.lockdown.is_on() && request.method() == Method::POST {
        return closed_by_owner();
    }
    next.run(request).await
}
