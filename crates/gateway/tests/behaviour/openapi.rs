//! The published document, held against the running gateway.

use crate::common::*;
use serde_json::{Value, json};

/// The schema that the document gives for an answer, with everything that it refers to.
fn schema(document: &Value, method: &str, path: &str, status: u16) -> Value {
    let answer = &document["paths"][path][method]["responses"][status.to_string()];
    let mut schema = answer["content"]["application/json"]["schema"].clone();
    assert!(
        schema.is_object(),
        "{method} {path} {status} is not documented"
    );
    schema["components"] = document["components"].clone();
    schema
}

#[track_caller]
fn matches(document: &Value, method: &str, path: &str, answer: &Answer) {
    let schema = schema(document, method, path, answer.status);
    let validator = jsonschema::options().build(&schema).unwrap();
    if let Err(error) = validator.validate(&answer.body) {
        panic!(
            "{method} {path} {}: {error}: {}",
            answer.status, answer.text
        );
    }
}

#[tokio::test]
async fn every_route_is_documented() {
    let gateway = start(&[]).await;
    let document = gateway.get("/openapi.json").await;
    assert_eq!(document.status, 200);
    let mut routes: Vec<String> = Vec::new();
    for (path, methods) in document.body["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            routes.push(format!("{method} {path}"));
        }
    }
    routes.sort();
    assert_eq!(
        routes,
        [
            "delete /v1/grants/{id}",
            "get /approve/{id}",
            "get /healthz",
            "get /metrics",
            "get /readyz",
            "get /v1/alerts",
            "get /v1/approvals",
            "get /v1/approvals/{id}",
            "get /v1/canaries",
            "get /v1/flagged",
            "get /v1/flagged/{fetch_id}",
            "get /v1/grants",
            "get /v1/lockdown",
            "get /v1/metrics",
            "get /v1/payments",
            "get /v1/payments/{id}",
            "get /v1/prompt-sections",
            "get /v1/proxies",
            "get /v1/proxies/{service}/relationships",
            "get /v1/proxies/{service}/tasks/{id}",
            "get /v1/quarantines",
            "get /v1/quarantines/{id}",
            "get /v1/sessions",
            "get /v1/sessions/{key}",
            "get /v1/status",
            "get /v1/wallet",
            "post /v1/actions/custom",
            "post /v1/actions/http",
            "post /v1/actions/post",
            "post /v1/actions/skill-install",
            "post /v1/approvals",
            "post /v1/approvals/{id}/decision",
            "post /v1/canaries",
            "post /v1/fetch",
            "post /v1/lockdown",
            "post /v1/memory/findings",
            "post /v1/memory/scan",
            "post /v1/outbound/check",
            "post /v1/output/stream",
            "post /v1/output/validate",
            "post /v1/payments",
            "post /v1/payments/{id}/resolve",
            "post /v1/proxies/{service}/relationships",
            "post /v1/proxies/{service}/restore",
            "post /v1/proxies/{service}/tasks",
            "post /v1/quarantines/{id}/clear",
            "post /v1/scan",
            "post /v1/search",
            "post /v1/sessions/{key}/messages",
            "post /v1/sessions/{key}/pardon",
            "post /v1/sessions/{key}/tokens",
            "post /v1/sessions/{key}/tool-calls",
            "post /v1/tool-results",
            "post /v1/web-fetch",
        ]
    );
    assert!(document.body["openapi"].as_str().unwrap().starts_with("3."));
    let written = serde_json::to_value(blastshield_gateway::openapi()).unwrap();
    assert_eq!(written, document.body);
}

#[tokio::test]
async fn answers_are_as_documented() {
    let bad = hostile();
    let origin = Origin::start(move |path| match path {
        "/bad" => html(&bad),
        "/gone" => reply("404 Not Found", &[], ""),
        _ => html(HARMLESS),
    })
    .await;
    let hits = ["/good", "/bad", "/gone"].map(|path| hit(&origin.url(path), "T", "S"));
    let brave = brave(&hits).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let document = gateway.get("/openapi.json").await.body;
    let check =
        |method: &str, path: &str, answer: &Answer| matches(&document, method, path, answer);

    let found = gateway.search("x").await;
    check("post", "/v1/search", &found);
    check("post", "/v1/search", &gateway.search("").await);
    for (n, path) in ["/good", "/bad", "/gone"].iter().enumerate() {
        check(
            "post",
            "/v1/web-fetch",
            &gateway.web_fetch(&origin.url(path)).await,
        );
        let id = found.body["results"][n]["result_id"].as_str().unwrap();
        check("post", "/v1/fetch", &gateway.fetch(id).await);
    }
    check(
        "post",
        "/v1/web-fetch",
        &gateway.web_fetch("http://10.0.0.1/").await,
    );
    check("post", "/v1/web-fetch", &gateway.web_fetch("").await);
    check("post", "/v1/fetch", &gateway.fetch("unknown").await);
    check(
        "post",
        "/v1/fetch",
        &gateway
            .post("/v1/fetch", &json!({"result_id": "x".repeat(70_000)}))
            .await,
    );
    check(
        "post",
        "/v1/fetch",
        &answer(
            gateway
                .request(reqwest::Method::POST, "/v1/fetch")
                .body("{}"),
        )
        .await,
    );
    check("get", "/healthz", &gateway.get("/healthz").await);
    check("get", "/readyz", &gateway.get("/readyz").await);
    check("get", "/v1/flagged", &gateway.get("/v1/flagged").await);
    let list = gateway.as_owner("/v1/flagged").await;
    check("get", "/v1/flagged", &list);
    check(
        "get",
        "/v1/flagged",
        &gateway.as_owner("/v1/flagged?limit=0").await,
    );
    let id = list.body["flagged"][0]["fetch_id"].as_str().unwrap();
    let one = gateway.as_owner(&format!("/v1/flagged/{id}")).await;
    assert_eq!(one.status, 200);
    check("get", "/v1/flagged/{fetch_id}", &one);
    check(
        "get",
        "/v1/flagged/{fetch_id}",
        &gateway.as_owner("/v1/flagged/none").await,
    );
}

#[tokio::test]
async fn documented_bounds_are_the_real_ones() {
    let gateway = start(&[]).await;
    let document = gateway.get("/openapi.json").await.body;
    let request = |name: &str, field: &str| {
        document["components"]["schemas"][name]["properties"][field].clone()
    };
    let query = request("SearchRequest", "query");
    assert_eq!(
        (&query["minLength"], &query["maxLength"]),
        (&json!(1), &json!(500))
    );
    let count = request("SearchRequest", "count");
    assert_eq!(
        (&count["minimum"], &count["maximum"]),
        (&json!(1), &json!(20))
    );
    let most = request("WebFetchRequest", "maxChars");
    assert_eq!(
        (&most["minimum"], &most["maximum"]),
        (&json!(1), &json!(5_000_000))
    );
    for name in ["SearchRequest", "FetchRequest", "WebFetchRequest"] {
        assert_eq!(
            document["components"]["schemas"][name]["additionalProperties"], false,
            "{name}"
        );
    }
}

#[tokio::test]
async fn parameters_and_tokens_are_documented_where_they_belong() {
    let document = start(&[]).await.get("/openapi.json").await.body;
    let limit = &document["paths"]["/v1/flagged"]["get"]["parameters"][0];
    assert_eq!(
        (&limit["name"], &limit["in"]),
        (&json!("limit"), &json!("query"))
    );
    assert_eq!(limit["required"], false);
    let scheme = &document["components"]["securitySchemes"]["bearer"];
    assert_eq!(scheme["scheme"], "bearer");
    let needed = |method: &str, path: &str| document["paths"][path][method]["security"].clone();
    assert_eq!(needed("get", "/v1/flagged"), json!([{"bearer": []}]));
    assert_eq!(needed("post", "/v1/web-fetch"), json!([{}, {"bearer": []}]));
    assert_eq!(needed("get", "/healthz"), Value::Null);
}

#[tokio::test]
async fn answers_about_approvals_are_as_documented() {
    let gateway = start(&[]).await;
    let document = gateway.get("/openapi.json").await.body;
    let check =
        |method: &str, path: &str, answer: &Answer| matches(&document, method, path, answer);
    let ask = json!({"action": "http", "reason": "r", "host": "a.example"});
    let made = gateway.post("/v1/approvals", &ask).await;
    check("post", "/v1/approvals", &made);
    check(
        "post",
        "/v1/approvals",
        &gateway.post("/v1/approvals", &json!({})).await,
    );
    let id = made.body["id"].as_str().unwrap();
    let one = format!("/v1/approvals/{id}");
    check("get", "/v1/approvals/{id}", &gateway.get(&one).await);
    check("get", "/v1/approvals/{id}", &gateway.as_owner(&one).await);
    check(
        "get",
        "/v1/approvals/{id}",
        &gateway.get("/v1/approvals/00000000").await,
    );
    check(
        "get",
        "/v1/approvals/{id}",
        &gateway.get(&format!("{one}?wait=x")).await,
    );
    check(
        "get",
        "/v1/approvals",
        &gateway.as_owner("/v1/approvals").await,
    );
    check(
        "get",
        "/v1/approvals",
        &gateway.as_owner("/v1/approvals?limit=0").await,
    );
    check("get", "/v1/approvals", &gateway.get("/v1/approvals").await);
    let decision = "/v1/approvals/{id}/decision";
    let path = format!("{one}/decision");
    for body in [
        json!({}),
        json!({"decision": "approve", "shown_sha256": "0123456789abcdef"}),
        json!({"decision": "approve", "scope": "always"}),
        json!({"decision": "deny"}),
    ] {
        check("post", decision, &gateway.owner_post(&path, &body).await);
    }
    let unknown = gateway
        .owner_post(
            "/v1/approvals/00000000/decision",
            &json!({"decision": "deny"}),
        )
        .await;
    check("post", decision, &unknown);
    check(
        "post",
        decision,
        &gateway.post(&path, &json!({"decision": "deny"})).await,
    );
    check("get", "/v1/grants", &gateway.as_owner("/v1/grants").await);
    check("get", "/v1/status", &gateway.as_owner("/v1/status").await);
    for token in [gateway.owner_token(), "wrong".to_owned()] {
        let path = "/v1/grants/00000000";
        let request = gateway
            .request(reqwest::Method::DELETE, path)
            .bearer_auth(token);
        check("delete", "/v1/grants/{id}", &answer(request).await);
    }
    let file = json!([{"path": "SKILL.md", "content": "curl x | sh"}]);
    for (path, body) in [
        (
            "/v1/actions/post",
            json!({"service": "forum", "content": "x"}),
        ),
        (
            "/v1/actions/post",
            json!({"service": "forum", "content": token()}),
        ),
        ("/v1/actions/post", json!({"service": ""})),
        (
            "/v1/actions/http",
            json!({"url": "https://api.openai.com/"}),
        ),
        ("/v1/actions/http", json!({"url": "https://b.example/"})),
        ("/v1/actions/http", json!({"url": "b"})),
        (
            "/v1/actions/custom",
            json!({"name": "x", "approval": "00000000"}),
        ),
        ("/v1/actions/custom", json!({"name": "x", "wait": 61})),
        (
            "/v1/actions/skill-install",
            json!({"name": "x", "files": file}),
        ),
        (
            "/v1/actions/skill-install",
            json!({"name": "x", "files": []}),
        ),
    ] {
        check("post", path, &gateway.post(path, &body).await);
    }
}
