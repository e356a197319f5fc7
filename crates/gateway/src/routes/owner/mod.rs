//! The owner's endpoints: requests and their answers, what needs one, and the status.

pub(crate) mod actions;
pub(crate) mod approvals;
pub(crate) mod decide;
pub(crate) mod grants;
pub(crate) mod page;
pub(crate) mod status;
pub(crate) mod wire;

use crate::front;
use crate::state::App;
use axum::routing::{delete, get, post};
use axum::{Router, middleware};
use std::sync::Arc;

/// What agents may call. These may wait for a person.
pub(super) fn agents(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/approvals", post(approvals::ask))
        .route("/v1/approvals/{id}", get(approvals::one))
        .route("/v1/actions/post", post(actions::post::post))
        .route("/v1/actions/skill-install", post(actions::skill::install))
        .route("/v1/actions/http", post(actions::http::http))
        .route("/v1/actions/custom", post(actions::custom::custom))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::patient,
        ))
}

/// What only the owner may call.
pub(super) fn owner(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}/decision", post(decide::decide))
        .route("/v1/grants", get(grants::list))
        .route("/v1/grants/{id}", delete(grants::revoke))
        .route("/v1/status", get(status::status))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ))
}

/// The page behind a link; it shows and decides nothing without the owner's token.
pub(super) fn open() -> Router<Arc<App>> {
    Router::new()
        .route("/approve/{id}", get(page::page))
        .route("/approve/page.js", get(page::script))
        .route("/approve/page.css", get(page::style))
}
