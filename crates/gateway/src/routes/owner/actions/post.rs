//! `POST /v1/actions/post`: what the agent wants to say in public. It passes the leak filter first.

use super::{ActionResponse, Terms, Word, ask_owner, beginning, leaking, leaks, name, recorded};
use crate::error::ApiError;
use crate::front::Turn;
use crate::guard::outbound_blocked;
use crate::json::Large;
use crate::owner::Owner;
use crate::routes::guard::wire::BodyErrors;
use crate::routes::owner::wire::{WaitErrors, patience};
use crate::state::App;
use crate::tokens::Role;
use axum::Json;
use axum::extract::{Extension, State};
use blastshield_audit::{Event, Fingerprint};
use blastshield_owner::{Action, Ask, Value};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

const REASON: &str = "Posting externally requires approval";

/// What is to be posted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PostRequest {
    /// Where: `moltbook`, or any other service.
    #[schema(min_length = 1, max_length = 128)]
    service: String,
    /// All of it, as it would be sent.
    #[schema(min_length = 1)]
    content: String,
    /// The session that posts.
    #[schema(min_length = 1, max_length = 128)]
    session_key: Option<String>,
    /// A request that was made for exactly this before.
    approval: Option<String>,
    /// Seconds to wait for the owner.
    #[schema(minimum = 0, maximum = 60)]
    wait: Option<u64>,
}

/// Whether the agent may post this.
#[utoipa::path(
    post,
    path = "/v1/actions/post",
    request_body = PostRequest,
    responses((status = 200, body = ActionResponse), BodyErrors, WaitErrors)
)]
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Extension(turn): Extension<Turn>,
    Large(request): Large<PostRequest>,
) -> Result<Json<ActionResponse>, ApiError> {
    name("service", &request.service, 128)?;
    if request.content.is_empty() {
        return Err(ApiError::field("content", "content must not be empty"));
    }
    let terms = Terms {
        role,
        approval: request.approval,
        wait: patience(&app, request.wait)?,
    };
    let session = request.session_key.as_deref();
    app.guard.admit(session)?;
    // The name of the service is the agent's word as well.
    let whole = format!("{}\n{}", request.service, request.content);
    let (whole, findings) = leaks(&app, whole).await?;
    let note = |word: Word| {
        let event = Event::Post {
            service: &request.service,
            session,
            decision: word.decision(),
            content: Fingerprint::of(&request.content),
        };
        recorded(&app, &event)
    };
    if !findings.is_empty() {
        outbound_blocked(&app, session, Some(&request.service), &findings, &whole).await?;
        note(Word::Deny)?;
        return Ok(Json(leaking(&findings)));
    }
    turn.end();
    let disabled = app.owner.requirements().mode("moltbook") == Some("disabled");
    if disabled && request.service.eq_ignore_ascii_case("moltbook") {
        note(Word::Deny)?;
        let why = "Moltbook is not configured: MOLTBOOK_API_TOKEN is not set";
        return Ok(Json(ActionResponse::new(Word::Deny, "not_configured", why)));
    }
    if !app.settings.approvals.posts {
        note(Word::Allow)?;
        let why = "posts need no approval here";
        return Ok(Json(ActionResponse::new(Word::Allow, "not_required", why)));
    }
    let mut ask = Ask::new(Action::Post, REASON, Owner::requester(role))
        .with("service", Value::Text(request.service.clone()))
        .with("content", Value::Text(beginning(&request.content)))
        .with("content_bytes", Value::Number(length(&request.content)))
        .with(
            "content_sha256",
            Value::Text(Fingerprint::of(&request.content).sha256.to_string()),
        );
    ask.session.clone_from(&request.session_key);
    let answer = ask_owner(&app, &ask, &terms).await?;
    if terms.is_news(&answer) {
        note(answer.decision)?;
    }
    Ok(Json(answer))
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}
