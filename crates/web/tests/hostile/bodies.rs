//! Bodies that are too long, too slow, cut off, or not what they are called.

use std::time::Duration;

use blastshield_web::{FetchError, FetchLimits, Phase};

use crate::origin::{Origin, PAGE, Step, head, page, send};
use crate::{fetch, impatient, limits};

pub(crate) const HTML: &str = "Content-Type: text/html";
pub(crate) const CHUNKED: &str = "Transfer-Encoding: chunked";

pub(crate) async fn get(
    steps: impl Fn() -> Vec<Step> + Send + Sync + 'static,
) -> Result<String, FetchError> {
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
async fn a_page_comes_back_whole() {
    let origin = Origin::saying(|| page(PAGE, &[])).await;
    let fetched = fetch(&origin.url("/a?b=c#d"), &limits()).await.unwrap();
    assert_eq!(fetched.body, PAGE);
    assert_eq!(fetched.status, 200);
    assert_eq!(
        fetched.content_type.as_deref(),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(fetched.wire_bytes, PAGE.len() as u64);
    assert_eq!(fetched.url.as_str(), origin.url("/a?b=c"));
    assert_eq!(fetched.final_url, fetched.url);
    assert_eq!(fetched.hops.len(), 1);
    assert!(fetched.hops[0].by_exception);
}

#[tokio::test]
async fn the_limits_are_exact() {
    let exact = FetchLimits {
        wire_bytes: 1000,
        decoded_bytes: 1000,
        ..limits()
    };
    let of = |length: usize| move || page("x".repeat(length), &[]);
    assert_eq!(get_within(exact, of(1000)).await.unwrap().len(), 1000);
    assert_eq!(
        get_within(exact, of(1001)).await,
        Err(FetchError::WireLimit)
    );
    let decoded = FetchLimits {
        decoded_bytes: 999,
        ..exact
    };
    assert_eq!(
        get_within(decoded, of(1000)).await,
        Err(FetchError::DecodedLimit)
    );
}

#[tokio::test]
async fn endless_bodies_stop_at_the_wire_limit() {
    let block = "<p>aaaaaaaa</p>".repeat(1000);
    let chunk = format!("{:x}\r\n{block}\r\n", block.len());
    let plain = get(move || {
        vec![
            head("200 OK", &[HTML]),
            Step::Forever(block.clone().into(), Duration::ZERO),
        ]
    })
    .await;
    assert_eq!(plain, Err(FetchError::WireLimit));
    let chunked = get(move || {
        vec![
            head("200 OK", &[HTML, CHUNKED]),
            Step::Forever(chunk.clone().into(), Duration::ZERO),
        ]
    })
    .await;
    assert_eq!(chunked, Err(FetchError::WireLimit));
}

#[tokio::test]
async fn an_announced_giant_is_not_read() {
    let got = get(|| {
        vec![
            head("200 OK", &[HTML, "Content-Length: 99999999999"]),
            Step::Silence,
        ]
    })
    .await;
    assert_eq!(got, Err(FetchError::WireLimit));
}

#[tokio::test]
async fn one_byte_chunks_cannot_hide_a_flood() {
    let limits = FetchLimits {
        wire_bytes: 100_000,
        ..limits()
    };
    let tiny = "1;extension\r\nx\r\n".repeat(5000);
    let got = get_within(limits, move || {
        vec![
            head("200 OK", &[HTML, CHUNKED]),
            Step::Forever(tiny.clone().into(), Duration::ZERO),
        ]
    })
    .await;
    assert!(
        matches!(got, Err(FetchError::WireLimit | FetchError::Protocol)),
        "{got:?}"
    );
}

#[tokio::test]
async fn a_drip_is_too_slow() {
    let drip = || {
        vec![
            head("200 OK", &[HTML, "Content-Length: 100000"]),
            Step::Forever(b"x".to_vec(), Duration::from_millis(50)),
        ]
    };
    assert_eq!(
        get_within(impatient(), drip).await,
        Err(FetchError::TooSlow)
    );
    let patient = FetchLimits {
        min_rate: 0,
        total: Duration::from_millis(700),
        ..impatient()
    };
    assert_eq!(
        get_within(patient, drip).await,
        Err(FetchError::Timeout(Phase::Total))
    );
}

#[tokio::test]
async fn a_body_that_stalls_is_too_slow() {
    let got = get_within(impatient(), || {
        vec![head("200 OK", &[HTML]), send("<p>"), Step::Silence]
    })
    .await;
    assert_eq!(got, Err(FetchError::TooSlow));
}

#[tokio::test]
async fn lying_lengths_never_add_or_lose_bytes_unnoticed() {
    let long = get(|| vec![head("200 OK", &[HTML, "Content-Length: 1000"]), send(PAGE)]).await;
    assert_eq!(long, Err(FetchError::Truncated));
    let short = get(|| {
        vec![
            head("200 OK", &[HTML, "Content-Length: 9"]),
            send(PAGE),
            send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"),
        ]
    })
    .await;
    assert_eq!(short.as_deref(), Ok("<!doctype"));
    let two = get(|| {
        vec![
            head("200 OK", &[HTML, "Content-Length: 5", "Content-Length: 50"]),
            send(PAGE),
        ]
    })
    .await;
    assert_eq!(two, Err(FetchError::Protocol));
    let both = get(|| {
        vec![
            head("200 OK", &[HTML, "Content-Length: 3", CHUNKED]),
            send("5\r\nhello\r\n0\r\n\r\n"),
        ]
    })
    .await;
    assert!(matches!(both.as_deref(), Ok("hello") | Err(_)), "{both:?}");
}

#[tokio::test]
async fn a_reset_is_an_error() {
    let got = get(|| {
        vec![
            head("200 OK", &[HTML, "Content-Length: 1000"]),
            send("x".repeat(100)),
            Step::Reset,
        ]
    })
    .await;
    assert_eq!(got, Err(FetchError::Truncated));
}

#[tokio::test]
async fn wrong_chunking_is_an_error() {
    let extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "a".repeat(150_000));
    for body in [
        "zz\r\nhello\r\n".to_owned(),
        "-1\r\nhello\r\n".to_owned(),
        "ffffffffffffffff\r\nhello".to_owned(),
        "fffffffffffffffff\r\nhello".to_owned(),
        "5\r\nhelloX\r\n0\r\n\r\n".to_owned(),
        "5\r\nhel".to_owned(),
        extension,
    ] {
        let shown = body.chars().take(20).collect::<String>();
        let got = get(move || vec![head("200 OK", &[HTML, CHUNKED]), send(&body)]).await;
        assert!(
            matches!(
                got,
                Err(FetchError::Protocol | FetchError::Truncated | FetchError::WireLimit)
            ),
            "{shown}: {got:?}"
        );
    }
}

#[tokio::test]
async fn endless_trailers_stop() {
    let trailer = format!("X: {}\r\n", "a".repeat(900));
    let got = get(move || {
        vec![
            head("200 OK", &[HTML, CHUNKED]),
            send("5\r\nhello\r\n0\r\n"),
            Step::Forever(trailer.clone().into(), Duration::ZERO),
        ]
    })
    .await;
    assert!(
        matches!(
            got,
            Err(FetchError::Protocol
                | FetchError::HeaderLimit
                | FetchError::WireLimit
                | FetchError::Truncated)
        ),
        "{got:?}"
    );
}

#[tokio::test]
async fn only_listed_content_types_are_read() {
    let typed = |value: &'static str| get(move || vec![head("200 OK", &[value]), send(PAGE)]);
    for read in [
        "Content-Type: text/html",
        "Content-Type: application/json",
        "Content-Type: text/html;;;=,\"",
        "Content-Type: application/rss+xml",
        "X-Nothing: 1",
    ] {
        assert_eq!(typed(read).await.as_deref(), Ok(PAGE), "{read}");
    }
    for refused in [
        "Content-Type: image/png",
        "Content-Type: image/svg+xml",
        "Content-Type: application/pdf",
        "Content-Type: multipart/x-mixed-replace; boundary=a",
        "Content-Type: text/javascript",
        "Content-Type: text/html\r\nContent-Type: image/png",
        "Content-Type: ",
        "Content-Type: text/h\u{fc}ml",
    ] {
        assert_eq!(
            typed(refused).await,
            Err(FetchError::ContentType),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_refused_type_is_not_downloaded() {
    let got = get(|| vec![head("200 OK", &["Content-Type: video/mp4"]), Step::Silence]).await;
    assert_eq!(got, Err(FetchError::ContentType));
}

#[tokio::test]
async fn statuses_other_than_success_are_errors() {
    for status in [
        300, 304, 400, 401, 403, 404, 410, 418, 429, 500, 503, 599, 999, 206,
    ] {
        let line = format!("{status} S");
        let got = get(move || {
            vec![
                head(
                    &line,
                    &[HTML, "Retry-After: 999999999", "Content-Length: 2"],
                ),
                send("hi"),
            ]
        })
        .await;
        assert_eq!(got, Err(FetchError::Status(status)));
    }
    assert_eq!(
        get(|| vec![head("204 No Content", &[])]).await.as_deref(),
        Ok("")
    );
    assert_eq!(
        get(|| vec![head("203 Transformed", &[HTML]), send(PAGE)])
            .await
            .as_deref(),
        Ok(PAGE)
    );
}

#[tokio::test]
async fn a_refresh_is_not_followed() {
    let got = get(|| page(PAGE, &["Refresh: 0; url=http://169.254.169.254/"])).await;
    assert_eq!(got.as_deref(), Ok(PAGE));
}

#[tokio::test]
async fn nothing_goes_on_after_a_refusal() {
    for kind in ["text/html", "video/mp4"] {
        let origin = Origin::saying(move || {
            vec![
                head("200 OK", &[&format!("Content-Type: {kind}")]),
                Step::Forever(vec![b'a'; 8192], Duration::ZERO),
            ]
        })
        .await;
        assert!(fetch(&origin.url("/"), &limits()).await.is_err());
        assert!(origin.is_left_alone().await, "{kind}");
    }
}
