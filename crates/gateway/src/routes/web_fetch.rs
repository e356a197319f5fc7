//! `POST /v1/web-fetch`.

use crate::error::{ApiError, ErrorBody};
use crate::ids;
use crate::json::Strict;
use crate::retrieve::{Wanted, retrieve};
use crate::state::App;
use crate::wire::{DecisionName, ExtractMode, Safety, WebFetchRequest, WebFetchResponse};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use blastshield_pipeline::Mode;
use blastshield_store::FetchKind;
use std::sync::Arc;

const MAX_CHARS: usize = 5_000_000;

/// Fetches a page by its URL.
#[utoipa::path(
    post,
    path = "/v1/web-fetch",
    request_body = WebFetchRequest,
    security((), ("bearer" = [])),
    responses(
        (status = 200, body = WebFetchResponse),
        (status = 400, body = ErrorBody, description = "The request is malformed"),
        (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody),
        (status = 413, body = ErrorBody),
        (status = 415, body = ErrorBody),
        (status = 422, body = WebFetchResponse, description = "Blocked: no content, and why"),
        (status = 502, body = ErrorBody, description = "The origin failed"),
        (status = 503, body = ErrorBody, description = "Switched off, or there is no room; see Retry-After"),
        (status = 504, body = ErrorBody)
    )
)]
pub(crate) async fn web_fetch(
    State(app): State<Arc<App>>,
    Strict(request): Strict<WebFetchRequest>,
) -> Result<(StatusCode, Json<WebFetchResponse>), ApiError> {
    if !app.settings.web.fetch {
        return Err(ApiError::Disabled("fetching by URL is switched off"));
    }
    let max_chars = request.max_chars;
    if max_chars.is_some_and(|most| !(1..=MAX_CHARS).contains(&most)) {
        let message = format!("maxChars must be from 1 to {MAX_CHARS}");
        return Err(ApiError::field("maxChars", message));
    }
    let wanted = Wanted {
        fetch_id: ids::fresh("fet")?,
        kind: FetchKind::WebFetch,
        result_id: None,
        url: request.url,
        mode: match request.extract_mode {
            ExtractMode::Text => Mode::Text,
            ExtractMode::Markdown => Mode::Markdown,
        },
        max_chars,
    };
    let outcome = retrieve(&app, &wanted).await?;
    let content = outcome.content.as_ref();
    let response = WebFetchResponse {
        content: content.map(|c| c.text().to_owned()),
        content_summary: content.map(|c| c.summary().to_owned()),
        truncated: content.map(blastshield_pipeline::SafeContent::truncated),
        fetch_id: wanted.fetch_id,
        url: wanted.url,
        final_url: outcome.final_url.map(String::from),
        extract_mode: request.extract_mode,
        safety: outcome.safety,
        source: outcome.source,
    };
    Ok((status(&app, &response.safety), Json(response)))
}

/// A block is 422, or 200 for clients of an owner who does not want to fail closed; content is withheld in both cases.
pub(super) fn status(app: &App, safety: &Safety) -> StatusCode {
    match safety.decision {
        DecisionName::Block if app.settings.policy.fail_closed => StatusCode::UNPROCESSABLE_ENTITY,
        DecisionName::Block | DecisionName::Allow => StatusCode::OK,
    }
}
