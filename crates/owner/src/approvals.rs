//! Requests to the owner: made, shown, decided once, used once.
//!
//! The store decides who wins; [`state`](crate::state) says what may win; the audit log makes it count. A decision that
//! is in the store and not yet in the log looks pending to everybody, so that a crash between the two lets nothing through.

use crate::channel::Channels;
use crate::clock::Steady;
use crate::error::{AskError, DecideError, WaitError};
use crate::record::record;
use crate::request::facts;
use crate::seal;
use crate::settle::SettleError;
use crate::state::{self, Refusal, Reply, State, Verdict};
use crate::{Action, Ask, Message, Options, Page, Request, RequestId, Unrecorded};
use blastshield_audit::{Clock, Event, Fingerprint, Recorder, Redact};
use blastshield_store::{ApprovalLimits, ApprovalPage, ApprovalRecord, Ruling, Store, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

/// Tries for an id that nobody has.
const ID_TRIES: usize = 4;
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// A handle on the owner's requests; clones share them.
#[derive(Clone)]
pub struct Approvals {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    recorder: Arc<dyn Recorder>,
    redact: Arc<dyn Redact>,
    clock: Steady,
    options: Options,
    /// Counts what happened, to wake whoever waits.
    changed: watch::Sender<u64>,
    waiting: Semaphore,
    channels: Channels,
}

impl Approvals {
    /// On an open store. Brings to an end what a crash left in between.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn open(
        store: Store,
        recorder: Arc<dyn Recorder>,
        redact: Arc<dyn Redact>,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Result<Self, StoreError> {
        let seen = store.latest_approval_ms().await?;
        let approvals = Self {
            inner: Arc::new(Inner {
                clock: Steady::new(clock, seen),
                store,
                recorder,
                redact,
                options,
                changed: watch::Sender::new(0),
                waiting: Semaphore::new(options.max_waiting),
                channels: Channels::default(),
            }),
        };
        approvals.sweep().await?;
        Ok(approvals)
    }

    /// Asks the owner. On return the request is on disk and in the audit log, and channels take it from there.
    ///
    /// # Errors
    /// When nobody was asked.
    pub async fn ask(&self, ask: &Ask) -> Result<Request, AskError> {
        ask.check().map_err(AskError::Invalid)?;
        let inner = &self.inner;
        let record_of = |id: &RequestId, now_ms: i64| {
            let message = Message::of(ask, id, inner.redact.as_ref());
            let allowed = inner.options.timeouts.of(ask.action);
            let time = ask.timeout.map_or(allowed, |wanted| wanted.min(allowed));
            let time_ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
            let mut record = ApprovalRecord {
                id: id.to_string(),
                action: ask.action.as_str().to_owned(),
                requester: ask.requester.clone(),
                session: ask.session.clone(),
                host: ask.ascii_host().flatten(),
                confirm: ask.confirm.map(|amount| amount.to_string()),
                shown: message.text,
                shown_sha256: String::new(),
                subject_sha256: ask.subject(id.as_str()).to_string(),
                created_ms: now_ms,
                expires_ms: now_ms.saturating_add(time_ms),
                state: State::Pending.as_str().to_owned(),
                scope: String::new(),
                decided_by: String::new(),
                decided_ms: 0,
                recorded: false,
                used_ms: 0,
            };
            record.shown_sha256 = seal::seal(&record).to_string();
            record
        };
        let record = self.keep(record_of).await?;
        let noted = self.note(&Event::ApprovalRequested {
            id: &record.id,
            action: ask.action.as_str(),
            session: ask.session.as_deref(),
            shown: Fingerprint::of(&record.shown),
        });
        if noted.is_err() {
            // Not asked, since nobody could prove it; should this fail too, time says no.
            let _ = inner
                .store
                .rule_approval(ruling(
                    &record.id,
                    State::Denied,
                    "unrecorded",
                    record.created_ms,
                ))
                .await;
            return Err(AskError::Unrecorded);
        }
        if inner.channels.nobody() {
            let _ = self.note(&Event::Undeliverable {
                channel: "none",
                why: "no channel reaches the owner",
                last: true,
            });
        }
        self.wake();
        Request::of(record).ok_or(AskError::Store(StoreError::Corrupt))
    }

    async fn keep(
        &self,
        record_of: impl Fn(&RequestId, i64) -> ApprovalRecord,
    ) -> Result<ApprovalRecord, AskError> {
        let options = &self.inner.options;
        let limits = ApprovalLimits {
            pending: options.max_pending,
            per_requester: options.max_per_requester,
            per_hour: options.max_per_hour,
        };
        for _ in 0..ID_TRIES {
            let id = RequestId::random().ok_or(AskError::NoRandom)?;
            let record = record_of(&id, self.now_ms());
            let store = &self.inner.store;
            match store.add_approval(record.clone(), limits).await {
                Ok(true) => return Ok(record),
                Ok(false) => {
                    let (all, yours) = store
                        .count_pending(&record.requester, record.created_ms)
                        .await?;
                    return Err(if yours >= u64::from(limits.per_requester) {
                        AskError::TooManyOfYours
                    } else if all >= u64::from(limits.pending) {
                        AskError::TooMany
                    } else {
                        AskError::TooOften
                    });
                }
                Err(StoreError::Duplicate) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(AskError::NoRandom)
    }

    /// Decides a request in the owner's name; the first reply that counts wins. Whoever calls this has made sure that it
    /// is the owner who replies.
    ///
    /// # Errors
    /// Why it changed nothing; that is recorded as well.
    pub async fn decide(
        &self,
        id: &str,
        reply: &Reply<'_>,
        channel: &str,
    ) -> Result<Request, DecideError> {
        let outcome = self.rule(id, reply, channel).await;
        if let Err(DecideError::Refused(refusal)) = &outcome {
            let _ = self.note(&Event::ApprovalRefused {
                id: RequestId::parse(id).as_ref().map_or("", RequestId::as_str),
                channel,
                why: &refusal.to_string(),
            });
        }
        outcome
    }

    async fn rule(
        &self,
        id: &str,
        reply: &Reply<'_>,
        channel: &str,
    ) -> Result<Request, DecideError> {
        let store = &self.inner.store;
        let id = RequestId::parse(id).ok_or(Refusal::Unknown)?;
        let record = store.approval(id.as_str()).await?.ok_or(Refusal::Unknown)?;
        if !seal::holds(&record) {
            return Err(Refusal::Changed.into());
        }
        let now_ms = self.now_ms();
        let next = state::judge(&facts(&record), reply, now_ms)?;
        let mut ruling = ruling(id.as_str(), next, channel, now_ms);
        if let Verdict::Approve(scope) = reply.verdict {
            ruling.scope = scope.to_word();
            ruling.grant_until_ms = scope.until_ms(now_ms);
        }
        let won = store.rule_approval(ruling).await?;
        let record = store.approval(id.as_str()).await?.ok_or(Refusal::Unknown)?;
        if !won {
            // Somebody was faster, or time was.
            let refusal = state::judge(&facts(&record), reply, self.now_ms());
            return Err(refusal.err().unwrap_or(Refusal::Late).into());
        }
        let request = self.settle(record).await.map_err(|error| match error {
            SettleError::Store(error) => DecideError::Store(error),
            SettleError::Unrecorded => DecideError::Unrecorded,
        });
        self.wake();
        request
    }

    /// A request, if it exists.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn get(&self, id: &str) -> Result<Option<Request>, StoreError> {
        let Some(id) = RequestId::parse(id) else {
            return Ok(None);
        };
        let record = self.inner.store.approval(id.as_str()).await?;
        Ok(record.and_then(Request::of))
    }

    /// Requests, newest first; 500 at most.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn list(&self, limit: u32) -> Result<Vec<Request>, StoreError> {
        let records = self.inner.store.approvals(limit).await?;
        Ok(records.into_iter().filter_map(Request::of).collect())
    }

    /// A page of requests, newest first.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn page(&self, page: &Page) -> Result<Vec<Request>, StoreError> {
        let page = ApprovalPage {
            state: page.state.map(State::as_str),
            action: page.action.map(Action::as_str),
            after: page.after.clone(),
            limit: page.limit,
        };
        let records = self.inner.store.approvals_page(&page).await?;
        Ok(records.into_iter().filter_map(Request::of).collect())
    }

    /// Requests that the owner can still decide, oldest first.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn pending(&self) -> Result<Vec<Request>, StoreError> {
        let records = self.inner.store.pending_approvals(self.now_ms()).await?;
        Ok(records.into_iter().filter_map(Request::of).collect())
    }

    /// The request once it is decided, or as it stands when the wait is over, which is at most five minutes.
    ///
    /// # Errors
    /// When it is unknown or cannot be awaited.
    pub async fn wait(&self, id: &str, wait: Duration) -> Result<Request, WaitError> {
        let _place = self
            .inner
            .waiting
            .try_acquire()
            .map_err(|_| WaitError::TooMany)?;
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let mut changed = self.inner.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let request = self.get(id).await?.ok_or(WaitError::Unknown)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if request.state != State::Pending || left.is_zero() {
                return Ok(request);
            }
            let expires_in = request.expires_ms.saturating_sub(self.now_ms());
            if expires_in <= 0 {
                self.sweep().await?;
                // What the sweep could not record is looked at again in a while.
                sleep(left.min(Duration::from_millis(50))).await;
                continue;
            }
            let pause = Duration::from_millis(expires_in.unsigned_abs())
                .min(self.inner.options.look_every)
                .min(left);
            let _ = timeout(pause, changed.changed()).await;
        }
    }

    pub(crate) fn health(&self) -> &Channels {
        &self.inner.channels
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.inner.clock.now_ms()
    }

    pub(crate) fn note(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        record(self.inner.recorder.as_ref(), event)
    }

    /// Changes whenever a request or a channel does.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    /// Wakes whoever waits for a change: also for what another process changed in the store.
    pub fn wake(&self) {
        self.inner
            .changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Approvals")
    }
}

fn ruling(id: &str, state: State, by: &str, now_ms: i64) -> Ruling {
    Ruling {
        id: id.to_owned(),
        state: state.as_str(),
        scope: String::new(),
        by: by.to_owned(),
        now_ms,
        grant_until_ms: None,
    }
}
