//! One entry is one line, and the line proves itself: its hash covers every byte before it, the hash of the entry before
//! included. Nothing has to be brought into a canonical form to check it.

use crate::{Category, Digest, Severity, Time};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// No line is longer.
pub(crate) const MAX_LINE: usize = 32 * 1024;
/// Binds a hash to this format.
const DOMAIN: &[u8] = b"blastshield audit 1\n";
const BEFORE_HASH: &[u8] = b",\"hash\":\"";
const AFTER_HASH: &[u8] = b"\"}";

/// A place in the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Number of the entry; the first is 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// An entry as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number.
    pub seq: u64,
    /// When.
    pub timestamp: Time,
    /// How grave.
    pub severity: Severity,
    /// About what.
    pub category: Category,
    /// One sentence.
    pub message: String,
    /// Redacted details.
    pub details: Map<String, Value>,
    /// Hash of the entry before.
    pub prev: Digest,
    /// Its own.
    pub hash: Digest,
}

/// What is to be written, cleaned already.
pub(crate) struct Draft {
    pub(crate) severity: Severity,
    pub(crate) category: Category,
    pub(crate) message: String,
    pub(crate) details: Map<String, Value>,
    /// On disk before it is acknowledged.
    pub(crate) synced: bool,
}

impl Draft {
    /// The line that follows `last`, with its newline, and its mark.
    pub(crate) fn line(&self, last: Mark, time: Time) -> (Vec<u8>, Mark) {
        let seq = last.seq + 1;
        let mut line = format!(
            r#"{{"seq":{seq},"timestamp":"{time}","severity":"{}","category":"{}","message":{},"details":{},"prev":"{}""#,
            self.severity,
            self.category,
            Value::from(self.message.as_str()),
            serde_json::to_string(&self.details).unwrap_or_else(|_| "{}".to_owned()),
            last.hash
        )
        .into_bytes();
        let hash = Digest::of_parts(&[DOMAIN, &line]);
        line.extend_from_slice(BEFORE_HASH);
        line.extend_from_slice(hash.to_string().as_bytes());
        line.extend_from_slice(AFTER_HASH);
        line.push(b'\n');
        (line, Mark { seq, hash })
    }
}

/// What is wrong with a line by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Not the shape of an entry.
    Shape,
    /// The hash is not that of the line.
    Hash,
}

/// A line whose hash is right.
pub(crate) struct Link {
    pub(crate) mark: Mark,
    pub(crate) prev: Digest,
    pub(crate) time: Time,
    pub(crate) severity: Option<Severity>,
    pub(crate) category: Option<Category>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame<'a> {
    seq: u64,
    timestamp: &'a str,
    severity: &'a str,
    category: &'a str,
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(default)]
    details: Option<Map<String, Value>>,
    prev: &'a str,
    hash: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "names what must be there")]
struct Outline<'a> {
    seq: u64,
    timestamp: &'a str,
    severity: &'a str,
    category: &'a str,
    message: serde::de::IgnoredAny,
    details: serde::de::IgnoredAny,
    prev: &'a str,
    hash: serde::de::IgnoredAny,
}

/// Checks a line (without newline) by itself.
pub(crate) fn check(line: &[u8]) -> Result<Link, Flaw> {
    let rest = line.strip_suffix(AFTER_HASH).ok_or(Flaw::Shape)?;
    let (rest, hash) = rest
        .split_at_checked(rest.len().saturating_sub(64))
        .ok_or(Flaw::Shape)?;
    let body = rest.strip_suffix(BEFORE_HASH).ok_or(Flaw::Shape)?;
    let hash = std::str::from_utf8(hash)
        .ok()
        .and_then(Digest::parse)
        .ok_or(Flaw::Hash)?;
    if Digest::of_parts(&[DOMAIN, body]) != hash {
        return Err(Flaw::Hash);
    }
    let outline: Outline<'_> = serde_json::from_slice(line).map_err(|_| Flaw::Shape)?;
    Ok(Link {
        mark: Mark {
            seq: outline.seq,
            hash,
        },
        prev: Digest::parse(outline.prev).ok_or(Flaw::Shape)?,
        time: Time::parse(outline.timestamp).ok_or(Flaw::Shape)?,
        severity: Severity::parse(outline.severity),
        category: Category::parse(outline.category),
    })
}

/// Reads a line without checking its hash; nothing when it is not an entry that this version knows.
pub(crate) fn read(line: &[u8]) -> Option<Entry> {
    let frame: Frame<'_> = serde_json::from_slice(line).ok()?;
    Some(Entry {
        seq: frame.seq,
        timestamp: Time::parse(frame.timestamp)?,
        severity: Severity::parse(frame.severity)?,
        category: Category::parse(frame.category)?,
        message: frame.message.into_owned(),
        details: frame.details.unwrap_or_default(),
        prev: Digest::parse(frame.prev)?,
        hash: Digest::parse(frame.hash)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft() -> Draft {
        let Value::Object(details) = json!({"a": "\"quoted\" \\ ü", "n": [1, 2.5, null]}) else {
            panic!()
        };
        Draft {
            severity: Severity::Warn,
            category: Category::Threat,
            message: "It \"happened\"".to_owned(),
            details,
            synced: false,
        }
    }

    #[test]
    fn a_line_is_read_back() {
        let last = Mark {
            seq: 6,
            hash: Digest::of(b"six"),
        };
        let (line, mark) = draft().line(last, Time::from_millis(1));
        let line = line.strip_suffix(b"\n").unwrap();
        let link = check(line).ok().unwrap();
        assert_eq!((link.mark, link.prev), (mark, last.hash));
        let entry = read(line).unwrap();
        assert_eq!(
            (entry.seq, entry.hash, entry.prev),
            (7, mark.hash, last.hash)
        );
        assert_eq!(entry.message, "It \"happened\"");
        assert_eq!(entry.details, draft().details);
    }

    #[test]
    fn every_changed_byte_shows() {
        let (line, _) = draft().line(Mark::default(), Time::from_millis(1));
        let line = line.strip_suffix(b"\n").unwrap();
        for place in 0..line.len() {
            for flip in [1, 0x20, 0x80] {
                let mut changed = line.to_vec();
                changed[place] ^= flip;
                assert!(check(&changed).is_err(), "byte {place}");
            }
        }
        for end in 0..line.len() {
            assert!(check(&line[..end]).is_err());
        }
    }
}
