//! Every variable of the contract does what it says. Those with a test of their own elsewhere are only listed here.

use crate::common::*;
use blastshield_config::{ConfigError, SETTINGS};
use serde_json::json;

/// Variables of the contract, a value that differs from the default, and one that is refused.
const CONTRACT: &[(&str, &str, &str)] = &[
    ("CLAWRUBBER_BRAVE_API_KEY", "key", ""),
    ("CLAWRUBBER_PROFILE", "paranoid", "lenient"),
    ("CLAWRUBBER_REDACT_URLS", "false", "perhaps"),
    ("CLAWRUBBER_FAIL_CLOSED", "false", "perhaps"),
    (
        "CLAWRUBBER_ALLOWLIST_DOMAINS",
        "a.example,b.example",
        "not//a domain",
    ),
    ("CLAWRUBBER_BLOCKLIST_DOMAINS", "a.example", "not//a domain"),
    ("CLAWRUBBER_DB_PATH", "/tmp/x.db", ""),
    ("CLAWRUBBER_LOG_DIR", "/tmp/logs", ""),
    ("CLAWRUBBER_RETENTION_DAYS", "7", "-1"),
    ("CLAWRUBBER_LLM_JUDGE_ENABLED", "false", "perhaps"),
    ("CLAWRUBBER_LLM_PROVIDER", "ollama", "mystery"),
    ("CLAWRUBBER_LLM_MODEL", "small", ""),
    ("CLAWRUBBER_OPENAI_API_KEY", "key", ""),
    (
        "CLAWRUBBER_OLLAMA_BASE_URL",
        "http://ollama:11434",
        "ollama",
    ),
    (
        "CLAWRUBBER_WEBSITE_RENDERER_BACKEND",
        "browserless",
        "netscape",
    ),
    (
        "CLAWRUBBER_BROWSERLESS_URL",
        "http://renderer:3000",
        "renderer",
    ),
    ("CLAWRUBBER_BROWSERLESS_TOKEN", "token", ""),
    ("CLAWRUBBER_BROWSERLESS_TIMEOUT_MS", "5000", "soon"),
    ("CLAWRUBBER_BROWSERLESS_WAIT_UNTIL", "load", "forever"),
    ("CLAWRUBBER_BROWSERLESS_WAIT_FOR_SELECTOR", "#main", ""),
    ("CLAWRUBBER_BROWSERLESS_MAX_HTML_BYTES", "100000", "lots"),
    (
        "CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP",
        "false",
        "perhaps",
    ),
    ("CLAWRUBBER_BROWSERLESS_BLOCK_ADS", "false", "perhaps"),
];

#[test]
fn every_variable_of_the_contract_is_known_and_checked() {
    for (name, good, bad) in CONTRACT {
        let known = SETTINGS
            .iter()
            .any(|setting| setting.variables.contains(name));
        assert!(known, "{name} is not a setting");
        assert!(settings(&[(name, good)]).is_ok(), "{name}={good}");
        if !bad.is_empty() {
            let Err(ConfigError::Value { origin, .. }) = settings(&[(name, bad)]) else {
                panic!("{name}={bad} was taken");
            };
            assert_eq!(origin.to_string(), *name);
        }
    }
    assert!(settings(&[("CLAWRUBBER_NO_SUCH_THING", "1")]).is_err());
}

#[test]
fn the_defaults_are_the_contracts() {
    let defaults = settings(&[]).unwrap();
    assert!(defaults.policy.redact_urls && defaults.policy.fail_closed);
    assert_eq!(defaults.store.retention_days, 30);
    assert!(!defaults.judge.enabled);
    assert_eq!(
        defaults.renderer.browserless_url.as_str(),
        "http://browserless:3000/"
    );
    assert_eq!(defaults.renderer.timeout.as_millis(), 12_000);
    assert_eq!(defaults.renderer.max_html_bytes, 1_500_000);
    assert!(defaults.renderer.fallback_to_http && defaults.renderer.block_ads);
    assert_eq!(defaults.search.result_ttl.as_secs(), 1_800);
    assert!(!defaults.web.allow_http && defaults.web.allowed_ranges.is_empty());
}

#[test]
fn files_and_folders_go_where_they_are_told() {
    let told = settings(&[
        ("BLASTSHIELD_DATA_DIR", "/data"),
        ("CLAWRUBBER_DB_PATH", "/elsewhere/claw.db"),
        ("CLAWRUBBER_LOG_DIR", "/elsewhere/logs"),
    ])
    .unwrap();
    assert_eq!(told.store.path.to_str(), Some("/elsewhere/claw.db"));
    assert_eq!(told.logs.dir.to_str(), Some("/elsewhere/logs"));
    let data = settings(&[("BLASTSHIELD_DATA_DIR", "/data")]).unwrap();
    assert!(data.store.path.starts_with("/data") && data.logs.dir.starts_with("/data"));
}

#[tokio::test]
async fn the_database_is_where_it_was_told_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/claw-rubber.db");
    let gateway = start(&[("CLAWRUBBER_DB_PATH", path.to_str().unwrap())]).await;
    gateway.web_fetch("http://10.0.0.1/").await;
    assert!(path.exists());
    assert!(!gateway.folder.path().join("blastshield.db").exists());
}

#[tokio::test]
async fn the_profile_moves_the_lines() {
    let text = gray();
    let origin = Origin::start(move |_| plain(&text)).await;
    let url = origin.url("/");
    let score = start(&[]).await.web_fetch(&url).await.score();
    for (profile, block) in [("baseline", 14.0), ("strict", 10.0), ("paranoid", 7.0)] {
        let gateway = start(&[("CLAWRUBBER_PROFILE", profile)]).await;
        let answer = gateway.web_fetch(&url).await;
        assert_eq!(
            answer.is_blocked(),
            score >= block,
            "{profile}: {}",
            answer.text
        );
        let medium = match profile {
            "baseline" => 8.0,
            "strict" => 6.0,
            _ => 4.0,
        };
        if score < block {
            let noted = answer.flags().contains(&"gray_zone");
            assert_eq!(noted, score >= medium, "{profile}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn retention_is_in_the_record_and_old_records_go() {
    use sqlx::{ConnectOptions, Connection, Row};
    let origin = Origin::page(hostile()).await;
    let gateway = start(&[("CLAWRUBBER_RETENTION_DAYS", "7")]).await;
    assert!(gateway.web_fetch(&origin.url("/")).await.is_blocked());
    let folder = gateway.stop().await;
    let path = folder.path().join("blastshield.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut database = options.connect().await.unwrap();
    let row = sqlx::query("SELECT at_ms, expires_at_ms FROM flagged_payloads")
        .fetch_one(&mut database)
        .await
        .unwrap();
    let kept: i64 = row.get::<i64, _>(1) - row.get::<i64, _>(0);
    assert!((kept - 7 * 86_400_000).abs() < 10_000, "{kept}");
    // Eight days pass.
    sqlx::raw_sql(
        "UPDATE flagged_payloads SET at_ms = at_ms - 691200000, expires_at_ms = expires_at_ms - 691200000; \
         UPDATE fetch_events SET at_ms = at_ms - 691200000",
    )
    .execute(&mut database)
    .await
    .unwrap();
    database.close().await.unwrap();
    let gateway = start_in(folder, &[("CLAWRUBBER_RETENTION_DAYS", "7")]).await;
    for _ in 0..100 {
        let list = gateway.as_owner("/v1/flagged").await;
        if list.body["flagged"].as_array().unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the old payload is still there");
}

#[tokio::test]
async fn the_user_agent_is_what_origins_see() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = start(&[("CLAWRUBBER_USER_AGENT", "Reader/7")]).await;
    gateway.web_fetch(&origin.url("/")).await;
    let head = origin.heads()[0].to_lowercase();
    assert!(head.contains("user-agent: reader/7"), "{head}");
    for leaking in ["cookie:", "authorization:", "referer:", "x-forwarded"] {
        assert!(!head.contains(leaking), "{head}");
    }
}

#[tokio::test]
async fn fetching_by_url_can_be_switched_off() {
    let origin = Origin::page(HARMLESS).await;
    let brave = brave(&[hit(&origin.url("/"), "T", "S")]).await;
    let uri = brave.uri();
    let mut variables = brave_variables(&uri);
    variables.push(("BLASTSHIELD_WEB_FETCH", "false"));
    let gateway = start(&variables).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(answer.status, 503, "{}", answer.text);
    assert_eq!(answer.body["error"]["code"], "disabled");
    let found = gateway.search("x").await;
    let id = found.body["results"][0]["result_id"].as_str().unwrap();
    assert!(gateway.fetch(id).await.is_allowed());
}

#[tokio::test]
async fn link_targets_can_be_left_out() {
    let origin = Origin::page(page_with(
        "<p>See <a href='https://docs.example/a(b)'>the plan</a> of ours.</p>",
    ))
    .await;
    let gateway = start(&[("CLAWRUBBER_EXPOSE_SAFE_CONTENT_URLS", "false")]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.content().contains("the plan"), "{}", answer.text);
    assert!(
        !answer.content().contains("docs.example"),
        "{}",
        answer.content()
    );
}

#[tokio::test]
async fn the_result_time_is_configurable() {
    use sqlx::{ConnectOptions, Row};
    let brave = brave(&[hit("https://a.example/", "T", "S")]).await;
    let uri = brave.uri();
    let mut variables = brave_variables(&uri);
    variables.push(("CLAWRUBBER_RESULT_TTL_MINUTES", "2"));
    let gateway = start(&variables).await;
    gateway.post("/v1/search", &json!({"query": "x"})).await;
    let folder = gateway.stop().await;
    let mut database = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(folder.path().join("blastshield.db"))
        .connect()
        .await
        .unwrap();
    let sql = "SELECT c.expires_at_ms - s.at_ms FROM search_results_cache c JOIN search_requests s ON s.request_id = c.request_id";
    let row = sqlx::query(sql).fetch_one(&mut database).await.unwrap();
    assert_eq!(row.get::<i64, _>(0), 120_000);
}

#[tokio::test]
async fn host_and_port_are_taken() {
    let gateway = start(&[("CLAWRUBBER_HOST", "127.0.0.3")]).await;
    assert_eq!(gateway.address.ip().to_string(), "127.0.0.3");
    assert_ne!(gateway.address.port(), 0);
    assert_eq!(gateway.get("/healthz").await.status, 200);
}
