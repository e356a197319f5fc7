//! Streams whose bytes are counted, and that end in an error once there were too many.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::FetchError;

/// Counts bytes; an error ends the stream.
pub trait Meter {
    /// So many came.
    ///
    /// # Errors
    /// When it was too many.
    fn received(&mut self, bytes: usize) -> io::Result<()>;

    /// So many went out.
    ///
    /// # Errors
    /// When it was too many.
    fn sent(&mut self, bytes: usize) -> io::Result<()>;
}

/// What a peer may send, however much it is sent. Interim responses, padding frames and chunk overhead are bytes too: the
/// limits on bodies and headers do not see them.
pub(crate) struct Allowance(pub(crate) u64);

impl Meter for Allowance {
    fn received(&mut self, bytes: usize) -> io::Result<()> {
        let left = u64::try_from(bytes)
            .ok()
            .and_then(|b| self.0.checked_sub(b));
        self.0 = left.unwrap_or(0);
        left.map(drop)
            .ok_or_else(|| io::Error::other(FetchError::WireLimit))
    }

    fn sent(&mut self, _: usize) -> io::Result<()> {
        Ok(())
    }
}

/// A stream whose bytes are counted.
pub struct Metered<S, M> {
    inner: S,
    meter: M,
}

impl<S, M> Metered<S, M> {
    /// A stream and who counts.
    pub fn new(inner: S, meter: M) -> Self {
        Self { inner, meter }
    }
}

impl<S: AsyncRead + Unpin, M: Meter + Unpin> AsyncRead for Metered<S, M> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = buf.filled().len().saturating_sub(before);
        Poll::Ready(self.meter.received(read).inspect_err(|_| {
            // A failed read must leave the buffer as it was.
            buf.set_filled(before);
        }))
    }
}

impl<S: AsyncWrite + Unpin, M: Meter + Unpin> AsyncWrite for Metered<S, M> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, buf))?;
        self.meter.sent(written)?;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn the_allowance_is_exact() {
        let mut out = Vec::new();
        assert!(
            Metered::new(&b"12345"[..], Allowance(5))
                .read_to_end(&mut out)
                .await
                .is_ok()
        );
        let error = Metered::new(&b"123456"[..], Allowance(5))
            .read_to_end(&mut out)
            .await
            .unwrap_err();
        assert_eq!(
            error.get_ref().and_then(|e| e.downcast_ref()),
            Some(&FetchError::WireLimit)
        );
    }
}
