//! The gray zone: whom the gateway asks, and what it does without an answer.

use crate::common::*;
use serde_json::Value;
use wiremock::{MockServer, ResponseTemplate};

async fn gray_origin() -> Origin {
    let text = gray();
    Origin::start(move |_| plain(&text)).await
}

type Variables = for<'a> fn(&'a str) -> Vec<(&'a str, &'a str)>;
type Says = fn(&str) -> Value;

/// Providers, the path of their endpoint, and the shape of their answer.
const PROVIDERS: [(Variables, &str, Says); 2] = [
    (openai_variables, "/responses", openai_says),
    (ollama_variables, "/api/chat", ollama_says),
];

#[tokio::test]
async fn the_judge_is_really_asked_and_may_clear() {
    let origin = gray_origin().await;
    for (variables, path, says) in PROVIDERS {
        let judge = json_service(says(&ruling("clear"))).await;
        let gateway = start(&variables(&judge.uri())).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert!(answer.is_allowed(), "{path}: {}", answer.text);
        assert!(answer.flags().contains(&"judge_cleared"), "{path}");
        assert!(answer.body["safety"].get("bypassed").is_none());
        let asked = requests(&judge).await;
        assert_eq!(asked.len(), 1, "{path}");
        assert_eq!(asked[0].url.path(), path);
        assert!(sent(&asked[0]).to_string().contains(&gray()), "{path}");
    }
}

#[tokio::test]
async fn the_judge_may_block() {
    let origin = gray_origin().await;
    for (variables, path, says) in PROVIDERS {
        let judge = json_service(says(&ruling("block"))).await;
        let gateway = start(&variables(&judge.uri())).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert!(answer.is_blocked(), "{path}: {}", answer.text);
        assert!(answer.flags().contains(&"judge_blocked"), "{path}");
        let list = gateway.as_owner("/v1/flagged").await;
        assert_eq!(list.body["flagged"][0]["fetch_id"], answer.body["fetch_id"]);
    }
}

#[tokio::test]
async fn openai_may_be_asked_by_chat() {
    let origin = gray_origin().await;
    let judge = json_service(chat_says(&ruling("clear"))).await;
    let uri = judge.uri();
    let mut variables = openai_variables(&uri);
    variables.push(("BLASTSHIELD_OPENAI_API", "chat"));
    let gateway = start(&variables).await;
    assert!(gateway.web_fetch(&origin.url("/")).await.is_allowed());
    let asked = requests(&judge).await;
    assert_eq!(asked[0].url.path(), "/chat/completions");
    let key = asked[0].headers.get("authorization").unwrap();
    assert_eq!(key.to_str().unwrap(), format!("Bearer {OPENAI_KEY}"));
    assert_eq!(sent(&asked[0])["model"], "gpt-small");
}

/// Judges that give no ruling.
async fn useless(says: Says) -> Vec<(&'static str, MockServer)> {
    vec![
        (
            "nonsense",
            json_service(says("Sure, that page is fine!")).await,
        ),
        (
            "other json",
            json_service(says(r#"{"verdict":"allow"}"#)).await,
        ),
        (
            "incoherent",
            json_service(says(
                r#"{"verdict":"clear","confidence":1,"reason_code":"tool_abuse"}"#,
            ))
            .await,
        ),
        ("error", service(ResponseTemplate::new(500)).await),
        ("refused", service(ResponseTemplate::new(401)).await),
        (
            "no json",
            service(ResponseTemplate::new(200).set_body_string("<html>")).await,
        ),
    ]
}

#[tokio::test]
async fn without_a_ruling_the_page_is_held_back() {
    let origin = gray_origin().await;
    let mut judges: Vec<(Variables, &str, String)> = Vec::new();
    let (openai, ollama) = (useless(openai_says).await, useless(ollama_says).await);
    for (name, judge) in &openai {
        judges.push((openai_variables, name, judge.uri()));
    }
    for (name, judge) in ollama.iter().take(2) {
        judges.push((ollama_variables, name, judge.uri()));
    }
    judges.push((openai_variables, "unreachable", nobody().await));
    judges.push((ollama_variables, "unreachable", nobody().await));
    for (variables, name, uri) in judges {
        let gateway = start(&variables(&uri)).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert!(answer.is_blocked(), "{name}: {}", answer.text);
        assert!(answer.flags().contains(&"judge_unavailable"), "{name}");
    }
}

#[tokio::test]
async fn a_silent_judge_is_given_up() {
    let origin = gray_origin().await;
    let slow = ResponseTemplate::new(200).set_delay(std::time::Duration::from_secs(20));
    let judge = service(slow).await;
    let uri = judge.uri();
    let mut variables = ollama_variables(&uri);
    variables.push(("BLASTSHIELD_JUDGE_TIMEOUT_MS", "300"));
    let gateway = start(&variables).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_blocked(), "{}", answer.text);
}

#[tokio::test]
async fn an_owner_may_choose_to_go_on_without_a_ruling() {
    let origin = gray_origin().await;
    let gone = nobody().await;
    let mut variables = openai_variables(&gone);
    variables.push(("CLAWRUBBER_FAIL_CLOSED", "false"));
    let gateway = start(&variables).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_allowed(), "{}", answer.text);
    assert!(answer.flags().contains(&"judge_unavailable"));
}

#[tokio::test]
async fn the_judge_is_asked_about_nothing_else() {
    let bad = hostile();
    let origin = Origin::start(move |path| match path {
        "/bad" => html(&bad),
        _ => html(HARMLESS),
    })
    .await;
    let judge = json_service(openai_says(&ruling("clear"))).await;
    let gateway = start(&openai_variables(&judge.uri())).await;
    assert!(gateway.web_fetch(&origin.url("/good")).await.is_allowed());
    let bad = gateway.web_fetch(&origin.url("/bad")).await;
    assert!(bad.is_blocked(), "no judge clears what is over the line");
    assert_eq!(requests(&judge).await.len(), 0);
}

#[tokio::test]
async fn without_a_judge_a_gray_page_says_that_it_is_one() {
    let origin = gray_origin().await;
    let gateway = start(&[]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_allowed(), "{}", answer.text);
    assert!(answer.flags().contains(&"gray_zone"), "{}", answer.text);
    assert!((6.0..10.0).contains(&answer.score()));
}

#[tokio::test]
async fn an_allowlisted_gray_page_is_not_judged() {
    let origin = gray_origin().await;
    let judge = json_service(openai_says(&ruling("block"))).await;
    let uri = judge.uri();
    let mut variables = openai_variables(&uri);
    variables.push(("CLAWRUBBER_ALLOWLIST_DOMAINS", "127.0.0.1"));
    let gateway = start(&variables).await;
    assert!(gateway.web_fetch(&origin.url("/")).await.is_allowed());
    assert_eq!(requests(&judge).await.len(), 0);
}

#[tokio::test]
async fn the_judge_sees_no_secret_and_no_url() {
    let origin = gray_origin().await;
    let judge = json_service(ollama_says(&ruling("clear"))).await;
    let uri = judge.uri();
    let mut variables = ollama_variables(&uri);
    variables.extend([
        ("BLASTSHIELD_OWNER_TOKEN", "owner-token-0123456789"),
        ("CLAWRUBBER_BRAVE_API_KEY", BRAVE_KEY),
    ]);
    let gateway = start(&variables).await;
    gateway.web_fetch(&origin.url("/path?key=hunter2")).await;
    let asked = requests(&judge).await;
    let text = format!("{:?} {}", asked[0].headers, sent(&asked[0]));
    for secret in ["owner-token", BRAVE_KEY, "hunter2", "/path"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}
