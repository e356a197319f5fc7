//! Words that are about no request, alerts above all, on their way to a channel: a bounded queue that says how much of it
//! is left, and how many found no room.

use blastshield_audit::Alert;
use blastshield_audit::alerts::{Sink, SinkError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// Words that may wait for a channel.
const WAITING: usize = 256;

/// Something to say that is about no request.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Text(String),
    Alert(Box<Alert>),
}

/// The way into a channel's queue.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    sender: mpsc::Sender<Word>,
    load: Arc<Load>,
}

#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Taken and neither sent nor given up.
    pub(crate) waiting: AtomicUsize,
    /// Alerts that found no room; the next word tells of them.
    pub(crate) lost: AtomicU64,
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

    pub(crate) fn is_empty(&self) -> bool {
        self.load.waiting.load(Ordering::Acquire) == 0
    }

    pub(crate) fn push(&self, word: Word) -> Result<(), SinkError> {
        self.load.waiting.fetch_add(1, Ordering::AcqRel);
        let pushed = self.sender.try_send(word);
        if pushed.is_err() {
            self.load.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        pushed.map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SinkError::Full,
            mpsc::error::TrySendError::Closed(_) => SinkError::Closed,
        })
    }
}

/// Takes alerts for a channel.
#[derive(Clone, Debug)]
pub struct Alerts(Words);

impl Alerts {
    pub(crate) const fn of(words: Words) -> Self {
        Self(words)
    }
}

impl Sink for Alerts {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        let pushed = self.0.push(Word::Alert(Box::new(alert.clone())));
        if pushed.is_err() {
            self.0.load.lost.fetch_add(1, Ordering::AcqRel);
        }
        pushed
    }
}
