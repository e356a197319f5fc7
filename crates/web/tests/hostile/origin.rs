//! An origin that says exactly the bytes a test wants, at the pace it wants.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

pub(crate) const PAGE: &str =
    "<!doctype html><title>Report</title><p>The council approved the tram line.</p>";

/// How long an endless origin goes on if nobody stops it.
const ENDLESS: Duration = Duration::from_secs(20);

/// One thing that an origin does on a connection.
pub(crate) enum Step {
    Send(Vec<u8>),
    /// The same again and again, until the peer leaves.
    Forever(Vec<u8>, Duration),
    Silence,
    /// Leaves without goodbye.
    Reset,
}

/// A loopback origin; it lives as long as the test's runtime.
pub(crate) struct Origin {
    pub addr: SocketAddr,
    hits: Arc<AtomicUsize>,
    done: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Origin {
    /// Answers each request by its path and query.
    pub(crate) async fn start(answer: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").await.unwrap(), answer)
    }

    /// The same steps whatever is asked.
    pub(crate) async fn saying(steps: impl Fn() -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start(move |_| steps()).await
    }

    pub(crate) fn listen(
        listener: TcpListener,
        answer: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let addr = listener.local_addr().unwrap();
        let hits = Arc::new(AtomicUsize::new(0));
        let done = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let origin = Self {
            addr,
            hits: Arc::clone(&hits),
            done: Arc::clone(&done),
            requests: Arc::clone(&requests),
        };
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                hits.fetch_add(1, Ordering::SeqCst);
                let (answer, requests) = (Arc::clone(&answer), Arc::clone(&requests));
                let done = Arc::clone(&done);
                tokio::spawn(async move {
                    serve(stream, answer, requests).await;
                    done.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        origin
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Connections taken so far.
    pub(crate) fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }

    /// Waits until every connection so far has ended; gives up after a while.
    pub(crate) async fn is_left_alone(&self) -> bool {
        for _ in 0..100 {
            if self.done.load(Ordering::SeqCst) == self.hits() {
                return true;
            }
            sleep(Duration::from_millis(50)).await;
        }
        false
    }

    /// Request heads read so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: Arc<impl Fn(&str) -> Vec<Step>>,
    requests: Arc<Mutex<Vec<String>>>,
) {
    let head = read_head(&mut stream).await;
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    requests.lock().unwrap().push(head);
    for step in answer(&path) {
        if matches!(step, Step::Reset) {
            stream.set_zero_linger().unwrap();
            return;
        }
        if !perform(&mut stream, step).await {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

/// Does one step; whether the peer is still there.
pub(crate) async fn perform<S: AsyncWrite + Unpin>(stream: &mut S, step: Step) -> bool {
    match step {
        Step::Send(bytes) => stream.write_all(&bytes).await.is_ok(),
        Step::Forever(bytes, pause) => {
            let end = Instant::now() + ENDLESS;
            while Instant::now() < end {
                if stream.write_all(&bytes).await.is_err() || stream.flush().await.is_err() {
                    return false;
                }
                sleep(pause).await;
            }
            true
        }
        Step::Silence => {
            sleep(ENDLESS).await;
            true
        }
        Step::Reset => false,
    }
}

pub(crate) async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 65536 {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// These bytes.
pub(crate) fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

/// A head with these extra header lines, closed by the end of the connection.
pub(crate) fn head(status: &str, headers: &[&str]) -> Step {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    send(format!(
        "HTTP/1.1 {status}\r\n{lines}Connection: close\r\n\r\n"
    ))
}

/// A whole page with these extra header lines.
pub(crate) fn page(body: impl AsRef<[u8]>, headers: &[&str]) -> Vec<Step> {
    let length = format!("Content-Length: {}", body.as_ref().len());
    let mut lines = vec!["Content-Type: text/html; charset=utf-8", &length];
    lines.extend(headers);
    vec![head("200 OK", &lines), send(body)]
}

/// A redirect.
pub(crate) fn redirect(status: u16, to: &str) -> Vec<Step> {
    vec![head(
        &format!("{status} Moved"),
        &[&format!("Location: {to}"), "Content-Length: 0"],
    )]
}
