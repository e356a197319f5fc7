//! Peers that do not behave: raw sockets on loopback, each bounded in what it sends.

#![allow(dead_code, reason = "each test file uses its part")]

use blastshield_upstream::{
    BaseUrl, Brave, BraveOptions, Provider, RateClass, Search, SearchStrategy, Searxng,
    SearxngOptions, Secret,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const KEY: &str = "very-secret-key-0123456789";

/// How a peer answers once it has read a request's head.
#[derive(Clone)]
pub(crate) enum Manner {
    /// These bytes, then the connection closes.
    Bytes(Vec<u8>),
    /// A head, then chunks without end.
    Endless,
    /// A head, then a byte now and then.
    Drip,
    /// Nothing at all.
    Silent,
}

/// A peer; `count` says how many connections it saw.
pub(crate) struct Peer {
    pub(crate) base: String,
    pub(crate) count: Arc<AtomicUsize>,
}

impl Peer {
    pub(crate) fn connections(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

pub(crate) async fn peer(manner: Manner) -> Peer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            seen.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(answer(stream, manner.clone()));
        }
    });
    Peer { base, count }
}

async fn answer(mut stream: TcpStream, manner: Manner) {
    let mut head = vec![0; 64 * 1024];
    let _ = stream.read(&mut head).await;
    match manner {
        Manner::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            while matches!(stream.read(&mut head).await, Ok(read) if read > 0) {}
        }
        Manner::Endless => {
            let chunk = format!("4000\r\n{}\r\n", " ".repeat(0x4000));
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n")
                .await;
            while stream.write_all(chunk.as_bytes()).await.is_ok() {}
        }
        Manner::Drip => {
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                .await;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Manner::Silent => tokio::time::sleep(Duration::from_secs(60)).await,
    }
}

pub(crate) fn http(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Manner {
    let body = body.as_ref();
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    Manner::Bytes(bytes)
}

pub(crate) fn url(text: &str) -> BaseUrl {
    text.parse().unwrap()
}

pub(crate) fn brave_options(base: &str) -> BraveOptions {
    let mut options = BraveOptions::new(Secret::new(KEY)).unwrap();
    options.base = url(base);
    options.rate = RateClass::Pro;
    options.timeout = Duration::from_secs(10);
    options
}

pub(crate) fn brave(base: &str) -> Provider {
    Provider::Brave(Brave::new(brave_options(base)).unwrap())
}

pub(crate) fn searxng(base: &str) -> Provider {
    Provider::Searxng(Searxng::new(SearxngOptions::new(url(base))).unwrap())
}

pub(crate) fn single(provider: Provider) -> Search {
    Search::new(SearchStrategy::Single(provider))
}
