//! The way into the audit log.

use blastshield_audit::{Audit, Event};
use tokio::runtime::{Handle, RuntimeFlavor};

/// An event is not in the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event could not be recorded")]
pub struct Unrecorded;

/// Writes down what happens, and tells the owner what must be told.
pub trait Recorder: Send + Sync {
    /// Writes an event down; on return a decision is on disk.
    ///
    /// # Errors
    /// When it is not.
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded>;
}

impl Recorder for Audit {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        Self::record(self, event).map(drop).map_err(|_| Unrecorded)
    }
}

/// Records, while other tasks of this thread go on elsewhere.
pub(crate) fn record(recorder: &dyn Recorder, event: &Event<'_>) -> Result<(), Unrecorded> {
    let outcome = blocking(|| recorder.record(event));
    if outcome.is_err() {
        tracing::error!(target: "security", "an event about a security proxy could not be recorded");
    }
    outcome
}

/// Works with the disk, while other tasks of this thread go on elsewhere.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
