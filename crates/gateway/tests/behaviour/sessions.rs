//! How often, and what happens to a session that misbehaves.

use crate::common::*;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn no_more_than_the_limit_are_admitted_however_many_ask() {
    let gateway = std::sync::Arc::new(start(&[("BLASTSHIELD_MESSAGES_PER_MINUTE", "25")]).await);
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let gateway = std::sync::Arc::clone(&gateway);
        asking.spawn(async move {
            loop {
                let answer = gateway.post("/v1/sessions/busy/messages", &json!({})).await;
                if answer.status != 503 {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }
    let answers = asking.join_all().await;
    let admitted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(admitted, 25);
    let refused = answers.iter().find(|answer| answer.status == 429).unwrap();
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    let other = gateway.post("/v1/sessions/calm/messages", &json!({})).await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn a_cooldown_outlives_a_restart() {
    let variables = [("BLASTSHIELD_MESSAGES_PER_MINUTE", "2")];
    let gateway = start(&variables).await;
    let path = "/v1/sessions/hasty/messages";
    for expected in [200, 200, 429] {
        assert_eq!(gateway.post(path, &json!({})).await.status, expected);
    }
    let gateway = start_in(gateway.stop().await, &variables).await;
    let still = gateway.post(path, &json!({})).await;
    assert_eq!(still.status, 429, "{}", still.text);
    let other = gateway.post("/v1/sessions/calm/messages", &json!({})).await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn tool_calls_and_tokens_are_counted_and_shown() {
    let gateway = start(&[
        ("BLASTSHIELD_TOOL_CALLS_PER_MINUTE", "2"),
        ("BLASTSHIELD_TOKENS_PER_HOUR", "100"),
        ("BLASTSHIELD_EXEMPT_SESSIONS", "the owner"),
    ])
    .await;
    let call = json!({"tool": "search"});
    for expected in [200, 200, 429, 429] {
        let answer = gateway.post("/v1/sessions/a/tool-calls", &call).await;
        assert_eq!(answer.status, expected, "{}", answer.text);
    }
    for _ in 0..5 {
        assert_eq!(
            gateway
                .post("/v1/sessions/the%20owner/tool-calls", &call)
                .await
                .status,
            200
        );
    }
    let tokens = |count: u64| json!({"tokens": count});
    assert_eq!(
        gateway
            .post("/v1/sessions/b/tokens", &tokens(60))
            .await
            .body["remaining"],
        40
    );
    assert_eq!(
        gateway
            .post("/v1/sessions/b/tokens", &tokens(41))
            .await
            .status,
        429
    );
    let status = gateway.get("/v1/sessions/b").await;
    assert_eq!(status.status, 200, "{}", status.text);
    let long = format!("/v1/sessions/{}/messages", "x".repeat(257));
    assert_eq!(gateway.post(&long, &json!({})).await.status, 400);
}

#[tokio::test]
async fn repeated_attempts_block_the_session_until_it_is_pardoned() {
    let gateway = start(&[]).await;
    let attempt = json!({"text": ATTACK, "session_key": "eve"});
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(gateway.post("/v1/scan", &attempt).await.status);
    }
    assert_eq!(statuses, [200, 200, 200, 403]);
    let alerts = gateway.as_owner("/v1/alerts").await;
    assert!(
        alerts.text.contains("repeated_injection_attempts"),
        "{}",
        alerts.text
    );
    let metrics = gateway.as_owner("/v1/metrics").await.body;
    assert_eq!(metrics["injectionAttemptsPerHour"], 3, "{metrics}");
    assert_eq!(
        metrics["abusePatternDetections"]["repeated_injection_attempts"], 1,
        "{metrics}"
    );
    assert!(metrics.to_string().contains("/v1/scan"), "{metrics}");
    let page = gateway.as_owner("/metrics").await;
    assert!(
        page.text
            .contains("blastshield_injection_attempts_per_hour 3"),
        "{}",
        page.text
    );
    gateway
        .owner_post("/v1/sessions/eve/pardon", &json!({}))
        .await;
    assert_eq!(gateway.post("/v1/scan", &attempt).await.status, 200);
}

#[tokio::test]
async fn alerts_are_posted_signed_and_tried_again() {
    use wiremock::matchers::any;
    use wiremock::{Mock, MockServer, ResponseTemplate};
    let hook = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(500))
        .up_to_n_times(1)
        .mount(&hook)
        .await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(204))
        .mount(&hook)
        .await;
    let url = format!("{}/alerts?room=1", hook.uri());
    let gateway = start(&[
        ("BLASTSHIELD_ALERT_WEBHOOK_URL", &url),
        (
            "BLASTSHIELD_ALERT_WEBHOOK_SECRET",
            "webhook-secret-0123456789",
        ),
    ])
    .await;
    gateway
        .post(
            "/v1/outbound/check",
            &json!({"content": token(), "session_key": "s"}),
        )
        .await;
    let leaked = |post: &wiremock::Request| sent(post)["kind"] == "credential_leak";
    let mut posts = Vec::new();
    for _ in 0..100 {
        posts = hook.received_requests().await.unwrap();
        if posts.len() >= 2 && posts.iter().any(leaked) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(
        posts.len() >= 2,
        "the first try failed, so there is a second"
    );
    let post = posts.iter().find(|post| leaked(post)).unwrap();
    let alert = sent(post);
    assert!(
        post.headers["x-blastshield-signature"]
            .to_str()
            .unwrap()
            .starts_with("sha256=")
    );
    assert!(!alert.to_string().contains(&token()[4..]));
}

#[tokio::test]
async fn owner_routes_of_the_guard_stay_the_owners() {
    let gateway = start(&[]).await;
    for (method, path) in [
        (Method::GET, "/v1/canaries"),
        (Method::POST, "/v1/canaries"),
        (Method::GET, "/v1/sessions"),
        (Method::POST, "/v1/sessions/x/pardon"),
        (Method::GET, "/v1/alerts"),
        (Method::GET, "/v1/metrics"),
        (Method::GET, "/metrics"),
    ] {
        let request = gateway.request(method.clone(), path).json(&json!({}));
        assert_eq!(answer(request).await.status, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn what_happened_can_be_proved_afterwards() {
    use blastshield_audit::log::{Verdict, verify};
    let gateway = start(&[]).await;
    gateway
        .post("/v1/scan", &json!({"text": ATTACK, "session_key": "eve"}))
        .await;
    gateway
        .post(
            "/v1/outbound/check",
            &json!({"content": token(), "session_key": "eve"}),
        )
        .await;
    let folder = gateway.stop().await;
    let logs = folder.path().join("logs");
    assert!(matches!(verify(&logs), Ok(Verdict::Verified { .. })));
    let log = std::fs::read_to_string(logs.join("security-supervisor-audit.log")).unwrap();
    for event in ["injection", "credential_leak", "session_terminated"] {
        assert!(log.contains(event), "{event}: {log}");
    }
    assert!(!log.contains("previous instructions") && !log.contains(&token()[4..]));
}

#[tokio::test]
async fn pages_count_as_attempts_and_carry_canaries_to_the_alarm() {
    let placed = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let shown = std::sync::Arc::clone(&placed);
    let origin = Origin::start(move |path| match path {
        "/bad" => html(hostile()),
        _ => html(page_with(&format!(
            "<p>Found: {}</p>",
            shown.lock().unwrap()
        ))),
    })
    .await;
    let gateway = start(&[]).await;
    let canary = gateway
        .owner_post(
            "/v1/canaries",
            &json!({"location": "notes", "severity": "warn"}),
        )
        .await;
    placed
        .lock()
        .unwrap()
        .push_str(canary.body["value"].as_str().unwrap());
    assert!(gateway.web_fetch(&origin.url("/bad")).await.is_blocked());
    assert!(gateway.web_fetch(&origin.url("/posted")).await.is_allowed());
    let metrics = gateway.as_owner("/v1/metrics").await.body;
    assert_eq!(metrics["injectionAttemptsPerHour"], 1, "{metrics}");
    let alerts = gateway.as_owner("/v1/alerts").await;
    assert!(alerts.text.contains("canary_leak"), "{}", alerts.text);
}
