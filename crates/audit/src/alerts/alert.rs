//! An alert as it is sent: redacted, bounded, and without a character that could forge a line of it.

use crate::visible::cut;
use crate::{Severity, Time};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Bytes of an alert as text: what a chat takes in one message.
pub const MAX_TEXT: usize = 3500;
const MAX_VALUE: usize = 300;
const MAX_LINES: usize = 24;

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// Too many injection attempts in an hour.
    InjectionRate,
    /// Too many blocked responses in an hour.
    BlockedRate,
    /// A secret on its way out.
    CredentialLeak,
    /// A canary turned up.
    CanaryLeak,
    /// A pattern of abuse.
    Abuse,
    /// A security proxy died of an attack.
    ProxyCrash,
    /// The agent's memory is poisoned.
    MemoryPoisoned,
    /// The owner could not be reached through a channel.
    Undeliverable,
    /// Something else that is critical.
    Other,
    /// Alerts that were not sent one by one.
    Withheld,
}

impl AlertKind {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InjectionRate => "injection_rate",
            Self::BlockedRate => "blocked_rate",
            Self::CredentialLeak => "credential_leak",
            Self::CanaryLeak => "canary_leak",
            Self::Abuse => "abuse",
            Self::ProxyCrash => "proxy_crash",
            Self::MemoryPoisoned => "memory_poisoned",
            Self::Undeliverable => "undeliverable",
            Self::Other => "critical",
            Self::Withheld => "withheld",
        }
    }

    /// Whether somebody attacks: such an alert is never dropped.
    #[must_use]
    pub const fn is_adversarial(self) -> bool {
        matches!(
            self,
            Self::CredentialLeak
                | Self::CanaryLeak
                | Self::Abuse
                | Self::ProxyCrash
                | Self::MemoryPoisoned
        )
    }
}

/// Something the owner should know now.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// Unique.
    pub id: String,
    /// When it was raised.
    pub time: Time,
    /// How grave.
    pub severity: Severity,
    /// About what.
    pub kind: AlertKind,
    /// One sentence.
    pub message: String,
    /// Redacted details.
    pub details: Map<String, Value>,
    /// How many events it stands for.
    pub count: u64,
}

impl Alert {
    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id, "time": self.time.to_string(), "severity": self.severity.as_str(), "kind": self.kind.as_str(),
            "message": self.message, "details": self.details, "count": self.count,
        })
    }

    /// As plain text for a person, at most [`MAX_TEXT`] bytes. Every line begins with words of ours.
    #[must_use]
    pub fn to_text(&self) -> String {
        if self.kind == AlertKind::ProxyCrash && self.details.contains_key("trigger") {
            return self.crash_text();
        }
        let mut text = format!(
            "SECURITY SUPERVISOR — Alert\n\n{}: {}\nTime: {}\n",
            self.severity, self.message, self.time
        );
        if self.count > 1 {
            let _ = writeln!(text, "Count: {}", self.count);
        }
        if !self.details.is_empty() {
            text.push_str("Details (redacted):\n");
        }
        for name in self.details.keys().take(MAX_LINES) {
            let line = format!("  {name}: {}\n", self.value(name));
            if text.len() + line.len() + 100 > MAX_TEXT {
                text.push_str("  …[cut]\n");
                break;
            }
            text.push_str(&line);
        }
        let _ = write!(text, "Alert id: {}", self.id);
        text
    }

    fn crash_text(&self) -> String {
        let quarantine = if self.details.get("quarantined") == Some(&Value::Bool(true)) {
            "ACTIVE"
        } else {
            "not triggered"
        };
        format!(
            "🚨 [{}] adversarial crash\nTrigger: {} — {}\nSession requests: {}\nFiles written: {}\nAction required: Review {}\nQuarantine: {quarantine}",
            self.value("proxy"),
            self.value("trigger"),
            self.value("detail"),
            self.value("requests"),
            self.value("filesWritten"),
            self.value("report"),
        )
    }

    /// A detail in one line; texts hold no control characters since they were cleaned.
    fn value(&self, name: &str) -> String {
        let shown = match self.details.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        cut(shown, MAX_VALUE)
    }
}
