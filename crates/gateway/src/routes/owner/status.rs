//! `GET /v1/status`: the owner's view of the whole, as in the status file.

use crate::routes::guard::wire::OwnerErrors;
use crate::state::App;
use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Modes, channels, open requests, what the wallet may spend, the end of the audit log, alerts.
#[utoipa::path(
    get,
    path = "/v1/status",
    security(("bearer" = [])),
    responses((status = 200, body = Object), OwnerErrors)
)]
pub(crate) async fn status(State(app): State<Arc<App>>) -> Json<Map<String, Value>> {
    Json(app.owner.status(&app).await)
}
