//! Under load, at the end, and when the ground gives way.

use crate::common::*;
use blastshield_gateway::{Gateway, StartError};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use wiremock::ResponseTemplate;

/// An origin that answers when told to.
async fn held() -> (Origin, Arc<Notify>) {
    let signal = Arc::new(Notify::new());
    let Say::Bytes(bytes) = html(HARMLESS) else {
        unreachable!("a page is bytes")
    };
    let say = Say::After(Arc::clone(&signal), bytes);
    (Origin::start(move |_| say.clone()).await, signal)
}

#[tokio::test]
async fn requests_beyond_the_limit_get_503_and_the_others_go_on() {
    let (origin, signal) = held().await;
    let gateway = start(&[("BLASTSHIELD_MAX_REQUESTS", "1")]).await;
    let url = origin.url("/");
    let first = gateway.web_fetch(&url);
    let second = async {
        origin.was_asked().await;
        let refused = gateway.fetch("x").await;
        let health = gateway.get("/healthz").await;
        signal.notify_one();
        (refused, health)
    };
    let (first, (refused, health)) = tokio::join!(first, second);
    assert!(first.is_allowed(), "{}", first.text);
    assert_eq!(refused.status, 503);
    assert_eq!(refused.body["error"]["code"], "busy");
    assert!(refused.header("retry-after").parse::<u32>().unwrap() >= 1);
    assert_eq!(health.status, 200, "health is answered in any case");
    assert_eq!(
        gateway.fetch("x").await.status,
        404,
        "the turn is free again"
    );
}

#[tokio::test]
async fn a_request_has_an_end() {
    let (origin, _signal) = held().await;
    let gateway = start(&[("BLASTSHIELD_REQUEST_TIMEOUT_MS", "300")]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(answer.status, 504, "{}", answer.text);
    assert_eq!(answer.body["error"]["code"], "timeout");
    assert_eq!(gateway.fetch("x").await.status, 404);
}

#[tokio::test]
async fn the_end_waits_for_requests_in_flight() {
    let (origin, signal) = held().await;
    let mut gateway = start(&[]).await;
    let url = origin.url("/");
    let request = gateway
        .request(reqwest::Method::POST, "/v1/web-fetch")
        .json(&json!({ "url": url }));
    let asked = tokio::spawn(answer(request));
    origin.was_asked().await;
    gateway.ask_to_end();
    // New connections are refused while the old request goes on.
    let mut refused = false;
    for _ in 0..200 {
        refused = TcpStream::connect(gateway.address).await.is_err();
        if refused {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(refused, "the gateway still listens");
    signal.notify_one();
    let page = asked.await.unwrap();
    assert!(page.is_allowed(), "{}", page.text);
    let (events, _folder) = gateway.stop_and_read_events().await;
    assert_eq!(events.len(), 1, "and it was recorded");
}

#[tokio::test]
async fn the_end_comes_although_a_request_hangs() {
    let (origin, _signal) = held().await;
    let mut gateway = start(&[("BLASTSHIELD_SHUTDOWN_GRACE_MS", "200")]).await;
    let request = gateway
        .request(reqwest::Method::POST, "/v1/web-fetch")
        .json(&json!({ "url": origin.url("/") }));
    let asked = tokio::spawn(request.send());
    origin.was_asked().await;
    gateway.ask_to_end();
    let started = Instant::now();
    gateway.stop().await;
    assert!(started.elapsed() < Duration::from_secs(5));
    asked.abort();
}

#[tokio::test]
async fn health_names_each_dependency() {
    let gateway = start(&[]).await;
    let health = gateway.get("/healthz").await;
    assert_eq!(health.status, 200);
    assert_eq!(health.body["status"], "ok");
    assert_eq!(health.body["ready"], true);
    assert!(health.body["version"].is_string());
    assert_eq!(
        health.body["dependencies"],
        json!({"store": "ok", "search": "off", "renderer": "off", "judge": "off"})
    );
    assert_eq!(gateway.get("/readyz").await.status, 200);

    let (brave, gone) = (brave(&[]).await, nobody().await);
    let uri = brave.uri();
    let mut variables = brave_variables(&uri);
    variables.extend(ollama_variables(&gone));
    variables.extend(browserless_variables(&uri));
    let gateway = start(&variables).await;
    let health = gateway.get("/healthz").await;
    assert_eq!(health.status, 200, "it lives");
    assert_eq!(health.body["status"], "degraded");
    assert_eq!(
        health.body["dependencies"],
        json!({"store": "ok", "search": "ok", "renderer": "ok", "judge": "down"})
    );
    assert_eq!(gateway.get("/readyz").await.status, 200, "and can work");
    for secret in [BRAVE_KEY, BROWSERLESS_TOKEN, uri.as_str(), gone.as_str()] {
        assert!(!health.text.contains(secret), "{}", health.text);
    }
}

#[tokio::test]
async fn many_questions_about_health_are_one_probe() {
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_millis(300));
    let (brave, renderer) = (service(slow.clone()).await, service(slow).await);
    let (brave_uri, renderer_uri) = (brave.uri(), renderer.uri());
    let mut variables = brave_variables(&brave_uri);
    variables.extend(browserless_variables(&renderer_uri));
    let gateway = start(&variables).await;
    let mut asked = Vec::new();
    for n in 0..60 {
        let path = if n % 2 == 0 { "/healthz" } else { "/readyz" };
        let request = gateway.request(reqwest::Method::GET, path);
        asked.push(tokio::spawn(answer(request)));
    }
    for one in asked {
        let health = one.await.unwrap();
        assert_eq!(health.status, 200, "{}", health.text);
        assert_eq!(health.body["dependencies"]["search"], "ok");
    }
    for server in [&brave, &renderer] {
        let probes = server.received_requests().await.unwrap().len();
        // A machine that is very slow may need a second one.
        assert!((1..=3).contains(&probes), "{probes} probes");
    }
}

#[tokio::test]
async fn a_probe_goes_on_when_its_client_leaves() {
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_millis(500));
    let brave = service(slow).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    for _ in 0..20 {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", gateway.address);
        stream.write_all(head.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(
        gateway.get("/healthz").await.body["dependencies"]["search"],
        "ok"
    );
    let probes = brave.received_requests().await.unwrap().len();
    assert!((1..=3).contains(&probes), "{probes} probes");
}

#[tokio::test]
async fn a_probe_has_an_end() {
    let hung = ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    let brave = service(hung).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let health = gateway.get("/healthz").await;
    assert_eq!(health.status, 200);
    assert_eq!(health.body["dependencies"]["search"], "down");
    assert_eq!(health.body["ready"], true, "search is not needed to fetch");
}

#[tokio::test]
async fn a_locked_store_is_503_and_nothing_gets_through_unrecorded() {
    use sqlx::{ConnectOptions, Connection};
    let bad = hostile();
    let origin = Origin::start(move |path| match path {
        "/bad" => html(&bad),
        _ => html(HARMLESS),
    })
    .await;
    let brave = brave(&[hit("https://a.example/", "T", "S")]).await;
    let gateway = start(&brave_variables(&brave.uri())).await;
    let mut other = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(gateway.folder.path().join("blastshield.db"))
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    let (good, bad) = (origin.url("/good"), origin.url("/bad"));
    let (good_answer, bad_answer, found) = tokio::join!(
        gateway.web_fetch(&good),
        gateway.web_fetch(&bad),
        gateway.search("x")
    );
    for answer in [&good_answer, &bad_answer, &found] {
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert!(!answer.header("retry-after").is_empty());
        assert!(!answer.text.contains("flour") && !answer.text.contains("blastshield.db"));
    }
    assert_eq!(gateway.get("/readyz").await.status, 503);
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    assert!(
        gateway.web_fetch(&good).await.is_allowed(),
        "it recovers by itself"
    );
    // The last answer about the store holds for a moment.
    let mut ready = false;
    for _ in 0..200 {
        ready = gateway.get("/readyz").await.status == 200;
        if ready {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(ready, "and says so");
    other.close().await.unwrap();
}

#[tokio::test]
async fn a_taken_address_and_a_broken_store_stop_the_start() {
    let gateway = start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let port = gateway.address.port().to_string();
    let taken = Gateway::bind(settings_in(
        folder.path(),
        &[("CLAWRUBBER_PORT", &port), ("BLASTSHIELD_PORT", &port)],
    ))
    .await;
    assert!(matches!(taken, Err(StartError::Listen { .. })));
    let file = folder.path().join("letter.txt");
    std::fs::write(&file, "Dear all, ".repeat(1_000)).unwrap();
    let path = file.to_str().unwrap();
    let Err(error) =
        Gateway::bind(settings_in(folder.path(), &[("CLAWRUBBER_DB_PATH", path)])).await
    else {
        panic!("a letter is no database")
    };
    assert!(matches!(error, StartError::Store(_)));
    assert!(!error.to_string().contains("letter"), "{error}");
}

#[tokio::test]
async fn a_client_that_sends_rubbish_or_leaves_harms_nobody() {
    let gateway = start(&[]).await;
    for rubbish in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/web-fetch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\r\n\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        let _ = stream.write_all(rubbish).await;
        let _ = stream.shutdown().await;
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        assert!(!said.starts_with(b"HTTP/1.1 5"), "{:?}", String::from_utf8_lossy(&said));
    }
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn many_clients_are_served_at_once() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = start(&[]).await;
    let url = origin.url("/");
    let mut asked = Vec::new();
    for _ in 0..40 {
        let request = gateway
            .request(reqwest::Method::POST, "/v1/web-fetch")
            .json(&json!({ "url": url }));
        asked.push(tokio::spawn(answer(request)));
    }
    let mut ids = std::collections::BTreeSet::new();
    for answer in asked {
        let answer = answer.await.unwrap();
        assert!(answer.is_allowed(), "{}", answer.text);
        assert!(ids.insert(answer.body["fetch_id"].as_str().unwrap().to_owned()));
    }
    let (events, _folder) = gateway.stop_and_read_events().await;
    assert_eq!(events.len(), 40);
}
