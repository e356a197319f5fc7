//! What the owner is told, and how often.
//!
//! The same alert from the same source is sent once per window; a summary at its end says how often it was. Ordinary
//! alerts have an hourly cap. Alerts about an attack do not fall under that cap: the first from each source is sent by
//! itself, and in a storm beyond any reader's patience they are told together once a minute. Nothing is dropped without
//! being counted, and memory is bounded however many sources there are.

mod alert;
mod rules;
mod sink;
mod table;
#[cfg(test)]
mod tests;

pub use alert::{Alert, AlertKind, MAX_TEXT};
pub use rules::Rules;
pub use sink::{ALERTS_NAME, FileSink, LogSink, Sink, SinkError};

use crate::clean::{self, MAX_MESSAGE};
use crate::metrics::Window;
use crate::visible::cut;
use crate::{Event, Redact, Severity, Time};
use rules::Alarm;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use table::{Slot, Table};

const DIGEST_EVERY: Duration = Duration::from_secs(60);
const NAMED_IN_DIGEST: usize = 20;
const MAX_SOURCE: usize = 128;

/// Watches events and says what to tell the owner. Time is passed in.
pub struct Alerts {
    rules: Rules,
    redact: Arc<dyn Redact>,
    injections: Window,
    blocked: Window,
    ordinary: Lane,
    adversarial: Lane,
    digest: Digest,
    raised: u64,
}

/// Alerts under one cap.
struct Lane {
    table: Table,
    sent: Window,
    per_hour: u64,
}

/// What was not sent by itself.
#[derive(Default)]
struct Digest {
    count: u64,
    severity: Option<Severity>,
    kinds: BTreeMap<&'static str, u64>,
    sources: Vec<String>,
    told: Option<Time>,
}

impl Alerts {
    /// Nothing seen so far.
    #[must_use]
    pub fn new(rules: Rules, redact: Arc<dyn Redact>) -> Self {
        let lane = |per_hour| Lane {
            table: Table::new(rules.window, rules.max_keys),
            sent: Window::new(),
            per_hour,
        };
        Self {
            rules,
            redact,
            injections: Window::new(),
            blocked: Window::new(),
            ordinary: lane(rules.per_hour),
            adversarial: lane(rules.adversarial_per_hour),
            digest: Digest::default(),
            raised: 0,
        }
    }

    /// What to send because of an event, and because of the time.
    pub fn observe(&mut self, event: &Event<'_>, now: Time) -> Vec<Alert> {
        let mut out = self.tick(now);
        let rate = match event {
            Event::Injection { .. } => {
                self.injections.add(now);
                let sum = self.injections.sum(now);
                (sum > self.rules.injection_attempts_per_hour).then_some((
                    AlertKind::InjectionRate,
                    sum,
                    "Injection attempts in the last hour",
                ))
            }
            Event::CredentialLeak { .. }
            | Event::OutputBlocked { .. }
            | Event::OutboundBlocked { .. } => {
                self.blocked.add(now);
                let sum = self.blocked.sum(now);
                (sum > self.rules.blocked_responses_per_hour).then_some((
                    AlertKind::BlockedRate,
                    sum,
                    "Blocked responses in the last hour",
                ))
            }
            _ => None,
        };
        if let Some((kind, sum, what)) = rate {
            let alarm = Alarm {
                kind,
                source: ["", ""],
            };
            self.raise(&alarm, now, &mut out, |_| {
                let details = Map::from_iter([("perHour".to_owned(), Value::from(sum))]);
                (Severity::Warn, format!("{what}: {sum}"), details)
            });
        }
        let rules = self.rules;
        if let Some(alarm) = rules.alarm(event) {
            self.raise(&alarm, now, &mut out, |redact| {
                let facts = event.facts();
                let mut details = clean::details(redact, &facts.told);
                details.extend(facts.known);
                let message = clean::line(redact, &facts.message, MAX_MESSAGE);
                (facts.severity, message, details)
            });
        }
        out
    }

    /// Summaries of windows that are over. To be called about once a second.
    pub fn tick(&mut self, now: Time) -> Vec<Alert> {
        let mut out = Vec::new();
        for adversarial in [false, true] {
            while let Some(slot) = self.lane(adversarial).table.take_oldest(now, false) {
                self.sum_up(slot, now, &mut out);
            }
        }
        self.tell_withheld(now, &mut out);
        out
    }

    fn lane(&mut self, adversarial: bool) -> &mut Lane {
        if adversarial {
            &mut self.adversarial
        } else {
            &mut self.ordinary
        }
    }

    fn raise(
        &mut self,
        alarm: &Alarm<'_>,
        now: Time,
        out: &mut Vec<Alert>,
        tell: impl FnOnce(&dyn Redact) -> (Severity, String, Map<String, Value>),
    ) {
        let adversarial = alarm.kind.is_adversarial();
        let lane = self.lane(adversarial);
        let key = lane.table.key(alarm.kind, alarm.source);
        if lane.table.again(key) {
            return;
        }
        let source = self.source(alarm.source);
        if self.lane(adversarial).table.is_full() {
            if !adversarial {
                self.digest.add(alarm.kind, Severity::Warn, source, 1);
                return;
            }
            if let Some(oldest) = self.lane(true).table.take_oldest(now, true) {
                self.sum_up(oldest, now, out);
            }
        }
        let mut slot = Slot {
            kind: alarm.kind,
            severity: if adversarial {
                Severity::Critical
            } else {
                Severity::Warn
            },
            message: String::new(),
            source,
            first: now,
            count: 1,
        };
        if self.lane(adversarial).has_room(now) {
            let (severity, message, details) = tell(self.redact.as_ref());
            slot.severity = severity;
            slot.message = cut(message.clone(), 256);
            let alert = self.alert(now, severity, alarm.kind, message, details, 1);
            out.push(alert);
        } else {
            // In a storm not even the words are worked out.
            slot.message = alarm.kind.as_str().to_owned();
            self.digest
                .add(alarm.kind, slot.severity, slot.source.clone(), 1);
        }
        self.lane(adversarial).table.insert(key, slot);
    }

    /// Tells how often an alert was repeated, if it was.
    fn sum_up(&mut self, slot: Slot, now: Time, out: &mut Vec<Alert>) {
        if slot.count < 2 {
            return;
        }
        if !self.lane(slot.kind.is_adversarial()).has_room(now) {
            self.digest
                .add(slot.kind, slot.severity, slot.source, slot.count - 1);
            return;
        }
        let details = json!({"source": slot.source, "first": slot.first.to_string()});
        let message = format!("{} (repeated)", slot.message);
        let details = details.as_object().cloned().unwrap_or_default();
        let alert = self.alert(now, slot.severity, slot.kind, message, details, slot.count);
        out.push(alert);
    }

    fn tell_withheld(&mut self, now: Time, out: &mut Vec<Alert>) {
        let due = self
            .digest
            .told
            .is_none_or(|told| now >= told.plus(DIGEST_EVERY) || now < told);
        if self.digest.count == 0 || !due {
            return;
        }
        let digest = std::mem::take(&mut self.digest);
        self.digest.told = Some(now);
        let details = json!({"kinds": digest.kinds, "sources": digest.sources});
        let alert = self.alert(
            now,
            digest.severity.unwrap_or(Severity::Warn),
            AlertKind::Withheld,
            format!("{} alerts were not sent one by one", digest.count),
            details.as_object().cloned().unwrap_or_default(),
            digest.count,
        );
        out.push(alert);
    }

    fn alert(
        &mut self,
        time: Time,
        severity: Severity,
        kind: AlertKind,
        message: String,
        details: Map<String, Value>,
        count: u64,
    ) -> Alert {
        self.raised += 1;
        Alert {
            id: format!("{:x}-{:x}", time.millis(), self.raised),
            time,
            severity,
            kind,
            message,
            details,
            count,
        }
    }

    fn source(&self, [one, two]: [&str; 2]) -> String {
        let joined = if two.is_empty() || one.is_empty() {
            format!("{one}{two}")
        } else {
            format!("{one} / {two}")
        };
        clean::line(self.redact.as_ref(), &joined, MAX_SOURCE)
    }
}

impl Lane {
    /// Takes one of the hour's alerts, if there is one left.
    fn has_room(&self, now: Time) -> bool {
        let room = self.sent.sum(now) < self.per_hour;
        if room {
            self.sent.add(now);
        }
        room
    }
}

impl Digest {
    fn add(&mut self, kind: AlertKind, severity: Severity, source: String, count: u64) {
        self.count += count;
        self.severity = self.severity.max(Some(severity));
        *self.kinds.entry(kind.as_str()).or_default() += count;
        if self.sources.len() < NAMED_IN_DIGEST && !self.sources.contains(&source) {
            self.sources.push(source);
        }
    }
}

impl std::fmt::Debug for Alerts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alerts")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
