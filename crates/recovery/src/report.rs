//! The crash report: one file for every end of a security proxy, also a good one.
//!
//! It carries hashes, lengths and relative paths, never content, credentials or paths of the system. Whether an end was
//! adversarial follows from its trigger and cannot be said apart.

mod clean;
mod read;

pub(crate) use clean::clean;
pub use read::{Found, Unusable, find};

use crate::names::RelPath;
use crate::workspace::{LOGS, Workspace, WorkspaceError};
use blastshield_audit::{Digest, Time};
use blastshield_leak::Scanner;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Characters of `trigger_detail` at most.
pub const MAX_DETAIL: usize = 300;
/// Characters of `last_action` at most.
pub const MAX_ACTION: usize = 200;
/// Files that a report names at most; a session that writes more is cut off there and core counts for itself.
pub const MAX_FILES: usize = 1000;
/// Bytes of a report at most.
pub const MAX_REPORT: u64 = 256 << 10;

/// What ended a security proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// Stage 4 found an injection.
    InjectionDetected,
    /// Too many requests in a session.
    BurnLimit,
    /// A tool or request that is not allowed.
    PolicyViolation,
    /// A fault, or no memory.
    Exception,
    /// The service did not accept the credential.
    AuthFailure,
    /// The task is done.
    TaskComplete,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::InjectionDetected,
        Self::BurnLimit,
        Self::PolicyViolation,
        Self::Exception,
        Self::AuthFailure,
        Self::TaskComplete,
    ];

    /// The word in the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InjectionDetected => "INJECTION_DETECTED",
            Self::BurnLimit => "BURN_LIMIT",
            Self::PolicyViolation => "POLICY_VIOLATION",
            Self::Exception => "EXCEPTION",
            Self::AuthFailure => "AUTH_FAILURE",
            Self::TaskComplete => "TASK_COMPLETE",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|trigger| trigger.as_str() == word)
    }

    /// Whether somebody attacked.
    #[must_use]
    pub const fn is_adversarial(self) -> bool {
        matches!(self, Self::InjectionDetected | Self::PolicyViolation)
    }

    /// The exit code that goes with it: 1 if adversarial.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        self.is_adversarial() as u8
    }
}

/// What may be said of suspicious content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicious {
    hash: String,
    length: u64,
}

impl Suspicious {
    /// Of a content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self {
            hash: Digest::of(content).to_string().chars().take(16).collect(),
            length: content.len() as u64,
        }
    }

    /// From what a report says: 16 hexadecimal digits in lower case.
    #[must_use]
    pub fn from_parts(hash: &str, length: u64) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (hash.len() == 16 && hash.bytes().all(hex)).then(|| Self {
            hash: hash.to_owned(),
            length,
        })
    }

    /// The first 16 digits of its SHA-256.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Its bytes.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }
}

/// What a session knows of itself when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords<'a> {
    /// What ended it.
    pub trigger: Trigger,
    /// In a few words; redacted and cut.
    pub detail: &'a str,
    /// The last tool call, as `name: place`; redacted and cut.
    pub last_action: &'a str,
    /// Requests made.
    pub requests: u64,
    /// What set the alarm off; left out unless the trigger is adversarial.
    pub suspicious: Option<Suspicious>,
    /// Files it wrote.
    pub files_written: &'a [RelPath],
}

/// A crash report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashReport {
    pub(crate) time: Time,
    pub(crate) trigger: Trigger,
    pub(crate) detail: String,
    pub(crate) last_action: String,
    pub(crate) requests: u64,
    pub(crate) suspicious: Option<Suspicious>,
    pub(crate) files_written: Vec<RelPath>,
}

impl CrashReport {
    /// From what a session knows of itself, redacted and bounded.
    #[must_use]
    pub fn new(words: &LastWords<'_>, redact: &Scanner, now: Time) -> Self {
        let mut files_written = words.files_written.to_vec();
        files_written.sort();
        files_written.dedup();
        files_written.truncate(MAX_FILES);
        Self {
            time: now,
            trigger: words.trigger,
            detail: clean(words.detail, redact, MAX_DETAIL),
            last_action: clean(words.last_action, redact, MAX_ACTION),
            requests: words.requests,
            suspicious: words
                .suspicious
                .clone()
                .filter(|_| words.trigger.is_adversarial()),
            files_written,
        }
    }

    /// `crash-` and the moment.
    #[must_use]
    pub fn crash_id(&self) -> String {
        format!("crash-{}", self.time)
    }

    /// When it was written.
    #[must_use]
    pub const fn time(&self) -> Time {
        self.time
    }

    /// What ended the session.
    #[must_use]
    pub const fn trigger(&self) -> Trigger {
        self.trigger
    }

    /// In a few words.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The last tool call.
    #[must_use]
    pub fn last_action(&self) -> &str {
        &self.last_action
    }

    /// Requests made.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// What set the alarm off.
    #[must_use]
    pub const fn suspicious(&self) -> Option<&Suspicious> {
        self.suspicious.as_ref()
    }

    /// Whether somebody attacked.
    #[must_use]
    pub const fn is_adversarial(&self) -> bool {
        self.trigger.is_adversarial()
    }

    /// Files it wrote.
    #[must_use]
    pub fn files_written(&self) -> &[RelPath] {
        &self.files_written
    }

    /// Exactly the fields of the pattern.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self.wire()).unwrap_or_default()
    }

    fn wire(&self) -> Wire {
        Wire {
            crash_id: self.crash_id(),
            timestamp: self.time.to_string(),
            trigger: self.trigger.as_str().to_owned(),
            trigger_detail: self.detail.clone(),
            last_action: self.last_action.clone(),
            session_request_count: self.requests,
            suspicious_content_hash: self.suspicious.as_ref().map(|found| found.hash.clone()),
            suspicious_content_length: self.suspicious.as_ref().map(Suspicious::length),
            adversarial: self.is_adversarial(),
            files_written_this_session: self
                .files_written
                .iter()
                .map(ToString::to_string)
                .collect(),
        }
    }

    /// Writes it to `logs/`; on return it is on disk. Where it is.
    ///
    /// # Errors
    /// When it cannot be written; then there is none, not half of one.
    pub fn write(&self, workspace: &Workspace) -> Result<RelPath, WorkspaceError> {
        let mut report = self.clone();
        // Two ends in one millisecond are two files.
        for _ in 0..16 {
            let path = report.path()?;
            let bytes = serde_json::to_vec_pretty(&report.wire())
                .map_err(|_| WorkspaceError::Malformed("report"))?;
            match workspace.create(&path, &bytes) {
                Err(WorkspaceError::Io(std::io::ErrorKind::AlreadyExists)) => {
                    report.time = report.time.plus(std::time::Duration::from_millis(1));
                }
                other => return other.map(|()| path),
            }
        }
        Err(WorkspaceError::Io(std::io::ErrorKind::AlreadyExists))
    }

    fn path(&self) -> Result<RelPath, WorkspaceError> {
        RelPath::new(&format!("{LOGS}/{}.json", self.crash_id()))
            .map_err(|_| WorkspaceError::Malformed("report"))
    }
}

/// The report as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    crash_id: String,
    timestamp: String,
    trigger: String,
    trigger_detail: String,
    last_action: String,
    session_request_count: u64,
    suspicious_content_hash: Option<String>,
    suspicious_content_length: Option<u64>,
    adversarial: bool,
    files_written_this_session: Vec<String>,
}

#[cfg(test)]
mod tests;
