//! What is written about hostile content, and about secrets on their way out.

use super::facts::{Facts, grave_if};
use super::{Decision, Event, Risk};
use crate::{Category, Severity};
use serde_json::json;

impl Event<'_> {
    /// Hostile content, and secrets on their way out.
    pub(super) fn content_facts(&self) -> Option<Facts> {
        use Category::{Canary, Leak, Threat};
        Some(match self {
            Self::Injection {
                origin,
                source,
                session,
                score,
                risk,
                rules,
                content,
                decision,
            } => {
                let held = !matches!(decision, Decision::Allow);
                let (name, message) = if held {
                    ("injection_blocked", "Injection blocked")
                } else {
                    ("injection_detected", "Injection found and let through")
                };
                let facts = Facts::new(
                    name,
                    // What was held back did no harm: a flood of it is told by its rate.
                    grave_if(*risk == Risk::Critical && !held),
                    Threat,
                    format!("{message} ({}, {})", origin.as_str(), risk.as_str()),
                );
                facts
                    .told(json!({"source": source, "session": session, "rules": rules}))
                    .known(json!({
                        "origin": origin.as_str(), "score": score, "risk": risk.as_str(), "decision": decision.as_str(),
                    }))
                    .content(content)
            }
            Self::MemoryPoisoned {
                file,
                risk,
                content,
                quarantined,
            } => Facts::new(
                "memory_poisoned",
                grave_if(*risk >= Risk::High),
                Threat,
                format!("Poisoned memory entry ({})", risk.as_str()),
            )
            .told(json!({"file": file}))
            .known(json!({"risk": risk.as_str(), "quarantined": quarantined}))
            .content(content),
            Self::CredentialLeak {
                session,
                place,
                kinds,
                content,
                terminated,
            } => Facts::new(
                "credential_leak",
                Severity::Critical,
                Leak,
                "Credential leak stopped",
            )
            .told(json!({"session": session, "place": place, "kinds": kinds}))
            .known(json!({"terminated": terminated}))
            .content(content)
            .decision(),
            Self::OutputBlocked {
                session,
                issues,
                content,
            } => Facts::new("output_blocked", Severity::Warn, Leak, "Answer held back")
                .told(json!({"session": session, "issues": issues}))
                .content(content)
                .decision(),
            Self::OutboundBlocked {
                service,
                session,
                patterns,
                content,
            } => Facts::new(
                "outbound_blocked",
                Severity::Critical,
                Leak,
                "Outbound message stopped by the leak filter",
            )
            .told(json!({"service": service, "session": session, "patterns": patterns}))
            .content(content)
            .decision(),
            Self::CanaryLeak {
                location,
                token,
                critical,
                place,
                session,
                content,
            } => Facts::new(
                "canary_leak",
                grave_if(*critical),
                Canary,
                "Canary token turned up",
            )
            .told(json!({
                "location": location, "place": place, "session": session,
                "shown": format!("{}...", token.chars().take(8).collect::<String>()),
            }))
            .content(content)
            .decision(),
            _ => return None,
        })
    }
}
