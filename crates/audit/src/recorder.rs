//! The way into the log for those who must not go on without it.

use crate::{Audit, Event};

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
