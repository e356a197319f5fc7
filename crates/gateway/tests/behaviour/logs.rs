//! What the log files hold, and what they never do.

use crate::common::*;
use serde_json::Value;

/// The lines of a channel.
fn lines(folder: &std::path::Path, channel: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(format!("{channel}.jsonl"))).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_channels_without_content_tokens_or_queries() {
    // The only test that sets the process's subscriber.
    let folder = tempfile::tempdir().unwrap();
    blastshield_gateway::logs::set_up(folder.path(), 1_000_000, 3).unwrap();

    let bad = page_with(&format!("<p>zebracontent {ATTACK}</p>"));
    let origin = Origin::start(move |path| match path.split('?').next().unwrap() {
        "/bad" => html(&bad),
        "/gone" => reply("404 Not Found", &[], "zebracontent"),
        _ => html(HARMLESS),
    })
    .await;
    let brave = brave(&[hit(&origin.url("/good?key=zebraquery"), "zebratitle", "S")]).await;
    let (uri, gone) = (brave.uri(), nobody().await);
    let mut variables = brave_variables(&uri);
    variables.extend(browserless_variables(&gone));
    let dns = gone.replace("http://", "");
    variables.extend([
        ("BLASTSHIELD_DNS", dns.as_str()),
        ("BLASTSHIELD_AGENT_TOKEN", "zebra-agent-0123456789"),
        ("BLASTSHIELD_OWNER_TOKEN", "zebra-owner-0123456789"),
    ]);
    let gateway = start(&variables).await;
    let post = |path: &str, body: Value| {
        answer(
            gateway
                .request(reqwest::Method::POST, path)
                .bearer_auth("zebra-agent-0123456789")
                .json(&body),
        )
    };
    let found = post("/v1/search", serde_json::json!({"query": "zebrawords"})).await;
    let id = found.body["results"][0]["result_id"].clone();
    assert!(
        post("/v1/fetch", serde_json::json!({"result_id": id}))
            .await
            .is_allowed()
    );
    let at = |path: &str| serde_json::json!({"url": origin.url(path)});
    let blocked = post("/v1/web-fetch", at("/bad?key=zebraquery")).await;
    assert!(blocked.is_blocked(), "{}", blocked.text);
    let failed = post("/v1/web-fetch", at("/gone?key=zebraquery")).await;
    assert_eq!(failed.status, 502);
    post("/v1/web-fetch", at("/good?key=zebraquery#zebrafragment")).await;
    post("/v1/web-fetch", serde_json::json!({"url": "zebraurl"})).await;
    let labelled = format!("http://{}.a.example/", token());
    post("/v1/web-fetch", serde_json::json!({"url": labelled})).await;
    gateway.get("/zebrapath?token=zebraquery").await;
    let wrong = gateway
        .request(reqwest::Method::GET, "/v1/flagged")
        .bearer_auth("zebra-wrong-0123456789");
    answer(wrong).await;
    let owner = gateway
        .request(reqwest::Method::GET, "/v1/flagged")
        .bearer_auth("zebra-owner-0123456789");
    assert_eq!(answer(owner).await.status, 200);
    gateway.stop().await;

    let access = lines(folder.path(), "access");
    assert!(access.len() >= 9, "{access:?}");
    // Other tests may share the process and so the files: ids tell whose line it is.
    let line = |lines: &[Value], name: &str, id: &Value| {
        let mine = lines.iter().find(|line| line[name] == *id);
        mine.unwrap_or_else(|| panic!("no line for {id}")).clone()
    };
    let search = line(&access, "request_id", &found.body["request_id"]);
    assert_eq!(search["path"], "/v1/search");
    assert_eq!(search["method"], "POST");
    assert_eq!(search["status"], 200);
    let decided = line(
        &lines(folder.path(), "security"),
        "fetch_id",
        &blocked.body["fetch_id"],
    );
    assert_eq!(decided["decision"], "block");
    assert_eq!(decided["sha256"].as_str().unwrap().len(), 64);
    assert!(decided["length"].as_u64().unwrap() > 0);
    assert!(decided["score"].as_f64().unwrap() >= 10.0);
    assert_eq!(decided["by_exception"], true, "exceptions are audited");
    let upstream = lines(folder.path(), "upstream");
    let told = |name: &str, value: &str| upstream.iter().any(|line| line[name] == value);
    assert!(told("code", "upstream_status") && told("dependency", "renderer"));
    assert!(told("host", "[REDACTED].a.example"), "{upstream:?}");

    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for secret in [
            "zebra",
            "flour",
            "previous instructions",
            BRAVE_KEY,
            BROWSERLESS_TOKEN,
            &token().to_lowercase(),
        ] {
            assert!(
                !text.contains(secret),
                "{secret} in {}: {text}",
                path.display()
            );
        }
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
