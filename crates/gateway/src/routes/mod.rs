//! The endpoints.

mod fetch;
mod flagged;
mod health;
mod search;
mod web_fetch;

use crate::error::{ApiError, ErrorBody, ErrorDetail};
use crate::front;
use crate::state::App;
use crate::wire;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Blastshield",
        description = "Search and fetch that an agent can trust.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        search::search,
        fetch::fetch,
        web_fetch::web_fetch,
        health::healthz,
        health::readyz,
        flagged::list,
        flagged::one
    ),
    components(schemas(
        wire::SearchResponse,
        wire::FetchResponse,
        wire::WebFetchResponse,
        wire::Health,
        ErrorBody,
        ErrorDetail
    ))
)]
struct Document;

/// The OpenAPI document.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// All routes, each behind the front door.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let work = Router::new()
        .route("/v1/search", post(search::search))
        .route("/v1/fetch", post(fetch::fetch))
        .route("/v1/web-fetch", post(web_fetch::web_fetch))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::agents,
        ));
    let owner = Router::new()
        .route("/v1/flagged", get(flagged::list))
        .route("/v1/flagged/{fetch_id}", get(flagged::one))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(app),
            front::owner,
        ));
    let open = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(|| async { Json(openapi()) }));
    work.merge(owner)
        .merge(open)
        .fallback(|| async { ApiError::NotFound("there is nothing here") })
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(broken))
        .layer(middleware::from_fn(front::every_request))
        .with_state(Arc::clone(app))
}

/// A fault of ours is an answer without content, and the next request is served.
fn broken(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!(target: "security", "a request broke down; nothing is returned");
    ApiError::Internal.into_response()
}

async fn wrong_method() -> Response {
    let body = ErrorBody {
        error: ErrorDetail {
            code: "method_not_allowed".to_owned(),
            message: "this endpoint does not take this method".to_owned(),
            details: None,
        },
    };
    (StatusCode::METHOD_NOT_ALLOWED, Json(body)).into_response()
}
