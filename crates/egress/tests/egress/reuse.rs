//! Connections to origins that are used again: by the client that had them opened, after a clean answer, and by nobody else.

use crate::intercepting::{handshake, secure_with};
use crate::origin::{Origin, reply, request};
use crate::world::{Plan, World, list};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// An origin that answers as many requests on a connection as come, and counts connections.
async fn patient(answer: &'static [u8]) -> (Origin, Arc<AtomicUsize>) {
    let opened = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&opened);
    let origin = Origin::serve(Arc::default(), move |mut stream: TcpStream| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            while !request(&mut stream).await.is_empty() {
                if stream.write_all(answer).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    (origin, opened)
}

/// Asks on an open connection and reads an answer that ends in `end`.
async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), head: &str, end: &[u8]) -> String {
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    while !all.ends_with(end) {
        let read = stream.read_buf(&mut all).await.unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&all));
    }
    String::from_utf8_lossy(&all).into_owned()
}

fn get(origin: &Origin, host: &str) -> String {
    format!("GET {} HTTP/1.1\r\n\r\n", origin.url(host, "/"))
}

const PLAIN: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nbread";

#[tokio::test]
async fn a_client_goes_on_with_its_connection_and_others_have_their_own() {
    let (origin, opened) = patient(PLAIN).await;
    let world = World::new().await;
    let (mut one, mut two) = (world.connect().await, world.connect().await);
    for _ in 0..3 {
        ask(&mut one, &get(&origin, "allowed.test"), b"bread").await;
    }
    assert_eq!(opened.load(Ordering::SeqCst), 1);
    ask(&mut two, &get(&origin, "allowed.test"), b"bread").await;
    assert_eq!(opened.load(Ordering::SeqCst), 2, "not another client's");
    // The same address under another name is another place.
    ask(&mut one, &get(&origin, "open.test"), b"bread").await;
    assert_eq!(opened.load(Ordering::SeqCst), 3);
    // Each request is decided by itself.
    let refused = ask(&mut one, &get(&origin, "bad.test"), b"}}").await;
    assert!(refused.contains("host_blocked"), "{refused}");
}

#[tokio::test]
async fn an_answer_without_a_clean_end_closes_its_connection() {
    for answer in [
        // Goodbye said.
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nbread".as_slice(),
        // An old one, which closes unless it says otherwise.
        b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nbread",
        // More than was asked for: the next answer would be made up.
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nbreadHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake",
    ] {
        let (origin, opened) = patient(answer).await;
        let world = World::new().await;
        let mut client = world.connect().await;
        for n in 1..=2 {
            let said = ask(&mut client, &get(&origin, "allowed.test"), b"bread").await;
            assert!(!said.contains("fake"), "{said}");
            assert_eq!(opened.load(Ordering::SeqCst), n);
        }
    }
}

#[tokio::test]
async fn a_connection_that_died_meanwhile_is_replaced_if_nothing_can_happen_twice() {
    // Reads a second request, and hangs up.
    let seen: Arc<AtomicUsize> = Arc::default();
    let counter = Arc::clone(&seen);
    let origin = Origin::serve(Arc::default(), move |mut stream: TcpStream| {
        let counter = Arc::clone(&counter);
        async move {
            let _ = request(&mut stream).await;
            let _ = stream.write_all(&reply("text/plain", "bread")).await;
            if !request(&mut stream).await.is_empty() {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        }
    })
    .await;
    let world = World::new().await;
    let mut client = world.connect().await;
    for _ in 0..3 {
        ask(&mut client, &get(&origin, "allowed.test"), b"bread").await;
    }
    assert_eq!(
        seen.load(Ordering::SeqCst),
        2,
        "lost once each, and repeated"
    );
    let post = format!(
        "POST {} HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
        origin.url("allowed.test", "/")
    );
    let mut client = world.connect().await;
    ask(&mut client, &post, b"bread").await;
    client.write_all(post.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    assert!(
        rest.is_empty(),
        "as if the origin had hung up on the client"
    );
    assert_eq!(seen.load(Ordering::SeqCst), 3, "sent once");
}

#[tokio::test]
async fn opened_tls_is_shaken_hands_on_once() {
    let origin = secure_with("open.test", usize::MAX).await;
    let world = World::with(Plan {
        intercept: list("open.test"),
        roots: origin.pem.clone().into_bytes(),
        ..Plan::default()
    })
    .await;
    let host = format!("open.test:{}", origin.port);
    let tunnel = world.tunnel(&host).await.unwrap();
    let ca = world.ca.as_ref().unwrap().pem().to_owned();
    let mut stream = handshake(tunnel, "open.test", &ca).await.unwrap();
    for n in 0..3 {
        let head = format!("GET /{n} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        ask(&mut stream, &head, b"fine").await;
    }
    assert_eq!(origin.asked.lock().unwrap().len(), 3);
    assert_eq!(origin.opened.load(Ordering::SeqCst), 1);
}
