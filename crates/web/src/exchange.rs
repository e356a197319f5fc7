//! One request over one connection. Connections are never reused: no hop can inherit what another hop opened.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONNECTION, HOST, USER_AGENT};
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;
use url::Url;

use blastshield_policy::Refusal;

use crate::connector::{Connection, Duplex};
use crate::encoding;
use crate::error::FetchError;
use crate::limits::FetchLimits;
use crate::metered::{Allowance, Metered};
use crate::together::Together;

const ACCEPTED: &str = "text/html,application/xhtml+xml,application/json;q=0.9,application/xml;q=0.9,text/*;q=0.8,*/*;q=0.1";
const LANGUAGES: &str = "en,*;q=0.5";
/// The smallest buffer that hyper takes.
const MIN_BUFFER: usize = 8 * 1024;
/// How far a peer may run ahead of us.
const WINDOW: u32 = 256 * 1024;

/// A response, and the connection that its body comes over.
pub(crate) struct Exchange {
    pub(crate) response: Response<Incoming>,
    pub(crate) live: Live,
}

/// An open connection, closed when dropped. HTTP/1 moves only while somebody waits for what comes over it, in the task
/// that waits: no other thread has to be woken. HTTP/2 has tasks of its own.
pub(crate) struct Live {
    moving: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    together: Together,
    _beside: Tasks,
}

impl Live {
    fn inline(connection: impl Future<Output: Send> + Send + 'static) -> Self {
        let moving = async move {
            connection.await;
        };
        Self {
            moving: Some(Box::pin(moving)),
            together: Together::new(),
            _beside: Tasks::default(),
        }
    }

    fn beside(tasks: Tasks) -> Self {
        Self {
            moving: None,
            together: Together::new(),
            _beside: tasks,
        }
    }

    /// Waits for something that comes over this connection.
    pub(crate) async fn bring<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = pin!(wanted);
        let Self {
            moving, together, ..
        } = self;
        poll_fn(|context| {
            together.poll(context, |context| {
                if let Some(connection) = moving
                    && connection.as_mut().poll(context).is_ready()
                {
                    *moving = None;
                }
                wanted.as_mut().poll(context)
            })
        })
        .await
    }
}

/// Background tasks, ended when dropped.
#[derive(Clone, Default)]
struct Tasks(Arc<TaskList>);

#[derive(Default)]
struct TaskList(Mutex<Vec<AbortHandle>>);

impl Tasks {
    fn spawn(&self, future: impl Future<Output: Send> + Send + 'static) {
        let task = tokio::spawn(async move {
            future.await;
        });
        if let Ok(mut tasks) = self.0.0.lock() {
            tasks.push(task.abort_handle());
        }
    }
}

impl Drop for TaskList {
    fn drop(&mut self) {
        if let Ok(tasks) = self.0.get_mut() {
            tasks.iter().for_each(AbortHandle::abort);
        }
    }
}

/// Runs what HTTP/2 needs beside the connection, without keeping the list alive from inside.
#[derive(Clone)]
struct Beside(std::sync::Weak<TaskList>);

impl<F> hyper::rt::Executor<F> for Beside
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, future: F) {
        if let Some(list) = self.0.upgrade() {
            Tasks(list).spawn(future);
        }
    }
}

/// Asks for a URL and waits for the response's head.
pub(crate) async fn get(
    connection: Connection,
    url: &Url,
    agent: &HeaderValue,
    limits: &FetchLimits,
) -> Result<Exchange, FetchError> {
    let http2 = connection.http2;
    let allowance = Allowance(limits.connection_bytes());
    let stream = TokioIo::new(Metered::new(connection.stream, allowance));
    let request = request(url, agent, http2)?;
    let exchange = if http2 {
        over_http2(stream, request, limits).await
    } else {
        over_http1(stream, request, limits).await
    };
    exchange.map_err(|error| fault_of(&error))
}

type Stream = TokioIo<Metered<Box<dyn Duplex>, Allowance>>;

async fn over_http1(
    stream: Stream,
    request: Request<Empty<Bytes>>,
    limits: &FetchLimits,
) -> hyper::Result<Exchange> {
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(limits.header_count)
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes.max(MIN_BUFFER))
        .handshake(stream)
        .await?;
    let mut live = Live::inline(connection);
    let response = live.bring(sender.send_request(request)).await?;
    Ok(Exchange { response, live })
}

async fn over_http2(
    stream: Stream,
    request: Request<Empty<Bytes>>,
    limits: &FetchLimits,
) -> hyper::Result<Exchange> {
    let tasks = Tasks::default();
    let (mut sender, connection) = http2::Builder::new(Beside(Arc::downgrade(&tasks.0)))
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(1)
        .handshake(stream)
        .await?;
    tasks.spawn(connection);
    let response = sender.send_request(request).await?;
    let live = Live::beside(tasks);
    Ok(Exchange { response, live })
}

/// A request that says the same to everybody: no cookies, no credentials, no referrer.
fn request(
    url: &Url,
    agent: &HeaderValue,
    http2: bool,
) -> Result<Request<Empty<Bytes>>, FetchError> {
    let unusable = FetchError::Refused {
        hop: 0,
        refusal: Refusal::Unparsable,
    };
    let whole = match (http2, url.query()) {
        (true, _) => url.as_str().to_owned(),
        (false, Some(query)) => format!("{}?{query}", url.path()),
        (false, None) => url.path().to_owned(),
    };
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = Uri::try_from(whole).map_err(|_| unusable)?;
    let headers = request.headers_mut();
    if !http2 {
        headers.insert(
            HOST,
            HeaderValue::try_from(url.authority()).map_err(|_| unusable)?,
        );
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    headers.insert(USER_AGENT, agent.clone());
    headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(LANGUAGES));
    headers.insert(
        ACCEPT_ENCODING,
        HeaderValue::from_static(encoding::ACCEPTED),
    );
    Ok(request)
}

/// What a failure of the HTTP library means.
pub(crate) fn fault_of(error: &hyper::Error) -> FetchError {
    let io = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>());
    if let Some(ours) = io
        .and_then(io::Error::get_ref)
        .and_then(|inner| inner.downcast_ref::<FetchError>())
    {
        return *ours;
    }
    if error.is_parse_too_large() {
        FetchError::HeaderLimit
    } else if error.is_incomplete_message() || io.is_some_and(is_cut) {
        FetchError::Truncated
    } else {
        FetchError::Protocol
    }
}

fn is_cut(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof,
    };
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof
    )
}

fn causes(error: &hyper::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;
    use crate::encoding::Encoding;
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Answers a request with these bytes and closes; what comes of it.
    async fn answered_with(bytes: Vec<u8>) -> Result<Bytes, FetchError> {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let peer = tokio::spawn(async move {
            let _ = theirs.read(&mut [0; 4096]).await;
            let _ = theirs.write_all(&bytes).await;
        });
        let limits = FetchLimits::default();
        let url = Url::parse("http://a.test/x?y").unwrap();
        let connection = Connection {
            stream: Box::new(ours),
            http2: false,
        };
        let exchange = get(connection, &url, &HeaderValue::from_static("t"), &limits).await?;
        let Exchange { response, mut live } = exchange;
        let encoding = Encoding::of(response.headers())?;
        let reading = body::read(response.into_body(), encoding, &limits);
        let read = live.bring(reading).await?;
        drop(live);
        let _ = peer.await;
        Ok(read.bytes)
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_hang(
            line in prop_oneof![Just("HTTP/1.1 200 OK\r\n"), Just("HTTP/1.0 200 OK\r\n"), Just("")],
            headers in prop::collection::vec(prop_oneof![
                Just("Transfer-Encoding: chunked\r\n"), Just("Content-Length: 7\r\n"), Just("Content-Encoding: gzip\r\n"),
                Just("Content-Encoding: br\r\n"), Just("Content-Encoding: zstd\r\n"), Just("Content-Encoding: deflate\r\n"),
                Just("Content-Length: 0\r\n"), Just("X: y\r\n"),
            ], 0..4),
            body in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut bytes = format!("{line}{}\r\n", headers.concat()).into_bytes();
            bytes.extend(body);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let outcome = runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(20), answered_with(bytes)).await });
            prop_assert!(outcome.is_ok(), "it hangs");
        }
    }
}
