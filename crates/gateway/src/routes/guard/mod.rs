//! The guard's endpoints: what goes into the model, what comes out, and how often.

pub(crate) mod canaries;
pub(crate) mod memory;
pub(crate) mod metrics;
pub(crate) mod outbound;
pub(crate) mod output;
pub(crate) mod prompt;
pub(crate) mod scan;
pub(crate) mod sessions;
pub(crate) mod stream;
pub(crate) mod tool_results;
pub(crate) mod wire;

use crate::front;
use crate::state::App;
use axum::routing::{get, post};
use axum::{Router, middleware};
use std::sync::Arc;

/// What agents may call.
pub(super) fn agents(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/scan", post(scan::scan))
        .route("/v1/tool-results", post(tool_results::wrap))
        .route("/v1/memory/scan", post(memory::scan))
        .route("/v1/prompt-sections", get(prompt::sections))
        .route("/v1/outbound/check", post(outbound::check))
        .route("/v1/output/validate", post(output::validate))
        .route("/v1/output/stream", post(stream::validate))
        .route("/v1/sessions/{key}", get(sessions::status))
        .route("/v1/sessions/{key}/messages", post(sessions::message))
        .route("/v1/sessions/{key}/tool-calls", post(sessions::tool_call))
        .route("/v1/sessions/{key}/tokens", post(sessions::tokens))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::agents,
        ))
}

/// What only the owner may call.
pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/canaries", post(canaries::place).get(canaries::list))
        .route("/v1/sessions", get(sessions::held))
        .route("/v1/sessions/{key}/pardon", post(sessions::pardon))
        .route("/v1/memory/findings", post(memory::found))
        .route("/v1/alerts", get(metrics::alerts))
        .route("/v1/metrics", get(metrics::json))
        .route("/metrics", get(metrics::prometheus))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}
