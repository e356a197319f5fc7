//! `GET /healthz` and `GET /readyz`.

use crate::state::App;
use crate::wire::Health;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use std::sync::Arc;

/// Whether the gateway lives, and how its dependencies are.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health)))]
pub(crate) async fn healthz(State(app): State<Arc<App>>) -> Json<Health> {
    Json(app.probe.health(&app).await)
}

/// Whether requests can be answered, for orchestrators.
#[utoipa::path(
    get,
    path = "/readyz",
    responses((status = 200, body = Health), (status = 503, body = Health))
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> (StatusCode, Json<Health>) {
    let health = app.probe.health(&app).await;
    let status = if health.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(health))
}
