//! An origin that says exactly what a test wants, by path.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::sleep;

/// How an origin answers one request.
#[derive(Clone)]
pub(crate) enum Say {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// A head, then the same bytes for as long as somebody listens.
    Endless(&'static str, Vec<u8>, Duration),
    /// Nothing.
    Silence,
    /// These bytes, once the signal comes.
    After(Arc<Notify>, Vec<u8>),
}

/// A loopback origin; it lives as long as the test's runtime.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Origin {
    /// Answers each request by its path and query.
    pub(crate) async fn start(answer: impl Fn(&str) -> Say + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answer).await
    }

    /// The same page whatever is asked.
    pub(crate) async fn page(body: impl AsRef<[u8]>) -> Self {
        let page = html(body);
        Self::start(move |_| page.clone()).await
    }

    /// As [`Origin::start`], on this address.
    pub(crate) async fn at(
        address: &str,
        answer: impl Fn(&str) -> Say + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&heads), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    let _ = serve(stream, &log, answer.as_ref()).await;
                });
            }
        });
        Self { address, heads }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The same origin under another name.
    pub(crate) fn url_as(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// The heads of the requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// Waits until somebody has asked.
    pub(crate) async fn was_asked(&self) {
        for _ in 0..1_000 {
            if !self.heads().is_empty() {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
        panic!("nobody asked the origin");
    }
}

async fn serve(
    mut stream: TcpStream,
    log: &Mutex<Vec<String>>,
    answer: &(impl Fn(&str) -> Say + Sync),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 65_536 {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().unwrap().push(head);
    match answer(&path) {
        Say::Bytes(bytes) => stream.write_all(&bytes).await?,
        Say::Endless(head, bytes, pause) => {
            stream.write_all(head.as_bytes()).await?;
            for _ in 0..10_000 {
                stream.write_all(&bytes).await?;
                sleep(pause).await;
            }
        }
        Say::Silence => sleep(Duration::from_secs(30)).await,
        Say::After(signal, bytes) => {
            signal.notified().await;
            stream.write_all(&bytes).await?;
        }
    }
    stream.shutdown().await
}

/// An answer with this status, these header lines and this body.
pub(crate) fn reply(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Say {
    let body = body.as_ref();
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\n{lines}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    Say::Bytes(bytes)
}

/// A body of this type.
pub(crate) fn typed(kind: &str, body: impl AsRef<[u8]>) -> Say {
    reply("200 OK", &[&format!("Content-Type: {kind}")], body)
}

/// A page.
pub(crate) fn html(body: impl AsRef<[u8]>) -> Say {
    typed("text/html; charset=utf-8", body)
}

/// A plain text.
pub(crate) fn plain(body: impl AsRef<[u8]>) -> Say {
    typed("text/plain; charset=utf-8", body)
}

/// A redirect.
pub(crate) fn redirect(to: &str) -> Say {
    reply("302 Found", &[&format!("Location: {to}")], "")
}
