//! Requests and alerts on their way through webhooks.

use crate::*;
use blastshield_owner::{DiscordChannel, Pace, WebhookChannel};
use blastshield_upstream::{Discord, Secret, Webhook};
use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A receiver that refuses the first post of all.
async fn receiver() -> (url::Url, Arc<Mutex<Vec<(String, Json)>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let posts: Arc<Mutex<Vec<(String, Json)>>> = Arc::default();
    let kept = Arc::clone(&posts);
    tokio::spawn(async move {
        let mut first = true;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let (head, body) = loop {
                let mut buffer = [0; 4096];
                let count = stream.read(&mut buffer).await.unwrap_or(0);
                bytes.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let parsed = text.split_once("\r\n\r\n").and_then(|(head, body)| {
                    Some((head.to_owned(), serde_json::from_str(body).ok()?))
                });
                match parsed {
                    Some(parsed) => break parsed,
                    None if count == 0 => break (String::new(), Json::Null),
                    None => {}
                }
            };
            let status = if std::mem::take(&mut first) {
                "503 No"
            } else {
                "204 Yes"
            };
            if status == "204 Yes" {
                kept.lock().unwrap().push((head, body));
            }
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, posts)
}

const QUICK: Pace = Pace {
    first: Duration::from_millis(5),
    longest: Duration::from_millis(40),
    idle: Duration::from_millis(100),
    patience: 3,
};

#[tokio::test]
async fn a_webhook_gets_the_request_signed_with_a_link_and_later_the_decision() {
    let world = World::new();
    let approvals = world.open().await;
    let (url, posts) = receiver().await;
    let webhook = Webhook::new(
        &url,
        Some(Secret::new("0123456789abcdef")),
        Duration::from_secs(5),
    )
    .unwrap();
    let link = Some("https://shield.example/approvals/".parse().unwrap());
    let _running = WebhookChannel::start(&approvals, webhook, link, QUICK);
    let request = approvals.ask(&payment()).await.unwrap();
    until("the request is posted", async || {
        posts.lock().unwrap().len() == 1
    })
    .await;
    approvals
        .decide(request.id.as_str(), &no(), "cli")
        .await
        .unwrap();
    until("the decision is posted", async || {
        posts.lock().unwrap().len() == 2
    })
    .await;
    let posts = posts.lock().unwrap();
    assert!(posts[0].0.contains("x-blastshield-signature: sha256="));
    assert_eq!(posts[0].1["text"], request.shown);
    assert_eq!(
        posts[0].1["link"],
        format!("https://shield.example/approvals/{}", request.id)
    );
    assert_eq!(
        (&posts[1].1["type"], &posts[1].1["state"]),
        (&"approval_decided".into(), &"denied".into())
    );
}

#[tokio::test]
async fn discord_shows_the_request_in_a_block() {
    let world = World::new();
    let approvals = world.open().await;
    let (url, posts) = receiver().await;
    let discord = Discord::new(&url, Duration::from_secs(5)).unwrap();
    let _running = DiscordChannel::start(&approvals, discord, None, QUICK);
    let ask = payment().with("memo", Value::Text("``` @everyone".into()));
    let request = approvals.ask(&ask).await.unwrap();
    until("the request is posted", async || {
        posts.lock().unwrap().len() == 1
    })
    .await;
    let posts = posts.lock().unwrap();
    assert_eq!(
        posts[0].1["content"],
        format!("```\n{}\n```", request.shown)
    );
    assert_eq!(
        posts[0].1["allowed_mentions"]["parse"],
        serde_json::json!([])
    );
}
