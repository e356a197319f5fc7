//! The one call through which every security event goes.

use crate::alerts::{Alert, Alerts, Rules, Sink};
use crate::{Category, Clock, Event, Log, LogError, Metrics, Redact, Severity};
use serde_json::Map;
use std::sync::{Arc, Mutex, PoisonError};

/// Log, metrics and alerts together.
pub struct Audit {
    log: Arc<Log>,
    metrics: Metrics,
    alerts: Mutex<Alerts>,
    sinks: Vec<Box<dyn Sink>>,
    clock: Arc<dyn Clock>,
}

impl Audit {
    /// Around an open log. What was found wrong with it is told at once.
    #[must_use]
    pub fn new(
        log: Arc<Log>,
        rules: Rules,
        sinks: Vec<Box<dyn Sink>>,
        redact: Arc<dyn Redact>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let audit = Self {
            log,
            metrics: Metrics::new(Arc::clone(&redact)),
            alerts: Mutex::new(Alerts::new(rules, redact)),
            sinks,
            clock,
        };
        for incident in audit.log.incidents() {
            audit.tell(&of_the_log(
                incident.severity,
                "audit_incident",
                &incident.message,
            ));
        }
        audit
    }

    /// Records an event: counts it, writes it to the log, and tells the owner what must be told. Alerts go out even when
    /// the log cannot be written.
    ///
    /// # Errors
    /// As [`Log::append`]; whoever answers somebody must then not answer yes.
    pub fn record(&self, event: &Event<'_>) -> Result<u64, LogError> {
        self.metrics.observe(event, self.clock.now());
        let recorded = self.log.append(event);
        self.tell(event);
        if let Err(error) = recorded {
            self.metrics.audit_failed();
            let message = error.to_string();
            self.tell(&of_the_log(Severity::Critical, "audit_failed", &message));
        }
        recorded
    }

    /// Syncs what waits, closes the day, sends summaries. To be called about once a second.
    ///
    /// # Errors
    /// As [`Log::flush`].
    pub fn tick(&self) -> Result<(), LogError> {
        let alerts = {
            let mut alerts = self.alerts.lock().unwrap_or_else(PoisonError::into_inner);
            alerts.tick(self.clock.now())
        };
        self.send(&alerts);
        self.log.flush()
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The metrics.
    #[must_use]
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    fn tell(&self, event: &Event<'_>) {
        let now = self.clock.now();
        let alerts = {
            let mut alerts = self.alerts.lock().unwrap_or_else(PoisonError::into_inner);
            alerts.observe(event, now)
        };
        self.send(&alerts);
    }

    fn send(&self, alerts: &[Alert]) {
        for alert in alerts {
            for sink in &self.sinks {
                self.metrics.alerted(sink.send(alert).is_ok());
            }
        }
    }
}

fn of_the_log<'a>(severity: Severity, name: &'a str, message: &'a str) -> Event<'a> {
    Event::Note {
        severity,
        category: Category::Audit,
        name,
        message,
        details: Map::new(),
    }
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}
