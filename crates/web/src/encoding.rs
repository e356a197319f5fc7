//! Content encodings: none or one of those that were offered. Layers are refused, since nobody honest needs them.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, TRANSFER_ENCODING};

use crate::error::FetchError;

/// What is offered in requests.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    /// Reads the headers of a response.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, FetchError> {
        for value in headers.get_all(TRANSFER_ENCODING) {
            if !value
                .as_bytes()
                .trim_ascii()
                .eq_ignore_ascii_case(b"chunked")
            {
                return Err(FetchError::Encoding);
            }
        }
        let mut found = Self::Identity;
        for value in headers.get_all(CONTENT_ENCODING) {
            for name in value.as_bytes().split(|b| *b == b',') {
                match (Self::named(name.trim_ascii())?, found) {
                    (Self::Identity, _) => {}
                    (encoding, Self::Identity) => found = encoding,
                    _ => return Err(FetchError::Encoding),
                }
            }
        }
        Ok(found)
    }

    fn named(name: &[u8]) -> Result<Self, FetchError> {
        match name.to_ascii_lowercase().as_slice() {
            b"" | b"identity" => Ok(Self::Identity),
            b"gzip" | b"x-gzip" => Ok(Self::Gzip),
            b"deflate" => Ok(Self::Deflate),
            b"br" => Ok(Self::Brotli),
            b"zstd" => Ok(Self::Zstd),
            _ => Err(FetchError::Encoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn of(values: &[&'static str]) -> Result<Encoding, FetchError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
        }
        Encoding::of(&headers)
    }

    #[test]
    fn one_layer_at_most() {
        assert_eq!(of(&[]), Ok(Encoding::Identity));
        assert_eq!(of(&["GZip"]), Ok(Encoding::Gzip));
        assert_eq!(of(&["identity, br"]), Ok(Encoding::Brotli));
        for layered in [
            &["gzip, gzip"][..],
            &["gzip", "br"],
            &["zzip"],
            &["gzip;q=1"],
            &["aes128gcm"],
        ] {
            assert_eq!(of(layered), Err(FetchError::Encoding), "{layered:?}");
        }
    }

    #[test]
    fn compressed_transfer_is_refused() {
        let mut headers = HeaderMap::new();
        headers.append(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        assert_eq!(Encoding::of(&headers), Ok(Encoding::Identity));
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("gzip, chunked"));
        assert_eq!(Encoding::of(&headers), Err(FetchError::Encoding));
    }
}
