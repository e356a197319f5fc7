//! Asking the owner over HTTP: who may see what, who may decide, and that one decision counts.

use crate::common::*;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const AGENT: &str = "agent-token-0123456789";
const OWNER: &str = "owner-token-0123456789";

async fn gateway() -> Running {
    start(&[
        ("BLASTSHIELD_AGENT_TOKEN", AGENT),
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
        ("BLASTSHIELD_MAX_APPROVALS_PER_REQUESTER", "50"),
    ])
    .await
}

async fn call(gateway: &Running, method: Method, path: &str, token: &str, body: Value) -> Answer {
    let mut request = gateway.request(method, path).bearer_auth(token);
    if !body.is_null() {
        request = request.json(&body);
    }
    answer(request).await
}

async fn ask(gateway: &Running, body: Value) -> Answer {
    call(gateway, Method::POST, "/v1/approvals", AGENT, body).await
}

async fn asked(gateway: &Running) -> String {
    let body = json!({"action": "custom", "reason": "May I?", "details": {"what": "restart"}});
    let made = ask(gateway, body).await;
    assert_eq!(made.status, 201, "{}", made.text);
    made.body["id"].as_str().unwrap().to_owned()
}

async fn decide(gateway: &Running, id: &str, token: &str, body: Value) -> Answer {
    let path = format!("/v1/approvals/{id}/decision");
    call(gateway, Method::POST, &path, token, body).await
}

async fn see(gateway: &Running, path: &str, token: &str) -> Answer {
    call(gateway, Method::GET, path, token, Value::Null).await
}

#[tokio::test]
async fn a_request_is_made_seen_and_decided() {
    let gateway = gateway().await;
    let id = asked(&gateway).await;
    let path = format!("/v1/approvals/{id}");
    let agents = see(&gateway, &path, AGENT).await;
    assert_eq!(agents.body["state"], "pending");
    assert!(agents.body.get("owner").is_none(), "{}", agents.text);
    assert!(!agents.text.contains("sha256") && !agents.text.contains("SUPERVISOR"));
    let owners = see(&gateway, &path, OWNER).await;
    let shown = owners.body["owner"]["shown"].as_str().unwrap();
    assert!(shown.contains("what: restart") && shown.contains(&format!("approve {id}")));
    assert!(shown.contains("asked_by: the agent, in its own words"));
    let sha = owners.body["owner"]["shown_sha256"].as_str().unwrap();
    let yes = json!({"decision": "approve", "shown_sha256": sha, "via": "cli"});
    let decided = decide(&gateway, &id, OWNER, yes).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert_eq!(decided.body["owner"]["decided_by"], "cli");
    let agents = see(&gateway, &path, AGENT).await;
    assert_eq!(agents.body["state"], "approved");
    assert!(!agents.text.contains("cli"), "how is the owner's business");
}

#[tokio::test]
async fn deciding_twice_late_or_what_does_not_exist_changes_nothing() {
    let gateway = gateway().await;
    let id = asked(&gateway).await;
    let (yes, no) = (json!({"decision": "approve"}), json!({"decision": "deny"}));
    assert_eq!(decide(&gateway, &id, OWNER, no).await.status, 200);
    let again = decide(&gateway, &id, OWNER, yes.clone()).await;
    assert_eq!(again.status, 409, "{}", again.text);
    assert_eq!(again.body["error"]["code"], "already_decided");
    let state = see(&gateway, &format!("/v1/approvals/{id}"), OWNER).await;
    assert_eq!(state.body["state"], "denied");

    let body = json!({"action": "custom", "reason": "r", "timeout_seconds": 1});
    let short = ask(&gateway, body).await;
    let short = short.body["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/approvals/{short}?wait=20");
    let over = see(&gateway, &path, AGENT).await;
    assert_eq!(over.body["state"], "expired", "{}", over.text);
    assert!(over.body["reason"].as_str().unwrap().contains("timeout"));
    let late = decide(&gateway, &short, OWNER, yes.clone()).await;
    assert_eq!(
        (late.status, late.body["error"]["code"].as_str()),
        (410, Some("gone"))
    );

    for unknown in ["00000000", "nothing", "%2e%2e", &"x".repeat(300)] {
        let answer = decide(&gateway, unknown, OWNER, yes.clone()).await;
        assert_eq!(answer.status, 404, "{unknown}: {}", answer.text);
    }
    let id = asked(&gateway).await;
    for (bad, status) in [
        (json!({"decision": "maybe"}), 400),
        (json!({"decision": "approve", "scope": "forever"}), 400),
        (json!({"decision": "approve", "scope": "always"}), 400),
        (json!({"decision": "deny", "scope": "once"}), 400),
        (json!({"decision": "approve", "hours": 3}), 400),
        (json!({"decision": "approve", "extra": 1}), 400),
        (
            json!({"decision": "approve", "shown_sha256": "0123456789abcdef"}),
            409,
        ),
        (json!({"decision": "approve", "shown_sha256": ""}), 409),
    ] {
        let answer = decide(&gateway, &id, OWNER, bad.clone()).await;
        assert_eq!(answer.status, status, "{bad}: {}", answer.text);
    }
    let state = see(&gateway, &format!("/v1/approvals/{id}"), AGENT).await;
    assert_eq!(state.body["state"], "pending");
}

#[tokio::test]
async fn of_many_deciders_one_wins() {
    let gateway = gateway().await;
    let id = asked(&gateway).await;
    let tries = (0..16).map(|n| {
        let word = if n % 2 == 0 { "approve" } else { "deny" };
        decide(&gateway, &id, OWNER, json!({"decision": word}))
    });
    let answers = futures_util::future::join_all(tries).await;
    let won: Vec<&Answer> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .collect();
    assert_eq!(won.len(), 1);
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer.status, 200 | 409 | 503))
    );
    let state = see(&gateway, &format!("/v1/approvals/{id}"), OWNER).await;
    assert_eq!(state.body["state"], won[0].body["state"]);
}

#[tokio::test]
async fn no_agent_opens_an_owners_route() {
    let gateway = gateway().await;
    let id = asked(&gateway).await;
    for (method, path) in [
        (Method::GET, "/v1/approvals".to_owned()),
        (Method::POST, format!("/v1/approvals/{id}/decision")),
        (Method::GET, "/v1/grants".to_owned()),
        (Method::DELETE, format!("/v1/grants/{id}")),
        (Method::GET, "/v1/status".to_owned()),
    ] {
        let body = json!({"decision": "approve"});
        let refused = call(&gateway, method.clone(), &path, AGENT, body.clone()).await;
        assert_eq!(refused.status, 403, "{method} {path}: {}", refused.text);
        let nobody = answer(gateway.request(method.clone(), &path).json(&body)).await;
        assert_eq!(nobody.status, 401, "{method} {path}");
    }
    // The owner's token anywhere but in its header opens nothing.
    let sneaky = gateway
        .request(
            Method::POST,
            &format!("/v1/approvals/{id}/decision?token={OWNER}"),
        )
        .bearer_auth(AGENT)
        .header("x-owner-token", OWNER)
        .json(&json!({"decision": "approve"}));
    assert_eq!(answer(sneaky).await.status, 403);
    let state = see(&gateway, &format!("/v1/approvals/{id}"), AGENT).await;
    assert_eq!(state.body["state"], "pending");
    let folder = gateway.stop().await;
    assert!(written(folder.path()).contains("access_denied"));
}

#[tokio::test]
async fn an_agent_sees_its_own_requests_alone() {
    let gateway = gateway().await;
    let body = json!({"action": "custom", "reason": "the owner's own"});
    let owners = call(&gateway, Method::POST, "/v1/approvals", OWNER, body).await;
    let id = owners.body["id"].as_str().unwrap();
    let hidden = see(&gateway, &format!("/v1/approvals/{id}"), AGENT).await;
    assert_eq!(hidden.status, 404);
    let unknown = see(&gateway, "/v1/approvals/00000000", AGENT).await;
    assert_eq!(hidden.body["error"], unknown.body["error"], "no oracle");
    assert_eq!(
        see(&gateway, &format!("/v1/approvals/{id}"), OWNER)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn waiting_ends_with_the_answer_and_is_bounded() {
    let gateway = gateway().await;
    let id = asked(&gateway).await;
    let path = format!("/v1/approvals/{id}?wait=30");
    let begun = Instant::now();
    let (waited, ()) = tokio::join!(see(&gateway, &path, AGENT), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let yes = json!({"decision": "approve"});
        assert_eq!(decide(&gateway, &id, OWNER, yes).await.status, 200);
    });
    assert_eq!(waited.body["state"], "approved");
    assert!(begun.elapsed() < Duration::from_secs(20));
    for bad in ["wait=61", "wait=-1", "wait=x", "weit=1"] {
        let path = format!("/v1/approvals/{id}?{bad}");
        assert_eq!(see(&gateway, &path, AGENT).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn agents_that_wait_keep_nobody_out() {
    let gateway = start(&[
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
        ("BLASTSHIELD_MAX_REQUESTS", "1"),
    ])
    .await;
    let body = json!({"action": "custom", "reason": "r"});
    let made = gateway.post("/v1/approvals", &body).await;
    let id = made.body["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/approvals/{id}?wait=25");
    let waiting = futures_util::future::join_all((0..8).map(|_| gateway.get(&path)));
    let deciding = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(gateway.fetch("none").await.status, 404);
        decide(&gateway, &id, OWNER, json!({"decision": "deny"})).await
    };
    let (answers, decided) = tokio::join!(waiting, deciding);
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert!(
        answers
            .iter()
            .all(|answer| answer.body["state"] == "denied")
    );
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let gateway = gateway().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(asked(&gateway).await);
    }
    let http = json!({"action": "http", "reason": "r", "host": "a.example"});
    assert_eq!(ask(&gateway, http).await.status, 201);
    decide(&gateway, &ids[0], OWNER, json!({"decision": "deny"})).await;
    let count = async |query: &str| {
        let list = see(&gateway, &format!("/v1/approvals{query}"), OWNER).await;
        assert_eq!(list.status, 200, "{}", list.text);
        list.body["approvals"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 6);
    assert_eq!(count("?state=pending").await, 5);
    assert_eq!(count("?state=denied").await, 1);
    assert_eq!(count("?action=http").await, 1);
    assert_eq!(count("?state=approved").await, 0);
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let list = see(&gateway, &format!("/v1/approvals?limit=2{after}"), OWNER).await;
        let page = list.body["approvals"].as_array().unwrap();
        seen.extend(
            page.iter()
                .map(|one| one["id"].as_str().unwrap().to_owned()),
        );
        match list.body["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6);
    for bad in ["?limit=0", "?limit=201", "?state=x", "?after=x", "?other=1"] {
        let answer = see(&gateway, &format!("/v1/approvals{bad}"), OWNER).await;
        assert_eq!(answer.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_by_field() {
    let gateway = gateway().await;
    let many: serde_json::Map<String, Value> =
        (0..16).map(|n| (format!("k{n}"), json!(n))).collect();
    for (body, field) in [
        (json!({"action": "custom"}), "reason"),
        (json!({"action": "custom", "reason": ""}), "reason"),
        (
            json!({"action": "custom", "reason": "x".repeat(2000)}),
            "reason",
        ),
        (json!({"action": "fly", "reason": "r"}), "action"),
        (json!({"action": "http", "reason": "r"}), "host"),
        (
            json!({"action": "http", "reason": "r", "host": "a b"}),
            "host",
        ),
        (
            json!({"action": "custom", "reason": "r", "details": many}),
            "details",
        ),
        (
            json!({"action": "custom", "reason": "r", "details": {"a": [1]}}),
            "details",
        ),
        (
            json!({"action": "custom", "reason": "r", "details": {"a\nb": "x"}}),
            "details",
        ),
        (
            json!({"action": "custom", "reason": "r", "details": {"asked_by": "the owner"}}),
            "details",
        ),
        (
            json!({"action": "custom", "reason": "r", "session_key": "a\nb"}),
            "session",
        ),
        (
            json!({"action": "custom", "reason": "r", "timeout_seconds": 0}),
            "timeout",
        ),
        (
            json!({"action": "custom", "reason": "r", "expires": 1}),
            "expires",
        ),
    ] {
        let answer = ask(&gateway, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert_eq!(
            answer.body["error"]["details"]["field"], field,
            "{}",
            answer.text
        );
    }
}

#[tokio::test]
async fn open_requests_are_bounded() {
    let gateway = start(&[("BLASTSHIELD_MAX_APPROVALS_PER_REQUESTER", "2")]).await;
    let body = json!({"action": "custom", "reason": "r"});
    for _ in 0..2 {
        assert_eq!(gateway.post("/v1/approvals", &body).await.status, 201);
    }
    let third = gateway.post("/v1/approvals", &body).await;
    assert_eq!(third.status, 429, "{}", third.text);
    assert_eq!(third.body["error"]["code"], "too_many");
}

#[tokio::test]
async fn asking_again_and_again_is_bounded() {
    let gateway = start(&[("BLASTSHIELD_MAX_APPROVALS_PER_HOUR", "3")]).await;
    for round in 0..5 {
        let body = json!({"action": "custom", "reason": "please"});
        let made = gateway.post("/v1/approvals", &body).await;
        if round >= 3 {
            assert_eq!(made.status, 429, "{}", made.text);
            continue;
        }
        let path = format!(
            "/v1/approvals/{}/decision",
            made.body["id"].as_str().unwrap()
        );
        let denied = gateway
            .owner_post(&path, &json!({"decision": "deny"}))
            .await;
        assert_eq!(denied.status, 200);
    }
}

#[tokio::test]
async fn discord_and_a_webhook_get_the_request_a_link_and_the_decision() {
    use wiremock::matchers::any;
    use wiremock::{Mock, MockServer, ResponseTemplate};
    let (hook, discord) = (MockServer::start().await, MockServer::start().await);
    for server in [&hook, &discord] {
        let taken = Mock::given(any()).respond_with(ResponseTemplate::new(204));
        taken.mount(server).await;
    }
    let (url, room) = (
        hook.uri(),
        format!("{}/api/webhooks/1/secret-of-the-room", discord.uri()),
    );
    let gateway = start(&[
        ("BLASTSHIELD_OWNER_TOKEN", OWNER),
        ("BLASTSHIELD_ALERT_WEBHOOK_URL", &url),
        (
            "BLASTSHIELD_ALERT_WEBHOOK_SECRET",
            "webhook-secret-0123456789",
        ),
        ("BLASTSHIELD_DISCORD_WEBHOOK_URL", &room),
        (
            "BLASTSHIELD_APPROVAL_LINK_URL",
            "https://shield.example/approve",
        ),
    ])
    .await;
    let body = json!({"action": "custom", "reason": "r", "details": {"what": "restart @everyone"}});
    let made = gateway.post("/v1/approvals", &body).await;
    let id = made.body["id"].as_str().unwrap().to_owned();
    let link = format!("https://shield.example/approve/{id}");
    let posts = async |server: &MockServer, part: &str| {
        let part = part.to_owned();
        for _ in 0..200 {
            let all = server.received_requests().await.unwrap();
            let found = all
                .into_iter()
                .find(|post| String::from_utf8_lossy(&post.body).contains(&part));
            if let Some(found) = found {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{part} was not posted");
    };
    let asked = posts(&hook, "approval_requested").await;
    let value: Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(
        (value["link"].as_str(), value["id"].as_str()),
        (Some(link.as_str()), Some(id.as_str()))
    );
    assert!(asked.headers.contains_key("x-blastshield-signature"));
    let shown: Value = serde_json::from_slice(&posts(&discord, &link).await.body).unwrap();
    assert_eq!(shown["allowed_mentions"]["parse"], json!([]));
    decide(
        &gateway,
        &id,
        OWNER,
        json!({"decision": "deny", "via": "page"}),
    )
    .await;
    posts(&hook, "approval_decided").await;
    posts(&discord, "denied through page").await;
    let status = see(&gateway, "/v1/status", OWNER).await;
    assert!(
        !status.text.contains("secret-of-the-room"),
        "{}",
        status.text
    );
    for name in ["discord", "webhook"] {
        let channels = status.body["channels"].as_array().unwrap();
        let up = channels
            .iter()
            .any(|one| one["name"] == name && one["state"] == "up");
        assert!(up, "{name}: {}", status.text);
    }
}

#[tokio::test]
async fn the_page_holds_nothing_and_decides_nothing() {
    let gateway = gateway().await;
    let id = asked(&gateway).await;
    let page = gateway.get(&format!("/approve/{id}")).await;
    assert_eq!(page.status, 200);
    let other = gateway.get("/approve/%3Cscript%3E").await;
    assert_eq!(page.text, other.text, "the same for everybody");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(
        !policy.contains("unsafe") && !page.text.contains("http"),
        "{policy}"
    );
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("cache-control"), "no-store");
    for (file, kind) in [("page.js", "text/javascript"), ("page.css", "text/css")] {
        let part = gateway.get(&format!("/approve/{file}")).await;
        assert_eq!(part.status, 200);
        assert!(part.header("content-type").starts_with(kind));
        assert!(!part.text.contains("innerHTML"));
    }
    let posted = gateway.post(&format!("/approve/{id}"), &json!({})).await;
    assert_eq!(posted.status, 405);
    let state = see(&gateway, &format!("/v1/approvals/{id}"), OWNER).await;
    assert_eq!(state.body["state"], "pending");
}
