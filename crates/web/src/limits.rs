//! How much of an origin's bytes, headers, redirects and time one fetch may take.

use std::time::Duration;

/// The bounds of one fetch. Defaults suit an ordinary page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Redirects that are followed.
    pub redirects: usize,
    /// Body bytes as they come over the wire, compressed.
    pub wire_bytes: u64,
    /// Body bytes after decoding.
    pub decoded_bytes: u64,
    /// Bytes of one response's headers.
    pub header_bytes: usize,
    /// Headers of one response.
    pub header_count: usize,
    /// To resolve a name, and again to connect and secure the connection, per hop.
    pub connect: Duration,
    /// From the request to the end of the response's head, per hop.
    pub first_byte: Duration,
    /// For everything.
    pub total: Duration,
    /// Bytes per second that a body must bring on average once [`FetchLimits::grace`] is over.
    pub min_rate: u64,
    /// How long a body may be slow.
    pub grace: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            redirects: 3,
            wire_bytes: 1_000_000,
            decoded_bytes: 1_000_000,
            header_bytes: 64 * 1024,
            header_count: 128,
            connect: Duration::from_secs(4),
            first_byte: Duration::from_secs(6),
            total: Duration::from_secs(7),
            min_rate: 512,
            grace: Duration::from_secs(2),
        }
    }
}

impl FetchLimits {
    /// What one connection may bring in all: body, head, and the framing around them.
    pub(crate) fn connection_bytes(&self) -> u64 {
        let head = u64::try_from(self.header_bytes).unwrap_or(u64::MAX);
        self.wire_bytes
            .saturating_add(self.wire_bytes / 4)
            .saturating_add(head.saturating_mul(2))
            .saturating_add(64 * 1024)
    }
}
