//! Counts of what happens: cheap to raise from many threads, bounded in memory whatever comes.

mod bounded;
mod exposition;
mod routes;
mod window;

pub use exposition::CONTENT_TYPE;
pub(crate) use window::Window;

use crate::{Category, Decision, Event, Origin, Redact, Severity, Time};
use bounded::Bounded;
use exposition::Page;
use routes::Routes;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const CELLS: usize = Category::ALL.len() * Severity::ALL.len();

/// All metrics of a process. Totals count from its start.
pub struct Metrics {
    redact: Arc<dyn Redact>,
    injections: Window,
    injections_total: AtomicU64,
    tool_results: AtomicU64,
    blocked: Window,
    blocked_total: AtomicU64,
    rate_limits: AtomicU64,
    abuse: Bounded<AtomicU64>,
    routes: Routes,
    events: [AtomicU64; CELLS],
    audit_failures: AtomicU64,
    alerts: AtomicU64,
    alert_failures: AtomicU64,
}

impl Metrics {
    /// Everything at nought.
    #[must_use]
    pub fn new(redact: Arc<dyn Redact>) -> Self {
        Self {
            redact,
            injections: Window::new(),
            injections_total: AtomicU64::new(0),
            tool_results: AtomicU64::new(0),
            blocked: Window::new(),
            blocked_total: AtomicU64::new(0),
            rate_limits: AtomicU64::new(0),
            abuse: Bounded::new(),
            routes: Routes::new(),
            events: [const { AtomicU64::new(0) }; CELLS],
            audit_failures: AtomicU64::new(0),
            alerts: AtomicU64::new(0),
            alert_failures: AtomicU64::new(0),
        }
    }

    /// Counts an event.
    pub fn observe(&self, event: &Event<'_>, now: Time) {
        match event {
            Event::Injection { origin, .. } => {
                self.injections.add(now);
                self.injections_total.fetch_add(1, Relaxed);
                if *origin == Origin::ToolResult {
                    self.tool_results.fetch_add(1, Relaxed);
                }
            }
            Event::CredentialLeak { .. }
            | Event::OutputBlocked { .. }
            | Event::OutboundBlocked { .. } => {
                self.blocked.add(now);
                self.blocked_total.fetch_add(1, Relaxed);
            }
            Event::RateLimited { .. } => {
                self.rate_limits.fetch_add(1, Relaxed);
            }
            Event::Abuse { pattern, .. } => {
                self.abuse.with(self.redact.as_ref(), pattern, |count| {
                    count.fetch_add(1, Relaxed);
                });
            }
            _ => {}
        }
        let facts = event.facts();
        let cell = cell(facts.category, facts.severity);
        if let Some(count) = self.events.get(cell) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Counts a decision. A route is a template (`/v1/scan`), never a path as it was requested.
    pub fn decided(&self, route: &str, decision: Decision, took: Duration) {
        self.routes
            .record(self.redact.as_ref(), route, decision, took);
    }

    pub(crate) fn audit_failed(&self) {
        self.audit_failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn alerted(&self, delivered: bool) {
        self.alerts.fetch_add(1, Relaxed);
        if !delivered {
            self.alert_failures.fetch_add(1, Relaxed);
        }
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self, now: Time) -> Value {
        let abuse: Map<_, _> = self
            .abuse
            .read(|name, count| (name.to_owned(), Value::from(count.load(Relaxed))))
            .into_iter()
            .collect();
        let routes: Map<_, _> = self
            .routes
            .read(|name, route| {
                let mut of_route: Map<_, _> = route
                    .decisions()
                    .map(|(decision, count)| (decision.as_str().to_owned(), Value::from(count)))
                    .collect();
                of_route.insert("seconds".to_owned(), route.total().as_secs_f64().into());
                (name.to_owned(), Value::Object(of_route))
            })
            .into_iter()
            .collect();
        json!({
            "injectionAttemptsPerHour": self.injections.sum(now),
            "suspiciousToolResults": self.tool_results.load(Relaxed),
            "blockedResponses": self.blocked_total.load(Relaxed),
            "rateLimitTriggers": self.rate_limits.load(Relaxed),
            "abusePatternDetections": abuse,
            "injectionAttempts": self.injections_total.load(Relaxed),
            "blockedResponsesPerHour": self.blocked.sum(now),
            "decisions": routes,
            "alerts": self.alerts.load(Relaxed),
            "alertFailures": self.alert_failures.load(Relaxed),
            "auditFailures": self.audit_failures.load(Relaxed),
        })
    }

    /// In the Prometheus text format; serve it as [`CONTENT_TYPE`].
    #[must_use]
    pub fn to_prometheus(&self, now: Time) -> String {
        let mut page = Page::default();
        let total = |count: &AtomicU64| count.load(Relaxed);
        for (name, kind, help, value) in [
            (
                "blastshield_injection_attempts_per_hour",
                "gauge",
                "Injection attempts in the last hour.",
                self.injections.sum(now),
            ),
            (
                "blastshield_injection_attempts_total",
                "counter",
                "Injection attempts.",
                total(&self.injections_total),
            ),
            (
                "blastshield_suspicious_tool_results_total",
                "counter",
                "Tool results with suspicious content.",
                total(&self.tool_results),
            ),
            (
                "blastshield_blocked_responses_per_hour",
                "gauge",
                "Responses held back in the last hour.",
                self.blocked.sum(now),
            ),
            (
                "blastshield_blocked_responses_total",
                "counter",
                "Responses held back.",
                total(&self.blocked_total),
            ),
            (
                "blastshield_rate_limit_triggers_total",
                "counter",
                "Sessions that ran into a limit.",
                total(&self.rate_limits),
            ),
            (
                "blastshield_alerts_total",
                "counter",
                "Alerts raised.",
                total(&self.alerts),
            ),
            (
                "blastshield_alert_failures_total",
                "counter",
                "Alerts that a sink did not take.",
                total(&self.alert_failures),
            ),
            (
                "blastshield_audit_failures_total",
                "counter",
                "Events that the audit log could not take.",
                total(&self.audit_failures),
            ),
        ] {
            page.single(name, kind, help, value);
        }
        self.labelled(&mut page);
        page.finish()
    }

    fn labelled(&self, page: &mut Page) {
        let name = "blastshield_abuse_pattern_detections_total";
        page.family(name, "counter", "Abuse patterns seen, by pattern.");
        self.abuse
            .read(|id, count| page.sample(name, &[("pattern", id)], count.load(Relaxed)));

        let name = "blastshield_events_total";
        page.family(
            name,
            "counter",
            "Security events, by category and severity.",
        );
        for category in Category::ALL {
            for severity in Severity::ALL {
                let count = self
                    .events
                    .get(cell(category, severity))
                    .map_or(0, |count| count.load(Relaxed));
                if count > 0 {
                    let labels = [
                        ("category", category.as_str()),
                        ("severity", severity.as_str()),
                    ];
                    page.sample(name, &labels, count);
                }
            }
        }

        let name = "blastshield_decisions_total";
        page.family(name, "counter", "Decisions, by route.");
        self.routes.read(|route, counts| {
            for (decision, count) in counts.decisions() {
                page.sample(
                    name,
                    &[("route", route), ("decision", decision.as_str())],
                    count,
                );
            }
        });

        let name = "blastshield_decision_seconds";
        page.family(name, "histogram", "Time to a decision, by route.");
        self.routes.read(|route, counts| {
            let (buckets, all) = counts.histogram();
            let bucket = "blastshield_decision_seconds_bucket";
            for (bound, count) in buckets {
                page.sample(bucket, &[("route", route), ("le", bound)], count);
            }
            page.sample(bucket, &[("route", route), ("le", "+Inf")], all);
            let seconds = counts.total().as_secs_f64();
            page.sample(
                "blastshield_decision_seconds_sum",
                &[("route", route)],
                seconds,
            );
            page.sample(
                "blastshield_decision_seconds_count",
                &[("route", route)],
                all,
            );
        });
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

const fn cell(category: Category, severity: Severity) -> usize {
    category as usize * Severity::ALL.len() + severity as usize
}
