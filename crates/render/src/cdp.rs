//! The DevTools protocol over two pipes: calls that get one answer each, and events for whoever listens.
//!
//! Messages are bounded; an oversized answer becomes an error, an oversized event is dropped.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

/// The longest message that is read.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;
/// What of a longer one is kept to see whom it answers.
const PREFIX: usize = 128;
/// A buffer that grew beyond this is given back.
const KEPT_BUFFER: usize = 1024 * 1024;
/// Messages that may wait for the browser to read them.
const OUTBOX: usize = 1024;
/// Events that may wait for one listener.
const INBOX: usize = 8192;

/// Why a call has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The browser is gone.
    Gone,
    /// It answered with an error, or with something else than agreed.
    Rejected,
    /// The answer is too long.
    TooLarge,
}

/// Something that happened.
pub(crate) struct Event {
    pub(crate) method: String,
    params: Option<Box<RawValue>>,
}

impl Event {
    /// The parts of it that the caller knows.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_str(self.params.as_ref()?.get()).ok()
    }
}

type Outcome = Result<Box<RawValue>, CallError>;

/// A conversation with one browser.
pub(crate) struct Cdp {
    next: AtomicU64,
    outbox: mpsc::Sender<Vec<u8>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    closed: bool,
    waiting: HashMap<u64, oneshot::Sender<Outcome>>,
    listeners: HashMap<String, mpsc::Sender<Event>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TargetEvent {
    #[serde(rename = "targetInfo")]
    target: TargetContext,
}

#[derive(Deserialize)]
struct TargetContext {
    #[serde(rename = "browserContextId")]
    context: Option<String>,
}

impl Cdp {
    /// A conversation, and what is to be written to the browser.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let cdp = Self {
            next: AtomicU64::new(1),
            outbox,
            state: Mutex::default(),
        };
        (cdp, outgoing)
    }

    /// Whether the browser has ended the conversation.
    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn call<T: for<'a> Deserialize<'a>>(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<T, CallError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.state();
            if state.closed {
                return Err(CallError::Gone);
            }
            state.waiting.insert(id, answer);
        }
        let _forget = Forget { cdp: self, id };
        self.outbox
            .send(encode(id, session, method, params))
            .await
            .map_err(|_| CallError::Gone)?;
        let result = answered.await.map_err(|_| CallError::Gone)??;
        serde_json::from_str(result.get()).map_err(|_| CallError::Rejected)
    }

    /// Tells, and does not wait.
    pub(crate) fn tell(&self, session: Option<&str>, method: &str, params: Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // A browser that does not read will miss its deadline anyway.
        let _ = self.outbox.try_send(encode(id, session, method, params));
    }

    /// Events of this session or browser context, until the listener is dropped or falls far behind.
    pub(crate) fn listen(&self, key: &str, to: &mpsc::Sender<Event>) {
        self.state().listeners.insert(key.to_owned(), to.clone());
    }

    pub(crate) fn inbox() -> (mpsc::Sender<Event>, mpsc::Receiver<Event>) {
        mpsc::channel(INBOX)
    }

    pub(crate) fn unlisten(&self, key: &str) {
        self.state().listeners.remove(key);
    }

    /// Writes until there is nothing more to write or nobody to read it.
    pub(crate) async fn write(
        mut outgoing: mpsc::Receiver<Vec<u8>>,
        mut pipe: impl AsyncWrite + Unpin,
    ) {
        while let Some(message) = outgoing.recv().await {
            if pipe.write_all(&message).await.is_err() || pipe.flush().await.is_err() {
                return;
            }
        }
    }

    /// Reads until the browser ends the conversation.
    pub(crate) async fn read(&self, pipe: impl AsyncRead + Unpin) {
        self.read_within(pipe, MAX_MESSAGE).await;
        self.close();
    }

    /// Nobody gets an answer or an event any more.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.waiting.clear();
        state.listeners.clear();
    }

    async fn read_within(&self, pipe: impl AsyncRead + Unpin, max: usize) {
        let mut pipe = BufReader::with_capacity(64 * 1024, pipe);
        let mut message = Vec::new();
        let mut oversized = false;
        loop {
            let Ok(chunk) = pipe.fill_buf().await else {
                return;
            };
            if chunk.is_empty() {
                return;
            }
            let (part, ended) = match chunk.iter().position(|byte| *byte == 0) {
                Some(at) => (chunk.get(..at).unwrap_or_default(), true),
                None => (chunk, false),
            };
            if !oversized && message.len() + part.len() > max {
                message.extend_from_slice(part.get(..PREFIX).unwrap_or(part));
                message.truncate(PREFIX);
                oversized = true;
            } else if !oversized {
                message.extend_from_slice(part);
            }
            let used = part.len() + usize::from(ended);
            pipe.consume(used);
            if ended {
                if oversized {
                    self.dispatch_oversized(&message);
                } else {
                    self.dispatch(&message);
                }
                oversized = false;
                message.clear();
                message.shrink_to(KEPT_BUFFER);
            }
        }
    }

    fn dispatch(&self, message: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Message<'_>>(message) else {
            return;
        };
        if let Some(id) = message.id {
            let outcome = message
                .result
                .map(ToOwned::to_owned)
                .ok_or(CallError::Rejected);
            self.answer(id, outcome);
        } else if let Some(method) = message.method {
            let key = match message.session {
                Some(session) => Some(session.into_owned()),
                None => context_of(message.params),
            };
            let Some(key) = key else { return };
            let mut state = self.state();
            let Some(listener) = state.listeners.get(&key) else {
                return;
            };
            let event = Event {
                method: method.into_owned(),
                params: message.params.map(ToOwned::to_owned),
            };
            if listener.try_send(event).is_err() {
                // Whoever is flooded is told by the end of the events; nobody else waits for it.
                state.listeners.remove(&key);
            }
        }
    }

    fn dispatch_oversized(&self, prefix: &[u8]) {
        let digits = prefix.strip_prefix(b"{\"id\":").map(|rest| {
            rest.iter()
                .take_while(|byte| byte.is_ascii_digit())
                .map(|byte| char::from(*byte))
                .collect::<String>()
        });
        if let Some(id) = digits.and_then(|digits| digits.parse().ok()) {
            self.answer(id, Err(CallError::TooLarge));
        }
    }

    fn answer(&self, id: u64, outcome: Outcome) {
        let waiting = self.state().waiting.remove(&id);
        if let Some(waiting) = waiting {
            // Nobody may be waiting any more.
            let _ = waiting.send(outcome);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn encode(id: u64, session: Option<&str>, method: &str, params: Value) -> Vec<u8> {
    let mut message = serde_json::Map::new();
    message.insert("id".to_owned(), id.into());
    message.insert("method".to_owned(), method.into());
    message.insert("params".to_owned(), params);
    if let Some(session) = session {
        message.insert("sessionId".to_owned(), session.into());
    }
    let mut message = Value::Object(message).to_string().into_bytes();
    message.push(0);
    message
}

fn context_of(params: Option<&RawValue>) -> Option<String> {
    let event: TargetEvent = serde_json::from_str(params?.get()).ok()?;
    event.target.context
}

/// A call that nobody waits for any more leaves nothing behind.
struct Forget<'a> {
    cdp: &'a Cdp,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.cdp.state().waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn waiting(cdp: &Cdp, id: u64) -> oneshot::Receiver<Outcome> {
        let (answer, answered) = oneshot::channel();
        cdp.state().waiting.insert(id, answer);
        answered
    }

    #[tokio::test]
    async fn answers_find_their_calls_and_events_their_listeners() {
        let (cdp, _outgoing) = Cdp::new();
        let (one, two) = (waiting(&cdp, 1), waiting(&cdp, 2));
        let (sender, mut events) = Cdp::inbox();
        cdp.listen("S", &sender);
        cdp.listen("C", &sender);
        let bytes = concat!(
            "{\"id\":2,\"error\":{\"code\":-1}}\0nonsense\0{\"id\":1,\"result\":{\"a\":1}}\0",
            "{\"method\":\"A.b\",\"sessionId\":\"S\",\"params\":{\"x\":\"\\ud800\"}}\0",
            "{\"method\":\"A.c\",\"sessionId\":\"T\",\"params\":{}}\0",
            "{\"method\":\"Target.d\",\"params\":{\"targetInfo\":{\"browserContextId\":\"C\"}}}\0"
        );
        cdp.read(bytes.as_bytes()).await;
        assert_eq!(one.await.unwrap().unwrap().get(), "{\"a\":1}");
        assert_eq!(two.await.unwrap().unwrap_err(), CallError::Rejected);
        assert_eq!(events.recv().await.unwrap().method, "A.b");
        assert_eq!(events.recv().await.unwrap().method, "Target.d");
        assert!(cdp.is_closed());
        let gone = cdp.call::<Value>(None, "A.e", json!({})).await;
        assert_eq!(gone.unwrap_err(), CallError::Gone);
    }

    #[tokio::test]
    async fn oversized_messages_cost_no_memory_and_fail_their_call() {
        let (cdp, _outgoing) = Cdp::new();
        let (one, two) = (waiting(&cdp, 1), waiting(&cdp, 2));
        let long = format!(
            "{{\"id\":1,\"result\":\"{}\"}}\0{{\"id\":2,\"result\":7}}\0",
            "x".repeat(300_000)
        );
        cdp.read_within(long.as_bytes(), 100_000).await;
        assert_eq!(one.await.unwrap().unwrap_err(), CallError::TooLarge);
        assert_eq!(two.await.unwrap().unwrap().get(), "7");
    }

    #[tokio::test]
    async fn a_flooded_listener_is_cut_off() {
        let (cdp, _outgoing) = Cdp::new();
        let (sender, mut events) = Cdp::inbox();
        cdp.listen("S", &sender);
        drop(sender);
        let event = "{\"method\":\"A.b\",\"sessionId\":\"S\"}\0".repeat(INBOX + 1);
        cdp.read_within(event.as_bytes(), 1000).await;
        for _ in 0..INBOX {
            assert!(events.recv().await.is_some());
        }
        assert!(events.recv().await.is_none());
    }
}
