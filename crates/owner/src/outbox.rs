//! Keeps telling a channel what the owner should see, until it is seen or no longer matters.
//!
//! What has to be shown is in the store, not in a queue: a request without a notice goes out, a notice of a decided
//! request is brought up to date, an alert waits until it is carried. So a restart loses nothing, and what waits is bounded.
//! Only answers to the owner's words wait in memory, and alerts that the store does not take.
//!
//! An answer that was lost on its way leaves open whether the message went out. It is sent again: asking twice is
//! harmless, since both messages name the same request, and it is decided once.

use crate::pace::{Backoff, Pace};
use crate::words::{Alerts, Load, Word, Words};
use crate::{Approvals, Request, State};
use blastshield_audit::{Category, Event, Severity};
use blastshield_store::StoreError;
use serde_json::json;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// How long a process may take to carry an alert before another one tries.
const CARRY_MS: i64 = 30_000;
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

/// Why nothing of what is in the store went out.
enum Stuck {
    Store(StoreError),
    Line(Fail),
}

impl From<StoreError> for Stuck {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
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
    alerts: Alerts,
}

impl Running {
    pub(crate) fn start<C: Courier>(courier: C, approvals: Approvals, pace: Pace) -> Self {
        let (words, waiting) = Words::queue();
        approvals
            .health()
            .register(courier.name(), true, approvals.now_ms());
        let (alerts, keeping) = Alerts::keeping(approvals.clone(), courier.name(), words.clone());
        let outbox = Outbox {
            courier,
            approvals,
            words: waiting,
            load: words.load(),
            held: None,
        };
        Self {
            tasks: vec![tokio::spawn(outbox.run(pace)), tokio::spawn(keeping)],
            words,
            alerts,
        }
    }

    /// Where alerts go to be sent through this channel.
    #[must_use]
    pub fn alerts(&self) -> Alerts {
        self.alerts.clone()
    }

    /// Whether everything that was taken since the start was sent or given up. Alerts that are not wait in the store.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.words.load().is_empty()
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

    /// One message: whether there was one. A store that does not answer holds up what is in it and nothing else.
    async fn one(&mut self) -> Result<bool, Fail> {
        match self.kept().await {
            Ok(true) => Ok(true),
            Ok(false) => self.word().await,
            Err(Stuck::Line(fail)) => Err(fail),
            Err(Stuck::Store(error)) => match self.word().await {
                Ok(false) => Err(error.into()),
                said => said,
            },
        }
    }

    /// One message of those that the store knows of.
    async fn kept(&mut self) -> Result<bool, Stuck> {
        Ok(self.request().await? || self.decision().await? || self.alert().await?)
    }

    async fn request(&mut self) -> Result<bool, Stuck> {
        let (name, store) = (self.courier.name(), self.approvals.store());
        let unshown = store
            .unshown_approvals(name, self.approvals.now_ms())
            .await?;
        let Some(request) = unshown.into_iter().find_map(Request::of) else {
            return Ok(false);
        };
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
        shown.map(|_| true).map_err(Stuck::Line)
    }

    async fn decision(&mut self) -> Result<bool, Stuck> {
        let (name, store) = (self.courier.name(), self.approvals.store());
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
            return told.map(|()| true).map_err(Stuck::Line);
        }
        Ok(false)
    }

    async fn alert(&mut self) -> Result<bool, Stuck> {
        let (name, store) = (self.courier.name(), self.approvals.store());
        let now_ms = self.approvals.now_ms();
        let Some(alert) = store.take_alert(name, now_ms, CARRY_MS).await? else {
            return Ok(false);
        };
        let said = self.courier.say(&Word::of(&alert)).await;
        if matches!(said, Ok(()) | Err(Fail::Never { .. })) {
            self.load.done();
            store.forget_alert(name, &alert.id).await?;
            self.tell_lost();
        } else {
            store.give_back_alert(name, &alert.id).await?;
        }
        said.map(|()| true).map_err(Stuck::Line)
    }

    /// One of the words that wait in memory.
    async fn word(&mut self) -> Result<bool, Fail> {
        if self.held.is_none() {
            self.held = self.words.try_recv().ok();
        }
        let Some(word) = &self.held else {
            return Ok(false);
        };
        let said = self.courier.say(word).await;
        if matches!(said, Ok(()) | Err(Fail::Never { .. })) {
            self.held = None;
            self.load.done();
            self.tell_lost();
        }
        said.map(|()| true)
    }

    /// What found no room while the channel was stuck is told as a number, as soon as something goes out again.
    fn tell_lost(&mut self) {
        if self.held.is_some() {
            return;
        }
        let lost = self.load.take_lost();
        if lost > 0 {
            let text = format!(
                "{lost} further alerts could not be sent here; they are in the audit log and the alert file"
            );
            self.load.take_on();
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
