//! A stream that ends in an error once its peer has sent more than one response could honestly need.
//!
//! Interim responses, padding frames and chunk overhead are bytes too: the limits on bodies and headers do not see them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::error::FetchError;

pub(crate) struct Metered<S> {
    inner: S,
    left: u64,
}

impl<S> Metered<S> {
    pub(crate) fn new(inner: S, allowance: u64) -> Self {
        Self {
            inner,
            left: allowance,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = u64::try_from(buf.filled().len().saturating_sub(before)).unwrap_or(u64::MAX);
        match self.left.checked_sub(read) {
            Some(left) => {
                self.left = left;
                Poll::Ready(Ok(()))
            }
            None => {
                // A failed read must leave the buffer as it was.
                buf.set_filled(before);
                self.left = 0;
                Poll::Ready(Err(io::Error::other(FetchError::WireLimit)))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
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
            Metered::new(&b"12345"[..], 5)
                .read_to_end(&mut out)
                .await
                .is_ok()
        );
        let error = Metered::new(&b"123456"[..], 5)
            .read_to_end(&mut out)
            .await
            .unwrap_err();
        assert_eq!(
            error.get_ref().and_then(|e| e.downcast_ref()),
            Some(&FetchError::WireLimit)
        );
    }
}
