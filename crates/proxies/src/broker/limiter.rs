//! The limiter that counts: core's own, kept on disk before each request goes out. What a worker's own limiter says
//! changes nothing here.

use crate::state::{Kept, Seen, StateFile, fresh_session};
use blastshield_limits::Moment;
use blastshield_limits::proxy::{
    Answer, Declined, Opened, Outbound, Permit, ProxyLimits, ProxyState,
};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A service's limiter and the file behind it.
pub(crate) struct Limiter {
    file: StateFile,
    limits: ProxyLimits,
    inner: Mutex<Inner>,
    started: (u64, Instant),
}

struct Inner {
    outbound: Outbound,
    credential: Option<Seen>,
}

/// A request may not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum No {
    Declined(Declined),
    /// The count could not be kept.
    Unkept,
}

impl Limiter {
    pub(crate) fn open(file: StateFile, limits: ProxyLimits) -> io::Result<Self> {
        let kept = file.read()?;
        Ok(Self {
            file,
            limits,
            inner: Mutex::new(Inner {
                outbound: Outbound::resume(limits, kept.limits),
                credential: kept.credential,
            }),
            started: (wall_ms(), Instant::now()),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time by which requests are counted: it does not jump.
    pub(crate) fn now(&self) -> Moment {
        let passed = u64::try_from(self.started.1.elapsed().as_millis()).unwrap_or(u64::MAX);
        Moment::from_millis(self.started.0.saturating_add(passed))
    }

    fn keep(&self, inner: &Inner, lasting: bool) -> io::Result<()> {
        let kept = Kept {
            limits: inner.outbound.state().clone(),
            credential: inner.credential.clone(),
        };
        self.file.write(&kept, lasting)
    }

    /// What a worker's own limiter starts from.
    pub(crate) fn state(&self) -> ProxyState {
        self.inner().outbound.state().clone()
    }

    /// Whether a request would be declined now, without counting one.
    pub(crate) fn would_decline(&self) -> Option<Declined> {
        let mut trial = self.inner().outbound.clone();
        trial.request(self.now()).err()
    }

    /// Counts a request; on return the count is on disk.
    pub(crate) fn request(&self) -> Result<Permit, No> {
        let mut inner = self.inner();
        let permit = inner.outbound.request(self.now());
        let kept = self.keep(&inner, true);
        match permit {
            Err(declined) => Err(No::Declined(declined)),
            Ok(_) if kept.is_err() => Err(No::Unkept),
            Ok(permit) => Ok(permit),
        }
    }

    /// What came of it.
    pub(crate) fn answered(&self, permit: Permit, answer: Answer) -> Option<Opened> {
        let mut inner = self.inner();
        let opened = inner.outbound.answered(permit, answer, self.now());
        // Lost on a crash, it errs on the side of sending less: the request itself was kept.
        let _ = self.keep(&inner, false);
        opened
    }

    /// A burned session is over; the next one begins, with the windows as they are.
    pub(crate) fn new_session(&self) -> io::Result<()> {
        let mut inner = self.inner();
        let state = fresh_session(inner.outbound.state());
        inner.outbound = Outbound::resume(self.limits, state);
        self.keep(&inner, true)
    }

    /// Looks at what is known of the credential and may change it.
    pub(crate) fn credential<T>(
        &self,
        look: impl FnOnce(&mut Option<Seen>) -> (T, bool),
    ) -> io::Result<T> {
        let mut inner = self.inner();
        let (result, changed) = look(&mut inner.credential);
        if changed {
            self.keep(&inner, true)?;
        }
        Ok(result)
    }
}

/// The time of day.
pub(crate) fn wall_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
}
