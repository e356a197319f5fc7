//! SHA-256 values, and what may be said about a content.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 value, shown in hexadecimal.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest([u8; 32]);

impl Digest {
    /// What stands before the first entry.
    pub const ZERO: Self = Self([0; 32]);

    /// Of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of parts as if they were one.
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// From its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Reads 64 hexadecimal digits in lower case.
    #[must_use]
    pub fn parse(hex: &str) -> Option<Self> {
        let (pairs, []) = hex.as_bytes().as_chunks::<2>() else {
            return None;
        };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Some(Self(bytes))
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// All that is ever recorded of a content: hash and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// How many bytes.
    pub length: u64,
}

impl Fingerprint {
    /// Of a content.
    #[must_use]
    pub fn of(content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        Self {
            sha256: Digest::of(content),
            length: content.len() as u64,
        }
    }

    pub(crate) fn to_json(self) -> Value {
        json!({"sha256": self.sha256.to_string(), "length": self.length})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_back_and_nothing_else_is() {
        let digest = Digest::of(b"abc");
        let hex = digest.to_string();
        assert!(hex.starts_with("ba7816bf") && hex.len() == 64);
        assert_eq!(Digest::parse(&hex), Some(digest));
        assert_eq!(Digest::of_parts(&[b"a", b"", b"bc"]), digest);
        for wrong in [
            "",
            "ba",
            &hex.to_uppercase(),
            hex.trim_start_matches('b'),
            &format!("{hex}00"),
        ] {
            assert_eq!(Digest::parse(wrong), None);
        }
    }
}
