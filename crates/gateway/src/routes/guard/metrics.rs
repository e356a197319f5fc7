//! Numbers and alerts, for the owner and for what the owner watches them with.

use super::wire::OwnerErrors;
use crate::guard::wall;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Alerts of late.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AlertList {
    /// Newest first.
    #[schema(value_type = Vec<Object>)]
    alerts: Vec<serde_json::Value>,
}

/// The security metrics in Prometheus' form.
#[utoipa::path(
    get,
    path = "/metrics",
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        OwnerErrors
    )
)]
pub(crate) async fn prometheus(State(app): State<Arc<App>>) -> impl IntoResponse {
    let metrics = app.guard.metrics();
    let mut text = metrics.map_or_else(String::new, |metrics| metrics.to_prometheus(wall()));
    text.push_str(&app.exits.metrics.prometheus());
    (
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    )
}

/// The security metrics as JSON.
#[utoipa::path(
    get,
    path = "/v1/metrics",
    responses(
        (status = 200, body = Object),
        OwnerErrors
    )
)]
pub(crate) async fn json(State(app): State<Arc<App>>) -> Json<serde_json::Value> {
    let metrics = app.guard.metrics();
    Json(metrics.map_or_else(Default::default, |metrics| metrics.to_json(wall())))
}

/// Alerts of late.
#[utoipa::path(
    get,
    path = "/v1/alerts",
    responses(
        (status = 200, body = AlertList),
        OwnerErrors
    )
)]
pub(crate) async fn alerts(State(app): State<Arc<App>>) -> Json<AlertList> {
    Json(AlertList {
        alerts: app.guard.recent_alerts(),
    })
}
