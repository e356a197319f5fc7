//! Heads that never come, never end, or are not HTTP; and what we say ourselves.

use std::time::Duration;

use blastshield_web::{
    FetchError, FetchLimits, Fetcher, FetcherOptions, Phase, SetupError, fixed_policy,
};

use crate::origin::{Origin, PAGE, Step, head, page, redirect, send};
use crate::{fetch, impatient, limits, policy};

async fn get(steps: impl Fn() -> Vec<Step> + Send + Sync + 'static) -> Result<String, FetchError> {
    get_within(limits(), steps).await
}

async fn get_within(
    limits: FetchLimits,
    steps: impl Fn() -> Vec<Step> + Send + Sync + 'static,
) -> Result<String, FetchError> {
    let origin = Origin::saying(steps).await;
    let fetched = fetch(&origin.url("/"), &limits).await?;
    Ok(String::from_utf8(fetched.body.to_vec()).unwrap())
}

#[tokio::test]
async fn silence_ends_at_the_first_byte_deadline() {
    assert_eq!(
        get_within(impatient(), || vec![Step::Silence]).await,
        Err(FetchError::Timeout(Phase::FirstByte))
    );
}

#[tokio::test]
async fn slow_headers_end_at_the_first_byte_deadline() {
    let slow = || {
        vec![
            send("HTTP/1.1 200 OK\r\nX-Slow: "),
            Step::Forever(b"a".to_vec(), Duration::from_millis(30)),
        ]
    };
    assert_eq!(
        get_within(impatient(), slow).await,
        Err(FetchError::Timeout(Phase::FirstByte))
    );
}

#[tokio::test]
async fn header_floods_stop() {
    let line = format!("X-Flood: {}\r\n", "a".repeat(500));
    let endless = get(move || {
        vec![
            send("HTTP/1.1 200 OK\r\n"),
            Step::Forever(line.clone().into(), Duration::ZERO),
        ]
    })
    .await;
    assert_eq!(endless, Err(FetchError::HeaderLimit));
    let huge = get(|| {
        vec![
            send("HTTP/1.1 200 OK\r\nX-Huge: "),
            send("a".repeat(2_000_000)),
            send("\r\n\r\n"),
        ]
    })
    .await;
    assert_eq!(huge, Err(FetchError::HeaderLimit));
    let cookies: String = (0..1000)
        .map(|n| format!("Set-Cookie: a{n}=b\r\n"))
        .collect();
    let many = get(move || {
        vec![
            send(format!("HTTP/1.1 200 OK\r\n{cookies}\r\n")),
            send(PAGE),
        ]
    })
    .await;
    assert_eq!(many, Err(FetchError::HeaderLimit));
}

#[tokio::test]
async fn interim_answers_are_skipped_but_not_forever() {
    let early = get(|| {
        let mut steps = vec![send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
        )];
        steps.extend(page(PAGE, &[]));
        steps
    });
    assert_eq!(early.await.as_deref(), Ok(PAGE));
    let flood = "HTTP/1.1 100 Continue\r\n\r\n".repeat(500);
    let endless = get(move || vec![Step::Forever(flood.clone().into(), Duration::ZERO)]).await;
    assert!(
        matches!(
            endless,
            Err(FetchError::WireLimit | FetchError::Timeout(_) | FetchError::Protocol)
        ),
        "{endless:?}"
    );
}

#[tokio::test]
async fn what_is_not_http_is_an_error() {
    for bytes in [
        PAGE.as_bytes(),
        b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        b"HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nX-A: b\r\n\tContent-Length: 9999\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 20 OK\r\n\r\nhi",
        b"HTTP/3.0 200 OK\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ] {
        let got = get(move || vec![send(bytes)]).await;
        assert!(
            matches!(got, Err(FetchError::Protocol | FetchError::Truncated)),
            "{}: {got:?}",
            bytes.escape_ascii()
        );
    }
}

#[tokio::test]
async fn an_unasked_upgrade_is_an_error() {
    let got = get(|| {
        vec![send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nraw",
        )]
    })
    .await;
    assert!(
        matches!(got, Err(FetchError::Status(101) | FetchError::Protocol)),
        "{got:?}"
    );
}

#[tokio::test]
async fn bare_line_feeds_smuggle_nothing() {
    let got = get(|| {
        vec![send(format!(
            "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: {}\n\n{PAGE}",
            PAGE.len()
        ))]
    })
    .await;
    assert!(got.is_err() || got.as_deref() == Ok(PAGE), "{got:?}");
}

#[tokio::test]
async fn a_closed_door_is_asked_once() {
    let origin = Origin::saying(Vec::new).await;
    assert_eq!(
        fetch(&origin.url("/"), &impatient()).await.map(|_| ()),
        Err(FetchError::Truncated)
    );
    assert_eq!(origin.hits(), 1);
}

#[tokio::test]
async fn nobody_listening_is_a_connect_error() {
    let vacant = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let got = fetch(&format!("http://{vacant}/"), &impatient()).await;
    assert_eq!(got.map(|_| ()), Err(FetchError::Connect));
}

#[tokio::test]
async fn requests_say_nothing_about_anybody() {
    let origin = Origin::start(|path| match path {
        "/start" => {
            let mut steps = redirect(302, "/end?q=1");
            steps[0] = head(
                "302 Found",
                &[
                    "Location: /end?q=1",
                    "Set-Cookie: id=1; Path=/",
                    "Content-Length: 0",
                ],
            );
            steps
        }
        _ => page(PAGE, &[]),
    })
    .await;
    let port = origin.addr.port();
    fetch(
        &format!("http://origin.test:{port}/start#fragment"),
        &limits(),
    )
    .await
    .unwrap();
    let requests = origin.requests();
    assert!(requests[0].starts_with("GET /start HTTP/1.1\r\n"));
    assert!(requests[1].starts_with("GET /end?q=1 HTTP/1.1\r\n"));
    for request in requests {
        let mut names: Vec<String> = request
            .lines()
            .skip(1)
            .filter_map(|line| Some(line.split_once(':')?.0.to_lowercase()))
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "accept",
                "accept-encoding",
                "accept-language",
                "connection",
                "host",
                "user-agent"
            ]
        );
        assert!(
            request
                .to_lowercase()
                .contains(&format!("host: origin.test:{port}\r\n"))
        );
    }
}

#[tokio::test]
async fn the_user_agent_is_the_operators() {
    let origin = Origin::saying(|| page(PAGE, &[])).await;
    let options = |agent: &str| FetcherOptions {
        user_agent: Some(agent.to_owned()),
        ..FetcherOptions::new(fixed_policy(policy(&["127.0.0.0/8"])))
    };
    let fetcher = Fetcher::new(options("Reader/7")).unwrap();
    fetcher.fetch(&origin.url("/"), &limits()).await.unwrap();
    assert!(
        origin.requests()[0]
            .to_lowercase()
            .contains("user-agent: reader/7\r\n")
    );
    assert_eq!(
        Fetcher::new(options("a\r\nCookie: x")).err(),
        Some(SetupError::UserAgent)
    );
}
