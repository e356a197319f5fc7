//! Search against well-behaved providers: what is asked, what comes back, who is asked next.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod support;

use blastshield_upstream::{
    Brave, CallError, Fault, Provider, ProviderName, QueryError, SafeSearch, Search, SearchError,
    SearchQuery, SearchStrategy,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::{KEY, brave, brave_options, searxng, single};
use wiremock::matchers::{header, method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn brave_results(count: usize) -> Value {
    let results: Vec<Value> = (1..=count)
        .map(|n| {
            json!({
                "url": format!("https://site{n}.example/page"),
                "title": format!("Title <strong>{n}</strong>"),
                "description": "A &amp; B",
                "page_age": "2026-01-02T03:04:05",
                "age": "January 2, 2026",
                "meta_url": {"path": ["deep", {"er": 1}]},
            })
        })
        .collect();
    json!({"type": "search", "query": {}, "web": {"type": "search", "results": results}})
}

async fn serve(template: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(template)
        .mount(&server)
        .await;
    server
}

#[tokio::test]
async fn brave_is_asked_as_it_documents() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .and(path("/res/v1/web/search"))
        .and(header("accept", "application/json"))
        .and(header("accept-encoding", "identity"))
        .and(header("x-subscription-token", KEY))
        .and(query_param("q", "crème & brûlée?"))
        .and(query_param("count", "3"))
        .and(query_param("safesearch", "strict"))
        .and(query_param("country", "FR"))
        .and(query_param("search_lang", "fr"))
        .and(query_param("freshness", "pw"))
        .respond_with(ResponseTemplate::new(200).set_body_json(brave_results(20)))
        .expect(1)
        .mount(&server)
        .await;
    let query = SearchQuery {
        query: "crème & brûlée?".into(),
        count: 3,
        country: Some("FR".into()),
        search_lang: Some("fr".into()),
        safesearch: SafeSearch::Strict,
        freshness: Some("pw".into()),
    };
    let search = single(brave(&format!("{}/res/v1", server.uri())));
    let answer = search.search(&query).await.unwrap();
    assert_eq!(answer.provider, ProviderName::Brave);
    assert!(!answer.fallback_used);
    assert_eq!(answer.results.len(), 3);
    let first = &answer.results[0];
    assert_eq!(first.url.as_str(), "https://site1.example/page");
    assert_eq!(first.title, "Title <strong>1</strong>");
    assert_eq!(first.snippet, "A &amp; B");
    assert_eq!(first.source, "site1.example");
    assert_eq!(first.published.as_deref(), Some("2026-01-02T03:04:05"));
    assert_eq!(
        answer
            .results
            .iter()
            .map(|hit| hit.rank)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
}

#[tokio::test]
async fn options_that_were_not_given_are_not_sent() {
    let server = MockServer::start().await;
    Mock::given(path("/web/search"))
        .and(query_param("count", "5"))
        .and(query_param("safesearch", "moderate"))
        .and(query_param_is_missing("country"))
        .and(query_param_is_missing("search_lang"))
        .and(query_param_is_missing("freshness"))
        .respond_with(ResponseTemplate::new(200).set_body_json(brave_results(1)))
        .expect(1)
        .mount(&server)
        .await;
    single(brave(&server.uri()))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap();
}

#[tokio::test]
async fn searxng_is_asked_without_a_key() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .and(path("/search"))
        .and(query_param("q", "rust"))
        .and(query_param("format", "json"))
        .and(query_param("safesearch", "1"))
        .and(query_param("language", "de-AT"))
        .and(query_param("time_range", "month"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({
            "query": "rust", "number_of_results": 0, "unresponsive_engines": [["x", "timeout"]],
            "results": [
                {"url": "https://a.example/", "title": "A", "content": "aa", "publishedDate": null},
                {"url": "https://b.example/", "title": "B", "publishedDate": "2026-01-01"},
                {"url": 5, "title": "broken"},
                "broken",
            ],
        })))
        .mount(&server)
        .await;
    let mut query = SearchQuery::new("rust");
    query.search_lang = Some("de".into());
    query.country = Some("AT".into());
    query.freshness = Some("pm".into());
    let answer = single(searxng(&server.uri())).search(&query).await.unwrap();
    assert_eq!(answer.provider, ProviderName::Searxng);
    assert_eq!(answer.results.len(), 2);
    assert_eq!(answer.results[0].published, None);
    assert_eq!(answer.results[1].snippet, "");
    let received = server.received_requests().await.unwrap();
    assert!(!format!("{:?}", received[0].headers).contains(KEY));
}

#[tokio::test]
async fn a_bad_query_goes_nowhere() {
    let server = serve(ResponseTemplate::new(200)).await;
    let mut query = SearchQuery::new("x");
    query.count = 21;
    let error = single(brave(&server.uri()))
        .search(&query)
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        SearchError::Query(QueryError { field: "count", .. })
    ));
    assert_eq!(error.fault(), Fault::Caller);
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn disabled_is_said_plainly() {
    let search = Search::new(SearchStrategy::Disabled);
    assert_eq!(
        search.search(&SearchQuery::new("x")).await,
        Err(SearchError::Disabled)
    );
    assert_eq!(search.providers().count(), 0);
}

#[tokio::test]
async fn the_second_provider_helps_out() {
    let broken = serve(ResponseTemplate::new(500)).await;
    let good = serve(ResponseTemplate::new(200).set_body_json(json!({"results": [
        {"url": "https://a.example/", "title": "A", "content": "aa"},
    ]})))
    .await;
    let search = Search::new(SearchStrategy::Fallback(
        brave(&broken.uri()),
        searxng(&good.uri()),
    ));
    let answer = search.search(&SearchQuery::new("x")).await.unwrap();
    assert_eq!(
        (answer.provider, answer.fallback_used),
        (ProviderName::Searxng, true)
    );

    let search = Search::new(SearchStrategy::Fallback(
        searxng(&good.uri()),
        brave(&broken.uri()),
    ));
    let answer = search.search(&SearchQuery::new("x")).await.unwrap();
    assert_eq!(
        (answer.provider, answer.fallback_used),
        (ProviderName::Searxng, false)
    );
}

#[tokio::test]
async fn where_both_fail_the_first_one_s_error_is_told() {
    let broken = serve(ResponseTemplate::new(503)).await;
    let worse = serve(ResponseTemplate::new(200).set_body_string("<html>")).await;
    let search = Search::new(SearchStrategy::Fallback(
        brave(&broken.uri()),
        searxng(&worse.uri()),
    ));
    assert_eq!(
        search.search(&SearchQuery::new("x")).await,
        Err(SearchError::Call(CallError::Failed { status: 503 }))
    );
}

#[tokio::test]
async fn too_many_requests_is_waited_out() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(429).insert_header("retry-after", "0"))
        .up_to_n_times(2)
        .mount(&server)
        .await;
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(200).set_body_json(brave_results(1)))
        .mount(&server)
        .await;
    let answer = single(brave(&server.uri()))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap();
    assert_eq!(answer.results.len(), 1);
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
}

#[tokio::test]
async fn retries_end() {
    let server = serve(
        ResponseTemplate::new(429)
            .insert_header("x-ratelimit-remaining", "0, 12")
            .insert_header("x-ratelimit-reset", "0, 86400"),
    )
    .await;
    let error = single(brave(&server.uri()))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap_err();
    assert_eq!(
        error,
        SearchError::Call(CallError::RateLimited {
            retry_after: Some(Duration::ZERO)
        })
    );
    assert_eq!(error.fault(), Fault::Service);
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_month_without_quota_is_not_waited_for() {
    let server = serve(
        ResponseTemplate::new(429)
            .insert_header("x-ratelimit-remaining", "1, 0")
            .insert_header("x-ratelimit-reset", "1, 1419704"),
    )
    .await;
    let error = single(brave(&server.uri()))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap_err();
    let wait = Some(Duration::from_secs(1_419_704));
    assert_eq!(
        error,
        SearchError::Call(CallError::RateLimited { retry_after: wait })
    );
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_full_queue_refuses_at_once() {
    let server = serve(
        ResponseTemplate::new(200)
            .set_body_json(brave_results(1))
            .set_delay(Duration::from_millis(500)),
    )
    .await;
    let mut options = brave_options(&server.uri());
    options.queue_max = 2;
    let search = single(Provider::Brave(Brave::new(options).unwrap()));
    let query = SearchQuery::new("x");
    let (a, b, c) = tokio::join!(
        search.search(&query),
        search.search(&query),
        search.search(&query)
    );
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(c, Err(SearchError::QueueFull));
    assert_eq!(SearchError::QueueFull.fault(), Fault::Us);
    assert!(search.search(&query).await.is_ok(), "places are given back");
}

#[tokio::test]
async fn a_search_given_up_by_its_caller_gives_its_place_back() {
    let server = serve(ResponseTemplate::new(200).set_delay(Duration::from_secs(5))).await;
    let mut options = brave_options(&server.uri());
    options.queue_max = 1;
    options.timeout = Duration::from_millis(300);
    let search = single(Provider::Brave(Brave::new(options).unwrap()));
    let query = SearchQuery::new("x");
    for _ in 0..2 {
        let gone = tokio::time::timeout(Duration::from_millis(50), search.search(&query)).await;
        assert!(gone.is_err());
    }
    assert_eq!(
        search.search(&query).await,
        Err(SearchError::Call(CallError::Timeout))
    );
}

#[tokio::test]
async fn a_refused_key_is_the_operator_s_business() {
    for status in [401, 403] {
        let server =
            serve(ResponseTemplate::new(status).set_body_string(format!("bad key {KEY}"))).await;
        let error = single(brave(&server.uri()))
            .search(&SearchQuery::new("x"))
            .await
            .unwrap_err();
        assert_eq!(error, SearchError::Call(CallError::Denied { status }));
        assert_eq!(error.fault(), Fault::Operator);
        assert!(!format!("{error} {error:?}").contains(KEY));
    }
    let server = serve(ResponseTemplate::new(422)).await;
    let error = single(brave(&server.uri()))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap_err();
    assert_eq!(error.fault(), Fault::Caller);
}

#[tokio::test]
async fn a_provider_is_reachable_whatever_status_it_answers() {
    let server = MockServer::start().await;
    assert_eq!(searxng(&server.uri()).reach().await, Ok(()));
    assert_eq!(brave(&server.uri()).reach().await, Ok(()));
    let received = server.received_requests().await.unwrap();
    assert!(
        received
            .iter()
            .all(|request| !request.headers.contains_key("x-subscription-token"))
    );
    assert_eq!(
        brave("http://127.0.0.1:1").reach().await,
        Err(CallError::Unreachable)
    );
}
