//! Pages that do not end, grow without end, or want attention.

use std::time::{Duration, Instant};

use blastshield_render::{ChromiumOptions, RenderError, RenderOptions, TrafficLimits, WaitUntil};
use url::Url;

use crate::origin::{Origin, Reply, status};
use crate::{launch, options, patient, render, several};

const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

fn site(path: &str, _: std::net::SocketAddr) -> Reply {
    match path {
        "/drip" => Reply::Drip(format!("{HTML}<p>start")),
        "/silent" => Reply::Drip("HTTP/1.1 200 OK\r\nX: ".to_owned()),
        "/part" => Reply::Html("<p>here<script>fetch('/drip').then((r) => r.text())</script>".to_owned()),
        "/busy" => Reply::Html("<p>here<script>setTimeout(() => { for (;;); }, 0)</script>".to_owned()),
        "/busier" => Reply::Html("<p>here<script>for (;;);</script>".to_owned()),
        "/reload" => Reply::Html("<script>location.reload()</script>".to_owned()),
        "/loop" => status("302 Found", "Location: /loop\r\n"),
        "/alert" => Reply::Html(
            "<script>onbeforeunload = (e) => { e.preventDefault(); return 'stay'; };
             alert('a\\ud800'); confirm('b'); prompt('c'); print();</script><p>after
             <script>window.open('about:blank'); window.open('/other')</script>"
                .to_owned(),
        ),
        "/alerts" => Reply::Html("<script>for (;;) alert(1)</script>".to_owned()),
        "/leave" => Reply::Html(
            "<script>onbeforeunload = (e) => { e.preventDefault(); return 'stay'; }; location.href = '/fine'</script>"
                .to_owned(),
        ),
        "/huge" => Reply::Html(
            "<body><script>for (let i = 0; i < 3000; i++) document.body.append('x'.repeat(1000))</script>".to_owned(),
        ),
        "/wide" => Reply::Html("<body><script>document.body.append('\\u{1F600}'.repeat(50000))</script>".to_owned()),
        "/memory" => Reply::Html(
            "<script>const all = []; for (;;) all.push(new Array(4000000).fill(Math.random()))</script>".to_owned(),
        ),
        "/noise" => Reply::Html(
            "<body><p>here<script>for (let i = 0; i < 100; i++) new Image().src = 'data:image/png,' + i; for (let i = 0; i < 250; i++) fetch('/n' + i).catch(() => 0)</script>"
                .to_owned(),
        ),
        "/flood" => Reply::Flood(HTML.to_owned()),
        "/floodpart" => Reply::Html("<p>here<script>fetch('/flood').then((r) => r.text())</script>".to_owned()),
        _ => Reply::Html("<p>fine".to_owned()),
    }
}

#[tokio::test]
async fn endless_pages_end_at_the_deadline_and_leave_the_browser_usable() {
    let Some(chromium) = launch(several()).await else {
        return;
    };
    let origin = Origin::start(site).await;
    let brief = RenderOptions {
        timeout: Duration::from_secs(3),
        ..patient(WaitUntil::NetworkIdle)
    };
    let started = Instant::now();
    let mut pages = tokio::task::JoinSet::new();
    for path in [
        "/drip", "/silent", "/part", "/busy", "/busier", "/reload", "/alerts",
    ] {
        let url = Url::parse(&origin.url(path)).unwrap();
        let (chromium, brief) = (chromium.clone(), brief.clone());
        pages.spawn(async move { (path, chromium.render(&url, &brief).await) });
    }
    for (path, outcome) in pages.join_all().await {
        assert_eq!(outcome, Err(RenderError::Timeout), "{path}");
    }
    assert!(started.elapsed() < Duration::from_secs(15));
    let fine = render(&chromium, &origin.url("/fine")).await.unwrap();
    assert!(fine.html.contains("<p>fine"));
    let best = RenderOptions {
        best_attempt: true,
        ..brief
    };
    let url = Url::parse(&origin.url("/part")).unwrap();
    let page = chromium.render(&url, &best).await.unwrap();
    assert!(page.html.contains("here") && !page.settled);
    let circle = render(&chromium, &origin.url("/loop")).await;
    let circles = RenderError::Fetch(blastshield_web::FetchError::TooManyRedirects);
    assert_eq!(circle, Err(circles));
}

#[tokio::test]
async fn dialogs_popups_and_farewells_hold_nothing_up() {
    let Some(chromium) = launch(options()).await else {
        return;
    };
    let origin = Origin::start(site).await;
    let page = render(&chromium, &origin.url("/alert")).await.unwrap();
    assert!(page.html.contains("<p>after"));
    let url = Url::parse(&origin.url("/leave")).unwrap();
    let left = chromium
        .render(&url, &patient(WaitUntil::NetworkIdle))
        .await
        .unwrap();
    assert!(left.html.contains("<p>fine"), "{}", left.html);
}

#[tokio::test]
async fn large_pages_and_greedy_pages_are_errors_not_shorter_pages() {
    let greedy = ChromiumOptions {
        traffic: TrafficLimits {
            bytes: 1_500_000,
            requests: 200,
            ..TrafficLimits::default()
        },
        script_memory_mib: 64,
        ..options()
    };
    let Some(chromium) = launch(greedy).await else {
        return;
    };
    let origin = Origin::start(site).await;
    for path in ["/huge", "/wide"] {
        let small = RenderOptions {
            max_html_bytes: 150_000,
            ..patient(WaitUntil::Load)
        };
        let url = Url::parse(&origin.url(path)).unwrap();
        assert_eq!(
            chromium.render(&url, &small).await,
            Err(RenderError::TooLarge),
            "{path}"
        );
    }
    for path in ["/flood", "/floodpart"] {
        let url = Url::parse(&origin.url(path)).unwrap();
        let outcome = chromium
            .render(&url, &patient(WaitUntil::NetworkIdle))
            .await;
        assert_eq!(outcome, Err(RenderError::TooMuchTraffic), "{path}");
    }
    assert_eq!(
        render(&chromium, &origin.url("/memory")).await,
        Err(RenderError::Crashed)
    );
    let noisy = Url::parse(&origin.url("/noise")).unwrap();
    let noisy = chromium
        .render(&noisy, &patient(WaitUntil::NetworkIdle))
        .await
        .unwrap();
    assert!(noisy.blocked_requests >= 45, "{}", noisy.blocked_requests);
    assert!(origin.seen().len() < 250);
    assert!(render(&chromium, &origin.url("/fine")).await.is_ok());
}
