//! Where a body ends.

use super::{HeadError, Headers, RequestHead, ResponseHead};

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    Empty,
    /// So many bytes.
    Length(u64),
    /// In chunks; `coded` when there is another coding below, which nobody here undoes.
    Chunked {
        /// Compressed on the way.
        coded: bool,
    },
    /// All that comes; `coded` as above. Responses only.
    UntilClose {
        /// Compressed on the way.
        coded: bool,
    },
}

/// The framing of a request's body.
///
/// # Errors
/// When there are two readings of it, or none.
pub fn of_request(head: &RequestHead) -> Result<Framing, HeadError> {
    let length = length(&head.headers)?;
    match (encoding(&head.headers)?, length) {
        (Some(_), Some(_)) => Err(HeadError::TwoLengths),
        (Some(Encoding::Chunked { coded }), None) if !head.old => Ok(Framing::Chunked { coded }),
        (Some(_), None) => Err(HeadError::Encoding),
        (None, Some(0)) | (None, None) => Ok(Framing::Empty),
        (None, Some(length)) => Ok(Framing::Length(length)),
    }
}

/// The framing of the body of a response to a request with this method.
///
/// # Errors
/// When there are two readings of it, or none.
pub fn of_response(head: &ResponseHead, method: &str) -> Result<Framing, HeadError> {
    let length = length(&head.headers)?;
    let encoding = encoding(&head.headers)?;
    if encoding.is_some() && length.is_some() {
        return Err(HeadError::TwoLengths);
    }
    if method == "HEAD" || head.status < 200 || matches!(head.status, 204 | 304) {
        return Ok(Framing::Empty);
    }
    Ok(match (encoding, length) {
        (Some(Encoding::Chunked { coded }), _) if !head.old => Framing::Chunked { coded },
        (Some(_), _) => Framing::UntilClose { coded: true },
        (None, Some(length)) => Framing::Length(length),
        (None, None) => Framing::UntilClose { coded: false },
    })
}

fn length(headers: &Headers) -> Result<Option<u64>, HeadError> {
    let mut values = headers.all("content-length");
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(HeadError::Twice("content-length"));
    }
    let digits = (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits);
    let length = text.and_then(|text| text.parse().ok());
    length.map(Some).ok_or(HeadError::Length)
}

enum Encoding {
    Chunked { coded: bool },
    Other,
}

fn encoding(headers: &Headers) -> Result<Option<Encoding>, HeadError> {
    let lines: Vec<&[u8]> = headers.all("transfer-encoding").collect();
    let Some((last, before)) = lines.split_last() else {
        return Ok(None);
    };
    if !before
        .iter()
        .all(|line| line.eq_ignore_ascii_case(b"identity"))
    {
        // Which line counts is where readers differ.
        let ends_plain = last.eq_ignore_ascii_case(b"identity");
        let first = before
            .iter()
            .all(|line| line.eq_ignore_ascii_case(b"chunked"));
        return if ends_plain && first {
            Ok(Some(Encoding::Other))
        } else {
            Err(HeadError::Encoding)
        };
    }
    let text = std::str::from_utf8(last).map_err(|_| HeadError::Encoding)?;
    let codings: Vec<String> = text
        .split(',')
        .map(|word| word.trim_matches(' ').to_ascii_lowercase())
        .collect();
    let known = |coding: &String| {
        matches!(
            coding.as_str(),
            "chunked" | "identity" | "gzip" | "x-gzip" | "deflate" | "compress"
        )
    };
    let chunked = codings.iter().filter(|coding| *coding == "chunked").count();
    if !codings.iter().all(known) || chunked > 1 {
        return Err(HeadError::Encoding);
    }
    let coded = codings
        .iter()
        .any(|coding| !matches!(coding.as_str(), "chunked" | "identity"));
    Ok(Some(match codings.last().map(String::as_str) {
        Some("chunked") => Encoding::Chunked { coded },
        _ => Encoding::Other,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &str) -> Result<Framing, HeadError> {
        let head = RequestHead::parse(format!("POST / HTTP/1.1\r\n{headers}\r\n").as_bytes())?;
        of_request(&head)
    }

    #[test]
    fn a_request_has_one_length_or_is_refused() {
        const TE: &str = "Transfer-Encoding: ";
        assert_eq!(request(""), Ok(Framing::Empty));
        assert_eq!(request("Content-Length: 003\r\n"), Ok(Framing::Length(3)));
        assert_eq!(
            request(&format!("{TE}chunked\r\n")),
            Ok(Framing::Chunked { coded: false })
        );
        assert_eq!(
            request(&format!("{TE}gzip, Chunked\r\n")),
            Ok(Framing::Chunked { coded: true })
        );
        assert_eq!(
            request(&format!("{TE}identity\r\n{TE}chunked\r\n")),
            Ok(Framing::Chunked { coded: false })
        );
        for bad in [
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: -0\r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length: 5 5\r\n",
            "Content-Length:\r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\ncontent-length: 5\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding: chunked, identity\r\n",
            "Transfer-Encoding: chunked, chunked\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding: \"chunked\"\r\n",
            "Transfer-Encoding: cow chunked bar\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
            "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding:\r\n",
        ] {
            assert!(request(bad).is_err(), "{bad:?}");
        }
        let old =
            RequestHead::parse(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        assert_eq!(of_request(&old), Err(HeadError::Encoding));
    }

    #[test]
    fn a_response_may_end_with_the_connection() {
        let of = |head: &str, method| {
            of_response(&ResponseHead::parse(head.as_bytes()).unwrap(), method)
        };
        assert_eq!(
            of("HTTP/1.1 200 OK\r\n\r\n", "GET"),
            Ok(Framing::UntilClose { coded: false })
        );
        assert_eq!(
            of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD"),
            Ok(Framing::Empty)
        );
        assert_eq!(
            of("HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", "GET"),
            Ok(Framing::Empty)
        );
        assert_eq!(
            of(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
                "GET"
            ),
            Ok(Framing::UntilClose { coded: true })
        );
        assert!(
            of(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
                "GET"
            )
            .is_err()
        );
    }
}
