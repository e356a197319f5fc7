//! Who may do what.

use crate::common::*;
use blastshield_gateway::{Gateway, StartError, TokenError};
use reqwest::Method;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const AGENT: &str = "agent-token-0123456789";
const OWNER: &str = "owner-token-0123456789";

async fn with_tokens() -> Running {
    start(&[
        ("BLASTSHIELD_AGENT_TOKEN", AGENT),
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
    ])
    .await
}

async fn status(gateway: &Running, method: Method, path: &str, token: Option<&str>) -> u16 {
    let mut request = gateway
        .request(method, path)
        .json(&json!({"result_id": "none"}));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    answer(request).await.status
}

#[tokio::test]
async fn each_token_opens_its_own_doors() {
    let gateway = with_tokens().await;
    let (get, post) = (Method::GET, Method::POST);
    for (method, path, token, expected) in [
        (&post, "/v1/fetch", Some(AGENT), 404),
        (&post, "/v1/fetch", Some(OWNER), 404),
        (&post, "/v1/fetch", None, 401),
        (&post, "/v1/fetch", Some("agent-token-012345678"), 401),
        (&post, "/v1/search", None, 401),
        (&post, "/v1/web-fetch", None, 401),
        (&get, "/v1/flagged", Some(OWNER), 200),
        (&get, "/v1/flagged", Some(AGENT), 403),
        (&get, "/v1/flagged", None, 401),
        (&get, "/v1/flagged/fet_x", Some(AGENT), 403),
        (&get, "/v1/flagged/fet_x", None, 401),
        (&get, "/healthz", None, 200),
        (&get, "/readyz", None, 200),
        (&get, "/openapi.json", None, 200),
    ] {
        let got = status(&gateway, method.clone(), path, token).await;
        assert_eq!(got, expected, "{method} {path} with {token:?}");
    }
}

#[tokio::test]
async fn a_refusal_says_how_to_ask() {
    let gateway = with_tokens().await;
    let refused = gateway.fetch("x").await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    assert_eq!(refused.body["error"]["code"], "unauthorized");
    assert!(!refused.text.contains(AGENT) && !refused.text.contains(OWNER));
}

#[tokio::test]
async fn on_loopback_an_agent_needs_no_token_but_the_owner_does() {
    let gateway = start(&[]).await;
    assert_eq!(gateway.fetch("none").await.status, 404);
    assert_eq!(gateway.get("/v1/flagged").await.status, 403);
    assert_eq!(gateway.as_owner("/v1/flagged").await.status, 200);
    let wrong = gateway
        .request(Method::POST, "/v1/fetch")
        .bearer_auth("wrong")
        .json(&json!({"result_id": "x"}));
    assert_eq!(
        answer(wrong).await.status,
        401,
        "a wrong token is no missing token"
    );
}

#[tokio::test]
async fn a_browser_cannot_ask_in_its_users_name() {
    let gateway = start(&[]).await;
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("host", "evil.example"),
        ("host", "rebind.evil.example:3000"),
        ("host", "localhost.evil.example"),
    ] {
        let request = gateway
            .request(Method::POST, "/v1/fetch")
            .header(name, value)
            .json(&json!({"result_id": "x"}));
        let answer = answer(request).await;
        assert_eq!(answer.status, 403, "{name}: {value}: {}", answer.text);
    }
    let named = gateway
        .request(Method::POST, "/v1/fetch")
        .header("host", "localhost:3000")
        .json(&json!({"result_id": "x"}));
    assert_eq!(answer(named).await.status, 404);
    let with_token = gateway
        .request(Method::POST, "/v1/fetch")
        .header("host", "gateway.internal")
        .bearer_auth(gateway.owner_token())
        .json(&json!({"result_id": "x"}));
    assert_eq!(answer(with_token).await.status, 404);
}

#[tokio::test]
async fn a_public_address_needs_both_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let public = ("BLASTSHIELD_HOST", "0.0.0.0");
    for tokens in [
        vec![],
        vec![("BLASTSHIELD_AGENT_TOKEN", AGENT)],
        vec![("BLASTSHIELD_OWNER_TOKEN", OWNER)],
    ] {
        let mut variables = vec![public];
        variables.extend(&tokens);
        let refused = Gateway::bind(settings_in(folder.path(), &variables)).await;
        assert!(
            matches!(
                refused,
                Err(StartError::Tokens(TokenError::PublicWithoutTokens))
            ),
            "{tokens:?}"
        );
    }
    let same = [
        public,
        ("BLASTSHIELD_AGENT_TOKEN", AGENT),
        ("BLASTSHIELD_OWNER_TOKEN", AGENT),
    ];
    let refused = Gateway::bind(settings_in(folder.path(), &same)).await;
    assert!(matches!(refused, Err(StartError::Tokens(TokenError::Same))));
    let both = [
        public,
        ("BLASTSHIELD_AGENT_TOKEN", AGENT),
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
    ];
    assert!(
        Gateway::bind(settings_in(folder.path(), &both))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn the_owners_token_is_a_file_of_its_own() {
    let gateway = start(&[]).await;
    let token = gateway.owner_token();
    assert!(token.len() >= 32);
    let file = gateway.folder.path().join("owner-token");
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let folder = gateway.stop().await;
    let again = start_in(folder, &[]).await;
    assert_eq!(again.owner_token(), token);
}

#[tokio::test]
async fn nobody_may_change_policy_over_the_wire() {
    let gateway = with_tokens().await;
    for path in [
        "/v1/allowlist",
        "/v1/policy",
        "/v1/config",
        "/v1/settings",
        "/dashboard",
        "/api/allowlist",
    ] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            assert_eq!(
                status(&gateway, method, path, Some(OWNER)).await,
                404,
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn the_kill_switch_is_the_owners_and_closes_what_goes_out() {
    let gateway = with_tokens().await;
    let switch = async |on: bool, token: &str| {
        let request = gateway
            .request(Method::POST, "/v1/lockdown")
            .json(&json!({"on": on}));
        answer(request.bearer_auth(token)).await.status
    };
    assert_eq!(switch(true, AGENT).await, 403);
    let post = Method::POST;
    assert_eq!(
        status(&gateway, post.clone(), "/v1/fetch", Some(AGENT)).await,
        404
    );
    assert_eq!(switch(true, OWNER).await, 200);
    for path in [
        "/v1/search",
        "/v1/fetch",
        "/v1/web-fetch",
        "/v1/payments",
        "/v1/proxies/moltbook/tasks",
    ] {
        let closed = status(&gateway, post.clone(), path, Some(AGENT)).await;
        assert_eq!(closed, 403, "{path}");
        // A stranger does not learn of it.
        let stranger = status(&gateway, post.clone(), path, None).await;
        assert_eq!(stranger, 401, "{path}");
    }
    assert_eq!(switch(false, AGENT).await, 403);
    assert_eq!(switch(false, OWNER).await, 200);
    assert_eq!(status(&gateway, post, "/v1/fetch", Some(AGENT)).await, 404);
}
