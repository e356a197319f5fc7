//! Providers that misbehave: every answer is bounded in time and bytes and ends in a typed error.

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
    Brave, CallError, Provider, SearchError, SearchQuery, Searxng, SearxngOptions,
};
use std::time::{Duration, Instant};
use support::{KEY, Manner, Peer, brave_options, http, peer, single, url};

async fn outcomes(manner: Manner, timeout: Duration) -> (Peer, [Option<SearchError>; 2]) {
    let peer = peer(manner).await;
    let mut options = brave_options(&peer.base);
    options.timeout = timeout;
    let brave = single(Provider::Brave(Brave::new(options).unwrap()));
    let mut options = SearxngOptions::new(url(&peer.base));
    options.timeout = timeout;
    let searxng = single(Provider::Searxng(Searxng::new(options).unwrap()));
    let query = SearchQuery::new("x");
    let errors = [
        brave.search(&query).await.err(),
        searxng.search(&query).await.err(),
    ];
    for error in errors.iter().flatten() {
        let told = format!("{error} {error:?}");
        assert!(!told.contains(KEY) && !told.contains(&peer.base), "{told}");
    }
    (peer, errors)
}

async fn expect(manner: Manner, error: SearchError) {
    let (_, errors) = outcomes(manner, Duration::from_secs(20)).await;
    assert_eq!(errors, [Some(error); 2]);
}

#[tokio::test]
async fn bodies_that_are_not_results() {
    let deep = "[".repeat(500_000);
    let deep_results =
        format!(r#"{{"type":"search","web":{{"results":{deep}}},"results":{deep}}}"#);
    let wrong = r#"{"type":"search","web":{"results":{"0":{}}},"results":{"0":{}}}"#;
    for body in [
        b"".to_vec(),
        b"null".to_vec(),
        b"<html><h1>502 Bad Gateway</h1></html>".to_vec(),
        b"{\"type\":\"search\",\"web\":{\"results\":[{\"url\":\"https://a.example\",\"title\":\"\xff\xfe\"}]},\"results\":[{\"url\":\"https://a.example\",\"title\":\"\xff\xfe\"}]}".to_vec(),
        deep.clone().into_bytes(),
        deep_results.into_bytes(),
        wrong.as_bytes().to_vec(),
        b"{\"type\":\"search\",\"web\":{\"results\":[".to_vec(),
    ] {
        expect(http("200 OK", "", body), SearchError::BadAnswer).await;
    }
}

#[tokio::test]
async fn one_broken_entry_does_not_cost_the_others() {
    let good = r#"{"url":"https://a.example/","title":"A"}"#;
    let broken =
        r#"{"url":"https://b.example/","title":"\ud800"},{"url":[[[]]],"title":{}},7,null"#;
    let body = format!(
        r#"{{"type":"search","web":{{"results":[{broken},{good}]}},"results":[{broken},{good}]}}"#
    );
    let (_, errors) = outcomes(http("200 OK", "", body), Duration::from_secs(20)).await;
    assert_eq!(errors, [None, None]);
}

#[tokio::test]
async fn fifty_megabytes_are_refused_by_their_announcement() {
    let manner = Manner::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 52428800\r\n\r\n[".to_vec());
    expect(
        manner,
        SearchError::Call(CallError::TooLarge { limit: 2 << 20 }),
    )
    .await;
}

#[tokio::test]
async fn an_endless_body_is_cut_off() {
    expect(
        Manner::Endless,
        SearchError::Call(CallError::TooLarge { limit: 2 << 20 }),
    )
    .await;
}

#[tokio::test]
async fn slow_and_silent_peers_run_into_the_deadline() {
    for manner in [Manner::Drip, Manner::Silent] {
        let start = Instant::now();
        let (_, errors) = outcomes(manner, Duration::from_millis(300)).await;
        assert_eq!(errors, [Some(SearchError::Call(CallError::Timeout)); 2]);
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_no_answer() {
    let manner =
        Manner::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"results\":[]}".to_vec());
    expect(manner, SearchError::Call(CallError::Broken)).await;
}

#[tokio::test]
async fn peers_that_speak_no_http() {
    for bytes in [
        b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(),
        b"".to_vec(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzzzz\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab".to_vec(),
    ] {
        expect(Manner::Bytes(bytes), SearchError::Call(CallError::Broken)).await;
    }
}

#[tokio::test]
async fn a_flood_of_headers_is_refused() {
    let flood: String = (0..5_000)
        .map(|n| format!("x-{n}: {}\r\n", "y".repeat(100)))
        .collect();
    expect(
        http("200 OK", &flood, "{}"),
        SearchError::Call(CallError::Broken),
    )
    .await;
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays() {
    let target = peer(http("200 OK", "", r#"{"results":[]}"#)).await;
    for status in [301_u16, 302, 303, 307, 308] {
        let location = format!("location: {}/stolen\r\n", target.base);
        let (_, errors) = outcomes(
            http(&format!("{status} Moved"), &location, ""),
            Duration::from_secs(20),
        )
        .await;
        assert_eq!(
            errors,
            [Some(SearchError::Call(CallError::Redirected { status })); 2]
        );
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn compressed_answers_are_refused_unread() {
    for encoding in ["gzip", "br", "zstd", "deflate", "gzip, gzip"] {
        let header = format!("content-encoding: {encoding}\r\n");
        expect(
            http("200 OK", &header, [0x1f; 100]),
            SearchError::Call(CallError::Encoded),
        )
        .await;
    }
}

#[tokio::test]
async fn error_pages_become_their_status() {
    let page = format!("<html>{}</html>", "x".repeat(100_000));
    for status in [500_u16, 502, 503, 504] {
        expect(
            http(
                &format!("{status} Oops"),
                "content-type: text/html\r\n",
                &page,
            ),
            SearchError::Call(CallError::Failed { status }),
        )
        .await;
    }
    expect(
        http("404 No", "", &page),
        SearchError::Call(CallError::Rejected { status: 404 }),
    )
    .await;
}

#[tokio::test]
async fn nobody_listening() {
    let error = single(support::brave("http://127.0.0.1:1"))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap_err();
    assert_eq!(error, SearchError::Call(CallError::Unreachable));
}

#[tokio::test]
async fn plain_http_behind_an_https_address_is_unreachable_and_gets_no_key() {
    let peer = peer(http("200 OK", "", r#"{"type":"search"}"#)).await;
    let base = peer.base.replace("http://", "https://");
    let error = single(support::brave(&base))
        .search(&SearchQuery::new("x"))
        .await
        .unwrap_err();
    assert_eq!(error, SearchError::Call(CallError::Unreachable));
}
