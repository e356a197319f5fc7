//! The renderer: what Browserless is asked, what is believed of its answer, what is never told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod support;

use blastshield_upstream::{
    Browserless, BrowserlessOptions, CallError, ConfigError, Fault, RenderError, Rendered, Secret,
    WaitUntil,
};
use serde_json::{Value, json};
use std::time::Duration;
use support::{KEY, Manner, http, peer, url};
use url::Url;
use wiremock::matchers::{header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn options(base: &str) -> BrowserlessOptions {
    let mut options = BrowserlessOptions::new(url(base));
    options.token = Some(Secret::new(KEY));
    options
}

fn page() -> Url {
    "https://shop.example/item?a=1&b=2".parse().unwrap()
}

async fn render(
    manner: Manner,
    change: impl FnOnce(&mut BrowserlessOptions),
) -> Result<Rendered, RenderError> {
    let peer = peer(manner).await;
    let mut options = options(&peer.base);
    change(&mut options);
    let outcome = Browserless::new(options).unwrap().render(&page()).await;
    if let Err(error) = &outcome {
        assert!(!format!("{error} {error:?}").contains(KEY));
    }
    outcome
}

#[tokio::test]
async fn the_service_is_asked_as_it_documents() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/chromium/content"))
        .and(query_param("token", KEY))
        .and(header("content-type", "application/json"))
        .respond_with(
            ResponseTemplate::new(200)
                .insert_header("X-Response-Code", "404")
                .insert_header("X-Response-URL", "https://shop.example/gone")
                .set_body_raw("<p>ünicode</p>", "text/html"),
        )
        .expect(2)
        .mount(&server)
        .await;
    let rendered = Browserless::new(options(&server.uri()))
        .unwrap()
        .render(&page())
        .await
        .unwrap();
    assert_eq!(
        rendered,
        Rendered {
            html: "<p>ünicode</p>".into(),
            final_url: Some("https://shop.example/gone".into()),
            status: Some(404),
        }
    );
    let mut waiting = options(&server.uri());
    waiting.timeout = Duration::from_millis(2_500);
    waiting.wait_until = WaitUntil::DomContentLoaded;
    waiting.wait_for_selector = Some("#main".into());
    waiting.block_ads = false;
    Browserless::new(waiting)
        .unwrap()
        .render(&page())
        .await
        .unwrap();

    let requests = server.received_requests().await.unwrap();
    let switched = |n: usize| {
        requests[n]
            .url
            .query_pairs()
            .any(|pair| pair == ("blockAds".into(), "true".into()))
    };
    assert!(switched(0) && !switched(1));
    let asked: Vec<Value> = requests
        .iter()
        .map(|request| request.body_json().unwrap())
        .collect();
    assert_eq!(
        asked[0],
        json!({
            "url": "https://shop.example/item?a=1&b=2",
            "gotoOptions": {"waitUntil": "networkidle0", "timeout": 12_000},
            "bestAttempt": true,
        })
    );
    assert_eq!(
        asked[1],
        json!({
            "url": "https://shop.example/item?a=1&b=2",
            "gotoOptions": {"waitUntil": "domcontentloaded", "timeout": 2_500},
            "bestAttempt": true,
            "waitForSelector": {"selector": "#main", "timeout": 2_500},
        })
    );
}

#[tokio::test]
async fn what_the_service_does_not_say_is_not_made_up() {
    let rendered = render(http("200 OK", "", "<p>x</p>"), |_| ())
        .await
        .unwrap();
    assert_eq!((rendered.final_url, rendered.status), (None, None));
    let odd = "x-response-code: 99999\r\nx-response-url: \r\n";
    let rendered = render(http("200 OK", odd, "<p>x</p>"), |_| ())
        .await
        .unwrap();
    assert_eq!((rendered.final_url, rendered.status), (None, None));
}

#[tokio::test]
async fn two_final_addresses_are_none() {
    let twice = "x-response-url: https://a.example/\r\nx-response-url: https://b.example/\r\n";
    let outcome = render(http("200 OK", twice, "<p>x</p>"), |_| ()).await;
    assert_eq!(outcome, Err(RenderError::BadAnswer));
}

#[tokio::test]
async fn html_is_whole_or_refused() {
    let exact = render(http("200 OK", "", "x".repeat(100)), |o| {
        o.max_html_bytes = 100;
    })
    .await;
    assert_eq!(exact.unwrap().html.len(), 100);
    let over = render(http("200 OK", "", "x".repeat(101)), |o| {
        o.max_html_bytes = 100;
    })
    .await;
    assert_eq!(over, Err(CallError::TooLarge { limit: 100 }.into()));
    let endless = render(Manner::Endless, |o| o.max_html_bytes = 50_000).await;
    assert_eq!(endless, Err(CallError::TooLarge { limit: 50_000 }.into()));
    let short = Manner::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n<p>".to_vec());
    assert_eq!(render(short, |_| ()).await, Err(CallError::Broken.into()));
}

#[tokio::test]
async fn only_html_in_utf8_is_a_page() {
    for manner in [
        http("200 OK", "content-type: application/json\r\n", "{}"),
        http("200 OK", "content-type: image/png\r\n", "x"),
        http("200 OK", "content-type: text/html\r\n", b"\xff\xfe\x00"),
    ] {
        assert_eq!(render(manner, |_| ()).await, Err(RenderError::BadAnswer));
    }
}

#[tokio::test]
async fn failures_are_told_apart() {
    for (status, error, fault) in [
        ("401 No", CallError::Denied { status: 401 }, Fault::Operator),
        ("403 No", CallError::Denied { status: 403 }, Fault::Operator),
        (
            "404 No",
            CallError::Rejected { status: 404 },
            Fault::Operator,
        ),
        ("408 Slow", CallError::Timeout, Fault::Service),
        (
            "429 Busy",
            CallError::RateLimited { retry_after: None },
            Fault::Service,
        ),
        (
            "500 Oops",
            CallError::Failed { status: 500 },
            Fault::Service,
        ),
        (
            "302 Go",
            CallError::Redirected { status: 302 },
            Fault::Operator,
        ),
    ] {
        let manner = http(
            status,
            "location: http://127.0.0.1:1/\r\n",
            format!("token {KEY}"),
        );
        let outcome = render(manner, |_| ()).await.unwrap_err();
        assert_eq!(outcome, RenderError::Call(error));
        assert_eq!(outcome.fault(), fault);
    }
    let unreachable = Browserless::new(options("http://127.0.0.1:1")).unwrap();
    assert_eq!(
        unreachable.render(&page()).await,
        Err(CallError::Unreachable.into())
    );
    assert!(!format!("{unreachable:?}").contains(KEY));
}

#[tokio::test]
async fn a_slow_service_runs_into_the_deadline() {
    let outcome = render(Manner::Drip, |o| o.timeout = Duration::from_millis(100)).await;
    assert_eq!(outcome, Err(CallError::Timeout.into()));
}

#[tokio::test]
async fn only_web_pages_are_rendered() {
    let renderer = Browserless::new(options("http://127.0.0.1:1")).unwrap();
    for address in [
        "file:///etc/passwd",
        "chrome://settings",
        "data:text/html,x",
        "https://user:pw@a.example/",
    ] {
        let outcome = renderer.render(&address.parse().unwrap()).await;
        assert_eq!(outcome, Err(RenderError::Url), "{address}");
    }
}

#[test]
fn options_are_checked() {
    let base = "http://127.0.0.1:1";
    assert_eq!("load".parse(), Ok(WaitUntil::Load));
    assert_eq!("networkidle".parse(), Ok(WaitUntil::NetworkIdle));
    assert!("never".parse::<WaitUntil>().is_err());
    let changes: [fn(&mut BrowserlessOptions); 3] = [
        |o| o.timeout = Duration::ZERO,
        |o| o.max_html_bytes = 0,
        |o| o.wait_for_selector = Some("x".repeat(1_001)),
    ];
    for change in changes {
        let mut options = options(base);
        change(&mut options);
        assert!(matches!(
            Browserless::new(options),
            Err(ConfigError::Unusable { .. })
        ));
    }
}
