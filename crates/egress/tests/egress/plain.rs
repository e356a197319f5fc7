//! Requests that name an absolute address.

use crate::origin::{Origin, hostile, reply};
use crate::world::{Plan, World, list};
use blastshield_egress::{Agent, AgentPolicy, Agents, Mode, Policy, Unlisted};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn an_allowed_host_is_reached_and_the_hop_keeps_its_own() {
    let origin = Origin::new(|_| reply("text/plain", "hello")).await;
    let world = World::new().await;
    let port = origin.port();
    let answer = world
        .say(format!(
            "GET http://allowed.test:{port}/a?b=c#d HTTP/1.1\r\nHost: allowed.test:{port}\r\nAccept: */*\r\n\
             Connection: close, X-Hop\r\nX-Hop: 1\r\nProxy-Connection: keep-alive\r\nUpgrade: h2c\r\n\
             HTTP2-Settings: x\r\nTE: trailers\r\nX-Forwarded-For: 127.0.0.1\r\n\r\n"
        ))
        .await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "hello"));
    let asked = origin.first();
    assert!(
        asked.starts_with(&format!(
            "GET /a?b=c HTTP/1.1\r\nHost: allowed.test:{port}\r\n"
        )),
        "{asked}"
    );
    for gone in ["X-Hop", "Proxy-", "Upgrade", "HTTP2", "TE:", "X-Forwarded"] {
        assert!(!asked.contains(gone), "{gone}: {asked}");
    }
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let origin = Origin::new(|path| reply("text/plain", path)).await;
    let world = World::new().await;
    let mut stream = world.connect().await;
    let mut all = Vec::new();
    for n in 0..3 {
        let last = if n == 2 { "Connection: close\r\n" } else { "" };
        let url = origin.url("allowed.test", ["/zero", "/one", "/two"][n]);
        let host = format!("allowed.test:{}", origin.port());
        // The second and third are sent before the first is answered.
        stream
            .write_all(format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n{last}\r\n").as_bytes())
            .await
            .unwrap();
    }
    stream.read_to_end(&mut all).await.unwrap();
    let all = String::from_utf8(all).unwrap();
    assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 3, "{all}");
    let places: Vec<_> = ["/zero", "/one", "/two"]
        .map(|path| all.find(path).unwrap())
        .into();
    assert!(places.is_sorted());
}

#[tokio::test]
async fn bodies_arrive_whole_however_they_are_framed() {
    let origin = Origin::new(|_| b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: image/png\r\n\r\n4\r\n\x89PNG\r\n3\r\n\0\x01\x02\r\n0\r\nX-T: 1\r\n\r\n".to_vec()).await;
    let world = World::new().await;
    let url = origin.url("allowed.test", "/");
    let chunked = format!(
        "POST {url} HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n"
    );
    let answer = world.say(chunked).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.head.contains("Transfer-Encoding: chunked"),
        "{}",
        answer.head
    );
    assert!(
        answer.body.starts_with(b"7\r\n\x89PNG\0\x01\x02\r\n0\r\n"),
        "{:?}",
        answer.body
    );
    assert!(
        origin.first().ends_with("Content-Length: 5\r\n\r\nhello"),
        "{}",
        origin.first()
    );
    let waiting = format!(
        "POST {url} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\nworld"
    );
    let answer = world.say(waiting).await;
    assert_eq!(answer.status, 100);
    assert!(answer.text().contains("HTTP/1.1 200 OK"));
    let old = world.say(format!("GET {url} HTTP/1.0\r\n\r\n")).await;
    assert_eq!(old.body, b"\x89PNG\0\x01\x02");
}

#[tokio::test]
async fn a_message_with_two_meanings_goes_nowhere() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let world = World::new().await;
    let url = origin.url("allowed.test", "/");
    let port = origin.port();
    for (request, status) in [
        (
            format!(
                "POST {url} HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            400,
        ),
        (
            format!("POST {url} HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
            400,
        ),
        (
            format!("POST {url} HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
            400,
        ),
        (
            format!(
                "POST {url} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n"
            ),
            400,
        ),
        (
            format!("POST {url} HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            501,
        ),
        (
            format!("GET {url} HTTP/1.1\r\nHost: other.test:{port}\r\n\r\n"),
            400,
        ),
        (
            format!("GET {url} HTTP/1.1\r\nHost: allowed.test\r\n\r\n"),
            400,
        ),
        (format!("GET {url} HTTP/1.1\r\nA: b\r\n c\r\n\r\n"), 400),
        (format!("GET {url} HTTP/1.1\r\nA : b\r\n\r\n"), 400),
        (format!("GET {url} HTTP/1.1\nA: b\n\n"), 400),
        (
            format!("GET http://user@allowed.test:{port}/ HTTP/1.1\r\n\r\n"),
            400,
        ),
        (
            format!("GET https://allowed.test:{port}/ HTTP/1.1\r\n\r\n"),
            400,
        ),
        (
            "GET /path HTTP/1.1\r\nHost: allowed.test\r\n\r\n".to_owned(),
            400,
        ),
        (
            "OPTIONS * HTTP/1.1\r\nHost: allowed.test\r\n\r\n".to_owned(),
            400,
        ),
        (
            format!("GET {url} HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101)),
            431,
        ),
        (
            format!("CONNECT allowed.test:{port} HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
            400,
        ),
        ("\x16\x03\x01".to_owned(), 400),
    ] {
        let answer = world.say(&request).await;
        assert_eq!(answer.status, status, "{request:?}: {answer:?}");
        assert!(!answer.code().is_empty());
    }
    assert_eq!(origin.count(), 0);
}

#[tokio::test]
async fn an_answer_with_two_meanings_is_not_passed_on() {
    let world = World::new().await;
    for bad in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 1\n\na",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nshort",
        "nonsense",
        "",
    ] {
        let origin = Origin::new(move |_| bad.as_bytes().to_vec()).await;
        let answer = world.get(&origin.url("allowed.test", "/")).await;
        assert_eq!(answer.status, 502, "{bad:?}: {answer:?}");
    }
}

#[tokio::test]
async fn lists_and_modes_decide() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let plan = |mode| Plan {
        policy: Policy {
            mode,
            allow: list("allowed.test"),
            block: vec![list("bad.test")],
            unlisted: Unlisted::Deny,
            ..Policy::default()
        },
        ..Plan::default()
    };
    for mode in [Mode::Enforce, Mode::Report, Mode::Open] {
        let world = World::with(plan(mode)).await;
        let of = async |host: &str| world.get(&origin.url(host, "/")).await;
        assert_eq!(of("allowed.test").await.status, 200);
        assert_eq!(of("www.allowed.test").await.status, 200);
        assert_eq!(of("bad.test").await.code(), "host_blocked");
        let other = of("other.test").await;
        if mode == Mode::Enforce {
            assert_eq!(
                (other.status, other.code().as_str()),
                (403, "host_not_allowed")
            );
        } else {
            assert_eq!(other.status, 200);
        }
    }
}

#[tokio::test]
async fn agents_are_known_by_their_tokens_and_keep_to_their_lists() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let own = AgentPolicy {
        allow: list("own.test"),
        unlisted: Unlisted::Deny,
        general: false,
        ..AgentPolicy::default()
    };
    let mut plan = Plan::default();
    plan.policy.agents.insert("builder".into(), own);
    plan.agents = Agents {
        known: vec![Agent {
            name: "builder".into(),
            token: "0123456789abcdef".into(),
        }],
        required: true,
    };
    let world = World::with(plan).await;
    let of = async |host: &str, credentials: &str| {
        world.get_as(credentials, &origin.url(host, "/")).await
    };
    let anonymous = of("allowed.test", "").await;
    assert_eq!(anonymous.status, 407);
    assert!(anonymous.head.contains("Proxy-Authenticate: Basic"));
    assert_eq!(
        of("own.test", "builder:wrong-wrong-wrong").await.status,
        407
    );
    assert_eq!(of("own.test", "builder:0123456789abcdef").await.status, 200);
    assert_eq!(
        of("allowed.test", "builder:0123456789abcdef").await.code(),
        "host_not_allowed"
    );
    assert!(!origin.first().contains("Authorization"));
}

#[tokio::test]
async fn whoever_comes_through_a_listener_of_its_own_is_known_by_it() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let mut plan = Plan {
        identity: Some("run".to_owned()),
        ..Plan::default()
    };
    let own = AgentPolicy {
        allow: list("own.test"),
        ..AgentPolicy::default()
    };
    plan.policy.agents.insert("run".into(), own);
    let world = World::with(plan).await;
    assert_eq!(world.get(&origin.url("own.test", "/")).await.status, 200);
    assert_eq!(
        world.get(&origin.url("allowed.test", "/")).await.status,
        200
    );
}

#[tokio::test]
async fn sizes_are_bounded_both_ways() {
    let origin = Origin::new(|path| match path {
        "/text" => reply("text/plain", "a ".repeat(3000)),
        "/said" => b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 99999999\r\n\r\n\x89PNG\0\0\0\0".to_vec(),
        "/bomb" => b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0".to_vec(),
        _ => [b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n".as_slice(), &[0x89u8; 6000]].concat(),
    })
    .await;
    let mut plan = Plan::default();
    plan.limits.request_bytes = 1000;
    plan.limits.response_bytes = 5000;
    let world = World::with(plan).await;
    let url = origin.url("allowed.test", "/");
    let body = "x".repeat(1001);
    let long = world
        .say(format!(
            "POST {url} HTTP/1.1\r\nContent-Length: 1001\r\n\r\n{body}"
        ))
        .await;
    assert_eq!(long.status, 413);
    let chunks = format!(
        "POST {url} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n{body}\r\n0\r\n\r\n"
    );
    assert_eq!(world.say(chunks).await.status, 413);
    assert_eq!(origin.count(), 0);
    assert_eq!(
        world.get(&origin.url("allowed.test", "/text")).await.code(),
        "too_large"
    );
    assert_eq!(
        world.get(&origin.url("allowed.test", "/said")).await.code(),
        "too_large"
    );
    assert_eq!(
        world.get(&origin.url("allowed.test", "/bomb")).await.code(),
        "not_inspectable"
    );
    let cut = world.get(&url).await;
    assert_eq!(cut.status, 200);
    assert!(
        cut.body.len() < 6000 && !cut.body.ends_with(b"0\r\n\r\n"),
        "cut, and visibly so"
    );
}

#[tokio::test]
async fn a_page_that_attacks_its_reader_is_held_back() {
    let origin = Origin::new(|_| reply("text/html", hostile())).await;
    let world = World::new().await;
    let answer = world.get(&origin.url("allowed.test", "/")).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (403, "content_blocked")
    );
    let details = answer.error()["details"].clone();
    assert_eq!(details["content"]["length"], hostile().len());
    assert!(!answer.text().contains("Ignore all"));
    assert!(
        world.log.has(&["Injection", "Block", "allowed.test"]),
        "{}",
        world.log.all()
    );
}
