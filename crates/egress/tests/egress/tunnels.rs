//! Tunnels: bytes both ways, ends in the right order, TLS with the right name.

use crate::origin::Origin;
use crate::world::{Plan, World, until};
use blastshield_egress::TlsRules;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megabytes_pass_unchanged_both_ways() {
    let origin = Origin::echo().await;
    let world = World::new().await;
    let target = format!("allowed.test:{}", origin.port());
    let stream = world.tunnel(&target).await.unwrap();
    let sent: Vec<u8> = (0..8_000_000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let (mut input, mut output) = stream.into_split();
    let expected = sent.clone();
    let writing = tokio::spawn(async move {
        output.write_all(&sent).await.unwrap();
        output.shutdown().await.unwrap();
        // Kept until the answer is complete: only the sending half has ended.
        output
    });
    let mut back = Vec::new();
    input.read_to_end(&mut back).await.unwrap();
    assert!(
        back == expected,
        "{} of {} bytes",
        back.len(),
        expected.len()
    );
    drop(writing.await);
    until("the tunnel ends", || world.metrics.tunnels() == 0).await;
    assert!(
        world
            .metrics
            .prometheus()
            .contains("blastshield_egress_sent_bytes_total 8000000")
    );
}

#[tokio::test]
async fn each_half_ends_by_itself() {
    // Speaks only after the client has ended.
    let origin = Origin::serve(Arc::default(), |mut stream| async move {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        stream
            .write_all(&all.len().to_string().into_bytes())
            .await
            .unwrap();
        stream.shutdown().await.unwrap();
    })
    .await;
    let world = World::new().await;
    let mut stream = world
        .tunnel(&format!("allowed.test:{}", origin.port()))
        .await
        .unwrap();
    stream.write_all(b"hello").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "5");
}

#[tokio::test]
async fn what_cannot_be_reached_is_told_before_the_tunnel() {
    let world = World::new().await;
    let unused = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for (target, status, code) in [
        (format!("allowed.test:{unused}"), 502, "connect_failed"),
        ("unknown.allowed.test:443".to_owned(), 502, "dns_not_found"),
        (
            format!("localhost:{}", world.address.port()),
            403,
            "own_address",
        ),
        ("allowed.test".to_owned(), 400, "malformed_request"),
        (
            "allowed.test:443@bad.test:22".to_owned(),
            400,
            "malformed_request",
        ),
    ] {
        let resolver = blastshield_web::Resolver::system();
        let world = if target.starts_with("localhost") {
            &World::with(Plan {
                resolver,
                ..Plan::default()
            })
            .await
        } else {
            &world
        };
        let target = if target.starts_with("localhost") {
            format!("localhost:{}", world.address.port())
        } else {
            target
        };
        let answer = world.tunnel(&target).await.unwrap_err();
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{target}"
        );
    }
}

#[tokio::test]
async fn silence_and_age_end_a_tunnel() {
    let origin = Origin::echo().await;
    for (idle, total) in [(200, 60_000), (60_000, 300)] {
        let mut plan = Plan::default();
        plan.limits.idle = Duration::from_millis(idle);
        plan.limits.total = Duration::from_millis(total);
        let world = World::with(plan).await;
        let mut stream = world
            .tunnel(&format!("allowed.test:{}", origin.port()))
            .await
            .unwrap();
        stream.write_all(b"x").await.unwrap();
        let mut all = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut all))
            .await
            .expect("ends by itself");
        assert_eq!(all, b"x");
    }
}

/// What a real TLS client says first.
fn greeting(name: &str) -> Vec<u8> {
    use rustls::pki_types::ServerName;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut out = Vec::new();
    client.write_tls(&mut out).unwrap();
    out
}

/// The same in records of a few bytes each.
fn in_pieces(greeting: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in greeting[5..].chunks(50) {
        out.extend([22, 3, 1, 0, u8::try_from(piece.len()).unwrap()]);
        out.extend(piece);
    }
    out
}

#[tokio::test]
async fn the_name_in_the_greeting_must_be_the_tunnels() {
    let origin = Origin::echo().await;
    let strict = World::with(Plan {
        tls: TlsRules::default(),
        ..Plan::default()
    })
    .await;
    let target = format!("allowed.test:{}", origin.port());
    let passes = async |world: &World, bytes: &[u8]| {
        let mut stream = world.tunnel(&target).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let _ = stream.shutdown().await;
        let mut back = Vec::new();
        let _ = stream.read_to_end(&mut back).await;
        assert!(back.is_empty() || back == bytes);
        !back.is_empty()
    };
    let good = greeting("allowed.test");
    assert!(passes(&strict, &good).await);
    assert!(passes(&strict, &greeting("ALLOWED.test")).await);
    assert!(passes(&strict, &in_pieces(&good)).await);
    let nameless = greeting("127.0.0.1");
    let mut hidden = good.clone();
    // Another extension becomes the encrypted greeting: its type is all that is looked at.
    let at = hidden
        .windows(4)
        .position(|w| w == [0, 23, 0, 0])
        .expect("extended master secret");
    hidden[at..at + 2].copy_from_slice(&[0xfe, 0x0d]);
    for (what, bytes) in [
        ("another name", greeting("bad.test")),
        ("another name in pieces", in_pieces(&greeting("bad.test"))),
        ("no name", nameless.clone()),
        ("a hidden name", hidden.clone()),
        (
            "plain HTTP",
            b"GET / HTTP/1.1\r\nHost: bad.test\r\n\r\n".to_vec(),
        ),
        ("another protocol", b"SSH-2.0-x\r\n".to_vec()),
        ("a broken record", vec![22, 3, 1, 0, 0]),
    ] {
        assert!(!passes(&strict, &bytes).await, "{what}");
    }
    let lax = TlsRules {
        allow_hidden: true,
        allow_nameless: true,
        allow_plain: true,
    };
    let lax = World::with(Plan {
        tls: lax,
        ..Plan::default()
    })
    .await;
    for bytes in [nameless, hidden, b"SSH-2.0-x\r\n".to_vec()] {
        assert!(passes(&lax, &bytes).await);
    }
    assert!(
        !passes(&lax, &greeting("bad.test")).await,
        "no policy lets another name through"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_tunnels_cost_little_and_all_work() {
    const COUNT: usize = 1000;
    let _ = blastshield_egress::raise_descriptor_limit();
    let origin = Origin::echo().await;
    let world = World::new().await;
    let target = format!("allowed.test:{}", origin.port());
    let mut open = Vec::new();
    for _ in 0..COUNT {
        let mut stream = world.tunnel(&target).await.unwrap();
        stream.write_all(b"a").await.unwrap();
        open.push(stream);
    }
    until("all are open", || world.metrics.tunnels() == COUNT as u64).await;
    for (n, stream) in open.iter_mut().enumerate().filter(|(n, _)| n % 100 == 0) {
        let said = format!("{n}");
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut back = vec![0; said.len() + 1];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(back, format!("a{n}").into_bytes());
    }
    drop(open);
    until("all are closed", || world.metrics.tunnels() == 0).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_told_so() {
    let origin = Origin::echo().await;
    let mut plan = Plan::default();
    plan.limits.connections = 2;
    let world = World::with(plan).await;
    let target = format!("allowed.test:{}", origin.port());
    let mut one = world.tunnel(&target).await.unwrap();
    let mut two = world.tunnel(&target).await.unwrap();
    for stream in [&mut one, &mut two] {
        stream.write_all(b"x").await.unwrap();
    }
    until("both are open", || world.metrics.tunnels() == 2).await;
    let third = world.tunnel(&target).await.unwrap_err();
    assert_eq!((third.status, third.code().as_str()), (503, "busy"));
    drop(one);
    until("one is closed", || world.metrics.tunnels() == 1).await;
    assert!(world.tunnel(&target).await.is_ok());
}
