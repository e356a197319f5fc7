//! The head of a message: found in what has arrived, then read at once.

use super::headers::token;
use super::{HeadError, Headers, MAX_HEAD, MAX_LINE, Target};

/// Empty lines that may come before a message.
const MAX_EMPTY: usize = 4;
const MAX_METHOD: usize = 20;

/// Finds the end of a head while it arrives; each byte is looked at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadScan {
    /// Looked at so far.
    at: usize,
    /// Where the message begins.
    start: usize,
    /// Where the line begins.
    line: usize,
}

impl HeadScan {
    /// Looks at what came since the last time: the head's place in `buffer`, once it is complete.
    ///
    /// # Errors
    /// As soon as it can no longer become a head.
    pub fn advance(&mut self, buffer: &[u8]) -> Result<Option<std::ops::Range<usize>>, HeadError> {
        while let Some(byte) = buffer.get(self.at) {
            if self.at - self.start >= MAX_HEAD {
                return Err(HeadError::TooLong("head"));
            }
            let fresh = self.at == self.start;
            if fresh && !(byte.is_ascii_alphabetic() || matches!(byte, b'\r' | b'\n')) {
                return Err(HeadError::NotHttp);
            }
            self.at += 1;
            if *byte != b'\n' {
                continue;
            }
            let line = buffer.get(self.line..self.at).unwrap_or_default();
            if !line.ends_with(b"\r\n") {
                return Err(HeadError::LineEnd);
            }
            let empty = line.len() == 2;
            self.line = self.at;
            if empty && self.start + 2 == self.at {
                if self.at > 2 * MAX_EMPTY {
                    return Err(HeadError::NotHttp);
                }
                self.start = self.at;
            } else if empty {
                return Ok(Some(self.start..self.at));
            }
        }
        Ok(None)
    }
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// In capitals, as all methods are.
    pub method: Box<str>,
    /// As it was sent.
    pub target: Box<str>,
    /// HTTP/1.0.
    pub old: bool,
    /// The headers.
    pub headers: Headers,
}

impl RequestHead {
    /// Reads a complete head, with the empty line at its end.
    ///
    /// # Errors
    /// When it has no one meaning.
    pub fn parse(head: &[u8]) -> Result<Self, HeadError> {
        let (line, headers) = lines(head)?;
        let mut parts = line.split(|b| *b == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(HeadError::Line);
        };
        let read = Self {
            method: self::method(method)?.into(),
            target: self::target(target)?.into(),
            old: version_is_old(version)?,
            headers,
        };
        for name in ["host", "content-type"] {
            if read.headers.all(name).nth(1).is_some() {
                return Err(HeadError::Twice(name));
            }
        }
        // A target without a root belongs to an address without a host, and such a request names none.
        let names_host = read.headers.all("host").any(|host| !host.is_empty());
        match Target::of(&read.method, &read.target) {
            None => Err(HeadError::Target),
            Some(Target::Other) if names_host => Err(HeadError::Target),
            Some(_) => Ok(read),
        }
    }
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// From 100 to 999.
    pub status: u16,
    /// May be empty.
    pub reason: Box<[u8]>,
    /// HTTP/1.0.
    pub old: bool,
    /// The headers.
    pub headers: Headers,
}

impl ResponseHead {
    /// Reads a complete head, with the empty line at its end.
    ///
    /// # Errors
    /// When it has no one meaning.
    pub fn parse(head: &[u8]) -> Result<Self, HeadError> {
        let (line, headers) = lines(head)?;
        let mut parts = line.splitn(3, |b| *b == b' ');
        let version = parts.next().unwrap_or_default();
        let old = version_is_old(version)?;
        let status = match parts.next().unwrap_or_default() {
            digits @ [b'1'..=b'9', b'0'..=b'9', b'0'..=b'9'] => digits
                .iter()
                .fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')),
            _ => return Err(HeadError::Status),
        };
        let reason = parts.next().unwrap_or_default();
        if !reason.iter().all(|b| super::headers::is_plain(*b)) {
            return Err(HeadError::Line);
        }
        Ok(Self {
            status,
            reason: reason.into(),
            old,
            headers,
        })
    }
}

fn lines(head: &[u8]) -> Result<(&[u8], Headers), HeadError> {
    let mut headers = Headers::default();
    let mut first = None;
    for line in head.split_inclusive(|b| *b == b'\n') {
        let line = line.strip_suffix(b"\r\n").ok_or(HeadError::LineEnd)?;
        match first {
            None if line.len() > MAX_LINE => return Err(HeadError::TooLong("first line")),
            None => first = Some(line),
            Some(_) if line.is_empty() => break,
            Some(_) => headers.take(line)?,
        }
    }
    Ok((first.ok_or(HeadError::Line)?, headers))
}

fn method(bytes: &[u8]) -> Result<&str, HeadError> {
    let text = token(bytes).ok_or(HeadError::Method)?;
    let capital = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    let named = bytes.first().is_some_and(u8::is_ascii_uppercase);
    if named && bytes.len() <= MAX_METHOD && text.bytes().all(capital) {
        Ok(text)
    } else {
        Err(HeadError::Method)
    }
}

fn target(bytes: &[u8]) -> Result<&str, HeadError> {
    let text = std::str::from_utf8(bytes).map_err(|_| HeadError::Target)?;
    if text.is_empty() || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(HeadError::Target);
    }
    Ok(text)
}

fn version_is_old(bytes: &[u8]) -> Result<bool, HeadError> {
    match bytes {
        b"HTTP/1.1" => Ok(false),
        b"HTTP/1.0" => Ok(true),
        _ => Err(HeadError::Version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(bytes: &[u8]) -> Result<Option<std::ops::Range<usize>>, HeadError> {
        let mut by_byte = HeadScan::default();
        let mut last = Ok(None);
        for end in 1..=bytes.len() {
            last = by_byte.advance(&bytes[..end]);
            if !matches!(last, Ok(None)) {
                break;
            }
        }
        assert_eq!(HeadScan::default().advance(bytes), last);
        last
    }

    #[test]
    fn the_end_of_a_head_is_found_however_it_arrives() {
        assert_eq!(scan(b"GET / HTTP/1.1\r\n\r\nrest"), Ok(Some(0..18)));
        assert_eq!(scan(b"\r\n\r\nGET / HTTP/1.1\r\n\r\n"), Ok(Some(4..22)));
        assert_eq!(scan(b"GET / HTTP/1.1\r\nA: b\r\n"), Ok(None));
        assert_eq!(scan(b"GET / HTTP/1.1\n"), Err(HeadError::LineEnd));
        assert_eq!(scan(b"\x16\x03\x01\x02"), Err(HeadError::NotHttp));
        assert_eq!(scan(&b"\r\n".repeat(9)), Err(HeadError::NotHttp));
        let long = [b"GET / HTTP/1.1\r\n".as_slice(), &vec![b'a'; MAX_HEAD]].concat();
        assert_eq!(scan(&long), Err(HeadError::TooLong("head")));
    }

    fn request(line: &str) -> Result<RequestHead, HeadError> {
        RequestHead::parse(format!("{line}\r\n\r\n").as_bytes())
    }

    #[test]
    fn a_request_line_has_three_words_with_one_blank_between() {
        let read = request("GET http://a.test/x?y HTTP/1.1\r\nHost: a.test").unwrap();
        assert_eq!(
            (&*read.method, &*read.target, read.old),
            ("GET", "http://a.test/x?y", false)
        );
        for (line, error) in [
            ("GET  /x HTTP/1.1", HeadError::Line),
            ("GET /x HTTP/1.1 ", HeadError::Line),
            ("GET /x", HeadError::Line),
            ("get /x HTTP/1.1", HeadError::Method),
            ("-GET /x HTTP/1.1", HeadError::Method),
            ("G\0T /x HTTP/1.1", HeadError::Method),
            ("GET /x HTTP/2.0", HeadError::Version),
            ("GET /x HTTP/0.9", HeadError::Version),
            ("GET /x HTTP/1.10", HeadError::Version),
            ("GET /x http/1.1", HeadError::Version),
            ("GET /\u{1}x HTTP/1.1", HeadError::Target),
            ("CONNECT /x HTTP/1.1", HeadError::Target),
            ("GET s://]x/ HTTP/1.1", HeadError::Target),
            ("GET x/y HTTP/1.1\r\nHost: a.test", HeadError::Target),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nhost: a",
                HeadError::Twice("host"),
            ),
            ("GET / HTTP/1.1\rA: b", HeadError::Line),
        ] {
            assert_eq!(request(line).err(), Some(error), "{line:?}");
        }
        let long = format!("GET /{} HTTP/1.1", "a".repeat(MAX_LINE));
        assert_eq!(request(&long), Err(HeadError::TooLong("first line")));
        let many = format!("GET / HTTP/1.1{}", "\r\na: b".repeat(101));
        assert_eq!(request(&many), Err(HeadError::TooMany));
    }

    #[test]
    fn a_status_line_may_lack_its_reason() {
        let response = |line: &str| ResponseHead::parse(format!("{line}\r\n\r\n").as_bytes());
        assert_eq!(response("HTTP/1.1 301").unwrap().status, 301);
        assert_eq!(
            &*response("HTTP/1.0 200 Not so bad").unwrap().reason,
            b"Not so bad"
        );
        for bad in [
            "HTTP/1.1 2 OK",
            "HTTP/1.1  200",
            "HTTP/1.1 0200",
            "HTTP/1.1 099",
            "HTTP/11.1 200",
            "ICY 200",
        ] {
            assert!(response(bad).is_err(), "{bad}");
        }
    }
}
