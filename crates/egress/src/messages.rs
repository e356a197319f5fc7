//! A WebSocket connection: each message is looked into before any frame of it goes on.

use crate::journal::Entry;
use crate::refusal::Refusal;
use crate::server::Inner;
use crate::websocket::{Batch, FrameError, Frames};
use crate::wire::Wire;
use blastshield_web::Duplex;
use tokio::time::{Instant, timeout_at};

const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Out,
    Back,
}

impl Inner {
    /// Carries messages until one side ends, sends what may not pass, or is silent for too long.
    pub(crate) async fn messages<S: Duplex>(
        &self,
        client: &mut Wire<S>,
        origin: &mut Wire<Box<dyn Duplex>>,
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        let (mut out, mut back) = (Frames::new(true), Frames::new(false));
        let end = Instant::now() + self.limits.total;
        loop {
            while let Some(batch) = next(&mut out, client)? {
                entry.up += batch.raw.len() as u64;
                self.check(&batch, Way::Out).await?;
                origin.send(&batch.raw, self.limits.idle).await?;
            }
            while let Some(batch) = next(&mut back, origin)? {
                entry.down += batch.raw.len() as u64;
                self.check(&batch, Way::Back).await?;
                client.send(&batch.raw, self.limits.idle).await?;
            }
            let until = end.min(Instant::now() + self.limits.idle);
            let more = async {
                tokio::select! {
                    read = client.more(PIECE) => read,
                    read = origin.more(PIECE) => read,
                }
            };
            match timeout_at(until, more).await {
                Ok(Ok(0)) => return Ok(()),
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return Err(Refusal::Gone),
                Err(_) => return Err(Refusal::Timeout("nothing came for too long")),
            }
        }
    }

    async fn check(&self, batch: &Batch, way: Way) -> Result<(), Refusal> {
        if batch.message.is_empty() {
            return Ok(());
        }
        match way {
            Way::Out => {
                self.inspector
                    .outbound_text("message", batch.message.clone())
                    .await
            }
            Way::Back => {
                let text = String::from_utf8_lossy(&batch.message).into_owned();
                self.inspector.inbound_piece(text).await
            }
        }
    }
}

fn next<S: Duplex>(frames: &mut Frames, wire: &mut Wire<S>) -> Result<Option<Batch>, Refusal> {
    loop {
        let taken = frames.take(wire.arrived()).map_err(|error| match error {
            FrameError::Malformed => Refusal::Uninspectable("a WebSocket frame is malformed"),
            FrameError::TooLong => Refusal::TooLarge("WebSocket message"),
        })?;
        let Some((used, batch)) = taken else {
            return Ok(None);
        };
        wire.take(used);
        if batch.is_some() {
            return Ok(batch);
        }
    }
}
