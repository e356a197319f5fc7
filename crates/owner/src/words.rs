//! Words that are about no request, on their way to a channel. Answers to the owner's words wait in memory; alerts are put
//! into the store at once, so that neither a channel that is down nor a restart costs one. Both queues are bounded, and
//! what found no room is told as a number.

use crate::{Approvals, RequestId};
use blastshield_audit::Alert;
use blastshield_audit::alerts::{Sink, SinkError};
use blastshield_store::{StoreError, WaitingAlert};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// Words that may wait in memory.
const WAITING: usize = 256;
/// Alerts that may wait in the store for one channel.
const KEPT: u32 = 1000;
/// A body that is longer than this is left out: the text says the same.
const MAX_BODY: usize = 24 << 10;

/// Something to say that is about no request.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Text(String),
    Alert { text: String, body: Value },
}

impl Word {
    pub(crate) fn of(alert: &WaitingAlert) -> Self {
        Self::Alert {
            text: alert.text.clone(),
            body: serde_json::from_str(&alert.body).unwrap_or_else(|_| json!({})),
        }
    }

    /// As people read it.
    pub(crate) fn text(&self) -> &str {
        let (Self::Text(text) | Self::Alert { text, .. }) = self;
        text
    }
}

/// The way into a channel's queue of words.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    sender: mpsc::Sender<Word>,
    load: Arc<Load>,
}

/// What is on its way.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Alerts that are not in the store yet.
    unkept: AtomicUsize,
    /// Taken since the start, and neither sent nor given up.
    unsent: AtomicUsize,
    /// Alerts that found no room; the next word tells of them.
    lost: AtomicU64,
}

impl Load {
    pub(crate) fn is_empty(&self) -> bool {
        self.unkept.load(Ordering::Acquire) == 0 && self.unsent.load(Ordering::Acquire) == 0
    }

    /// One was sent or given up; it may be one of an earlier run, which nobody counted.
    pub(crate) fn done(&self) {
        let less = |count: usize| Some(count.saturating_sub(1));
        let _ = self
            .unsent
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }

    /// How many were lost since this was asked last.
    pub(crate) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::AcqRel)
    }

    pub(crate) fn take_on(&self) {
        self.unsent.fetch_add(1, Ordering::AcqRel);
    }

    /// So many of those that were taken go, and are counted.
    fn lose(&self, count: u64) {
        self.lost.fetch_add(count, Ordering::AcqRel);
        for _ in 0..count {
            self.done();
        }
    }
}

impl Words {
    /// A queue, and where its words come out.
    pub(crate) fn queue() -> (Self, mpsc::Receiver<Word>) {
        let (sender, waiting) = mpsc::channel(WAITING);
        let words = Self {
            sender,
            load: Arc::default(),
        };
        (words, waiting)
    }

    pub(crate) fn load(&self) -> Arc<Load> {
        Arc::clone(&self.load)
    }

    pub(crate) fn push(&self, word: Word) -> Result<(), SinkError> {
        self.load.take_on();
        self.sender.try_send(word).map_err(|error| {
            self.load.done();
            refused(&error)
        })
    }
}

/// Takes alerts for a channel.
#[derive(Clone, Debug)]
pub struct Alerts {
    sender: mpsc::Sender<WaitingAlert>,
    load: Arc<Load>,
}

impl Alerts {
    /// A way in, and what has to be run to put what comes into the store.
    pub(crate) fn keeping(
        approvals: Approvals,
        channel: &'static str,
        words: Words,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (sender, incoming) = mpsc::channel(WAITING);
        let load = words.load();
        (
            Self { sender, load },
            keep(approvals, channel, words, incoming),
        )
    }
}

impl Sink for Alerts {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        self.load.unkept.fetch_add(1, Ordering::AcqRel);
        self.load.take_on();
        self.sender.try_send(waiting(alert)).map_err(|error| {
            self.load.unkept.fetch_sub(1, Ordering::AcqRel);
            self.load.lose(1);
            refused(&error)
        })
    }
}

async fn keep(
    approvals: Approvals,
    channel: &'static str,
    words: Words,
    mut incoming: mpsc::Receiver<WaitingAlert>,
) {
    let load = words.load();
    while let Some(alert) = incoming.recv().await {
        let word = Word::of(&alert);
        match approvals.store().keep_alert(channel, alert, KEPT).await {
            Ok(gone) => load.lose(gone),
            Err(StoreError::Duplicate) => load.done(),
            // What ails the store is what the owner may have to hear of.
            Err(_) => match words.push(word) {
                Ok(()) => load.done(),
                Err(_) => load.lose(1),
            },
        }
        load.unkept.fetch_sub(1, Ordering::AcqRel);
        approvals.wake();
    }
}

fn waiting(alert: &Alert) -> WaitingAlert {
    // Several gateways may raise alerts in the same instant.
    let id = match RequestId::random() {
        Some(random) => format!("{}-{random}", alert.id),
        None => alert.id.clone(),
    };
    let body = alert.to_json().to_string();
    WaitingAlert {
        id,
        at_ms: i64::try_from(alert.time.millis()).unwrap_or(i64::MAX),
        grave: alert.kind.is_adversarial(),
        text: alert.to_text(),
        body: if body.len() > MAX_BODY {
            "{}".to_owned()
        } else {
            body
        },
    }
}

fn refused<T>(error: &mpsc::error::TrySendError<T>) -> SinkError {
    match error {
        mpsc::error::TrySendError::Full(_) => SinkError::Full,
        mpsc::error::TrySendError::Closed(_) => SinkError::Closed,
    }
}
