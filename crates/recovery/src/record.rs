//! The way into the audit log.

use blastshield_audit::{Event, Recorder, Unrecorded};
use tokio::runtime::{Handle, RuntimeFlavor};

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
