//! How much is carried at once, how long anything may take, and what TLS must look like.

use std::time::Duration;

/// Bounds of everything that clients and origins send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections that may wait for the owner at once.
    pub waiting: usize,
    /// Bytes of a request's body.
    pub request_bytes: usize,
    /// Bytes of a response's body, as sent and decoded.
    pub response_bytes: usize,
    /// Bytes of bodies that are held for inspection at once, all together.
    pub held_bytes: usize,
    /// For a head to arrive.
    pub head: Duration,
    /// Between two requests of a connection.
    pub keep_alive: Duration,
    /// For a name to be resolved.
    pub resolve: Duration,
    /// For a connection to the origin.
    pub connect: Duration,
    /// Without a byte in either direction.
    pub idle: Duration,
    /// All in all.
    pub total: Duration,
    /// For the owner's answer, before a client is sent away.
    pub ask: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8192,
            waiting: 256,
            request_bytes: 10 << 20,
            response_bytes: 50 << 20,
            held_bytes: 256 << 20,
            head: Duration::from_secs(10),
            keep_alive: Duration::from_secs(60),
            resolve: Duration::from_secs(5),
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(600),
            total: Duration::from_secs(24 * 3600),
            ask: Duration::from_secs(30),
        }
    }
}

/// What tunnels must look like from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsRules {
    /// Greetings that may hide another name are let through.
    pub allow_hidden: bool,
    /// Greetings without a name are let through.
    pub allow_nameless: bool,
    /// Tunnels that speak something other than TLS are let through.
    pub allow_plain: bool,
}
