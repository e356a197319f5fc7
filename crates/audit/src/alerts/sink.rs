//! Where alerts go. Channels that need the network live elsewhere and implement [`Sink`].

use super::Alert;
use crate::{Category, Event, Log, LogError, Severity, files};
use serde_json::json;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The file of [`FileSink`].
pub const ALERTS_NAME: &str = "security-supervisor-alerts.jsonl";
const BEFORE_NAME: &str = "security-supervisor-alerts.1.jsonl";
const MAX_FILE: u64 = 8 * 1024 * 1024;

/// Takes alerts. Whoever records an event waits for it: a slow channel takes the alert into a bounded queue of its own.
pub trait Sink: Send + Sync {
    /// Takes an alert.
    ///
    /// # Errors
    /// When it was not taken; it is counted, and not tried again.
    fn send(&self, alert: &Alert) -> Result<(), SinkError>;
}

/// Why an alert was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// Too many are waiting.
    #[error("the alert channel has too many alerts waiting")]
    Full,
    /// The channel is gone.
    #[error("the alert channel is closed")]
    Closed,
    /// The disk.
    #[error(transparent)]
    File(#[from] LogError),
}

/// Notes in the audit log that an alert was raised.
#[derive(Debug)]
pub struct LogSink(pub Arc<Log>);

impl Sink for LogSink {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        let details = json!({
            "alert": alert.id, "kind": alert.kind.as_str(), "severity": alert.severity.as_str(), "count": alert.count,
        });
        self.0.append(&Event::Note {
            severity: Severity::Info,
            category: Category::Alert,
            name: "alert_raised",
            message: &alert.message,
            details: details.as_object().cloned().unwrap_or_default(),
        })?;
        Ok(())
    }
}

/// Writes alerts as JSON lines to a file of its own; with the one before it, it holds at least the last 8 MiB.
#[derive(Debug)]
pub struct FileSink {
    folder: PathBuf,
    /// One writer at a time.
    turn: Mutex<()>,
}

impl FileSink {
    /// In a folder.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            turn: Mutex::new(()),
        }
    }

    fn write(&self, line: &[u8]) -> std::io::Result<()> {
        files::folder(&self.folder)?;
        let path = self.folder.join(ALERTS_NAME);
        let mut file = files::open_private(&path)?;
        let length = file.seek(SeekFrom::End(0))?;
        if length >= MAX_FILE {
            fs::rename(&path, self.folder.join(BEFORE_NAME))?;
            file = files::open_private(&path)?;
        }
        let start = file.seek(SeekFrom::End(0))?;
        if let Err(error) = file.write_all(line) {
            let _ = file.set_len(start);
            return Err(error);
        }
        file.sync_data()
    }
}

impl Sink for FileSink {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{}\n", alert.to_json());
        self.write(line.as_bytes()).map_err(LogError::from)?;
        Ok(())
    }
}
