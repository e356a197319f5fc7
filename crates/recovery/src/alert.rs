//! The owner's alert about an adversarial end, word for word as the recovery pattern has it.
//!
//! Channels get it from the audit's alerts; this is for whoever shows it elsewhere.

/// What the alert says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told<'a> {
    /// The service.
    pub service: &'a str,
    /// What ended it.
    pub trigger: &'a str,
    /// In a few words, redacted.
    pub detail: &'a str,
    /// Requests of the session.
    pub requests: u64,
    /// Files it changed.
    pub files_written: u64,
    /// Name of the report, or of the folder aside when there is none.
    pub report: &'a str,
    /// Whether the workspace is put aside.
    pub quarantined: bool,
}

/// The alert's six lines.
#[must_use]
pub fn text(told: &Told<'_>) -> String {
    format!(
        "🚨 [{}] adversarial crash\nTrigger: {} — {}\nSession requests: {}\nFiles written: {}\nAction required: Review {}\nQuarantine: {}",
        told.service,
        told.trigger,
        told.detail,
        told.requests,
        told.files_written,
        told.report,
        if told.quarantined {
            "ACTIVE"
        } else {
            "not triggered"
        },
    )
}
