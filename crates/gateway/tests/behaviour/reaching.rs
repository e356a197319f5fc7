//! What can be reached, and how far an origin can go.

use crate::common::*;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

#[tokio::test]
async fn nothing_inside_is_reached_without_an_exception() {
    let origin = Origin::page(HARMLESS).await;
    let gateway = start(&[("BLASTSHIELD_ALLOWED_RANGES", "")]).await;
    let port = origin.address.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fec0::1]",
        "[fe80::1]",
        "[fd00::1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "192.88.99.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "localhost",
        "printer.local",
        "metadata.google.internal",
    ] {
        let answer = gateway.web_fetch(&format!("http://{host}:{port}/")).await;
        assert!(answer.is_blocked(), "{host}: {}", answer.text);
    }
    assert_eq!(origin.heads().len(), 0);
}

#[tokio::test]
async fn an_exception_reaches_what_it_names_and_no_more() {
    let origin = Origin::page(HARMLESS).await;
    let other = Origin::at(&format!("{OTHER}:0"), |_| html(HARMLESS)).await;
    let gateway = start(&[("BLASTSHIELD_ALLOWED_RANGES", "127.0.0.2/32")]).await;
    assert!(gateway.web_fetch(&other.url("/")).await.is_allowed());
    assert!(gateway.web_fetch(&origin.url("/")).await.is_blocked());
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused() {
    let origin = Origin::page(HARMLESS).await;
    let dns = name_server(|name| match name {
        "inside.example" => Ipv4Addr::new(10, 0, 0, 1),
        _ => Ipv4Addr::LOCALHOST,
    })
    .await
    .to_string();
    let gateway = start(&[("BLASTSHIELD_DNS", &dns)]).await;
    let fine = gateway.web_fetch(&origin.url_as("fine.example", "/")).await;
    assert!(fine.is_allowed(), "{}", fine.text);
    let inside = gateway
        .web_fetch(&origin.url_as("inside.example", "/"))
        .await;
    assert!(inside.is_blocked(), "{}", inside.text);
    assert_eq!(inside.flags(), ["address_not_public"]);
}

#[tokio::test]
async fn a_host_too_long_for_a_name_is_refused_like_any_other() {
    let long = vec!["a".repeat(63); 100].join(".");
    let gateway = start(&[]).await;
    let answer = gateway.web_fetch(&format!("https://{long}.example/")).await;
    assert!(answer.is_blocked(), "{}", answer.text);
    let (events, _folder) = gateway.stop_and_read_events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].host, "-");
}

#[tokio::test]
async fn a_redirect_inside_is_refused() {
    const INSIDE: [&str; 7] = [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:10.0.0.1]/",
        "http://localhost/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "http://user:pass@127.0.0.1/",
    ];
    let origin = Origin::start(|path| redirect(INSIDE[path[1..].parse::<usize>().unwrap()])).await;
    let gateway = start(&[]).await;
    for (n, to) in INSIDE.iter().enumerate() {
        let answer = gateway.web_fetch(&origin.url(&format!("/{n}"))).await;
        assert!(answer.is_blocked(), "{to}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_gateway_never_fetches_from_itself() {
    let gateway = start(&[]).await;
    let own = format!("http://{}/healthz", gateway.address);
    let answer = gateway.web_fetch(&own).await;
    assert!(answer.is_blocked(), "{}", answer.text);
    assert_eq!(answer.flags(), ["own_address"]);
    let origin = Origin::start(move |_| redirect(&own)).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(answer.flags(), ["own_address"]);
}

#[tokio::test]
async fn redirects_are_counted_by_profile() {
    let origin = Origin::start(|path| match path[1..].parse::<u32>() {
        Ok(0) | Err(_) => html(HARMLESS),
        Ok(n) => redirect(&format!("/{}", n - 1)),
    })
    .await;
    for (profile, most) in [("baseline", 4), ("strict", 3), ("paranoid", 2)] {
        let gateway = start(&[("CLAWRUBBER_PROFILE", profile)]).await;
        let last = gateway.web_fetch(&origin.url(&format!("/{most}"))).await;
        assert!(last.is_allowed(), "{profile}: {}", last.text);
        assert_eq!(last.body["final_url"], origin.url("/0"));
        let more = gateway
            .web_fetch(&origin.url(&format!("/{}", most + 1)))
            .await;
        assert_eq!(more.status, 502, "{profile}: {}", more.text);
        assert_eq!(more.body["error"]["code"], "too_many_redirects");
    }
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let origin = Origin::start(|path| redirect(if path == "/a" { "/b" } else { "/a" })).await;
    let gateway = start(&[("CLAWRUBBER_PROFILE", "baseline")]).await;
    let answer = gateway.web_fetch(&origin.url("/a")).await;
    assert_eq!(answer.status, 502);
    assert_eq!(answer.body["error"]["code"], "redirect_loop");
}

#[tokio::test]
async fn only_https_and_its_ports_by_default() {
    let gateway = start(&[
        ("BLASTSHIELD_ALLOW_HTTP", "false"),
        ("BLASTSHIELD_ALLOWED_PORTS", "80,443"),
    ])
    .await;
    for (url, flag) in [
        ("http://site.example/", "http_not_allowed"),
        ("https://site.example:8443/", "port_not_allowed"),
        ("https://user:secret@site.example/", "userinfo_not_allowed"),
        ("ftp://site.example/", "scheme_not_allowed"),
        ("file:///etc/passwd", "scheme_not_allowed"),
        ("javascript:alert(1)", "scheme_not_allowed"),
    ] {
        let answer = gateway.web_fetch(url).await;
        assert!(answer.is_blocked(), "{url}: {}", answer.text);
        assert_eq!(answer.flags(), [flag], "{url}");
    }
}

#[tokio::test]
async fn size_is_limited_by_profile_also_when_compressed() {
    let origin = Origin::start(|path| {
        let (kind, size) = path[1..].split_once('/').unwrap();
        let body = prose(size.parse().unwrap());
        let kinds = ["Content-Type: text/plain", "Content-Encoding: gzip"];
        match kind {
            "gzip" => reply("200 OK", &kinds, gzip(body.as_bytes())),
            _ => plain(body),
        }
    })
    .await;
    for (profile, most) in [
        ("baseline", 1_500_000),
        ("strict", 1_000_000),
        ("paranoid", 750_000),
    ] {
        let gateway = start(&[("CLAWRUBBER_PROFILE", profile)]).await;
        for kind in ["plain", "gzip"] {
            let over = origin.url(&format!("/{kind}/{}", most + 1_000));
            let answer = gateway.web_fetch(&over).await;
            assert_eq!(answer.status, 502, "{profile} {kind}: {}", answer.text);
        }
    }
    let gateway = start(&[]).await;
    let under = gateway.web_fetch(&origin.url("/gzip/990000")).await;
    assert!(under.is_allowed(), "{}", under.status);
}

fn gzip(body: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn bad_bodies_are_the_origins_fault() {
    let zeros = gzip(&vec![0; 30_000_000]);
    let origin = Origin::start(move |path| match path {
        "/status" => reply("500 Oops", &[], "secret trace"),
        "/image" => typed("image/png", b"\x89PNG\r\n\x1a\n"),
        "/script" => typed("text/javascript", "alert(1)"),
        "/two" => reply(
            "200 OK",
            &["Content-Type: text/html", "Content-Type: image/png"],
            "x",
        ),
        "/damaged" => reply(
            "200 OK",
            &["Content-Type: text/html", "Content-Encoding: gzip"],
            "not gzip",
        ),
        "/layers" => reply(
            "200 OK",
            &["Content-Type: text/html", "Content-Encoding: gzip, gzip"],
            "x",
        ),
        "/bomb" => reply(
            "200 OK",
            &["Content-Type: text/html", "Content-Encoding: gzip"],
            &zeros,
        ),
        "/short" => Say::Bytes(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\nshort"
                .to_vec(),
        ),
        "/garbage" => Say::Bytes(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
        "/headers" => reply("200 OK", &["X: y"; 2_000], "x"),
        "/nowhere" => reply("302 Found", &[], ""),
        _ => html(HARMLESS),
    })
    .await;
    let gateway = start(&[]).await;
    for (path, code) in [
        ("/status", "upstream_status"),
        ("/damaged", "body_damaged"),
        ("/layers", "encoding_not_supported"),
        ("/bomb", "body_too_large"),
        ("/short", ""),
        ("/garbage", ""),
        ("/headers", ""),
        ("/nowhere", "redirect_invalid"),
    ] {
        let answer = gateway.web_fetch(&origin.url(path)).await;
        assert_eq!(answer.status, 502, "{path}: {}", answer.text);
        assert!(!answer.text.contains("secret trace"));
        let said = answer.body["error"]["code"].as_str().unwrap();
        assert!(code.is_empty() || said == code, "{path}: {said}");
    }
    for path in ["/image", "/script", "/two"] {
        let answer = gateway.web_fetch(&origin.url(path)).await;
        assert!(answer.is_blocked(), "{path}: {}", answer.text);
        assert_eq!(answer.flags(), ["content_type_not_allowed"], "{path}");
    }
    let status = gateway.web_fetch(&origin.url("/status")).await;
    assert_eq!(status.body["error"]["details"]["status"], 500);
    assert!(gateway.web_fetch(&origin.url("/fine")).await.is_allowed());
}

#[tokio::test]
async fn a_picture_that_calls_itself_a_page_is_held_back() {
    let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".to_vec();
    picture.extend([0; 200]);
    let origin = Origin::page(picture).await;
    let gateway = start(&[]).await;
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert!(answer.is_blocked(), "{}", answer.text);
    assert_eq!(answer.flags(), ["content_not_readable"]);
}

#[tokio::test]
async fn a_host_that_is_not_there_is_a_bad_gateway() {
    let gateway = start(&[]).await;
    let answer = gateway.web_fetch(&nobody().await).await;
    assert_eq!(answer.status, 502);
    assert_eq!(answer.body["error"]["code"], "connect_failed");
}

#[tokio::test]
async fn a_hung_or_dripping_origin_ends_within_the_deadline() {
    let origin = Origin::start(|path| match path {
        "/drip" => Say::Endless(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            b"a".to_vec(),
            Duration::from_millis(20),
        ),
        "/flood" => Say::Endless(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            vec![b'a'; 65_536],
            Duration::ZERO,
        ),
        _ => Say::Silence,
    })
    .await;
    let gateway = start(&[("BLASTSHIELD_TIMEOUT_MS", "700")]).await;
    let started = Instant::now();
    for path in ["/silence", "/drip", "/flood"] {
        let answer = gateway.web_fetch(&origin.url(path)).await;
        assert_eq!(answer.status, 502, "{path}: {}", answer.text);
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn the_profiles_own_deadline_holds() {
    let origin = Origin::start(|_| Say::Silence).await;
    let gateway = start(&[("CLAWRUBBER_PROFILE", "paranoid")]).await;
    let started = Instant::now();
    let answer = gateway.web_fetch(&origin.url("/")).await;
    assert_eq!(answer.status, 502, "{}", answer.text);
    let passed = started.elapsed();
    assert!((5..12).contains(&passed.as_secs()), "{passed:?}");
}
