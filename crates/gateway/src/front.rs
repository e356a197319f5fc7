//! The front door: request ids, roles, turns, deadlines, and one access line for each request.

use crate::error::ApiError;
use crate::ids;
use crate::state::App;
use crate::tokens::Role;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use blastshield_audit::Decision;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout;

/// The id of a request, in its answer's `x-request-id` and in the logs.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// Who is connected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Gives each request an id, logs it, and guards the answer against browsers.
pub(crate) async fn every_request(mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let Ok(id) = ids::fresh("req") else {
        return ApiError::Internal.into_response();
    };
    let method = request.method().clone();
    // The route and not the path, which may hold anything.
    let route = request.extensions().get::<MatchedPath>().cloned();
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::try_from(&id) {
        headers.insert("x-request-id", value);
    }
    headers.insert(
        "x-content-type-options",
        HeaderValue::from_static("nosniff"),
    );
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    tracing::info!(
        target: "access",
        request_id = id,
        method = %method,
        path = route.as_ref().map_or("(other)", MatchedPath::as_str),
        status = response.status().as_u16(),
        duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response
}

/// Lets agents and the owner in, as long as there is room, and for a limited time.
pub(crate) async fn agents(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    admit(&app, Role::Agent, request, next).await
}

/// Lets the owner in.
pub(crate) async fn owner(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    admit(&app, Role::Owner, request, next).await
}

async fn admit(app: &App, needed: Role, request: Request, next: Next) -> Response {
    let Some(Peer(peer)) = request.extensions().get::<Peer>().copied() else {
        return ApiError::Internal.into_response();
    };
    match app.tokens.role(request.headers(), peer.ip()) {
        Ok(role) if role >= needed => {}
        Ok(_) => {
            return ApiError::Forbidden("this needs the owner's token").into_response();
        }
        Err(error) => return error.into_response(),
    }
    let Ok(_turn) = app.turns.try_acquire() else {
        return ApiError::Busy("too many requests at once; try again").into_response();
    };
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = match timeout(app.settings.server.request_timeout, next.run(request)).await {
        Ok(response) => response,
        Err(_) => ApiError::Timeout.into_response(),
    };
    if let (Some(metrics), Some(route)) = (app.guard.metrics(), route) {
        metrics.decided(
            route.as_str(),
            decision(response.status()),
            started.elapsed(),
        );
    }
    response
}

/// What a status says about a request, for the metrics.
fn decision(status: StatusCode) -> Decision {
    match status {
        StatusCode::UNPROCESSABLE_ENTITY => Decision::Block,
        _ if status.is_server_error() => Decision::Error,
        _ if status.is_client_error() => Decision::Deny,
        _ => Decision::Allow,
    }
}
