//! `POST /v1/actions/http`: a request that the agent's own tools want to make. Hosts that are not on the allowlist are
//! the owner's decision.

use super::{ActionResponse, Terms, Word, ask_owner, leaking, leaks, name, recorded};
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
use blastshield_config::EgressMode;
use blastshield_owner::{Action, Ask, Value, ascii_host};
use blastshield_policy::Host;
use serde::Deserialize;
use std::sync::Arc;
use url::Url;
use utoipa::ToSchema;

const REASON: &str = "Outbound request to a host that is not on the allowlist";
const MAX_URL: usize = 8192;

/// A request that is about to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpRequest {
    /// Where to.
    #[schema(min_length = 1, max_length = 8192)]
    url: String,
    /// `GET` when not given.
    #[schema(max_length = 16)]
    method: Option<String>,
    /// What is sent: headers and body, as they would be.
    content: Option<String>,
    /// The session that asks.
    #[schema(min_length = 1, max_length = 128)]
    session_key: Option<String>,
    /// A request that was made for exactly this before.
    approval: Option<String>,
    /// Seconds to wait for the owner.
    #[schema(minimum = 0, maximum = 60)]
    wait: Option<u64>,
}

/// Whether the agent may make this request.
#[utoipa::path(
    post,
    path = "/v1/actions/http",
    request_body = HttpRequest,
    responses((status = 200, body = ActionResponse), BodyErrors, WaitErrors)
)]
pub(crate) async fn http(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Extension(turn): Extension<Turn>,
    Large(request): Large<HttpRequest>,
) -> Result<Json<ActionResponse>, ApiError> {
    let (url, host) = target(&request.url)?;
    let method = method(request.method.as_deref())?;
    let terms = Terms {
        role,
        approval: request.approval,
        wait: patience(&app, request.wait)?,
    };
    let session = request.session_key.as_deref();
    app.guard.admit(session)?;
    let note = |word: Word, why: &str| {
        let event = Event::HttpDecision {
            host: &host,
            method: &method,
            session,
            decision: word.decision(),
            why,
        };
        recorded(&app, &event)
    };
    let content = request.content.unwrap_or_default();
    let (whole, findings) = leaks(&app, format!("{url}\n{content}")).await?;
    if !findings.is_empty() {
        outbound_blocked(&app, session, Some(&host), &findings, &whole).await?;
        note(Word::Deny, "leak")?;
        return Ok(Json(leaking(&findings)));
    }
    turn.end();
    let parsed = Host::parse(&host).map_err(|_| bad_url())?;
    if let Some((word, code, why)) = listed(&app, &parsed) {
        note(word, code)?;
        return Ok(Json(ActionResponse::new(word, code, why)));
    }
    let requester = Owner::requester(role);
    let approvals = app.owner.approvals();
    let grant = approvals.granted(Action::Http, &host, requester).await?;
    if grant.is_some() {
        note(Word::Allow, "granted")?;
        let why = "the owner allowed this host";
        return Ok(Json(ActionResponse::new(Word::Allow, "granted", why)));
    }
    if !app.settings.egress.ask {
        note(Word::Deny, "unlisted_host")?;
        let why = "the host is on no list, and nobody is asked about such";
        return Ok(Json(ActionResponse::new(Word::Deny, "unlisted_host", why)));
    }
    let mut ask = Ask::new(Action::Http, REASON, requester)
        .with("method", Value::Text(method.clone()))
        .with("url", Value::Text(url.to_string()))
        .to_host(host.clone());
    if !content.is_empty() {
        let print = Fingerprint::of(&content);
        ask = ask
            .with(
                "content_bytes",
                Value::Number(i64::try_from(print.length).unwrap_or(i64::MAX)),
            )
            .with("content_sha256", Value::Text(print.sha256.to_string()));
    }
    ask.session.clone_from(&request.session_key);
    let answer = ask_owner(&app, &ask, &terms).await?;
    if terms.is_news(&answer) {
        note(answer.decision, answer.code)?;
    }
    Ok(Json(answer))
}

/// What the lists say about a host, if they say anything; the same lists as those of the forward proxy.
fn listed(app: &App, host: &Host) -> Option<(Word, &'static str, &'static str)> {
    let egress = &app.settings.egress;
    let blocked = [&app.settings.policy.domains.block, &egress.blocked_domains];
    if blocked.into_iter().any(|list| list.covers(host)) {
        return Some((Word::Deny, "blocked_host", "the host is on the blocklist"));
    }
    if egress.allowed_domains.covers(host) {
        return Some((Word::Allow, "allowed_host", "the host is on the allowlist"));
    }
    let why = "hosts on no list pass here";
    (egress.mode != EgressMode::Enforce).then_some((Word::Allow, "not_enforced", why))
}

fn bad_url() -> ApiError {
    ApiError::field(
        "url",
        "url must be a http or https address of at most 8192 bytes, without a name before the host",
    )
}

/// The address in its normal form, without its fragment, and its host as it is dialled.
fn target(text: &str) -> Result<(Url, String), ApiError> {
    if text.len() > MAX_URL {
        return Err(bad_url());
    }
    let mut url = Url::parse(text).map_err(|_| bad_url())?;
    let plain = url.username().is_empty() && url.password().is_none();
    if !plain || !matches!(url.scheme(), "http" | "https") {
        return Err(bad_url());
    }
    url.set_fragment(None);
    let host = url.host_str().and_then(ascii_host).ok_or_else(bad_url)?;
    Ok((url, host))
}

fn method(given: Option<&str>) -> Result<String, ApiError> {
    let method = given.unwrap_or("GET");
    name("method", method, 16)?;
    if !method.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Err(ApiError::field("method", "method is a word"));
    }
    Ok(method.to_ascii_uppercase())
}
