//! What core and worker say to each other over the inherited line: frames of a kind, a length and that many bytes.
//!
//! Either side may be hostile to the other's parser, so that lengths are checked before anything is allocated, and what
//! is read is strict JSON or plain bytes.

use crate::worker::How;
use blastshield_limits::proxy::ProxyState;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The most that a message may have.
pub(crate) const MAX_MESSAGE: usize = 12 << 20;

/// Why a line is of no use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineError {
    #[error("the other side is gone")]
    Closed,
    #[error("a message is larger than allowed")]
    TooLarge,
    #[error("a message cannot be read")]
    Malformed,
}

/// What core tells a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ToWorker {
    /// First: the service.
    Service(ServiceText),
    /// Then, once: the task.
    Task(Box<Job>),
    /// The answer to what it asked; the bytes follow in a frame of their own.
    Answer(Answer),
    /// It may not, or could not.
    Refused(Refused),
    /// End now.
    End(Ending),
}

/// The definition, as its owner wrote it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceText {
    pub(crate) definition: String,
    pub(crate) loopback: bool,
    pub(crate) how: How,
    /// Where a test wants the worker to die.
    #[cfg(debug_assertions)]
    #[serde(default)]
    pub(crate) fault: Option<String>,
}

/// What part of an operation a worker is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// All of it.
    Act,
    /// Up to a draft for the owner to see.
    Draft,
    /// From the draft that the owner approved.
    Send,
}

/// A task: its parameters, and nothing else of the agent's world.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    pub(crate) task: String,
    pub(crate) operation: String,
    pub(crate) phase: Phase,
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
    /// With whom, and what core remembers of it.
    pub(crate) with: Option<Person>,
    pub(crate) capability: String,
    pub(crate) limits: ProxyState,
    pub(crate) profile: String,
    pub(crate) now_ms: u64,
    pub(crate) time_ms: u64,
}

/// Somebody on the other side, as the relationships have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) tier: String,
    /// The last interactions, in a few words of ours.
    pub(crate) recent: Vec<String>,
}

/// The head of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) retry_after_ms: Option<u64>,
}

/// Why the broker did not do what a worker asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    pub(crate) why: Why,
    pub(crate) detail: String,
    pub(crate) retry_after_ms: Option<u64>,
}

/// What kind of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// Not what the definition, the capability or the owner's yes allows.
    Forbidden,
    /// The burn limit.
    Burned,
    /// Too often.
    Limited,
    /// Stage 6b.
    Leak,
    /// The service could not be reached, or answered nonsense.
    Unreachable,
    /// The service refuses the credential, or there is none.
    Auth,
    /// Something here failed; nothing was sent.
    Core,
}

/// Why a worker is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    /// Its time is up.
    TimeOut,
    /// Core goes.
    Shutdown,
    /// The owner closed all ways out.
    OwnerStop,
}

/// What a worker tells core.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FromWorker {
    /// Confined, and everything built that a task needs.
    Ready,
    /// Asks for the operation's request to be sent.
    Ask(Ask),
    /// What came of the task.
    Done(Outcome),
}

/// A request of a worker. It names an operation, never an address.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) capability: String,
    pub(crate) operation: String,
    pub(crate) params: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
}

/// What came of a task.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Outcome {
    /// Data that passed every stage.
    Data {
        data: Value,
        summary: String,
        flags: Vec<String>,
    },
    /// A draft waits for the owner.
    Drafted { draft: String },
    /// Nothing, for a reason that is no crash.
    Failed {
        code: String,
        message: String,
        retry_after_ms: Option<u64>,
    },
}

const JSON: u8 = b'j';
const BYTES: u8 = b'b';

fn head(kind: u8, length: usize) -> Result<[u8; 5], LineError> {
    let length = u32::try_from(length).map_err(|_| LineError::TooLarge)?;
    let [a, b, c, d] = length.to_be_bytes();
    Ok([kind, a, b, c, d])
}

fn length_of(head: [u8; 5], kind: u8, most: usize) -> Result<usize, LineError> {
    let [found, a, b, c, d] = head;
    if found != kind {
        return Err(LineError::Malformed);
    }
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if length > most.min(MAX_MESSAGE) {
        return Err(LineError::TooLarge);
    }
    Ok(length)
}

fn encoded(message: &impl Serialize) -> Result<Vec<u8>, LineError> {
    let text = serde_json::to_vec(message).map_err(|_| LineError::Malformed)?;
    if text.len() > MAX_MESSAGE {
        return Err(LineError::TooLarge);
    }
    let mut frame = head(JSON, text.len())?.to_vec();
    frame.extend(text);
    Ok(frame)
}

fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LineError> {
    serde_json::from_slice(bytes).map_err(|_| LineError::Malformed)
}

/// The worker's side: it waits.
pub(crate) mod waiting {
    use super::*;

    pub(crate) fn send(line: &mut impl Write, message: &impl Serialize) -> Result<(), LineError> {
        let frame = encoded(message)?;
        line.write_all(&frame).map_err(closed)?;
        line.flush().map_err(closed)
    }

    pub(crate) fn receive<T: DeserializeOwned>(
        line: &mut impl Read,
        most: usize,
    ) -> Result<T, LineError> {
        decoded(&frame(line, JSON, most)?)
    }

    pub(crate) fn bytes(line: &mut impl Read, most: usize) -> Result<Vec<u8>, LineError> {
        frame(line, BYTES, most)
    }

    fn frame(line: &mut impl Read, kind: u8, most: usize) -> Result<Vec<u8>, LineError> {
        let mut head = [0; 5];
        line.read_exact(&mut head).map_err(closed)?;
        let mut bytes = vec![0; length_of(head, kind, most)?];
        line.read_exact(&mut bytes).map_err(closed)?;
        Ok(bytes)
    }
}

/// Core's side: it does other things meanwhile.
pub(crate) mod polled {
    use super::*;

    pub(crate) async fn send(
        line: &mut (impl AsyncWrite + Unpin),
        message: &impl Serialize,
    ) -> Result<(), LineError> {
        let frame = encoded(message)?;
        line.write_all(&frame).await.map_err(closed)
    }

    pub(crate) async fn send_bytes(
        line: &mut (impl AsyncWrite + Unpin),
        bytes: &[u8],
    ) -> Result<(), LineError> {
        let head = head(BYTES, bytes.len())?;
        line.write_all(&head).await.map_err(closed)?;
        line.write_all(bytes).await.map_err(closed)
    }

    pub(crate) async fn receive<T: DeserializeOwned>(
        line: &mut (impl AsyncRead + Unpin),
        most: usize,
    ) -> Result<T, LineError> {
        let mut head = [0; 5];
        line.read_exact(&mut head).await.map_err(closed)?;
        let length = length_of(head, JSON, most)?;
        let mut bytes = vec![0; length];
        line.read_exact(&mut bytes).await.map_err(closed)?;
        decoded(&bytes)
    }
}

fn closed(_: io::Error) -> LineError {
    LineError::Closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_are_read_back() {
        let mut wire = Vec::new();
        let ask = Ask {
            capability: "c".into(),
            operation: "o".into(),
            params: BTreeMap::new(),
            body: None,
        };
        waiting::send(&mut wire, &FromWorker::Ask(ask)).unwrap();
        let read: FromWorker = waiting::receive(&mut wire.as_slice(), 1000).unwrap();
        assert!(matches!(read, FromWorker::Ask(ask) if ask.operation == "o"));
        let short = waiting::receive::<FromWorker>(&mut wire.as_slice(), 10);
        assert_eq!(short.unwrap_err(), LineError::TooLarge);
        assert_eq!(
            waiting::bytes(&mut wire.as_slice(), 1000).unwrap_err(),
            LineError::Malformed
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_allocate(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = waiting::receive::<FromWorker>(&mut bytes.as_slice(), 1 << 20);
            let _ = waiting::receive::<ToWorker>(&mut bytes.as_slice(), 1 << 20);
        }
    }
}
