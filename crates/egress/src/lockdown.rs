//! The kill switch: on, everything is closed at once and stays closed, through restarts, until it is lifted.
//!
//! The store holds it, so that any process may throw it: each looks there a few times a second. The one that writes the
//! audit log notes what others did, and opens nothing before that.

use blastshield_audit::{Clock, Event};
use blastshield_owner::{Recorder, Unrecorded};
use blastshield_store::{Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

/// How often the store is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The switch was not thrown for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LockdownError {
    /// Closed now, but a restart would forget it; or still closed.
    #[error("the lockdown could not be kept: {0}")]
    Store(#[from] StoreError),
    /// The audit log does not have it.
    #[error(transparent)]
    Unrecorded(#[from] Unrecorded),
}

/// A handle on the switch; clones share it.
#[derive(Clone)]
pub struct Lockdown(Arc<Inner>);

struct Inner {
    store: Store,
    recorder: Option<Arc<dyn Recorder>>,
    clock: Arc<dyn Clock>,
    on: watch::Sender<bool>,
    /// Held while the switch is thrown or looked at.
    hand: Mutex<()>,
    /// How often it was thrown here: what was read before does not count after.
    thrown: AtomicU64,
    /// Closed here, and not yet on disk.
    unkept: AtomicBool,
}

impl std::fmt::Debug for Lockdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Lockdown").field(&self.is_on()).finish()
    }
}

impl Lockdown {
    /// As it was left. A process whose events another one records has no recorder.
    ///
    /// # Errors
    /// When the store cannot say: then nothing may start.
    pub async fn open(
        store: Store,
        recorder: Option<Arc<dyn Recorder>>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let on = store.lockdown().await?.is_some_and(|record| record.on);
        Ok(Self(Arc::new(Inner {
            store,
            recorder,
            clock,
            on: watch::Sender::new(on),
            hand: Mutex::new(()),
            thrown: AtomicU64::new(0),
            unkept: AtomicBool::new(false),
        })))
    }

    /// Whether everything is closed.
    #[must_use]
    pub fn is_on(&self) -> bool {
        *self.0.on.borrow()
    }

    /// The switch, to be watched by others that have to stop.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<bool> {
        self.0.on.subscribe()
    }

    /// Throws the switch. Closing takes effect before anything is written; opening only after everything is.
    ///
    /// # Errors
    /// What is missing; everything is closed then.
    pub async fn set(&self, on: bool, by: &str) -> Result<(), LockdownError> {
        let inner = &self.0;
        // Closing does not wait for a store that hangs.
        let _hand = timeout(LOOK_EVERY, inner.hand.lock()).await;
        inner.thrown.fetch_add(1, SeqCst);
        if on {
            inner.on.send_replace(true);
        }
        let now_ms = i64::try_from(inner.clock.now().millis()).unwrap_or(i64::MAX);
        if on {
            inner.unkept.store(true, SeqCst);
            inner.store.set_lockdown(true, by, now_ms).await?;
            inner.unkept.store(false, SeqCst);
        }
        self.note(on, by)?;
        if !on {
            inner.store.set_lockdown(false, by, now_ms).await?;
            inner.unkept.store(false, SeqCst);
            inner.on.send_replace(false);
        }
        Ok(())
    }

    /// Looks whether another process has thrown it. A store that cannot say changes nothing, and what could not be kept
    /// is tried again.
    pub async fn look(&self) {
        let Ok(_hand) = self.0.hand.try_lock() else {
            return;
        };
        if self.0.unkept.load(SeqCst) {
            let now_ms = i64::try_from(self.0.clock.now().millis()).unwrap_or(i64::MAX);
            let kept = self.0.store.set_lockdown(true, "again", now_ms).await;
            self.0.unkept.store(kept.is_err(), SeqCst);
            return;
        }
        let thrown = self.0.thrown.load(SeqCst);
        let Ok(record) = self.0.store.lockdown().await else {
            return;
        };
        let on = record.as_ref().is_some_and(|record| record.on);
        if on == self.is_on() || thrown != self.0.thrown.load(SeqCst) {
            return;
        }
        let by = record.map_or_else(String::new, |record| record.by);
        if on {
            self.0.on.send_replace(true);
        }
        if self.note(on, &by).is_ok() && thrown == self.0.thrown.load(SeqCst) {
            self.0.on.send_replace(on);
        }
    }

    fn note(&self, on: bool, by: &str) -> Result<(), Unrecorded> {
        let Some(recorder) = &self.0.recorder else {
            return Ok(());
        };
        crate::journal::record(recorder.as_ref(), &Event::Lockdown { on, by })
    }

    /// Looks again and again.
    pub async fn keep_looking(self) {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.look().await;
        }
    }

    /// Returns once it is turned on, from now on.
    pub fn turned_on(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut on = self.0.on.subscribe();
        async move {
            while on.changed().await.is_ok() {
                if *on.borrow() {
                    return;
                }
            }
            std::future::pending::<()>().await;
        }
    }
}
