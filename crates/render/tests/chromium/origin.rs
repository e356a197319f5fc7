//! An origin that answers from a function, and canaries that count who comes near.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What an origin does with a request.
pub(crate) enum Reply {
    Html(String),
    Raw(String),
    /// Sends this, then a byte now and then, for ever.
    Drip(String),
    /// Sends this, then as many bytes as the other side takes.
    Flood(String),
}

pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    /// Request line and `Host` of every request.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
}

impl Origin {
    pub(crate) async fn start(
        answer: impl Fn(&str, SocketAddr) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    serve(stream, &log, |path| answer(path, address)).await;
                });
            }
        });
        Self { address, seen }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, log: &Mutex<Vec<String>>, answer: impl Fn(&str) -> Reply) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 64 * 1024 {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
    log.lock().unwrap().push(head);
    let _ = match answer(&path) {
        Reply::Html(html) => {
            let length = html.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\r\n"
            );
            stream.write_all((head + &html).as_bytes()).await
        }
        Reply::Raw(raw) => stream.write_all(raw.as_bytes()).await,
        Reply::Drip(start) => {
            let mut sent = stream.write_all(start.as_bytes()).await;
            while sent.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
                sent = stream.write_all(b" ").await;
            }
            sent
        }
        Reply::Flood(start) => {
            let mut sent = stream.write_all(start.as_bytes()).await;
            let chunk = vec![b'x'; 64 * 1024];
            while sent.is_ok() {
                sent = stream.write_all(&chunk).await;
            }
            sent
        }
    };
    let _ = stream.shutdown().await;
}

pub(crate) fn status(line: &str, headers: &str) -> Reply {
    Reply::Raw(format!(
        "HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    ))
}

/// Listens where nobody may go, over TCP and UDP, and counts who comes.
pub(crate) struct Canary {
    pub(crate) port: u16,
    touched: Arc<AtomicUsize>,
    datagrams: UdpSocket,
}

impl Canary {
    pub(crate) async fn start() -> Self {
        let (listener, datagrams) = loop {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            if let Ok(datagrams) = UdpSocket::bind(listener.local_addr().unwrap()) {
                break (listener, datagrams);
            }
        };
        datagrams.set_nonblocking(true).unwrap();
        let touched = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&touched);
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self {
            port,
            touched,
            datagrams,
        }
    }

    pub(crate) fn touches(&self) -> usize {
        let mut buffer = [0; 2048];
        let mut datagrams = 0;
        while self.datagrams.recv(&mut buffer).is_ok() {
            datagrams += 1;
        }
        self.touched.load(Ordering::SeqCst) + datagrams
    }
}
