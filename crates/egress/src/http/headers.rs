//! The headers of one message, in order, as they came.

use super::{HeadError, MAX_HEADER, MAX_HEADERS};
use std::fmt;

/// Headers whose meaning decides where a message ends or where it goes; in them no white space is tolerated that parsers
/// disagree about.
const DECISIVE: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "transfer-encoding",
    "upgrade",
];

/// Names and values. A name is a token; a value has no control characters but tabs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(Box<str>, Box<[u8]>)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Headers({})", self.0.len())
    }
}

impl Headers {
    /// Reads one line, without its end, and keeps it.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), HeadError> {
        if matches!(line.first(), Some(b' ' | b'\t')) {
            return Err(HeadError::Fold);
        }
        if line.len() > MAX_HEADER {
            return Err(HeadError::TooLong("header"));
        }
        if self.0.len() >= MAX_HEADERS {
            return Err(HeadError::TooMany);
        }
        let colon = line.iter().position(|b| *b == b':');
        let (name, value) = colon
            .and_then(|at| line.split_at_checked(at))
            .ok_or(HeadError::Name)?;
        let lead = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let name = token(name).filter(lead).ok_or(HeadError::Name)?;
        let value = value.get(1..).unwrap_or_default();
        let decisive = |name: &str| DECISIVE.iter().any(|d| d.eq_ignore_ascii_case(name));
        if name.contains('_') && decisive(&name.replace('_', "-")) {
            return Err(HeadError::LookAlike);
        }
        if decisive(name) && value.contains(&b'\t') {
            return Err(HeadError::Value);
        }
        let value = plain(name, value)?;
        self.0.push((name.into(), value));
        Ok(())
    }

    /// Adds a header; a value with control characters is left out.
    pub fn push(&mut self, name: &str, value: &[u8]) {
        if token(name.as_bytes()).is_some() && value.iter().all(|b| is_plain(*b)) {
            self.0.push((name.into(), value.into()));
        }
    }

    /// Every value of a header.
    pub fn all<'h, 'n>(&'h self, name: &'n str) -> impl Iterator<Item = &'h [u8]> + use<'h, 'n> {
        self.iter()
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The value of a header that comes exactly once and is ASCII.
    #[must_use]
    pub fn one(&self, name: &str) -> Option<&str> {
        let mut values = self.all(name);
        let value = values.next()?;
        if values.next().is_some() {
            return None;
        }
        std::str::from_utf8(value)
            .ok()
            .filter(|value| value.is_ascii())
    }

    /// Whether there is such a header.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The tokens of a comma-separated header, in lower case.
    pub fn tokens(&self, name: &str) -> impl Iterator<Item = String> {
        let lines: Vec<String> = self
            .all(name)
            .map(|line| String::from_utf8_lossy(line).to_ascii_lowercase())
            .collect();
        lines.into_iter().flat_map(|line| {
            let words: Vec<String> = line.split(',').map(|word| word.trim().to_owned()).collect();
            words.into_iter().filter(|word| !word.is_empty())
        })
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Leaves out what `keep` refuses.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }

    /// Writes them, each with its line end.
    pub fn write(&self, out: &mut Vec<u8>) {
        for (name, value) in self.iter() {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// A name, if these bytes are one.
pub(super) fn token(bytes: &[u8]) -> Option<&str> {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    let text = std::str::from_utf8(bytes).ok()?;
    (!bytes.is_empty() && bytes.iter().all(is_token)).then_some(text)
}

/// What a value may hold.
pub(super) const fn is_plain(b: u8) -> bool {
    matches!(b, b'\t' | b' '..=b'~' | 0x80..)
}

/// The value without blanks around it. A lone CR is a blank, as RFC 9112 has it, unless what follows could be taken for a
/// header, or the value frames the message.
fn plain(name: &str, value: &[u8]) -> Result<Box<[u8]>, HeadError> {
    let mut value: Box<[u8]> = value.into();
    if let Some(at) = value.iter().position(|b| *b == b'\r') {
        let framing = ["content-length", "transfer-encoding", "host"];
        let frames = framing.iter().any(|d| d.eq_ignore_ascii_case(name));
        if frames || value.iter().skip(at).any(|b| *b == b':') {
            return Err(HeadError::LineEnd);
        }
        for b in value.iter_mut().filter(|b| **b == b'\r') {
            *b = b' ';
        }
    }
    if !value.iter().all(|b| is_plain(*b)) {
        return Err(HeadError::Value);
    }
    Ok(value.trim_ascii().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(line: &str) -> Result<Headers, HeadError> {
        let mut headers = Headers::default();
        headers.take(line.as_bytes()).map(|()| headers)
    }

    #[test]
    fn a_line_has_one_reading_or_none() {
        for (line, error) in [
            ("name", HeadError::Name),
            (": v", HeadError::Name),
            ("na me: v", HeadError::Name),
            ("name : v", HeadError::Name),
            ("n\u{e4}me: v", HeadError::Name),
            (".name: v", HeadError::Name),
            (" folded: v", HeadError::Fold),
            ("\tfolded", HeadError::Fold),
            ("a: b\0c", HeadError::Value),
            ("a: b\u{7f}c", HeadError::Value),
            ("a: 1\rb: 2", HeadError::LineEnd),
            ("Transfer-Encoding: chunked\r", HeadError::LineEnd),
            ("Content-Length:\t5", HeadError::Value),
            ("Connection: close\t", HeadError::Value),
            ("Transfer_Encoding: chunked", HeadError::LookAlike),
            ("content_length: 5", HeadError::LookAlike),
        ] {
            assert_eq!(take(line).err(), Some(error), "{line:?}");
        }
        assert_eq!(take("A:\tb c \t").unwrap().one("a"), Some("b c"));
        assert_eq!(take("A: b\rc").unwrap().one("a"), Some("b c"));
        assert_eq!(take("a_b:").unwrap().one("a_b"), Some(""));
    }

    #[test]
    fn what_is_there_twice_is_not_one() {
        let mut headers = take("X: 1").unwrap();
        headers.push("x", b"2");
        headers.push("bad name", b"3");
        headers.push("y", b"a\r\nEvil: 1");
        assert_eq!((headers.one("x"), headers.all("X").count()), (None, 2));
        assert!(!headers.has("y") && !headers.has("bad name"));
        let mut out = Vec::new();
        headers.write(&mut out);
        assert_eq!(out, b"X: 1\r\nx: 2\r\n");
    }
}
