//! Where events go: the audit log, the metrics, and whoever has to be told.

use super::setup::GuardError;
use blastshield_audit::alerts::{FileSink, Rules, Sink, SinkError};
use blastshield_audit::{Alert, Audit, Event, Log, LogError, Redact, SystemClock, log};
use blastshield_config::Settings;
use blastshield_owner::{Alerts, Recorder, Unrecorded};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;

/// Alerts that are shown to the owner.
const RECENT: usize = 200;
/// Alerts that may wait for the channels to start.
const EARLY: usize = 64;

/// Records what happens and tells whoever must know.
pub(crate) struct Alarm {
    /// Absent when another process writes the log of this data folder: then its log has no room for ours.
    audit: Option<Arc<Audit>>,
    recent: Recent,
    channels: Channels,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Alarm {
    pub(crate) fn start(settings: &Settings, redact: Arc<dyn Redact>) -> Result<Self, GuardError> {
        let clock = Arc::new(SystemClock);
        let options = log::Options {
            retain_days: Some(settings.store.retention_days),
            ..log::Options::default()
        };
        let (recent, channels) = (Recent::default(), Channels::default());
        let opened = Log::open(&settings.logs.dir, options, redact.clone(), clock.clone());
        let log = match opened {
            Ok(log) => Arc::new(log),
            Err(LogError::Busy) => {
                tracing::warn!(target: "security", "another process writes the audit log; events of this one stay out of it");
                return Ok(Self {
                    audit: None,
                    recent,
                    channels,
                    tasks: Mutex::default(),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let alerts = &settings.alerts;
        let rules = Rules {
            injection_attempts_per_hour: alerts.injection_attempts_per_hour,
            blocked_responses_per_hour: alerts.blocked_responses_per_hour,
            ..Rules::default()
        };
        let sinks: Vec<Box<dyn Sink>> = vec![
            Box::new(recent.clone()),
            Box::new(FileSink::new(&settings.logs.dir)),
            Box::new(channels.clone()),
        ];
        let audit = Arc::new(Audit::new(log, rules, sinks, redact, clock));
        let ticking = tokio::spawn(tick(Arc::clone(&audit)));
        Ok(Self {
            audit: Some(audit),
            recent,
            channels,
            tasks: Mutex::new(vec![ticking]),
        })
    }

    /// Counts an event, writes it down, and tells whoever must know. Grave events are on disk on return.
    pub(crate) fn note(&self, event: &Event<'_>) {
        let Some(audit) = &self.audit else { return };
        if let Err(error) = aside(|| audit.record(event)) {
            tracing::error!(target: "security", %error, "an event could not be recorded");
        }
    }

    /// The same for a decision that must not be given without a record.
    pub(crate) fn must_note(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        let audit = self.audit.as_ref().ok_or(Unrecorded)?;
        aside(|| audit.record(event)).map(drop).map_err(|error| {
            tracing::error!(target: "security", %error, "an event could not be recorded");
            Unrecorded
        })
    }

    pub(crate) fn audit(&self) -> Option<&Audit> {
        self.audit.as_deref()
    }

    /// The way into the log, for whoever must know that it was taken.
    pub(crate) fn recorder(&self) -> Arc<dyn Recorder> {
        Arc::new(Book(self.audit.clone()))
    }

    /// From now on alerts go out through these channels too; those raised before them go first.
    pub(crate) fn connect(&self, channels: Vec<Alerts>) {
        self.channels.open(channels);
    }

    /// Alerts of late, newest first.
    pub(crate) fn recent(&self) -> Vec<Value> {
        let recent = self.recent.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().rev().cloned().collect()
    }

    /// Writes what waits.
    pub(crate) fn close(&self) {
        let Some(audit) = &self.audit else { return };
        if let Err(error) = aside(|| audit.tick()) {
            tracing::error!(target: "security", %error, "the audit log was not closed well");
        }
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
        }
    }
}

/// The audit log as approvals use it: without one, nothing is recorded and so nothing is decided.
struct Book(Option<Arc<Audit>>);

impl Recorder for Book {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        let audit = self.0.as_ref().ok_or(Unrecorded)?;
        audit.record(event).map(drop).map_err(|_| Unrecorded)
    }
}

/// Runs work that may wait for the disk; other tasks of this thread go on elsewhere meanwhile.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

async fn tick(audit: Arc<Audit>) {
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        let audit = Arc::clone(&audit);
        let ticked = tokio::task::spawn_blocking(move || audit.tick()).await;
        if let Ok(Err(error)) = ticked {
            tracing::warn!(target: "security", %error, "the audit log lags behind");
        }
    }
}

/// The latest alerts, for the owner's eyes; each also has a line in the security log.
#[derive(Clone, Default)]
struct Recent(Arc<Mutex<VecDeque<Value>>>);

impl Sink for Recent {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        tracing::warn!(
            target: "security",
            alert = alert.id,
            kind = alert.kind.as_str(),
            severity = alert.severity.as_str(),
            count = alert.count,
            about = alert.message,
            "alert"
        );
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= RECENT {
            recent.pop_front();
        }
        recent.push_back(alert.to_json());
        Ok(())
    }
}

/// Alerts on their way to the owner's channels, which start after the log.
#[derive(Clone, Default)]
struct Channels(Arc<Mutex<Ways>>);

enum Ways {
    Early(VecDeque<Alert>),
    Open(Vec<Alerts>),
}

impl Default for Ways {
    fn default() -> Self {
        Self::Early(VecDeque::new())
    }
}

impl Channels {
    fn open(&self, channels: Vec<Alerts>) {
        let mut ways = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ways::Early(early) = &*ways {
            for alert in early {
                for channel in &channels {
                    let _ = channel.send(alert);
                }
            }
        }
        *ways = Ways::Open(channels);
    }
}

impl Sink for Channels {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        let mut ways = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *ways {
            Ways::Early(early) if early.len() < EARLY => {
                early.push_back(alert.clone());
                Ok(())
            }
            Ways::Early(_) => Err(SinkError::Full),
            Ways::Open(channels) => {
                let sent: Vec<_> = channels.iter().map(|channel| channel.send(alert)).collect();
                sent.into_iter().collect()
            }
        }
    }
}
