//! `POST /v1/search`.

use crate::addresses;
use crate::clock::now_ms;
use crate::error::{ApiError, ErrorBody};
use crate::front::RequestId;
use crate::ids;
use crate::json::Strict;
use crate::state::App;
use crate::wire::{self, Availability, RiskHint, SearchMeta, SearchRequest, SearchResponse};
use axum::Json;
use axum::extract::{Extension, State};
use blastshield_pipeline::{Fingerprint, Risk, snippet};
use blastshield_policy::check_url;
use blastshield_store::{CachedResult, SearchRecord};
use blastshield_upstream::{Hit, SafeSearch, SearchQuery};
use std::sync::Arc;

const MAX_TITLE: usize = 300;
const MAX_SNIPPET: usize = 1_000;
const MAX_SOURCE: usize = 120;
const MAX_PUBLISHED: usize = 60;
/// Stands for words that may not be shown.
const WITHHELD: &str = "[withheld: the text reads like an attack]";

/// Searches the web; results are fetched by their id.
#[utoipa::path(
    post,
    path = "/v1/search",
    request_body = SearchRequest,
    security((), ("bearer" = [])),
    responses(
        (status = 200, body = SearchResponse),
        (status = 400, body = ErrorBody, description = "The request is malformed"),
        (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody),
        (status = 413, body = ErrorBody),
        (status = 415, body = ErrorBody),
        (status = 502, body = ErrorBody, description = "The search provider failed"),
        (status = 503, body = ErrorBody, description = "Search is disabled, or there is no room; see Retry-After"),
        (status = 504, body = ErrorBody)
    )
)]
pub(crate) async fn search(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    Strict(request): Strict<SearchRequest>,
) -> Result<Json<SearchResponse>, ApiError> {
    let query = query(request);
    query
        .check()
        .map_err(|problem| ApiError::field(problem.field, problem.to_string()))?;
    let answer = app.search.search(&query).await?;
    let now = now_ms();
    let ttl = i64::try_from(app.settings.search.result_ttl.as_millis()).unwrap_or(i64::MAX);
    let mut results = Vec::new();
    for hit in &answer.results {
        results.push(result(&app, hit, now.saturating_add(ttl))?);
    }
    let print = Fingerprint::of(&query.query);
    let record = SearchRecord {
        request_id: request_id.clone(),
        at_ms: now,
        query_sha256: print.sha256,
        query_len: print.length as u64,
        provider: answer.provider.as_str().to_owned(),
        results: results.iter().map(|(_, cached)| cached.clone()).collect(),
    };
    app.store.save_search(record).await?;
    let results: Vec<wire::SearchResult> = results.into_iter().map(|(shown, _)| shown).collect();
    Ok(Json(SearchResponse {
        request_id,
        meta: SearchMeta {
            total_returned: results.len(),
            urls_exposed: !app.settings.policy.redact_urls,
            provider: answer.provider.as_str().to_owned(),
            fallback_used: answer.fallback_used,
        },
        results,
    }))
}

fn query(request: SearchRequest) -> SearchQuery {
    let mut query = SearchQuery::new(request.query);
    if let Some(count) = request.count {
        query.count = count;
    }
    query.country = request.country;
    query.search_lang = request.search_lang;
    query.freshness = request.freshness;
    query.safesearch = match request.safesearch {
        Some(wire::SafeSearch::Off) => SafeSearch::Off,
        Some(wire::SafeSearch::Strict) => SafeSearch::Strict,
        Some(wire::SafeSearch::Moderate) | None => SafeSearch::Moderate,
    };
    query
}

/// A hit as the agent sees it, and as it is kept for fetching.
fn result(
    app: &App,
    hit: &Hit,
    expires_at_ms: i64,
) -> Result<(wire::SearchResult, CachedResult), ApiError> {
    let title = snippet(&hit.title, MAX_TITLE).text;
    let words = snippet(&hit.snippet, MAX_SNIPPET).text;
    app.guard
        .canaries_in(&format!("{title} {words}"), false, None);
    let source = snippet(&hit.source, MAX_SOURCE).text;
    let published = hit
        .published
        .as_deref()
        .map(|text| snippet(text, MAX_PUBLISHED).text);
    let exposed = !app.settings.policy.redact_urls;
    let shown_url = exposed.then(|| hit.url.to_string());
    let address = if exposed {
        addresses::spoken_url(&hit.url)
    } else {
        addresses::spoken(&source)
    };
    let mut together = vec![title.as_str(), words.as_str(), address.as_str()];
    together.extend(published.as_deref());
    let profile = app.settings.policy.profile;
    let risk = Risk::of(&together, &app.detector, profile);
    let (title, words, source, published, shown_url) = if risk == Risk::High {
        let host = hit.url.host_str().unwrap_or_default();
        let domain = addresses::domain(host, &app.detector, profile);
        (WITHHELD.to_owned(), WITHHELD.to_owned(), domain, None, None)
    } else {
        (title, words, source, published, shown_url)
    };
    let availability = match check_url(hit.url.as_str(), &app.policy) {
        Ok(_) => Availability::Allowed,
        Err(_) => Availability::Blocked,
    };
    let risk_hint = match risk {
        Risk::Low => RiskHint::Low,
        Risk::Medium => RiskHint::Medium,
        Risk::High => RiskHint::High,
    };
    let result_id = ids::fresh("res")?;
    let cached = CachedResult {
        result_id: result_id.clone(),
        url: hit.url.to_string(),
        title: title.clone(),
        snippet: words.clone(),
        source: source.clone(),
        rank: hit.rank,
        published: published.clone(),
        standing: match availability {
            Availability::Allowed => "allowed".to_owned(),
            Availability::Blocked => "blocked".to_owned(),
        },
        risk_hint: Some(risk.name().to_owned()),
        expires_at_ms,
    };
    let shown = wire::SearchResult {
        result_id,
        title,
        snippet: words,
        source,
        rank: hit.rank,
        published,
        availability,
        risk_hint,
        url: shown_url,
    };
    Ok((shown, cached))
}
