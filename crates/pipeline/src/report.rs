//! What is said about a body: never the body itself.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// A text in logs and alerts: hash and length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// SHA-256, in hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub length: usize,
}

impl Fingerprint {
    /// The fingerprint of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(text.as_bytes()) {
            // Writing to a text cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        Self {
            sha256,
            length: text.len(),
        }
    }
}

/// What the stages found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// On the detector's scale.
    pub score: f32,
    /// Categories of what was found, and remarks of the sanitiser, sorted.
    pub flags: Vec<String>,
    /// What was changed so that the text could be read safely.
    pub normalization: Vec<String>,
    /// Disguises in which something was found.
    pub obfuscation: Vec<String>,
    /// One line for a person.
    pub reason: String,
    /// The content.
    pub fingerprint: Fingerprint,
}
