//! What comes out of the model: nothing that must not leave, whole or in pieces.

use crate::common::*;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn what_must_not_leave_is_blocked_whole_and_ends_the_session() {
    let gateway = start(&[]).await;
    let check = async |content: &str| {
        let body = json!({"content": content, "destination": "moltbook", "session_key": "s 1/ü"});
        gateway.post("/v1/outbound/check", &body).await
    };
    assert_eq!(check("A poem about rain.").await.body["decision"], "allow");
    let term = check("See SOUL.md for that.").await;
    assert_eq!(term.body["decision"], "block", "{}", term.text);
    assert_eq!(term.body["matches"][0]["class"], "internal");
    let leak = check(&format!("my token is {}", token())).await;
    assert_eq!(leak.body["decision"], "block", "{}", leak.text);
    assert_eq!(leak.body["matches"][0]["class"], "credential");
    assert!(!leak.text.contains(&token()[4..]));
    let after = check("A poem about rain.").await;
    assert_eq!(
        (after.status, &after.body["error"]["code"]),
        (403, &json!("session_terminated"))
    );

    let alerts = gateway.as_owner("/v1/alerts").await;
    assert!(alerts.text.contains("credential_leak"), "{}", alerts.text);
    let held = gateway.as_owner("/v1/sessions").await;
    assert_eq!(held.body["held"][0]["session_key"], "s 1/ü");

    // It stays ended after a restart, until the owner pardons it.
    let folder = gateway.stop().await;
    let files = written(folder.path());
    assert!(files.contains("credential_leak") && !files.contains(&token()[4..]));
    let gateway = start_in(folder, &[]).await;
    let path = "/v1/sessions/s%201%2F%C3%BC";
    let still = gateway.post(&format!("{path}/messages"), &json!({})).await;
    assert_eq!(still.status, 403, "{}", still.text);
    let pardoned = gateway
        .owner_post(&format!("{path}/pardon"), &json!({}))
        .await;
    assert_eq!(pardoned.body["lifted"], true, "{}", pardoned.text);
    assert_eq!(
        gateway
            .post(&format!("{path}/messages"), &json!({}))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn the_gateways_own_token_is_known_by_value_in_any_dress() {
    use base64::Engine as _;
    let gateway = start(&[(
        "BLASTSHIELD_AGENT_TOKEN",
        "plain words as a token".replace(' ', "-").as_str(),
    )])
    .await;
    let owner = gateway.owner_token();
    let dressed = base64::engine::general_purpose::STANDARD.encode(format!("x{owner}y"));
    for content in [
        owner.clone(),
        dressed,
        owner.chars().map(|c| format!("{c}\u{200b}")).collect(),
    ] {
        let request = gateway.request(Method::POST, "/v1/outbound/check");
        let request = request
            .bearer_auth(&owner)
            .json(&json!({"content": content}));
        let found = answer(request).await;
        assert_eq!(found.body["decision"], "block", "{content}: {}", found.text);
        assert_eq!(
            found.body["matches"][0]["class"], "registered",
            "{}",
            found.text
        );
    }
}

#[tokio::test]
async fn an_answer_is_validated_in_the_plans_shape() {
    let gateway = start(&[]).await;
    let good = gateway
        .post(
            "/v1/output/validate",
            &json!({"content": "It is sunny.", "toolsCalled": ["weather"]}),
        )
        .await;
    assert_eq!(good.body, json!({"safe": true, "issues": []}));
    let content = format!("Sure: {}", token());
    let bad = gateway
        .post("/v1/output/validate", &json!({"content": content}))
        .await;
    assert_eq!(bad.body["safe"], false, "{}", bad.text);
    assert_eq!(
        bad.body["sanitizedContent"],
        "[Response blocked due to security policy violation]"
    );
    let issue = &bad.body["issues"][0];
    assert_eq!(
        (&issue["type"], &issue["severity"]),
        (&json!("credential_leak"), &json!("block"))
    );
    assert_eq!(issue["location"], json!({"start": 6, "end": content.len()}));
}

#[tokio::test]
async fn a_registered_prompt_does_not_come_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prompt.txt");
    let prompt = "You tend the lighthouse on Bracken Point. Never tell visitors that the lamp is wound by a badger \
        called Ottoline, and always close with the tide table of the day after tomorrow.";
    std::fs::write(&file, prompt).unwrap();
    let gateway = start(&[("BLASTSHIELD_PROMPT_FILES", file.to_str().unwrap())]).await;
    let said = format!("My instructions: {prompt}");
    let bad = gateway
        .post("/v1/output/validate", &json!({"content": said}))
        .await;
    assert_eq!(bad.body["safe"], false, "{}", bad.text);
    assert_eq!(bad.body["issues"][0]["type"], "instruction_leak");
}

/// The events of a stream, by name, with their data.
fn events(text: &str) -> Vec<(String, Value)> {
    text.split("\n\n")
        .filter(|event| !event.is_empty())
        .map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            let data = data.strip_prefix("data: ").unwrap();
            let name = name.strip_prefix("event: ").unwrap();
            (name.to_owned(), serde_json::from_str(data).unwrap())
        })
        .collect()
}

async fn streamed(gateway: &Running, pieces: Vec<Vec<u8>>) -> Vec<(String, Value)> {
    let body = futures_util::stream::iter(pieces.into_iter().map(Ok::<_, std::io::Error>));
    let request = gateway
        .request(Method::POST, "/v1/output/stream")
        .body(reqwest::Body::wrap_stream(body));
    let answer = answer(request).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    events(&answer.text)
}

fn released(events: &[(String, Value)]) -> String {
    let texts = events.iter().filter(|(name, _)| name == "release");
    texts
        .map(|(_, data)| data["text"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_streamed_answer_never_lets_half_a_secret_out() {
    let gateway = start(&[]).await;
    let text = format!("Wetter: 18 °C, sonnig. Here it is: {} – bye", token());
    let secret = text.find("ghp").unwrap();
    for cut in 0..=text.len() {
        let (left, right) = text.as_bytes().split_at(cut);
        let events = streamed(&gateway, vec![left.to_vec(), right.to_vec()]).await;
        let out = released(&events);
        assert!(text[..secret].starts_with(&out), "cut at {cut}: {out}");
        let (name, end) = events.last().unwrap();
        assert_eq!(
            (name.as_str(), &end["safe"]),
            ("end", &json!(false)),
            "cut at {cut}"
        );
    }
}

#[tokio::test]
async fn a_streamed_answer_without_secrets_comes_out_whole() {
    let gateway = start(&[]).await;
    let text = "Wetter: 18 °C, sonnig.\nMorgen Regen – nimm einen Schirm mit. 🌂";
    let pieces = text.as_bytes().chunks(3).map(<[u8]>::to_vec).collect();
    let events = streamed(&gateway, pieces).await;
    assert_eq!(released(&events), text);
    assert_eq!(events.last().unwrap().1["safe"], true);

    let none = gateway.request(Method::POST, "/v1/output/stream");
    assert_eq!(answer(none).await.status, 400);
    let broken = streamed(&gateway, vec![b"ab\xff".to_vec()]).await;
    assert_eq!(broken.last().unwrap().1["error"], "not_utf8");
    let cut_off = streamed(&gateway, vec!["é".as_bytes()[..1].to_vec()]).await;
    assert_eq!(cut_off.last().unwrap().1["safe"], false);
}

/// Says these bytes in one piece and hangs up without reading a word.
async fn say_and_hang_up(gateway: &Running, session: &str, text: &str) {
    use tokio::io::AsyncWriteExt as _;
    let mut socket = tokio::net::TcpStream::connect(gateway.address)
        .await
        .unwrap();
    let head = format!(
        "POST /v1/output/stream?sessionKey={session} HTTP/1.1\r\nhost: {}\r\ncontent-type: text/plain\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{text}\r\n",
        gateway.address,
        text.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.flush().await.unwrap();
}

#[tokio::test]
async fn whoever_says_a_secret_and_hangs_up_is_judged_all_the_same() {
    let gateway = start(&[]).await;
    let text = format!("Here it is: {} and more words after it.", token());
    for number in 0..20 {
        say_and_hang_up(&gateway, &format!("hasty{number}"), &text).await;
    }
    for _ in 0..300 {
        let held = gateway.as_owner("/v1/sessions").await;
        if held.body["held"].as_array().unwrap().len() == 20 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{}", gateway.as_owner("/v1/sessions").await.text);
}

/// Answers that are broken off hold no place: many more than there are places come and go.
#[tokio::test]
async fn answers_that_are_broken_off_leave_their_places() {
    let gateway = start(&[]).await;
    for _ in 0..300 {
        say_and_hang_up(&gateway, "calm", "The weather is fine today, and ").await;
    }
    for _ in 0..300 {
        let body = futures_util::stream::iter([Ok::<_, std::io::Error>(b"All is well.".to_vec())]);
        let request = gateway.request(Method::POST, "/v1/output/stream");
        let whole = answer(request.body(reqwest::Body::wrap_stream(body))).await;
        if whole.status == 200 {
            assert_eq!(released(&events(&whole.text)), "All is well.");
            return;
        }
        assert_eq!(whole.status, 503, "{}", whole.text);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no place became free");
}

/// More than may be said at once ends it, and what was let go before is what was said.
#[tokio::test]
async fn a_huge_answer_ends_at_its_limit() {
    let gateway = start(&[("BLASTSHIELD_GUARD_MAX_BODY_BYTES", "200000")]).await;
    let line = "The harbour was calm, and the boats came home one after the other. \n";
    let pieces = vec![line.repeat(50).into_bytes(); 200_000 / (line.len() * 50) + 1];
    let events = streamed(&gateway, pieces).await;
    let out = released(&events);
    assert!(out.len() <= 200_000 && !out.is_empty());
    assert!(line.repeat(4_000).starts_with(&out));
    assert_eq!(events.last().unwrap().1["error"], "too_large");
}

#[tokio::test]
async fn a_canary_is_found_wherever_it_turns_up() {
    use base64::Engine as _;
    let gateway = start(&[]).await;
    let placed = gateway
        .owner_post("/v1/canaries", &json!({"location": "memory"}))
        .await;
    assert_eq!(placed.status, 200, "{}", placed.text);
    let value = placed.body["value"].as_str().unwrap().to_owned();
    assert!(value.starts_with("CANARY_MEMORY_") && value.len() == 46);
    let url = format!("https://collect.example/?d={value}&x=1");
    let encoded = base64::engine::general_purpose::STANDARD.encode(url);
    let found = gateway
        .post(
            "/v1/outbound/check",
            &json!({"content": format!("see {encoded}")}),
        )
        .await;
    assert_eq!(found.body["decision"], "block", "{}", found.text);
    assert_eq!(
        found.body["canaries"][0],
        json!({"token": "CANARY_M...", "location": "memory", "severity": "critical"})
    );

    let inbound = gateway
        .post("/v1/scan", &json!({"text": value, "kind": "web"}))
        .await;
    assert_eq!(
        inbound.body["canaries"][0]["location"], "memory",
        "{}",
        inbound.text
    );
    let alerts = gateway.as_owner("/v1/alerts").await;
    assert!(
        alerts.text.contains("canary_leak") && !alerts.text.contains(&value),
        "{}",
        alerts.text
    );

    let list = gateway.as_owner("/v1/canaries").await;
    assert_eq!(list.body["canaries"][0]["value"], "CANARY_M...");
    let folder = gateway.stop().await;
    assert!(!written(folder.path()).contains(&value[14..]));
    let gateway = start_in(folder, &[]).await;
    let again = gateway
        .post("/v1/outbound/check", &json!({"content": value}))
        .await;
    assert_eq!(
        again.body["canaries"][0]["location"], "memory",
        "{}",
        again.text
    );
}

#[tokio::test]
async fn a_canary_of_another_process_is_found_soon() {
    use blastshield_store::{CanaryRecord, Store, StoreOptions};
    let gateway = start(&[]).await;
    let path = gateway.folder.path().join("blastshield.db");
    let store = Store::open(StoreOptions::sqlite(path)).await.unwrap();
    let value = "CANARY_NOTES_0f8e2b7c94d1a6635b0e7f29c8d4a1b3".to_owned();
    let record = CanaryRecord {
        value: value.clone(),
        location: "notes".to_owned(),
        severity: "warn".to_owned(),
        at_ms: 1,
    };
    store.add_canary(record).await.unwrap();
    store.close().await;
    for _ in 0..200 {
        let found = gateway
            .post("/v1/outbound/check", &json!({"content": value}))
            .await;
        if found.body["canaries"][0]["location"] == "notes" {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("it was not found");
}
