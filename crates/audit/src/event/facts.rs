//! What is written about each event.

use super::{Decision, Event};
use crate::{Category, Fingerprint, Severity};
use serde_json::{Map, Value};

/// An event in the words of the log.
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) severity: Severity,
    pub(crate) category: Category,
    /// Answered to somebody: on disk before the answer goes out.
    pub(crate) decision: bool,
    pub(crate) message: String,
    /// May hold words of outsiders: to be cleaned.
    pub(crate) told: Map<String, Value>,
    /// Numbers, hashes and words of ours, which a search for secrets could only spoil.
    pub(crate) known: Map<String, Value>,
}

impl Facts {
    pub(super) fn new(
        name: &str,
        severity: Severity,
        category: Category,
        message: impl Into<String>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            severity,
            category,
            decision: false,
            message: message.into(),
            told: Map::new(),
            known: Map::new(),
        }
    }

    pub(super) fn decision(mut self) -> Self {
        self.decision = true;
        self
    }

    pub(super) fn told(mut self, details: Value) -> Self {
        merge(&mut self.told, details);
        self
    }

    pub(super) fn known(mut self, details: Value) -> Self {
        merge(&mut self.known, details);
        self
    }

    pub(super) fn content(mut self, content: &Fingerprint) -> Self {
        self.known.insert("content".to_owned(), content.to_json());
        self
    }
}

fn merge(into: &mut Map<String, Value>, details: Value) {
    if let Value::Object(map) = details {
        into.extend(map.into_iter().filter(|(_, value)| !value.is_null()));
    }
}

pub(super) const fn grave_if(critical: bool) -> Severity {
    if critical {
        Severity::Critical
    } else {
        Severity::Warn
    }
}

pub(super) const fn of_decision(decision: Decision) -> Severity {
    match decision {
        Decision::Allow | Decision::Ask => Severity::Info,
        Decision::Block | Decision::Deny | Decision::Error => Severity::Warn,
    }
}

impl Event<'_> {
    /// A short id, the same for every event of this sort.
    #[must_use]
    pub fn name(&self) -> String {
        self.facts().name
    }

    /// How grave.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.facts().severity
    }

    /// About what.
    #[must_use]
    pub fn category(&self) -> Category {
        self.facts().category
    }

    pub(crate) fn facts(&self) -> Facts {
        self.content_facts()
            .or_else(|| self.session_facts())
            .or_else(|| self.recovery_facts())
            .unwrap_or_else(|| self.owner_facts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_shows_eight_characters() {
        let event = Event::CanaryLeak {
            location: "memory",
            token: "CANARY_MEMORY_0123456789abcdef0123456789abcdef",
            critical: true,
            place: "outbound",
            session: None,
            content: Fingerprint::of("x"),
        };
        let facts = event.facts();
        assert_eq!(facts.told["shown"], "CANARY_M...");
        assert_eq!(facts.severity, Severity::Critical);
        assert!(!facts.told.contains_key("session"));
    }

    #[test]
    fn contents_are_hash_and_length() {
        let event = Event::Post {
            service: "moltbook",
            session: Some("s"),
            decision: Decision::Ask,
            content: Fingerprint::of("hello"),
        };
        let facts = event.facts();
        assert_eq!(facts.known["content"]["length"], 5);
        assert_eq!(event.category(), Category::Post);
        assert!(facts.decision);
    }
}
