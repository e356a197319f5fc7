//! `/v1/sessions/…`: how often a session may do things, and what holds it.

use super::wire::{BodyErrors, OwnerErrors, SessionErrors};
use crate::error::{ApiError, ErrorBody};
use crate::guard::now;
use crate::json::Strict;
use crate::state::App;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use blastshield_limits::{MAX_KEY_BYTES, Refused, Sighting, Standing};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// More tokens than any model uses.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// Where a session stands after it was counted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StandingBody {
    /// Always true: a refusal is an error.
    allowed: bool,
    /// What counts in the window, this one included.
    used: u32,
    /// The most that the window may hold; absent without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    /// What is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<u32>,
}

impl From<Standing> for StandingBody {
    fn from(standing: Standing) -> Self {
        Self {
            allowed: true,
            used: standing.used,
            limit: standing.limit,
            remaining: standing.remaining(),
        }
    }
}

/// Nothing to say; `{}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// A call of a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolCallRequest {
    /// The tool.
    #[schema(min_length = 1, max_length = 256)]
    tool: String,
}

/// Tokens.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokensRequest {
    /// How many.
    #[schema(minimum = 0, maximum = 1_000_000_000_000_u64)]
    tokens: u64,
    /// Whether they are spent already: then they count in any case, and a refusal is about what follows.
    #[serde(default)]
    spent: bool,
}

/// A session and what holds it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeldSession {
    /// The session.
    session_key: String,
    /// `cooldown`, `block` or `terminated`.
    kind: String,
    /// Why.
    reason: String,
    /// Until when, in milliseconds since the epoch.
    until_ms: u64,
}

/// Sessions that are held.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeldSessions {
    /// By key; 10,000 at most.
    held: Vec<HeldSession>,
    /// How many there are.
    total: usize,
}

/// What became of a pardon.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Pardoned {
    /// Whether anything held the session.
    lifted: bool,
}

fn key(path: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    let wrong = || {
        ApiError::field(
            "key",
            format!("a session key has 1 to {MAX_KEY_BYTES} bytes"),
        )
    };
    let Path(key) = path.map_err(|_| wrong())?;
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        return Err(wrong());
    }
    Ok(key)
}

async fn counted(
    app: &App,
    key: &str,
    outcome: Result<Standing, Refused>,
) -> Result<Json<StandingBody>, ApiError> {
    match outcome {
        Ok(standing) => Ok(Json(standing.into())),
        Err(refused) => {
            app.guard.refused(&app.store, key, &refused).await;
            Err(ApiError::Session(refused))
        }
    }
}

/// Checks and counts a message, in one step.
#[utoipa::path(
    post,
    path = "/v1/sessions/{key}/messages",
    params(("key" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = Nothing,
    responses(
        (status = 200, body = StandingBody),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn message(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Strict(Nothing {}): Strict<Nothing>,
) -> Result<Json<StandingBody>, ApiError> {
    let key = key(path)?;
    counted(&app, &key, app.guard.sessions.message(&key, now())).await
}

/// Checks and counts a tool call, in one step.
#[utoipa::path(
    post,
    path = "/v1/sessions/{key}/tool-calls",
    params(("key" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = ToolCallRequest,
    responses(
        (status = 200, body = StandingBody),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn tool_call(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Strict(request): Strict<ToolCallRequest>,
) -> Result<Json<StandingBody>, ApiError> {
    let key = key(path)?;
    if request.tool.is_empty() || request.tool.len() > 256 {
        return Err(ApiError::field("tool", "tool must have 1 to 256 bytes"));
    }
    let outcome = app.guard.sessions.tool_call(&key, now());
    if outcome.is_ok() {
        let seen = Sighting::tool_call(&request.tool);
        app.guard.observe(&app.store, &key, &seen).await?;
    }
    counted(&app, &key, outcome).await
}

/// Checks and counts tokens, in one step: all of them or none.
#[utoipa::path(
    post,
    path = "/v1/sessions/{key}/tokens",
    params(("key" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = TokensRequest,
    responses(
        (status = 200, body = StandingBody),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn tokens(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Strict(request): Strict<TokensRequest>,
) -> Result<Json<StandingBody>, ApiError> {
    let key = key(path)?;
    if request.tokens > MAX_TOKENS {
        return Err(ApiError::field(
            "tokens",
            format!("tokens may be at most {MAX_TOKENS}"),
        ));
    }
    let sessions = &app.guard.sessions;
    let outcome = if request.spent {
        sessions.tokens_spent(&key, request.tokens, now())
    } else {
        sessions.tokens(&key, request.tokens, now())
    };
    counted(&app, &key, outcome).await
}

/// Where a session stands. Nothing is counted.
#[utoipa::path(
    get,
    path = "/v1/sessions/{key}",
    params(("key" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    responses(
        (status = 200, description = "Counts, limits, and what holds the session", body = Object),
        (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn status(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<blastshield_limits::SessionStatus>, ApiError> {
    let key = key(path)?;
    let status = app.guard.sessions.status(&key, now());
    status.map(Json).map_err(ApiError::Session)
}

/// Sessions that are held.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    responses(
        (status = 200, body = HeldSessions),
        OwnerErrors
    )
)]
pub(crate) async fn held(State(app): State<Arc<App>>) -> Json<HeldSessions> {
    let holds = app.guard.sessions.holds(now());
    let total = holds.len();
    let shown = |hold: blastshield_limits::Hold| HeldSession {
        session_key: hold.key,
        kind: hold.kind.name().to_owned(),
        reason: hold.reason,
        until_ms: hold.until.millis(),
    };
    Json(HeldSessions {
        held: holds.into_iter().take(10_000).map(shown).collect(),
        total,
    })
}

/// Lifts what holds a session.
#[utoipa::path(
    post,
    path = "/v1/sessions/{key}/pardon",
    params(("key" = String, Path, description = "The session", min_length = 1, max_length = 256)),
    request_body = Nothing,
    responses(
        (status = 200, body = Pardoned),
        BodyErrors,
        (status = 403, body = ErrorBody)
    )
)]
pub(crate) async fn pardon(
    State(app): State<Arc<App>>,
    path: Result<Path<String>, PathRejection>,
    Strict(Nothing {}): Strict<Nothing>,
) -> Result<Json<Pardoned>, ApiError> {
    let key = key(path)?;
    let lifted = app.guard.pardon(&app.store, &key).await?.is_some();
    Ok(Json(Pardoned { lifted }))
}
