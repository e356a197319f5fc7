//! TLS that the owner wants opened.

use crate::origin::{hostile, reply, request};
use crate::world::{Plan, World, list, until};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// An origin with a certificate of its own.
pub(crate) struct Secure {
    pub(crate) port: u16,
    pub(crate) pem: String,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) opened: Arc<AtomicUsize>,
}

/// It answers one request on a connection, and closes.
pub(crate) async fn secure(name: &str) -> Secure {
    secure_with(name, 1).await
}

/// It answers so many requests on a connection.
pub(crate) async fn secure_with(name: &str, requests: usize) -> Secure {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let opened: Arc<AtomicUsize> = Arc::default();
    let (kept, counter) = (Arc::clone(&asked), Arc::clone(&opened));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let (acceptor, kept) = (acceptor.clone(), Arc::clone(&kept));
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                for _ in 0..requests {
                    let asked = String::from_utf8_lossy(&request(&mut stream).await).into_owned();
                    if asked.is_empty() {
                        return;
                    }
                    let answer = if asked.starts_with("GET /bad") {
                        reply("text/html", hostile())
                    } else if asked.starts_with("GET /events") {
                        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
                        format!("{head}data: fine\n\n").into_bytes()
                    } else {
                        reply("text/plain", "fine")
                    };
                    let goes_on = asked.starts_with("GET /events");
                    kept.lock().unwrap().push(asked);
                    let _ = stream.write_all(&answer).await;
                    let _ = stream.flush().await;
                    if goes_on {
                        // More may come, until the other side has enough.
                        let _ = request(&mut stream).await;
                    }
                }
                let _ = stream.shutdown().await;
            });
        }
    });
    Secure {
        port,
        pem: certificate.pem(),
        asked,
        opened,
    }
}

pub(crate) async fn handshake(
    stream: TcpStream,
    name: &str,
    trusted: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

async fn world(origin: &Secure, secret: Option<String>) -> World {
    World::with(Plan {
        intercept: list("open.test"),
        roots: origin.pem.clone().into_bytes(),
        secret,
        ..Plan::default()
    })
    .await
}

async fn say(stream: &mut TlsStream<TcpStream>, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all).await;
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test]
async fn a_client_that_trusts_the_authority_is_looked_into() {
    let origin = secure("open.test").await;
    let secret = ["wq7Tz", "Lk29x", "Pm4vR", "8sYbN"].concat();
    let world = world(&origin, Some(secret.clone())).await;
    let ca = world.ca.as_ref().unwrap().pem().to_owned();
    let host = format!("open.test:{}", origin.port);
    let open = async || {
        let tunnel = world.tunnel(&host).await.unwrap();
        handshake(tunnel, "open.test", &ca).await.unwrap()
    };
    // Two requests on one connection.
    let mut stream = open().await;
    stream
        .write_all(format!("GET /1 HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut first = Vec::new();
    while !first.ends_with(b"fine") {
        assert!(stream.read_buf(&mut first).await.unwrap() > 0);
    }
    let second = say(
        &mut stream,
        &format!("GET /2 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
    )
    .await;
    assert!(
        second.starts_with("HTTP/1.1 200 OK") && second.ends_with("fine"),
        "{second}"
    );
    assert_eq!(origin.asked.lock().unwrap().len(), 2);
    for (request, code) in [
        (
            format!("GET /bad HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            "content_blocked",
        ),
        (
            format!("GET /?k={secret} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            "leak_blocked",
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}\r\n\r\n"),
            "leak_blocked",
        ),
        (
            "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\n".to_owned(),
            "target_not_served",
        ),
        (
            "GET http://allowed.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n".to_owned(),
            "target_not_served",
        ),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "target_not_served"),
    ] {
        let answer = say(&mut open().await, &request).await;
        assert!(answer.contains(code), "{request}: {answer}");
        assert!(!answer.contains(&secret) && !answer.contains("Ignore all"));
    }
    assert_eq!(origin.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_client_that_does_not_trust_it_gets_nothing_and_sends_nothing() {
    let origin = secure("open.test").await;
    let world = world(&origin, None).await;
    let tunnel = world
        .tunnel(&format!("open.test:{}", origin.port))
        .await
        .unwrap();
    let refused = handshake(tunnel, "open.test", &origin.pem)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("certificate"), "{refused}");
    until("told", || world.metrics.denied() == 1).await;
    assert!(origin.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn other_hosts_stay_closed_tunnels() {
    let origin = secure("allowed.test").await;
    let world = world(&origin, None).await;
    let host = format!("allowed.test:{}", origin.port);
    let tunnel = world.tunnel(&host).await.unwrap();
    // The origin's own certificate comes through.
    let mut stream = handshake(tunnel, "allowed.test", &origin.pem)
        .await
        .unwrap();
    let answer = say(
        &mut stream,
        &format!("GET /bad HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    )
    .await;
    assert!(
        answer.contains("Ignore all"),
        "nobody looks into it: {answer}"
    );
}

#[tokio::test]
async fn an_origin_that_is_not_who_it_says_is_not_spoken_to() {
    let origin = secure("someone-else.test").await;
    let world = world(&origin, None).await;
    let host = format!("open.test:{}", origin.port);
    let ca = world.ca.as_ref().unwrap().pem().to_owned();
    let tunnel = world.tunnel(&host).await.unwrap();
    let mut stream = handshake(tunnel, "open.test", &ca).await.unwrap();
    let answer = say(
        &mut stream,
        &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    )
    .await;
    assert!(
        answer.starts_with("HTTP/1.1 502") && answer.contains("certificate_invalid"),
        "{answer}"
    );
    assert!(origin.asked.lock().unwrap().is_empty());
}
