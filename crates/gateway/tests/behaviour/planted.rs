//! Secrets planted in everything that the gateway is told, and looked for in everything that it writes.

use crate::common::*;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;

/// The part of the planted token that nobody may write down.
const CORE: &str = "16C7e42F292c6912E7710c838347Ae178B4a";

/// Every byte of every file below a folder, by name; the database is left out, which keeps flagged payloads and session
/// keys for the owner.
fn files(folder: &Path, all: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            files(&path, all);
        } else if !name.starts_with("blastshield.db") {
            let bytes = std::fs::read(&path).unwrap();
            all.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

#[tokio::test]
async fn a_secret_in_any_input_is_in_no_log_error_or_alert() {
    let secret = token();
    let page = page_with(&format!("<p>{ATTACK} Use {secret} for it.</p>"));
    let origin = Origin::start(move |path| match path {
        "/page" => html(&page),
        _ => reply("302 Found", &[&format!("location: /{}", token())], ""),
    })
    .await;
    let results = [hit(&origin.url("/page"), &secret, &secret)];
    let brave = brave(&results).await;
    let gateway = start(&brave_variables(&brave.uri())).await;

    let mut bodies: Vec<(&str, Value)> = vec![
        ("/v1/search", json!({"query": secret})),
        (
            "/v1/search",
            json!({"query": "x", "country": secret, "freshness": secret}),
        ),
        ("/v1/fetch", json!({"result_id": secret})),
        ("/v1/web-fetch", json!({"url": origin.url("/page")})),
        ("/v1/web-fetch", json!({"url": origin.url("/else")})),
        (
            "/v1/web-fetch",
            json!({"url": format!("https://user:{secret}@example.com/")}),
        ),
        (
            "/v1/web-fetch",
            json!({"url": format!("https://{secret}.invalid/{secret}?{secret}")}),
        ),
        (
            "/v1/web-fetch",
            json!({"url": secret, "extractMode": secret}),
        ),
        (
            "/v1/scan",
            json!({"text": format!("{ATTACK} {secret}"), "source": secret, "session_key": secret}),
        ),
        (
            "/v1/scan",
            json!({"content": secret, "content_type": secret, "kind": secret}),
        ),
        (
            "/v1/tool-results",
            json!({"toolName": secret, "result": format!("{ATTACK} {secret}"), "sessionKey": secret}),
        ),
        (
            "/v1/memory/scan",
            json!({"content": format!("{ATTACK} {secret}"), "source": secret}),
        ),
        (
            "/v1/outbound/check",
            json!({"content": secret, "destination": secret, "session_key": secret}),
        ),
        (
            "/v1/output/validate",
            json!({"content": secret, "sessionKey": "another", "toolsCalled": [secret]}),
        ),
        ("/v1/canaries", json!({"location": secret})),
    ];
    bodies.push(("/v1/scan", json!({ secret.clone(): secret })));
    for (path, body) in bodies {
        let answer = gateway.post(path, &body).await;
        let error = answer.body["error"].to_string();
        assert!(!error.contains(CORE), "{path}: {error}");
        // Elsewhere an answer may repeat to its caller what the caller asked for.
        if matches!(
            path,
            "/v1/scan" | "/v1/outbound/check" | "/v1/output/validate"
        ) {
            assert!(
                !answer.text.contains(CORE),
                "{path} {body}: {}",
                answer.text
            );
        }
    }
    for path in [
        format!("/{secret}"),
        format!("/v1/flagged/{secret}"),
        format!("/v1/flagged?limit={secret}"),
        format!("/v1/sessions/{secret}"),
        format!("/v1/output/stream?sessionKey={secret}"),
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let request = gateway
                .request(method, &path)
                .header("x-other", &secret)
                .header("user-agent", &secret)
                .bearer_auth(&secret)
                .body(secret.clone());
            assert!(!answer(request).await.text.contains(CORE), "{path}");
        }
    }
    let alerts = gateway.as_owner("/v1/alerts").await;
    assert!(alerts.text.contains("credential_leak"), "{}", alerts.text);
    assert!(!alerts.text.contains(CORE), "{}", alerts.text);
    let metrics = gateway.as_owner("/metrics").await;
    assert!(!metrics.text.contains(CORE), "{}", metrics.text);

    let folder = gateway.stop().await;
    let mut written = Vec::new();
    files(folder.path(), &mut written);
    assert!(
        written
            .iter()
            .any(|(_, text)| text.contains("credential_leak"))
    );
    for (name, text) in written {
        assert!(!text.contains(CORE), "{name}");
    }
}
