//! Connections to origins. One is kept while its client goes on asking the same origin, and nobody else ever uses it; after a
//! fault, a doubt or a long pause it is closed.

use crate::exchange::Route;
use crate::http::{self, HeadError, RequestHead, ResponseHead, Upgrade};
use crate::journal::Entry;
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::wire::Wire;
use blastshield_policy::Host;
use blastshield_web::Duplex;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// Answers before the final one.
const MAX_INTERIM: usize = 8;
/// Longest pause between two requests of one connection: many origins close theirs soon after.
const KEPT_FOR: Duration = Duration::from_secs(15);
/// Methods that mean the same when they arrive twice.
const REPEATABLE: &[&str] = &["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"];

/// A connection to an origin, at the address that was checked when it was opened.
pub(crate) struct Origin {
    pub(crate) wire: Wire<Box<dyn Duplex>>,
    host: Host,
    port: u16,
    secure: bool,
    address: SocketAddr,
    by_exception: bool,
    used: Instant,
}

impl Origin {
    /// Whether the next request may go through it: the same place, not long ago, and not a byte since.
    fn serves(&mut self, route: &Route) -> bool {
        self.host == route.host
            && self.port == route.port
            && self.secure == route.secure
            && self.used.elapsed() < KEPT_FOR
            && self.wire.is_quiet()
    }

    /// To be kept after an answer that ended where it said it would.
    pub(crate) fn rested(mut self) -> Option<Self> {
        self.used = Instant::now();
        self.wire.arrived().is_empty().then_some(self)
    }
}

/// A request as it goes to the origin.
pub(crate) struct Outgoing<'r> {
    pub(crate) head: &'r RequestHead,
    pub(crate) route: &'r Route,
    pub(crate) bytes: &'r [u8],
    pub(crate) upgrade: Upgrade,
}

impl Inner {
    /// Sends a request and reads the head of its answer, over the kept connection if there is one that serves. One that
    /// the origin closed meanwhile is replaced, unless the request might then be carried out twice: nothing is said to
    /// the client in that case, and clients know that a connection used again may end like this.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) async fn asked<S: Duplex>(
        &self,
        client: &mut Wire<S>,
        kept: Option<Origin>,
        request: &Outgoing<'_>,
        entry: &mut Entry,
    ) -> Result<(Origin, ResponseHead), Refusal> {
        if let Some(mut origin) = kept
            && request.upgrade == Upgrade::No
            && origin.serves(request.route)
        {
            (entry.address, entry.by_exception) = (Some(origin.address), origin.by_exception);
            let outcome = self.answered(&mut origin, request).await;
            let lost = matches!(outcome, Err(Refusal::Gone)) && !origin.wire.heard;
            if !lost {
                entry.up += request.bytes.len() as u64;
                return outcome.map(|answer| (origin, answer));
            }
            if !REPEATABLE.contains(&&*request.head.method) {
                client.hush();
                return Err(Refusal::Gone);
            }
        }
        let mut origin = self.origin(request.route, entry).await?;
        let answer = self.answered(&mut origin, request).await?;
        entry.up += request.bytes.len() as u64;
        Ok((origin, answer))
    }

    async fn answered(
        &self,
        origin: &mut Origin,
        request: &Outgoing<'_>,
    ) -> Result<ResponseHead, Refusal> {
        origin.wire.begin();
        origin.wire.send(request.bytes, self.limits.idle).await?;
        self.answer_head(&mut origin.wire, request.upgrade).await
    }

    async fn origin(&self, route: &Route, entry: &mut Entry) -> Result<Origin, Refusal> {
        let dialled = self
            .dialer
            .dial(&route.host, route.port, &self.limits)
            .await?;
        (entry.address, entry.by_exception) = (Some(dialled.address), dialled.by_exception);
        let stream: Box<dyn Duplex> = if route.secure {
            Box::new(self.secure(&route.host, dialled.stream).await?)
        } else {
            Box::new(dialled.stream)
        };
        Ok(Origin {
            wire: Wire::new(stream),
            host: route.host.clone(),
            port: route.port,
            secure: route.secure,
            address: dialled.address,
            by_exception: dialled.by_exception,
            used: Instant::now(),
        })
    }

    /// The head of the final answer; those before it are dropped.
    async fn answer_head(
        &self,
        origin: &mut Wire<Box<dyn Duplex>>,
        upgrade: Upgrade,
    ) -> Result<ResponseHead, Refusal> {
        for _ in 0..MAX_INTERIM {
            let arrived = origin.answer(self.limits.idle, self.limits.head).await;
            let bytes = arrived.map_err(|refusal| match refusal {
                Refusal::Head(error) => Refusal::Answer(error),
                other => other,
            })?;
            let head = ResponseHead::parse(&bytes).map_err(Refusal::Answer)?;
            match head.status {
                101 if upgrade == Upgrade::WebSocket => return Ok(head),
                101 => return Err(Refusal::Answer(HeadError::Status)),
                100..200 => {}
                _ => return Ok(head),
            }
        }
        Err(Refusal::Answer(http::HeadError::TooMany))
    }
}
