//! Blocklist and allowlist, on every hop.

use crate::common::*;

/// A gateway for which every name leads to this machine.
async fn with_names(variables: &[(&str, &str)]) -> Running {
    let dns = all_here().await;
    let mut all = vec![("BLASTSHIELD_DNS", dns.as_str())];
    all.extend(variables);
    start(&all).await
}

#[tokio::test]
async fn a_blocklisted_domain_is_never_asked() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = with_names(&[("CLAWRUBBER_BLOCKLIST_DOMAINS", "bad.example,127.0.0.9")]).await;
    for host in [
        "bad.example",
        "docs.bad.example",
        "BAD.EXAMPLE",
        "bad.example.",
        "b%61d.example",
        "127.0.0.9",
        "127.9",
    ] {
        let answer = gateway.web_fetch(&origin.url_as(host, "/")).await;
        assert!(answer.is_blocked(), "{host}: {}", answer.text);
        assert_eq!(answer.flags(), ["domain_blocked"], "{host}");
    }
    assert_eq!(origin.heads().len(), 0);
    for host in ["evilbad.example", "bad.example.org", "example"] {
        let answer = gateway.web_fetch(&origin.url_as(host, "/")).await;
        assert_ne!(
            answer.body["safety"]["flags"][0], "domain_blocked",
            "{host}"
        );
    }
}

#[tokio::test]
async fn international_names_are_compared_in_one_form() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = with_names(&[("CLAWRUBBER_BLOCKLIST_DOMAINS", "bücher.example")]).await;
    for host in ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example"] {
        let answer = gateway.web_fetch(&origin.url_as(host, "/")).await;
        assert_eq!(answer.flags(), ["domain_blocked"], "{host}");
    }
}

#[tokio::test]
async fn fetch_blocks_blocklisted_results() {
    let origin = Origin::page(HARMLESS).await;
    let brave = brave(&[
        hit(&origin.url_as("docs.bad.example", "/"), "Bad", "One."),
        hit(&origin.url_as("good.example", "/"), "Good", "Two."),
    ])
    .await;
    let uri = brave.uri();
    let mut variables = brave_variables(&uri);
    variables.push(("CLAWRUBBER_BLOCKLIST_DOMAINS", "bad.example"));
    let gateway = with_names(&variables).await;
    let found = gateway.search("x").await;
    let results = &found.body["results"];
    assert_eq!(results[0]["availability"], "blocked");
    assert_eq!(results[1]["availability"], "allowed");
    let blocked = gateway
        .fetch(results[0]["result_id"].as_str().unwrap())
        .await;
    assert!(blocked.is_blocked(), "{}", blocked.text);
    assert_eq!(origin.heads().len(), 0);
    assert!(
        gateway
            .fetch(results[1]["result_id"].as_str().unwrap())
            .await
            .is_allowed()
    );
}

#[tokio::test]
async fn the_blocklist_beats_the_allowlist() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = with_names(&[
        (
            "CLAWRUBBER_ALLOWLIST_DOMAINS",
            "docs.site.example,other.example",
        ),
        ("CLAWRUBBER_BLOCKLIST_DOMAINS", "site.example,other.example"),
    ])
    .await;
    for host in ["docs.site.example", "other.example"] {
        let answer = gateway.web_fetch(&origin.url_as(host, "/")).await;
        assert!(answer.is_blocked(), "{host}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_allowlisted_domain_waives_the_block_and_tells_the_truth() {
    let origin = Origin::page(hostile()).await;
    let gateway = with_names(&[("CLAWRUBBER_ALLOWLIST_DOMAINS", "site.example")]).await;
    for host in ["site.example", "docs.site.example"] {
        let answer = gateway.web_fetch(&origin.url_as(host, "/")).await;
        assert!(answer.is_allowed(), "{host}: {}", answer.text);
        assert_eq!(answer.body["safety"]["bypassed"], true);
        assert!(answer.score() >= 10.0, "the score stays true");
        assert!(!answer.flags().is_empty());
        assert!(answer.content().contains("Ignore all previous"));
    }
    for host in ["mysite.example", "site.example.test"] {
        let answer = gateway.web_fetch(&origin.url_as(host, "/")).await;
        assert!(answer.is_blocked(), "{host}: {}", answer.text);
    }
}

#[tokio::test]
async fn fetch_by_id_honours_the_allowlist() {
    let origin = Origin::page(hostile()).await;
    let brave = brave(&[hit(&origin.url_as("site.example", "/"), "Site", "One.")]).await;
    let uri = brave.uri();
    let mut variables = brave_variables(&uri);
    variables.push(("CLAWRUBBER_ALLOWLIST_DOMAINS", "site.example"));
    let gateway = with_names(&variables).await;
    let found = gateway.search("x").await;
    let id = found.body["results"][0]["result_id"].as_str().unwrap();
    let answer = gateway.fetch(id).await;
    assert!(answer.is_allowed(), "{}", answer.text);
    assert_eq!(answer.body["safety"]["bypassed"], true);
}

#[tokio::test]
async fn a_harmless_page_of_an_allowlisted_domain_needs_no_waiver() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = with_names(&[("CLAWRUBBER_ALLOWLIST_DOMAINS", "site.example")]).await;
    let answer = gateway.web_fetch(&origin.url_as("site.example", "/")).await;
    assert!(answer.is_allowed());
    assert!(answer.body["safety"].get("bypassed").is_none());
}

#[tokio::test]
async fn an_open_redirect_of_an_allowlisted_host_gets_no_waiver() {
    let bad = hostile();
    let target = Origin::page(bad.clone()).await;
    let away = target.url_as("attacker.example", "/");
    let back = target.url_as("site.example", "/");
    let origin = Origin::start(move |path| match path {
        "/away" => redirect(&away),
        "/within" => redirect(&back),
        _ => html(&bad),
    })
    .await;
    let gateway = with_names(&[("CLAWRUBBER_ALLOWLIST_DOMAINS", "site.example")]).await;
    let answer = gateway
        .web_fetch(&origin.url_as("site.example", "/away"))
        .await;
    assert!(answer.is_blocked(), "{}", answer.text);
    assert!(answer.score() >= 10.0, "it was scored");
    let within = gateway
        .web_fetch(&origin.url_as("docs.site.example", "/within"))
        .await;
    assert!(within.is_allowed(), "{}", within.text);
    assert_eq!(within.body["safety"]["bypassed"], true);
    // Nor does an unlisted host gain one by leading to an allowlisted host.
    let from_outside = gateway
        .web_fetch(&origin.url_as("attacker.example", "/within"))
        .await;
    assert!(from_outside.is_blocked(), "{}", from_outside.text);
}

#[tokio::test]
async fn a_redirect_to_a_blocklisted_host_ends_there() {
    let target = Origin::page(HARMLESS).await;
    let away = target.url_as("www.bad.example", "/");
    let origin = Origin::start(move |_| redirect(&away)).await;
    let gateway = with_names(&[("CLAWRUBBER_BLOCKLIST_DOMAINS", "bad.example")]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_blocked(), "{}", answer.text);
    assert_eq!(answer.flags(), ["domain_blocked"]);
    assert_eq!(target.heads().len(), 0);
}

#[tokio::test]
async fn the_allowlist_keeps_the_safeguards_of_the_network() {
    let large = "x".repeat(1_100_000);
    let origin = Origin::start(move |path| match path {
        "/large" => html(&large),
        "/image" => typed("image/png", "\u{89}PNG"),
        "/inside" => redirect("http://10.0.0.1/"),
        _ => html(HARMLESS),
    })
    .await;
    let gateway = with_names(&[(
        "CLAWRUBBER_ALLOWLIST_DOMAINS",
        "site.example,127.0.0.1,10.0.0.1",
    )])
    .await;
    let at = |path: &str| origin.url_as("site.example", path);
    assert_eq!(gateway.web_fetch(&at("/large")).await.status, 502);
    let image = gateway.web_fetch(&at("/image")).await;
    assert!(image.is_blocked(), "{}", image.text);
    assert_eq!(image.flags(), ["content_type_not_allowed"]);
    let inside = gateway.web_fetch(&at("/inside")).await;
    assert!(inside.is_blocked(), "{}", inside.text);
    assert_eq!(inside.flags(), ["address_not_public"]);
}
