//! `POST /v1/actions/custom`: anything else that the agent's own rules hold for risky.

use super::{ActionResponse, Terms, ask_owner, name};
use crate::error::ApiError;
use crate::front::Turn;
use crate::json::Strict;
use crate::owner::Owner;
use crate::routes::guard::wire::BodyErrors;
use crate::routes::owner::approvals::details;
use crate::routes::owner::wire::{WaitErrors, patience};
use crate::state::App;
use crate::tokens::Role;
use axum::Json;
use axum::extract::{Extension, State};
use blastshield_owner::{Action, Ask, Value};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

const REASON: &str = "The agent asks before it does this";

/// What is to be done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CustomRequest {
    /// What, in a few words.
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    /// Names and values, at most 14: texts, whole numbers, true or false.
    #[serde(default)]
    #[schema(value_type = Object)]
    details: BTreeMap<String, serde_json::Value>,
    /// The session that asks.
    #[schema(min_length = 1, max_length = 128)]
    session_key: Option<String>,
    /// A request that was made for exactly this before.
    approval: Option<String>,
    /// Seconds to wait for the owner.
    #[schema(minimum = 0, maximum = 60)]
    wait: Option<u64>,
}

/// Whether the agent may do this: always the owner's decision.
#[utoipa::path(
    post,
    path = "/v1/actions/custom",
    request_body = CustomRequest,
    responses((status = 200, body = ActionResponse), BodyErrors, WaitErrors)
)]
pub(crate) async fn custom(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Extension(turn): Extension<Turn>,
    Strict(request): Strict<CustomRequest>,
) -> Result<Json<ActionResponse>, ApiError> {
    name("name", &request.name, 256)?;
    let terms = Terms {
        role,
        approval: request.approval,
        wait: patience(&app, request.wait)?,
    };
    app.guard.admit(request.session_key.as_deref())?;
    turn.end();
    let mut ask = Ask::new(Action::Custom, REASON, Owner::requester(role))
        .with("what", Value::Text(request.name));
    ask.details.extend(details(request.details)?);
    ask.session = request.session_key;
    Ok(Json(ask_owner(&app, &ask, &terms).await?))
}
