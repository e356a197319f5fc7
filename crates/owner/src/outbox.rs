//! Keeps telling a channel what the owner should see, until it is seen or no longer matters.
//!
//! What has to be shown is in the store, not in a queue: a request without a notice goes out, a notice of a decided
//! request is brought up to date. So a restart loses nothing, and what waits is bounded by the number of open requests.
//! Only words without a request, alerts above all, wait in memory; that queue is bounded, and a full one says so.
//!
//! An answer that was lost on its way leaves open whether the message went out. It is sent again: asking twice is
//! harmless, since both messages name the same request, and it is decided once.

use crate::words::{Alerts, Load, Word, Words};
use crate::{Approvals, Request, State};
use blastshield_audit::{Category, Event, Severity};
use blastshield_store::StoreError;
use serde_json::json;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A service that asks for more patience than this gets this much.
const LONGEST_WISH: Duration = Duration::from_secs(3600);

/// How fast a channel tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Pause after the first failure; each further one doubles it.
    pub first: Duration,
    /// Longest pause.
    pub longest: Duration,
    /// How often it looks for what other processes did.
    pub idle: Duration,
    /// Failures in a row after which the channel counts as down.
    pub patience: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            idle: Duration::from_secs(5),
            patience: 3,
        }
    }
}

/// Pauses that grow.
pub(crate) struct Backoff {
    pace: Pace,
    failures: u32,
}

impl Backoff {
    pub(crate) const fn new(pace: Pace) -> Self {
        Self { pace, failures: 0 }
    }

    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }

    /// Notes a failure: how long to pause, and whether that makes too many.
    pub(crate) fn fail(&mut self, wish: Option<Duration>) -> (Duration, bool) {
        let pause = self.pace.first * 2_u32.saturating_pow(self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        let pause = wish.map_or(pause.min(self.pace.longest), |wish| {
            wish.clamp(self.pace.first, LONGEST_WISH.max(self.pace.first))
        });
        (pause, self.failures >= self.pace.patience)
    }
}

/// Why something did not go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fail {
    /// It may later.
    Later {
        wait: Option<Duration>,
        why: String,
        /// Whether waiting will hardly help: somebody has to act.
        grave: bool,
    },
    /// It never will.
    Never { why: String },
}

impl From<StoreError> for Fail {
    fn from(error: StoreError) -> Self {
        Self::Later {
            wait: None,
            why: error.to_string(),
            grave: false,
        }
    }
}

/// Carries messages to the owner.
pub(crate) trait Courier: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    /// Shows a request: the message's id, if the channel has such.
    fn show(&self, request: &Request) -> impl Future<Output = Result<i64, Fail>> + Send;

    /// Brings a message up to date after the decision.
    fn settle(
        &self,
        request: &Request,
        message_id: i64,
    ) -> impl Future<Output = Result<(), Fail>> + Send;

    fn say(&self, word: &Word) -> impl Future<Output = Result<(), Fail>> + Send;
}

/// A running channel; dropping it stops it.
#[derive(Debug)]
pub struct Running {
    pub(crate) tasks: Vec<JoinHandle<()>>,
    words: Words,
}

impl Running {
    pub(crate) fn start<C: Courier>(courier: C, approvals: Approvals, pace: Pace) -> Self {
        let (words, waiting) = Words::queue();
        approvals
            .health()
            .register(courier.name(), true, approvals.now_ms());
        let outbox = Outbox {
            courier,
            approvals,
            words: waiting,
            load: words.load(),
            held: None,
        };
        Self {
            tasks: vec![tokio::spawn(outbox.run(pace))],
            words,
        }
    }

    /// Where alerts go to be sent through this channel.
    #[must_use]
    pub fn alerts(&self) -> Alerts {
        Alerts::of(self.words.clone())
    }

    /// Whether every alert was sent or given up.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn words(&self) -> Words {
        self.words.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

struct Outbox<C> {
    courier: C,
    approvals: Approvals,
    words: mpsc::Receiver<Word>,
    load: Arc<Load>,
    /// Taken from the queue and not sent yet.
    held: Option<Word>,
}

impl<C: Courier> Outbox<C> {
    async fn run(mut self, pace: Pace) {
        let mut changed = self.approvals.changes();
        let mut backoff = Backoff::new(pace);
        loop {
            changed.borrow_and_update();
            let mut sent = 0;
            let outcome = self.round(&mut sent).await;
            if sent > 0 {
                backoff.reset();
                self.approvals.up(self.courier.name(), sent);
            }
            match outcome {
                Ok(()) => tokio::select! {
                    _ = changed.changed() => {}
                    Some(word) = self.words.recv(), if self.held.is_none() => self.held = Some(word),
                    () = sleep(pace.idle) => {}
                },
                Err((wait, why, grave)) => {
                    let (pause, too_many) = backoff.fail(wait);
                    if too_many || grave {
                        self.approvals.down(self.courier.name(), &why);
                    }
                    sleep(pause).await;
                }
            }
        }
    }

    /// Sends all there is to send; requests first, since somebody waits for them.
    async fn round(&mut self, sent: &mut u64) -> Result<(), (Option<Duration>, String, bool)> {
        loop {
            let outcome = self.one().await;
            match outcome {
                Ok(true) => *sent += 1,
                Ok(false) => return Ok(()),
                Err(Fail::Never { why }) => self.give_up(&why),
                Err(Fail::Later { wait, why, grave }) => return Err((wait, why, grave)),
            }
        }
    }

    /// One message: whether there was one.
    async fn one(&mut self) -> Result<bool, Fail> {
        let (name, store) = (self.courier.name(), self.approvals.store());
        let unshown = store
            .unshown_approvals(name, self.approvals.now_ms())
            .await?;
        if let Some(request) = unshown.into_iter().find_map(Request::of) {
            let shown = self.courier.show(&request).await;
            // What will never be sent is noted as if it were, so that it does not stand in the way of others.
            let message_id = match &shown {
                Ok(message_id) => Some(*message_id),
                Err(Fail::Never { .. }) => Some(0),
                Err(Fail::Later { .. }) => None,
            };
            if let Some(message_id) = message_id {
                store
                    .add_notice(name, request.id.as_str(), message_id)
                    .await?;
            }
            return shown.map(|_| true);
        }
        for notice in store.stale_notices(name).await? {
            let record = store.approval(&notice.approval_id).await?;
            let Some(request) = record.and_then(Request::of) else {
                store.close_notice(name, &notice).await?;
                continue;
            };
            if request.state == State::Pending {
                // Not in the audit log yet.
                continue;
            }
            let told = self.courier.settle(&request, notice.message_id).await;
            if matches!(told, Ok(()) | Err(Fail::Never { .. })) {
                store.close_notice(name, &notice).await?;
            }
            return told.map(|()| true);
        }
        if self.held.is_none() {
            self.held = self.words.try_recv().ok();
        }
        let Some(word) = &self.held else {
            return Ok(false);
        };
        let said = self.courier.say(word).await;
        if matches!(said, Ok(()) | Err(Fail::Never { .. })) {
            self.held = None;
            self.load.waiting.fetch_sub(1, Ordering::AcqRel);
            self.tell_lost();
        }
        said.map(|()| true)
    }

    /// What found no room while the channel was stuck is told as a number, as soon as something goes out again.
    fn tell_lost(&mut self) {
        let lost = self.load.lost.swap(0, Ordering::AcqRel);
        if lost > 0 {
            let text = format!(
                "{lost} further alerts could not be sent here; they are in the audit log and the alert file"
            );
            self.load.waiting.fetch_add(1, Ordering::AcqRel);
            self.held = Some(Word::Text(text));
        }
    }

    fn give_up(&self, why: &str) {
        let _ = self.approvals.note(&Event::Undeliverable {
            channel: self.courier.name(),
            why,
            last: false,
        });
    }
}

impl Approvals {
    pub(crate) fn up(&self, channel: &'static str, delivered: u64) {
        let before = self.health().state(channel);
        let news = self.health().up(channel, delivered, self.now_ms());
        if before != self.health().state(channel) {
            self.wake();
        }
        if news {
            let details = json!({"channel": channel});
            let _ = self.note(&Event::Note {
                severity: Severity::Info,
                category: Category::Alert,
                name: "channel_up",
                message: "A channel reaches the owner again",
                details: details.as_object().cloned().unwrap_or_default(),
            });
        }
    }

    pub(crate) fn down(&self, channel: &'static str, why: &str) {
        if let Some(last) = self.health().down(channel, why, self.now_ms()) {
            let _ = self.note(&Event::Undeliverable { channel, why, last });
            self.wake();
        }
    }
}
