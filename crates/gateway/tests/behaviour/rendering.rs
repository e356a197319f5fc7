//! Pages through a renderer.

use crate::common::*;
use wiremock::ResponseTemplate;

const RENDERED: &str =
    "<article><h1>Rendered</h1><p>A script wrote this paragraph about slow trains.</p></article>";

#[tokio::test]
async fn a_rendered_page_comes_from_the_renderer() {
    let origin = Origin::page(HARMLESS).await;
    let renderer = browserless(RENDERED, &origin.url("/")).await;
    let gateway = start(&browserless_variables(&renderer.uri())).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_allowed(), "{}", answer.text);
    assert!(answer.content().contains("slow trains"));
    let source = &answer.body["source"];
    assert_eq!(source["fetch_backend"], "browserless");
    assert_eq!(source["rendered"], true);
    assert_eq!(source["fallback_used"], false);
    assert_eq!(origin.heads().len(), 0, "only the renderer dials it");
}

#[tokio::test]
async fn a_rendered_attack_is_blocked() {
    let origin = Origin::page(HARMLESS).await;
    let renderer = browserless(&hostile(), &origin.url("/")).await;
    let gateway = start(&browserless_variables(&renderer.uri())).await;
    assert!(gateway.web_fetch(&origin.url("/")).await.is_blocked());
}

#[tokio::test]
async fn the_renderer_is_never_sent_inside() {
    let renderer = browserless(RENDERED, "http://10.0.0.1/").await;
    let gateway = start(&browserless_variables(&renderer.uri())).await;
    let inside = gateway.web_fetch("http://10.0.0.1/").await;
    assert!(inside.is_blocked(), "{}", inside.text);
    assert_eq!(requests(&renderer).await.len(), 0);
    // Nor is a page taken that the renderer found inside.
    let origin = Origin::page(HARMLESS).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_blocked(), "{}", answer.text);
    assert_eq!(answer.flags(), ["address_not_public"]);
}

#[tokio::test]
async fn a_rendered_redirect_gets_no_waiver() {
    let renderer = browserless(&hostile(), "http://127.0.0.2/landed").await;
    let uri = renderer.uri();
    let mut variables = browserless_variables(&uri);
    variables.push(("CLAWRUBBER_ALLOWLIST_DOMAINS", "127.0.0.1"));
    let gateway = start(&variables).await;
    let answer = gateway.web_fetch("http://127.0.0.1/").await;
    assert!(answer.is_blocked(), "{}", answer.text);
    let there = browserless(&hostile(), "http://127.0.0.1/").await;
    let uri = there.uri();
    let mut variables = browserless_variables(&uri);
    variables.push(("CLAWRUBBER_ALLOWLIST_DOMAINS", "127.0.0.1"));
    let gateway = start(&variables).await;
    assert!(gateway.web_fetch("http://127.0.0.1/").await.is_allowed());
}

#[tokio::test]
async fn a_renderer_that_fails_is_passed_by_or_told() {
    let origin = Origin::page(HARMLESS).await;
    for broken in [
        ResponseTemplate::new(500),
        ResponseTemplate::new(429),
        ResponseTemplate::new(200).set_body_raw("{}", "application/json"),
        ResponseTemplate::new(200).set_body_raw(vec![0xff, 0xfe, 0xff], "text/html"),
        ResponseTemplate::new(200)
            .set_body_raw("<html><head></head><body></body></html>", "text/html"),
        ResponseTemplate::new(200)
            .set_body_raw(RENDERED, "text/html")
            .insert_header("x-response-code", "200"),
    ] {
        let renderer = service(broken).await;
        let uri = renderer.uri();
        let gateway = start(&browserless_variables(&uri)).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert!(answer.is_allowed(), "{}", answer.text);
        assert_eq!(answer.body["source"]["fetch_backend"], "http");
        assert_eq!(answer.body["source"]["fallback_used"], true);
        let mut variables = browserless_variables(&uri);
        variables.push(("CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP", "false"));
        let gateway = start(&variables).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert_eq!(answer.status, 502, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_wrong_token_is_told_as_that() {
    let origin = Origin::page(HARMLESS).await;
    for status in [401, 403] {
        let renderer = service(
            ResponseTemplate::new(status).set_body_string("Bad or missing authentication."),
        )
        .await;
        let uri = renderer.uri();
        let mut variables = browserless_variables(&uri);
        variables.push(("CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP", "false"));
        let gateway = start(&variables).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert_eq!(answer.status, 502, "{}", answer.text);
        assert_eq!(answer.body["error"]["code"], "renderer_denied");
        assert!(!answer.text.contains(BROWSERLESS_TOKEN) && !answer.text.contains("Bad or"));
        let gateway = start(&browserless_variables(&uri)).await;
        let answer = gateway.web_fetch(&origin.url("/")).await;
        assert!(answer.is_allowed(), "{}", answer.text);
        assert_eq!(answer.body["source"]["fallback_used"], true);
    }
    let gone = nobody().await;
    let mut variables = browserless_variables(&gone);
    variables.push(("CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP", "false"));
    let answer = start(&variables).await.web_fetch(&origin.url("/")).await;
    assert_eq!(answer.body["error"]["code"], "renderer_failed");
}

#[tokio::test]
async fn the_status_that_the_renderer_saw_counts() {
    let origin = Origin::page(HARMLESS).await;
    let response = ResponseTemplate::new(200)
        .set_body_raw(RENDERED, "text/html")
        .insert_header("x-response-code", "404")
        .insert_header("x-response-url", origin.url("/").as_str());
    let renderer = service(response).await;
    let gateway = start(&browserless_variables(&renderer.uri())).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(answer.status, 502, "{}", answer.text);
    assert_eq!(answer.body["error"]["details"]["status"], 404);
}

#[tokio::test]
async fn every_option_of_the_renderer_reaches_it() {
    let origin = Origin::page(HARMLESS).await;
    let renderer = browserless(RENDERED, &origin.url("/")).await;
    let uri = renderer.uri();
    let gateway = start(&browserless_variables(&uri)).await;
    gateway.web_fetch(&origin.url("/")).await;
    let asked = requests(&renderer).await;
    assert_eq!(asked[0].url.path(), "/chromium/content");
    let query = format!("token={BROWSERLESS_TOKEN}&blockAds=true");
    assert_eq!(asked[0].url.query(), Some(query.as_str()));
    let body = sent(&asked[0]);
    assert_eq!(body["url"], origin.url("/"));
    assert_eq!(body["gotoOptions"]["waitUntil"], "networkidle0");
    assert_eq!(body["gotoOptions"]["timeout"], 12_000);
    assert_eq!(body["bestAttempt"], true);
    assert!(body.get("waitForSelector").is_none());

    let mut variables = browserless_variables(&uri);
    variables.extend([
        ("CLAWRUBBER_BROWSERLESS_TIMEOUT_MS", "3000"),
        ("CLAWRUBBER_BROWSERLESS_WAIT_UNTIL", "domcontentloaded"),
        ("CLAWRUBBER_BROWSERLESS_WAIT_FOR_SELECTOR", "#main"),
        ("CLAWRUBBER_BROWSERLESS_BLOCK_ADS", "false"),
    ]);
    let gateway = start(&variables).await;
    gateway.web_fetch(&origin.url("/")).await;
    let asked = requests(&renderer).await;
    let query = format!("token={BROWSERLESS_TOKEN}");
    assert_eq!(asked[1].url.query(), Some(query.as_str()));
    let body = sent(&asked[1]);
    assert_eq!(body["gotoOptions"]["waitUntil"], "domcontentloaded");
    assert_eq!(body["gotoOptions"]["timeout"], 3_000);
    assert_eq!(body["waitForSelector"]["selector"], "#main");
}

#[tokio::test]
async fn rendered_pages_have_a_limit_of_their_own() {
    let origin = Origin::page(HARMLESS).await;
    let large = format!("<p>{}</p>", prose(20_000));
    let renderer = browserless(&large, &origin.url("/")).await;
    let uri = renderer.uri();
    let mut variables = browserless_variables(&uri);
    variables.extend([
        ("CLAWRUBBER_BROWSERLESS_MAX_HTML_BYTES", "10000"),
        ("CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP", "false"),
    ]);
    let gateway = start(&variables).await;
    assert_eq!(gateway.web_fetch(&origin.url("/")).await.status, 502);
    let gateway = start(&browserless_variables(&uri)).await;
    assert!(gateway.web_fetch(&origin.url("/")).await.is_allowed());
}

#[tokio::test]
async fn a_local_browser_runs_the_pages_scripts() {
    if std::env::var("BLASTSHIELD_TEST_CHROMIUM").is_ok_and(|value| value == "off") {
        return;
    }
    let page = "<article><h1>Trains</h1><p id=p>Loading</p></article>\
        <script>document.getElementById('p').textContent = 'A script wrote this about slow trains and long bridges.'</script>";
    let origin = Origin::page(page).await;
    // Chromium does not start its sandbox as root; what this test renders is our own page.
    let gateway = start(&[
        ("CLAWRUBBER_WEBSITE_RENDERER_BACKEND", "chromium"),
        ("BLASTSHIELD_CHROMIUM_NO_SANDBOX", "true"),
        ("CLAWRUBBER_BROWSERLESS_TIMEOUT_MS", "30000"),
        ("CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP", "false"),
    ])
    .await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_allowed(), "{}", answer.text);
    assert!(answer.content().contains("slow trains"), "{}", answer.text);
    assert_eq!(answer.body["source"]["fetch_backend"], "chromium");
    let inside = gateway.web_fetch("http://169.254.169.254/latest").await;
    assert!(inside.is_blocked(), "{}", inside.text);
}
