//! One side of an exchange: a stream, what has arrived of it, and deadlines for the rest.

use crate::http::{Chunked, Framing, HeadScan};
use crate::refusal::Refusal;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::{Instant, timeout, timeout_at};

/// The most that is read at once.
const PIECE: usize = 64 << 10;
/// Small reads come first: most heads are short.
const FIRST: usize = 2 << 10;

/// A stream and what has arrived of it.
#[derive(Debug)]
pub(crate) struct Wire<S> {
    stream: S,
    arrived: Vec<u8>,
    /// Whether something was sent since [`Wire::begin`].
    pub(crate) sent: bool,
    /// Whether something came since then, or time ran out.
    pub(crate) heard: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            arrived: Vec::new(),
            sent: false,
            heard: false,
        }
    }

    pub(crate) fn stream(&self) -> &S {
        &self.stream
    }

    /// The stream, and what has arrived and is unread.
    pub(crate) fn into_parts(self) -> (S, Vec<u8>) {
        (self.stream, self.arrived)
    }

    /// A new message begins.
    pub(crate) fn begin(&mut self) {
        (self.sent, self.heard) = (false, false);
        if self.arrived.is_empty() {
            self.arrived = Vec::new();
        }
    }

    /// The next head: its first byte within `first`, all of it within `whole` from then on. Nothing when the other side
    /// ended before it began one.
    ///
    /// # Errors
    /// When it cannot be one, comes too slowly, or ends within.
    pub(crate) async fn head(
        &mut self,
        first: Duration,
        whole: Duration,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        const SLOW: Refusal = Refusal::Timeout("the request took too long to arrive");
        if self.arrived.is_empty() {
            match timeout(first, self.more(FIRST)).await {
                Ok(Ok(0) | Err(_)) | Err(_) => return Ok(None),
                Ok(Ok(_)) => {}
            }
        }
        let deadline = Instant::now() + whole;
        let mut scan = HeadScan::default();
        loop {
            if let Some(place) = scan.advance(&self.arrived)? {
                let head = self.arrived.get(place.clone()).unwrap_or_default().to_vec();
                self.arrived.drain(..place.end);
                return Ok(Some(head));
            }
            match timeout_at(deadline, self.more(PIECE)).await {
                Err(_) => return Err(SLOW),
                Ok(Ok(0) | Err(_)) => return Err(Refusal::Gone),
                Ok(Ok(_)) => {}
            }
        }
    }

    /// The head of an answer; one that does not come is a fault.
    ///
    /// # Errors
    /// When it cannot be one, comes too slowly, or ends before its end.
    pub(crate) async fn answer(
        &mut self,
        first: Duration,
        whole: Duration,
    ) -> Result<Vec<u8>, Refusal> {
        const SLOW: Refusal = Refusal::Timeout("the host's answer took too long to arrive");
        if self.arrived.is_empty() {
            let Ok(read) = timeout(first, self.more(FIRST)).await else {
                self.heard = true;
                return Err(SLOW);
            };
            match read {
                Ok(1..) => self.heard = true,
                Ok(0) | Err(_) => return Err(Refusal::Gone),
            }
        }
        match self.head(first, whole).await {
            Ok(Some(head)) => Ok(head),
            Ok(None) => Err(Refusal::Gone),
            Err(Refusal::Timeout(_)) => Err(SLOW),
            Err(other) => Err(other),
        }
    }

    /// Whether the other side has said nothing that nobody waits for, and no goodbye, as far as is known here.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        let mut context = Context::from_waker(Waker::noop());
        let read = Pin::new(&mut self.stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte));
        self.arrived.is_empty() && read.is_pending()
    }

    /// No answer of ours follows: the connection ends without one.
    pub(crate) const fn hush(&mut self) {
        self.sent = true;
    }

    /// Reads more; 0 at the end.
    pub(crate) async fn more(&mut self, most: usize) -> io::Result<usize> {
        self.arrived.reserve(most.min(PIECE));
        self.stream.read_buf(&mut self.arrived).await
    }

    pub(crate) fn arrived(&self) -> &[u8] {
        &self.arrived
    }

    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        let count = count.min(self.arrived.len());
        self.arrived.drain(..count).collect()
    }

    pub(crate) async fn send(&mut self, bytes: &[u8], within: Duration) -> Result<(), Refusal> {
        self.sent = true;
        let sending = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        match timeout(within, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Refusal::Gone),
            Err(_) => Err(Refusal::Timeout(
                "the other side does not take what is sent",
            )),
        }
    }

    /// Says goodbye.
    pub(crate) async fn end(&mut self) {
        let _ = timeout(Duration::from_secs(2), self.stream.shutdown()).await;
    }
}

/// A body, piece by piece.
#[derive(Debug)]
pub(crate) enum Body {
    Done,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

impl Body {
    pub(crate) fn of(framing: Framing, response: bool) -> Self {
        match framing {
            Framing::Empty | Framing::Length(0) => Self::Done,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked { .. } if response => Self::Chunked(Chunked::response()),
            Framing::Chunked { .. } => Self::Chunked(Chunked::request()),
            Framing::UntilClose { .. } => Self::UntilClose,
        }
    }

    /// The next piece; nothing at the end.
    ///
    /// # Errors
    /// When it is malformed, cut off, or pauses for too long.
    pub(crate) async fn next<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        wire: &mut Wire<S>,
        idle: Duration,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        loop {
            match self {
                Self::Done => return Ok(None),
                Self::Length(left) if !wire.arrived.is_empty() => {
                    let count = usize::try_from(*left).unwrap_or(PIECE).min(PIECE);
                    let piece = wire.take(count);
                    *left -= piece.len() as u64;
                    if *left == 0 {
                        *self = Self::Done;
                    }
                    return Ok(Some(piece));
                }
                Self::UntilClose if !wire.arrived.is_empty() => return Ok(Some(wire.take(PIECE))),
                Self::Chunked(chunks) if !wire.arrived.is_empty() => {
                    let mut piece = Vec::new();
                    let used = chunks.decode(&wire.arrived, &mut piece, PIECE)?;
                    wire.arrived.drain(..used);
                    if chunks.is_done() {
                        *self = Self::Done;
                    }
                    if !piece.is_empty() {
                        return Ok(Some(piece));
                    }
                    if matches!(self, Self::Done) {
                        return Ok(None);
                    }
                }
                _ => {}
            }
            let read = timeout(idle, wire.more(PIECE))
                .await
                .map_err(|_| Refusal::Timeout("nothing came for too long"))?;
            match (read, &self) {
                (Ok(0), Self::UntilClose) => *self = Self::Done,
                (Ok(0) | Err(_), _) => return Err(Refusal::Gone),
                (Ok(_), _) => {}
            }
        }
    }
}

/// A stream of which something was read already.
#[derive(Debug)]
pub(crate) struct Prefixed<S> {
    read: Vec<u8>,
    at: usize,
    stream: S,
}

impl<S> Prefixed<S> {
    pub(crate) fn new(read: Vec<u8>, stream: S) -> Self {
        Self {
            read,
            at: 0,
            stream,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefixed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let rest = this.read.get(this.at..).unwrap_or_default();
        if rest.is_empty() {
            this.read = Vec::new();
            return Pin::new(&mut this.stream).poll_read(cx, out);
        }
        let count = rest.len().min(out.remaining());
        out.put_slice(rest.get(..count).unwrap_or_default());
        this.at += count;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefixed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
