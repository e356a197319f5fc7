//! The endpoints.

mod fetch;
mod flagged;
pub(crate) mod guard;
mod health;
mod lockdown;
mod owner;
mod proxies;
mod quarantine;
mod restoring;
mod search;
mod wallet;
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
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    modifiers(&Bearer),
    info(
        title = "Blastshield",
        description = "Search and fetch that an agent can trust, and checks of what it reads, remembers and says.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        search::search,
        fetch::fetch,
        web_fetch::web_fetch,
        health::healthz,
        health::readyz,
        flagged::list,
        flagged::one,
        proxies::run,
        proxies::one,
        proxies::list,
        proxies::people,
        proxies::standing,
        quarantine::list,
        quarantine::one,
        quarantine::clear,
        restoring::restore,
        guard::scan::scan,
        guard::tool_results::wrap,
        guard::memory::scan,
        guard::memory::found,
        guard::prompt::sections,
        guard::outbound::check,
        guard::output::validate,
        guard::stream::validate,
        guard::sessions::status,
        guard::sessions::message,
        guard::sessions::tool_call,
        guard::sessions::tokens,
        guard::sessions::held,
        guard::sessions::pardon,
        guard::canaries::place,
        guard::canaries::list,
        guard::metrics::prometheus,
        guard::metrics::json,
        guard::metrics::alerts,
        owner::approvals::ask,
        owner::approvals::one,
        owner::approvals::list,
        owner::decide::decide,
        owner::grants::list,
        owner::grants::revoke,
        owner::status::status,
        owner::actions::post::post,
        owner::actions::skill::install,
        owner::actions::http::http,
        owner::actions::custom::custom,
        owner::page::page,
        lockdown::state,
        lockdown::set,
        wallet::status,
        wallet::pay,
        wallet::one,
        wallet::list,
        wallet::resolve
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

/// The tokens: the owner's routes need one, the agent's may do without on loopback.
struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", scheme);
    }
}

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
        .route("/v1/web-fetch", post(web_fetch::web_fetch));
    let work = lockdown::cut(app, work).route_layer(middleware::from_fn_with_state(
        Arc::clone(app),
        front::agents,
    ));
    let flagged = Router::new()
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
    work.merge(flagged)
        .merge(guard::agents(app))
        .merge(guard::owner(app))
        .merge(proxies::agents(app))
        .merge(proxies::owner(app))
        .merge(quarantine::owner(app))
        .merge(restoring::owner(app))
        .merge(owner::agents(app))
        .merge(owner::owner(app))
        .merge(owner::open())
        .merge(wallet::agents(app))
        .merge(lockdown::owner(app))
        .merge(wallet::owner(app))
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
