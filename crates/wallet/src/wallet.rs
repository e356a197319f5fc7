//! The wallet: where payments stand, and who works on them.

use crate::error::{ResolveError, WaitError};
use crate::payment::kept;
use crate::{Mode, Options, Outcome, Payment, State};
use blastshield_audit::{Clock, Event};
use blastshield_owner::{Approvals, Recorder, Unrecorded};
use blastshield_store::{Store, StoreError};
use blastshield_upstream::Lnbits;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};

const LONGEST_WAIT: Duration = Duration::from_secs(300);

type Gate = Box<dyn Fn() -> Mode + Send + Sync>;

/// A handle on the wallet; clones share it.
#[derive(Clone)]
pub struct Wallet {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) approvals: Approvals,
    recorder: Arc<dyn Recorder>,
    clock: Arc<dyn Clock>,
    /// Absent when there is no wallet to speak of.
    pub(crate) lnbits: Option<Lnbits>,
    pub(crate) options: Options,
    /// What the operator allows at this moment.
    gate: OnceLock<Gate>,
    /// Payments that somebody in this process works on.
    busy: Mutex<HashSet<String>>,
    /// Counts what happened, to wake whoever waits.
    changed: watch::Sender<u64>,
    waiting: Semaphore,
    pub(crate) balance: tokio::sync::Mutex<Option<(Instant, Option<u64>)>>,
}

impl Wallet {
    /// A wallet over an open store. Nothing is sent before [`start`](Self::start).
    #[must_use]
    pub fn new(
        store: Store,
        approvals: Approvals,
        recorder: Arc<dyn Recorder>,
        clock: Arc<dyn Clock>,
        lnbits: Option<Lnbits>,
        options: Options,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                waiting: Semaphore::new(options.max_waiting),
                store,
                approvals,
                recorder,
                clock,
                lnbits,
                options,
                gate: OnceLock::new(),
                busy: Mutex::default(),
                changed: watch::Sender::new(0),
                balance: tokio::sync::Mutex::default(),
            }),
        }
    }

    /// From now on this is asked as well, whenever the mode matters; it can allow less and never more. Only the first
    /// such gate counts.
    pub fn narrow_by(&self, gate: impl Fn() -> Mode + Send + Sync + 'static) {
        let _ = self.inner.gate.set(Box::new(gate));
    }

    /// What the wallet may do at this moment.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let mode = self.inner.options.mode.clone();
        match self.inner.gate.get() {
            Some(gate) => mode.narrower(gate()),
            None => mode,
        }
    }

    /// A payment, if it exists.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn get(&self, id: &str) -> Result<Option<Payment>, StoreError> {
        let record = self.inner.store.payment(id).await?;
        Ok(record.map(Payment::of))
    }

    /// Payments, newest first; 500 at most.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn list(&self, limit: u32) -> Result<Vec<Payment>, StoreError> {
        let records = self.inner.store.payments(limit).await?;
        Ok(records.into_iter().map(Payment::of).collect())
    }

    /// The payment once it is over or its outcome is unknown, or as it stands when the wait is over, which is at most
    /// five minutes.
    ///
    /// # Errors
    /// When it is unknown or cannot be awaited.
    pub async fn wait(&self, id: &str, wait: Duration) -> Result<Payment, WaitError> {
        let place = self.inner.waiting.try_acquire();
        let _place = place.map_err(|_| WaitError::TooMany)?;
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        let mut changed = self.inner.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let payment = self.get(id).await?.ok_or(WaitError::Unknown)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if payment.state.is_over() || payment.state == State::Unknown || left.is_zero() {
                return Ok(payment);
            }
            // Another process may be the one that drives it.
            let pause = left.min(self.inner.options.pace.poll);
            let _ = timeout(pause, changed.changed()).await;
        }
    }

    /// Looks at a payment now, or takes the owner's word for what became of it. Whoever calls this has made sure that it
    /// is the owner.
    ///
    /// # Errors
    /// Why nothing changed.
    pub async fn resolve(&self, id: &str, word: Option<Outcome>) -> Result<Payment, ResolveError> {
        let _turn = self.turn(id).ok_or(ResolveError::Busy)?;
        let store = &self.inner.store;
        let record = store.payment(id).await?.ok_or(ResolveError::Unknown)?;
        let state = State::parse(&record.state);
        match word {
            Some(_) if state != State::Unknown => return Err(ResolveError::NotOpen(state)),
            Some(outcome) => self.settle_by_word(&record, outcome).await?,
            None if matches!(state, State::Sending | State::Unknown) => {
                self.find_out(&record, None).await;
            }
            None => {}
        }
        let record = store.payment(id).await?.ok_or(ResolveError::Unknown)?;
        Ok(Payment::of(record))
    }

    /// The right to work on a payment in this process, unless somebody has it.
    pub(crate) fn turn(&self, id: &str) -> Option<Turn> {
        let mut busy = self.busy();
        busy.insert(id.to_owned()).then(|| Turn {
            wallet: self.clone(),
            id: id.to_owned(),
        })
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.inner
            .busy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now_ms(&self) -> i64 {
        kept(self.inner.clock.now().millis())
    }

    /// Changes whenever a payment does.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changed.subscribe()
    }

    pub(crate) fn wake(&self) {
        let count = |count: &mut u64| *count = count.wrapping_add(1);
        self.inner.changed.send_modify(count);
    }

    /// Writes an event down; other tasks of this thread go on elsewhere meanwhile.
    pub(crate) fn note(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        let recorder = &self.inner.recorder;
        let outcome = match Handle::try_current().map(|handle| handle.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => {
                tokio::task::block_in_place(|| recorder.record(event))
            }
            _ => recorder.record(event),
        };
        if outcome.is_err() {
            tracing::error!(target: "security", "an event about a payment could not be recorded");
        }
        outcome
    }
}

impl std::fmt::Debug for Wallet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wallet")
    }
}

/// The right to work on a payment.
pub(crate) struct Turn {
    wallet: Wallet,
    id: String,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.wallet.busy().remove(&self.id);
    }
}
