//! `POST /v1/fetch`.

use super::web_fetch::status;
use crate::clock::now_ms;
use crate::error::{ApiError, ErrorBody};
use crate::ids;
use crate::json::Strict;
use crate::retrieve::{Wanted, retrieve};
use crate::state::App;
use crate::wire::{FetchRequest, FetchResponse};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use blastshield_pipeline::{Mode, SafeContent};
use blastshield_store::FetchKind;
use std::sync::Arc;

/// Fetches a search result by its id.
#[utoipa::path(
    post,
    path = "/v1/fetch",
    request_body = FetchRequest,
    security((), ("bearer" = [])),
    responses(
        (status = 200, body = FetchResponse),
        (status = 400, body = ErrorBody, description = "The request is malformed"),
        (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody, description = "The id is unknown or has expired"),
        (status = 413, body = ErrorBody),
        (status = 415, body = ErrorBody),
        (status = 422, body = FetchResponse, description = "Blocked: no content, and why"),
        (status = 502, body = ErrorBody, description = "The origin failed"),
        (status = 503, body = ErrorBody, description = "There is no room; see Retry-After"),
        (status = 504, body = ErrorBody)
    )
)]
pub(crate) async fn fetch(
    State(app): State<Arc<App>>,
    Strict(request): Strict<FetchRequest>,
) -> Result<(StatusCode, Json<FetchResponse>), ApiError> {
    if request.result_id.is_empty() || request.result_id.len() > 128 {
        return Err(ApiError::field(
            "result_id",
            "result_id must have 1 to 128 characters",
        ));
    }
    let known = app.store.find_result(&request.result_id, now_ms()).await?;
    let known = known.ok_or(ApiError::NotFound(
        "the result id is unknown or has expired",
    ))?;
    let wanted = Wanted {
        fetch_id: ids::fresh("fet")?,
        kind: FetchKind::Fetch,
        result_id: Some(known.result_id.clone()),
        url: known.url,
        mode: Mode::Markdown,
        max_chars: None,
    };
    let outcome = retrieve(&app, &wanted).await?;
    let content = outcome.content.as_ref();
    let response = FetchResponse {
        result_id: known.result_id,
        content: content.map(|c| c.text().to_owned()),
        content_summary: content.map(|c: &SafeContent| c.summary().to_owned()),
        safety: outcome.safety,
        source: outcome.source,
    };
    Ok((status(&app, &response.safety), Json(response)))
}
