//! Where events go: the audit log, the metrics, and whoever has to be told.

use super::setup::GuardError;
use blastshield_audit::alerts::{Rules, Sink, SinkError};
use blastshield_audit::{Alert, Audit, Event, Log, LogError, SystemClock, log};
use blastshield_config::Settings;
use blastshield_leak::Scanner;
use blastshield_upstream::{CallError, Secret, Webhook};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Alerts that are shown to the owner.
const RECENT: usize = 200;
/// Alerts that may wait for the webhook.
const WAITING: usize = 1024;
/// Tries of one alert, with a longer pause after each; about half an hour in all.
const TRIES: u32 = 12;
const POST_TIMEOUT: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Time that alerts have to leave at shutdown.
const GRACE: Duration = Duration::from_secs(2);

/// Records what happens and tells whoever must know.
pub(crate) struct Alarm {
    /// Absent when another process writes the log of this data folder: then its log has no room for ours.
    audit: Option<Arc<Audit>>,
    recent: Recent,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Alarm {
    pub(crate) fn start(settings: &Settings, scanner: Scanner) -> Result<Self, GuardError> {
        let redact = Arc::new(scanner);
        let clock = Arc::new(SystemClock);
        let options = log::Options {
            retain_days: Some(settings.store.retention_days),
            ..log::Options::default()
        };
        let recent = Recent::default();
        let opened = Log::open(&settings.logs.dir, options, redact.clone(), clock.clone());
        let log = match opened {
            Ok(log) => Arc::new(log),
            Err(LogError::Busy) => {
                tracing::warn!(target: "security", "another process writes the audit log; events of this one stay out of it");
                return Ok(Self {
                    audit: None,
                    recent,
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
        let mut tasks = Vec::new();
        let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(recent.clone())];
        if let Some(url) = &alerts.webhook {
            let secret = alerts
                .webhook_secret
                .as_ref()
                .map(|secret| Secret::new(secret.reveal()));
            let webhook = Webhook::new(url, secret, POST_TIMEOUT)?;
            let (sender, waiting) = mpsc::channel(WAITING);
            sinks.push(Box::new(Queue(sender)));
            tasks.push(tokio::spawn(deliver(webhook, waiting)));
        }
        let audit = Arc::new(Audit::new(log, rules, sinks, redact, clock));
        tasks.push(tokio::spawn(tick(Arc::clone(&audit))));
        Ok(Self {
            audit: Some(audit),
            recent,
            tasks: Mutex::new(tasks),
        })
    }

    /// Counts an event, writes it down, and tells whoever must know. Grave events are on disk on return.
    pub(crate) fn note(&self, event: &Event<'_>) {
        let Some(audit) = &self.audit else { return };
        if let Err(error) = aside(|| audit.record(event)) {
            tracing::error!(target: "security", %error, "an event could not be recorded");
        }
    }

    pub(crate) fn audit(&self) -> Option<&Audit> {
        self.audit.as_deref()
    }

    /// Alerts of late, newest first.
    pub(crate) fn recent(&self) -> Vec<Value> {
        let recent = self.recent.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().rev().cloned().collect()
    }

    /// Writes what waits and gives alerts a moment to leave.
    pub(crate) async fn close(&self) {
        let Some(audit) = &self.audit else { return };
        if let Err(error) = aside(|| audit.tick()) {
            tracing::error!(target: "security", %error, "the audit log was not closed well");
        }
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = tokio::time::Instant::now() + GRACE;
        for task in tasks {
            let stop = task.abort_handle();
            if self.recent.is_quiet() || tokio::time::timeout_at(deadline, task).await.is_err() {
                stop.abort();
            }
        }
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

impl Recent {
    fn is_quiet(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }
}

impl Sink for Recent {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        tracing::warn!(
            target: "security",
            alert = alert.id,
            kind = alert.kind.as_str(),
            severity = alert.severity.as_str(),
            count = alert.count,
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

/// Alerts on their way to the webhook.
struct Queue(mpsc::Sender<(String, u64)>);

impl Sink for Queue {
    fn send(&self, alert: &Alert) -> Result<(), SinkError> {
        let body = alert.to_json().to_string();
        self.0
            .try_send((body, alert.time.millis() / 1000))
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => SinkError::Full,
                mpsc::error::TrySendError::Closed(_) => SinkError::Closed,
            })
    }
}

/// Posts one alert after the other, each until it is taken or hopeless.
async fn deliver(webhook: Webhook, mut waiting: mpsc::Receiver<(String, u64)>) {
    while let Some((body, _)) = waiting.recv().await {
        let mut pause = Duration::from_secs(1);
        for left in (0..TRIES).rev() {
            let at = u64::try_from(crate::clock::now_ms() / 1000).unwrap_or(0);
            let Err(error) = webhook.post(body.clone(), at).await else {
                break;
            };
            let hopeless = matches!(error, CallError::Rejected { .. } | CallError::Denied { .. });
            if hopeless || left == 0 {
                tracing::error!(target: "security", %error, "an alert could not be delivered");
                break;
            }
            tracing::warn!(target: "upstream", dependency = "webhook", %error, "an alert waits");
            let wished = match error {
                CallError::RateLimited {
                    retry_after: Some(wait),
                } => wait,
                _ => pause,
            };
            tokio::time::sleep(wished.min(LONGEST_PAUSE)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
