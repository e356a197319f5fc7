//! The front door: request ids, roles, turns, deadlines, and one access line for each request.

use crate::clock::steady_ms;
use crate::error::ApiError;
use crate::ids;
use crate::state::App;
use crate::tokens::Role;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use blastshield_audit::{Decision, Event};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
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
    admit(&app, Role::Agent, Some(&app.turns), request, next).await
}

/// The same for requests that may wait for a person: a [`Turn`] is taken for their body alone, unless the endpoint holds it
/// for longer, and looking takes none.
pub(crate) async fn patient(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::GET {
        let Ok(permit) = Arc::clone(&app.turns).try_acquire_owned() else {
            return BUSY.into_response();
        };
        let turn = Turn(Arc::new(Mutex::new(Some(permit))));
        request.extensions_mut().insert(turn);
    }
    admit(&app, Role::Agent, None, request, next).await
}

/// The turn of a request that may wait for a person; it ends with the last one who holds it.
#[derive(Clone)]
pub(crate) struct Turn(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Turn {
    /// Leaves it to others, since what follows is only waiting.
    pub(crate) fn end(&self) {
        let mut permit = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(permit.take());
    }
}

/// Lets the owner in.
pub(crate) async fn owner(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    admit(&app, Role::Owner, Some(&app.owner_turns), request, next).await
}

/// A turn for an endpoint behind [`patient`], for as long as it works.
pub(crate) fn turn(app: &App) -> Result<SemaphorePermit<'_>, ApiError> {
    app.turns.try_acquire().map_err(|_| BUSY)
}

const BUSY: ApiError = ApiError::Busy("too many requests at once; try again");

async fn admit(
    app: &App,
    needed: Role,
    turns: Option<&Semaphore>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(Peer(peer)) = request.extensions().get::<Peer>().copied() else {
        return ApiError::Internal.into_response();
    };
    let route = request.extensions().get::<MatchedPath>().cloned();
    match app.tokens.role(request.headers(), peer.ip()) {
        Ok(role) if role >= needed => {
            request.extensions_mut().insert(role);
        }
        Ok(_) => {
            denied(
                app,
                route.as_ref(),
                peer,
                "the agent's token at an owner's route",
            );
            return ApiError::Forbidden("this needs the owner's token").into_response();
        }
        Err(error) => {
            denied(app, route.as_ref(), peer, error.code());
            return error.into_response();
        }
    }
    let turn = turns.map(Semaphore::try_acquire).transpose();
    let Ok(_turn) = turn else {
        return BUSY.into_response();
    };
    let started = Instant::now();
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

/// Notes who tried what without the right to; in a flood, the first of each minute.
fn denied(app: &App, route: Option<&MatchedPath>, peer: SocketAddr, why: &str) {
    if app.denials.take() {
        app.guard.note(&Event::AccessDenied {
            route: route.map_or("(other)", MatchedPath::as_str),
            from: &peer.ip().to_string(),
            why,
        });
    }
}

/// So many of a kind in a minute.
#[derive(Default)]
pub(crate) struct PerMinute(Mutex<(u64, u32)>);

impl PerMinute {
    const MOST: u32 = 30;

    fn take(&self) -> bool {
        let minute = steady_ms() / 60_000;
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != minute {
            *seen = (minute, 0);
        }
        seen.1 = seen.1.saturating_add(1);
        seen.1 <= Self::MOST
    }
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
