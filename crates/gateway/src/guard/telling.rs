//! What the guard lends to whoever asks or tells the owner: the way into the log, the knowledge of secrets, the alerts.

use super::Guard;
use blastshield_audit::{Event, Redact};
use blastshield_leak::Scanner;
use blastshield_owner::{Recorder, Unrecorded};
use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

impl Guard {
    /// Writes an event down; `Ok` means that it is in the log.
    pub(crate) fn must_note(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        self.alarm.must_note(event)
    }

    /// The way into the audit log, for whoever must know that an event was taken.
    pub(crate) fn recorder(&self) -> Arc<dyn Recorder> {
        self.alarm.recorder()
    }

    /// Takes secrets out of texts, canaries placed later included.
    pub(crate) fn redactor(&self) -> Arc<dyn Redact> {
        Arc::new(Redactor(Arc::clone(&self.scanner)))
    }

    /// From now on alerts go out through these channels too.
    pub(crate) fn connect(&self, channels: Vec<blastshield_owner::Alerts>) {
        self.alarm.connect(channels);
    }

    /// Where the audit log ends, if this process writes it.
    pub(crate) fn log_head(&self) -> Option<blastshield_audit::log::Mark> {
        self.alarm.audit().map(|audit| audit.log().head())
    }
}

/// The guard's scanner as it is at the time.
pub(super) struct Redactor(pub(super) Arc<RwLock<Scanner>>);

impl Redact for Redactor {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let scanner = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Redact::redact(&*scanner, text)
    }
}
