//! Requests that are not as they should be.

use crate::common::*;
use reqwest::Method;
use serde_json::{Value, json};

fn is_error(answer: &Answer) -> bool {
    let error = answer.body["error"].as_object();
    error.is_some_and(|e| e["code"].is_string() && e["message"].is_string())
        && answer.body.as_object().unwrap().len() == 1
        && answer
            .header("content-type")
            .starts_with("application/json")
}

#[tokio::test]
async fn a_bad_field_is_named_and_its_value_is_not_repeated() {
    let brave = brave(&[]).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let long = "s3cret".repeat(100);
    for (path, body, field) in [
        ("/v1/search", json!({}), "query"),
        ("/v1/search", json!({"query": ""}), "query"),
        ("/v1/search", json!({"query": "   "}), "query"),
        ("/v1/search", json!({"query": long}), "query"),
        ("/v1/search", json!({"query": 7}), "query"),
        ("/v1/search", json!({"query": ["s3cret"]}), "query"),
        ("/v1/search", json!({"query": null}), "query"),
        ("/v1/search", json!({"query": "x", "count": 0}), "count"),
        ("/v1/search", json!({"query": "x", "count": 21}), "count"),
        ("/v1/search", json!({"query": "x", "count": -1}), "count"),
        ("/v1/search", json!({"query": "x", "count": 1.5}), "count"),
        (
            "/v1/search",
            json!({"query": "x", "count": "s3cret"}),
            "count",
        ),
        (
            "/v1/search",
            json!({"query": "x", "country": "X"}),
            "country",
        ),
        (
            "/v1/search",
            json!({"query": "x", "country": "s3crets"}),
            "country",
        ),
        (
            "/v1/search",
            json!({"query": "x", "search_lang": "x"}),
            "search_lang",
        ),
        (
            "/v1/search",
            json!({"query": "x", "search_lang": "s3crets3crets"}),
            "search_lang",
        ),
        (
            "/v1/search",
            json!({"query": "x", "safesearch": "s3cret"}),
            "safesearch",
        ),
        (
            "/v1/search",
            json!({"query": "x", "safesearch": 7}),
            "safesearch",
        ),
        (
            "/v1/search",
            json!({"query": "x", "freshness": long}),
            "freshness",
        ),
        (
            "/v1/search",
            json!({"query": "x", "qery": "s3cret"}),
            "qery",
        ),
        ("/v1/fetch", json!({}), "result_id"),
        ("/v1/fetch", json!({"result_id": ""}), "result_id"),
        ("/v1/fetch", json!({"result_id": long}), "result_id"),
        ("/v1/fetch", json!({"result_id": 1}), "result_id"),
        (
            "/v1/fetch",
            json!({"result_id": "x", "url": "https://s3cret.example/"}),
            "url",
        ),
        ("/v1/web-fetch", json!({}), "url"),
        ("/v1/web-fetch", json!({"url": ""}), "url"),
        ("/v1/web-fetch", json!({"url": "s3cret"}), "url"),
        ("/v1/web-fetch", json!({"url": {"s3cret": 1}}), "url"),
        (
            "/v1/web-fetch",
            json!({"url": format!("https://a.example/{}", "s3cret".repeat(2_000))}),
            "url",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "extractMode": "s3cret"}),
            "extractMode",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "extractMode": null}),
            "extractMode",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "maxChars": 0}),
            "maxChars",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "maxChars": 5_000_001}),
            "maxChars",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "maxChars": -5}),
            "maxChars",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "maxChars": "s3cret"}),
            "maxChars",
        ),
        (
            "/v1/web-fetch",
            json!({"url": "https://a.example/", "extract_mode": "text"}),
            "extract_mode",
        ),
    ] {
        let answer = gateway.post(path, &body).await;
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text);
        assert!(is_error(&answer), "{}", answer.text);
        assert_eq!(
            answer.body["error"]["details"]["field"], field,
            "{path} {body}"
        );
        assert!(!answer.text.contains("s3cret"), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_field_that_comes_twice_is_named() {
    let gateway = start(&[]).await;
    let body = r#"{"url": "https://a.example/", "url": "https://b.example/"}"#;
    let answer = gateway.post_text("/v1/web-fetch", body).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert_eq!(
        answer.body["error"]["details"]["field"], "url",
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn what_is_no_json_object_is_refused() {
    let gateway = start(&[]).await;
    for body in [
        "",
        "{",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{\"url\": \"https://a.example/\"} x",
        "\u{feff}{}",
        "{'url': 1}",
        "url=https://a.example/",
    ] {
        let answer = gateway.post_text("/v1/web-fetch", body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert!(is_error(&answer), "{}", answer.text);
    }
    let deep = format!("{{\"url\": {}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    assert_eq!(gateway.post_text("/v1/web-fetch", deep).await.status, 400);
}

#[tokio::test]
async fn other_types_are_415() {
    let gateway = start(&[]).await;
    let body = json!({"url": "https://a.example/"}).to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonp",
        "x",
    ] {
        let request = gateway
            .request(Method::POST, "/v1/web-fetch")
            .header("content-type", kind)
            .body(body.clone());
        let answer = answer(request).await;
        assert_eq!(answer.status, 415, "{kind}: {}", answer.text);
        assert!(is_error(&answer));
    }
    let bare = answer(
        gateway
            .request(Method::POST, "/v1/web-fetch")
            .body(body.clone()),
    )
    .await;
    assert_eq!(bare.status, 415);
    let charset = gateway
        .request(Method::POST, "/v1/web-fetch")
        .header("content-type", "Application/JSON; charset=utf-8")
        .body("{}");
    assert_eq!(answer(charset).await.status, 400);
}

#[tokio::test]
async fn a_large_body_is_413() {
    let gateway = start(&[("BLASTSHIELD_MAX_BODY_BYTES", "2000")]).await;
    for path in ["/v1/search", "/v1/fetch", "/v1/web-fetch"] {
        let body = json!({"url": "x".repeat(3_000)});
        let answer = gateway.post(path, &body).await;
        assert_eq!(answer.status, 413, "{path}: {}", answer.text);
        assert!(is_error(&answer));
        assert_eq!(answer.body["error"]["details"]["limit"], 2_000);
    }
    let default = start(&[]).await;
    let answer = default
        .post("/v1/fetch", &json!({"result_id": "x".repeat(70_000)}))
        .await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn other_methods_are_405_and_other_paths_404() {
    let gateway = start(&[]).await;
    for (method, path) in [
        (Method::GET, "/v1/search"),
        (Method::GET, "/v1/fetch"),
        (Method::PUT, "/v1/web-fetch"),
        (Method::DELETE, "/v1/fetch"),
        (Method::POST, "/healthz"),
        (Method::POST, "/v1/flagged"),
        (Method::OPTIONS, "/v1/search"),
        (Method::PATCH, "/openapi.json"),
    ] {
        let answer = answer(gateway.request(method.clone(), path)).await;
        assert_eq!(answer.status, 405, "{method} {path}: {}", answer.text);
        assert!(is_error(&answer), "{}", answer.text);
        assert!(!answer.header("allow").is_empty(), "{method} {path}");
    }
    for path in [
        "/",
        "/v1",
        "/v1/searches",
        "/v2/search",
        "/v1/search/",
        "/admin",
        "/dashboard",
    ] {
        let answer = gateway.get(path).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
        assert!(is_error(&answer));
    }
}

#[tokio::test]
async fn every_answer_has_an_id_of_its_own_and_is_not_kept() {
    let brave = brave(&[]).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let mut seen = std::collections::BTreeSet::new();
    let answers = [
        gateway.search("x").await,
        gateway.get("/healthz").await,
        gateway.get("/nowhere").await,
        gateway.post("/v1/fetch", &Value::Null).await,
        gateway.fetch("unknown").await,
        gateway.get("/v1/flagged").await,
    ];
    for answer in &answers {
        let id = answer.header("x-request-id");
        assert!(id.starts_with("req_") && id.len() == 36, "{id}");
        assert!(seen.insert(id.to_owned()));
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    assert_eq!(
        answers[0].body["request_id"],
        answers[0].header("x-request-id")
    );
}

#[tokio::test]
async fn a_client_cannot_choose_the_request_id() {
    let gateway = start(&[]).await;
    let request = gateway
        .request(Method::GET, "/healthz")
        .header("x-request-id", "mine");
    assert_ne!(answer(request).await.header("x-request-id"), "mine");
}

#[tokio::test]
async fn odd_requests_of_the_owner_are_errors_of_the_usual_form() {
    let gateway = start(&[]).await;
    for (path, status) in [
        ("/v1/flagged?limit=0", 400),
        ("/v1/flagged?limit=501", 400),
        ("/v1/flagged?limit=x", 400),
        ("/v1/flagged?limits=1", 400),
        ("/v1/flagged/%ff", 404),
        ("/v1/flagged/%00", 404),
        ("/v1/flagged/a%2fb", 404),
    ] {
        let answer = gateway.as_owner(path).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        assert!(is_error(&answer), "{path}: {}", answer.text);
    }
    assert_eq!(gateway.as_owner("/v1/flagged?limit=500").await.status, 200);
}
