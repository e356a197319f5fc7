//! Counts of what went out and what did not; cheap to raise, fixed in number.

use crate::journal::Entry;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// All counts of a proxy. Totals count from its start.
#[derive(Debug, Default)]
pub struct Metrics {
    allowed: AtomicU64,
    denied: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
    connections: AtomicU64,
    tunnels: AtomicU64,
}

impl Metrics {
    pub(crate) fn count(&self, allowed: bool, entry: &Entry) {
        let counter = if allowed { &self.allowed } else { &self.denied };
        counter.fetch_add(1, Relaxed);
        self.up.fetch_add(entry.up, Relaxed);
        self.down.fetch_add(entry.down, Relaxed);
    }

    /// Requests that were carried.
    #[must_use]
    pub fn allowed(&self) -> u64 {
        self.allowed.load(Relaxed)
    }

    /// Requests that were refused.
    #[must_use]
    pub fn denied(&self) -> u64 {
        self.denied.load(Relaxed)
    }

    /// Connections of clients that are open.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Relaxed)
    }

    /// Tunnels that are open.
    #[must_use]
    pub fn tunnels(&self) -> u64 {
        self.tunnels.load(Relaxed)
    }

    pub(crate) fn connection(&self) -> Open<'_> {
        Open::new(&self.connections)
    }

    pub(crate) fn tunnel(&self) -> Open<'_> {
        Open::new(&self.tunnels)
    }

    /// In Prometheus' text format.
    #[must_use]
    pub fn prometheus(&self) -> String {
        let mut page = String::new();
        let mut one = |name: &str, kind: &str, help: &str, value: u64| {
            // Writing to a text cannot fail.
            let _ = write!(
                page,
                "# HELP blastshield_egress_{name} {help}\n# TYPE blastshield_egress_{name} {kind}\nblastshield_egress_{name} {value}\n"
            );
        };
        one(
            "allowed_total",
            "counter",
            "Requests that were carried.",
            self.allowed(),
        );
        one(
            "denied_total",
            "counter",
            "Requests that were refused.",
            self.denied(),
        );
        one(
            "sent_bytes_total",
            "counter",
            "Bytes towards origins.",
            self.up.load(Relaxed),
        );
        one(
            "received_bytes_total",
            "counter",
            "Bytes from origins.",
            self.down.load(Relaxed),
        );
        one(
            "connections",
            "gauge",
            "Connections of clients that are open.",
            self.connections(),
        );
        one("tunnels", "gauge", "Tunnels that are open.", self.tunnels());
        page
    }
}

/// Counts for as long as it lives.
pub(crate) struct Open<'m>(&'m AtomicU64);

impl<'m> Open<'m> {
    fn new(counter: &'m AtomicU64) -> Self {
        counter.fetch_add(1, Relaxed);
        Self(counter)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
