//! Reads a body to its end within limits on wire bytes, decoded bytes and pace, or not at all.

use std::io;
use std::time::Duration;

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout};
use tokio_util::io::StreamReader;

use crate::encoding::Encoding;
use crate::error::FetchError;
use crate::exchange::fault_of;
use crate::limits::FetchLimits;

/// How often a silent body is looked at.
const TICK: Duration = Duration::from_millis(200);
/// The largest zstd window that HTTP allows, 8 MiB; more would let a frame claim memory at will.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A whole body.
pub(crate) struct Read {
    pub(crate) bytes: Bytes,
    pub(crate) wire_bytes: u64,
}

/// Reads and decodes all of it.
pub(crate) async fn read(
    body: Incoming,
    encoding: Encoding,
    limits: &FetchLimits,
) -> Result<Read, FetchError> {
    if body.size_hint().lower() > limits.wire_bytes {
        return Err(FetchError::WireLimit);
    }
    let mut wire = Wire {
        body,
        received: 0,
        started: Instant::now(),
        limits: *limits,
    };
    let announced =
        usize::try_from(wire.body.size_hint().lower().min(limits.decoded_bytes)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(announced);
    {
        let chunks = stream::unfold(&mut wire, |wire| async {
            let chunk = wire.next().await?;
            Some((chunk.map_err(io::Error::other), wire))
        });
        let mut raw = StreamReader::new(Box::pin(chunks));
        if let Some(first) = peek(&mut raw).await? {
            let mut decoded =
                decoder(&mut raw, encoding, first).take(limits.decoded_bytes.saturating_add(1));
            decoded
                .read_to_end(&mut bytes)
                .await
                .map_err(|error| cause(&error))?;
        }
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limits.decoded_bytes {
            return Err(FetchError::DecodedLimit);
        }
        if peek(&mut raw).await?.is_some() {
            return Err(FetchError::Damaged);
        }
    }
    Ok(Read {
        bytes: bytes.into(),
        wire_bytes: wire.received,
    })
}

/// The next byte, if there is one.
async fn peek(raw: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<u8>, FetchError> {
    let next = raw.fill_buf().await.map_err(|error| cause(&error))?;
    Ok(next.first().copied())
}

/// Formats that may be concatenated are read to the end; in the others, whatever follows the end is left over.
fn decoder<'a, R: AsyncBufRead + Send + Unpin + 'a>(
    raw: R,
    encoding: Encoding,
    first: u8,
) -> Box<dyn AsyncRead + Send + Unpin + 'a> {
    match encoding {
        Encoding::Identity => Box::new(raw),
        Encoding::Gzip => {
            let mut gzip = GzipDecoder::new(raw);
            gzip.multiple_members(true);
            Box::new(gzip)
        }
        Encoding::Deflate if is_zlib(first) => Box::new(ZlibDecoder::new(raw)),
        Encoding::Deflate => Box::new(DeflateDecoder::new(raw)),
        Encoding::Brotli => Box::new(BrotliDecoder::new(raw)),
        Encoding::Zstd => {
            let mut zstd =
                ZstdDecoder::with_params(raw, &[DParameter::window_log_max(ZSTD_WINDOW_LOG)]);
            zstd.multiple_members(true);
            Box::new(zstd)
        }
    }
}

/// `deflate` names a zlib stream, but bare deflate is seen as often. Their first bytes differ.
fn is_zlib(first: u8) -> bool {
    first & 0x8f == 0x08
}

/// Our own error, or else the decoder's.
fn cause(error: &io::Error) -> FetchError {
    error
        .get_ref()
        .and_then(|inner| inner.downcast_ref())
        .copied()
        .unwrap_or(FetchError::Damaged)
}

struct Wire {
    body: Incoming,
    received: u64,
    started: Instant,
    limits: FetchLimits,
}

impl Wire {
    async fn next(&mut self) -> Option<Result<Bytes, FetchError>> {
        loop {
            let frame = timeout(TICK, self.body.frame()).await;
            if self.is_too_slow() && !matches!(frame, Ok(None)) {
                return Some(Err(FetchError::TooSlow));
            }
            match frame {
                Err(_) => {}
                Ok(None) => return None,
                Ok(Some(Err(error))) => return Some(Err(fault_of(&error))),
                Ok(Some(Ok(frame))) => {
                    if let Ok(chunk) = frame.into_data() {
                        return Some(self.count(chunk));
                    }
                }
            }
        }
    }

    fn count(&mut self, chunk: Bytes) -> Result<Bytes, FetchError> {
        self.received = self
            .received
            .saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if self.received > self.limits.wire_bytes {
            Err(FetchError::WireLimit)
        } else {
            Ok(chunk)
        }
    }

    fn is_too_slow(&self) -> bool {
        let slow_for = self.started.elapsed().saturating_sub(self.limits.grace);
        let due = u128::from(self.limits.min_rate) * slow_for.as_millis() / 1000;
        u128::from(self.received) < due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zlib_is_told_from_bare_deflate() {
        for zlib in [0x78, 0x08, 0x58] {
            assert!(is_zlib(zlib));
        }
        for bare in [0x4b, 0xb3, 0xcb, 0x00, 0x01, 0xed] {
            assert!(!is_zlib(bare));
        }
    }
}
