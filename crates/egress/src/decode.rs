//! Bodies without their content encoding, within bounds.

use crate::http::Headers;
use crate::refusal::Refusal;
use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use std::borrow::Cow;
use tokio::io::AsyncReadExt as _;

/// What HTTP allows a zstd window to be.
const ZSTD_WINDOW_LOG: u32 = 23;

/// The one content encoding, if there is one.
pub(crate) fn content_encoding(headers: &Headers) -> Option<String> {
    let mut codings: Vec<String> = headers.tokens("content-encoding").collect();
    match codings.len() {
        0 => None,
        1 => codings.pop(),
        _ => Some("several".to_owned()),
    }
}

/// A body without its content encoding.
pub(crate) async fn decoded<'b>(
    headers: &Headers,
    body: &'b [u8],
    limit: usize,
) -> Result<Cow<'b, [u8]>, Refusal> {
    const DAMAGED: Refusal = Refusal::Uninspectable("the compressed body is damaged");
    let coding = content_encoding(headers).unwrap_or_default();
    let zlib = body.first().is_some_and(|first| first & 0x8f == 0x08);
    let mut reader: Box<dyn tokio::io::AsyncRead + Send + Unpin + 'b> = match coding.as_str() {
        "" | "identity" => return Ok(Cow::Borrowed(body)),
        _ if body.is_empty() => return Ok(Cow::Borrowed(body)),
        "gzip" | "x-gzip" => {
            let mut gzip = GzipDecoder::new(body);
            gzip.multiple_members(true);
            Box::new(gzip)
        }
        "deflate" if zlib => Box::new(ZlibDecoder::new(body)),
        "deflate" => Box::new(DeflateDecoder::new(body)),
        "br" => Box::new(BrotliDecoder::new(body)),
        "zstd" => {
            let mut zstd =
                ZstdDecoder::with_params(body, &[DParameter::window_log_max(ZSTD_WINDOW_LOG)]);
            zstd.multiple_members(true);
            Box::new(zstd)
        }
        _ => {
            return Err(Refusal::Uninspectable(
                "the content encoding is not known here",
            ));
        }
    };
    let mut plain = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    (&mut reader)
        .take(most)
        .read_to_end(&mut plain)
        .await
        .map_err(|_| DAMAGED)?;
    if plain.len() > limit {
        return Err(Refusal::TooLarge("decoded body"));
    }
    Ok(Cow::Owned(plain))
}
