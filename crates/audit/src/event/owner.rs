//! What is written about that which the owner decides or is told.

use super::facts::{Facts, grave_if, of_decision};
use super::{Event, PaymentStep};
use crate::{Category, Severity};
use serde_json::json;

impl Event<'_> {
    /// What the owner decides or is told.
    pub(super) fn owner_facts(&self) -> Facts {
        use Category::{Approval, Http, Payment, Post, Skill};
        match self {
            Self::ApprovalRequested {
                id,
                action,
                session,
                shown,
            } => Facts::new(
                "approval_requested",
                Severity::Info,
                Approval,
                "Approval requested",
            )
            .told(json!({"id": id, "action": action, "session": session}))
            .known(json!({"shown": shown.to_json()}))
            .decision(),
            Self::ApprovalDecided {
                id,
                action,
                answer,
                channel,
            } => Facts::new(
                "approval_decided",
                Severity::Info,
                Approval,
                format!("Approval: {}", answer.as_str()),
            )
            .told(json!({"id": id, "action": action, "channel": channel}))
            .known(json!({"answer": answer.as_str()}))
            .decision(),
            Self::ApprovalRefused { id, channel, why } => Facts::new(
                "approval_refused",
                Severity::Warn,
                Approval,
                "Answer to an approval does not count",
            )
            .told(json!({"id": id, "channel": channel, "why": why})),
            Self::Undeliverable { channel, why, last } => Facts::new(
                "undeliverable",
                grave_if(*last),
                Category::Alert,
                "The owner could not be reached",
            )
            .told(json!({"channel": channel, "why": why}))
            .known(json!({"last": last})),
            Self::HttpDecision {
                host,
                method,
                session,
                decision,
                why,
            } => Facts::new(
                "http_decision",
                of_decision(*decision),
                Http,
                format!("Outbound request: {}", decision.as_str()),
            )
            .told(json!({"host": host, "method": method, "session": session, "why": why}))
            .known(json!({"decision": decision.as_str()}))
            .decision(),
            Self::Payment {
                id,
                step,
                amount_sats,
                why,
            } => Facts::new(
                "payment",
                match step {
                    PaymentStep::Unknown => Severity::Critical,
                    PaymentStep::Refused | PaymentStep::Failed => Severity::Warn,
                    PaymentStep::Intended | PaymentStep::Paid => Severity::Info,
                },
                Payment,
                format!("Payment: {}", step.as_str()),
            )
            .told(json!({"id": id, "why": why}))
            .known(json!({"step": step.as_str(), "amount_sats": amount_sats}))
            .decision(),
            Self::Post {
                service,
                session,
                decision,
                content,
            } => Facts::new(
                "post",
                of_decision(*decision),
                Post,
                format!("Post: {}", decision.as_str()),
            )
            .told(json!({"service": service, "session": session}))
            .known(json!({"decision": decision.as_str()}))
            .content(content)
            .decision(),
            Self::SkillInstall {
                name,
                decision,
                findings,
                content,
            } => Facts::new(
                "skill_install",
                of_decision(*decision),
                Skill,
                format!("Skill install: {}", decision.as_str()),
            )
            .told(json!({"name": name}))
            .known(json!({"decision": decision.as_str(), "findings": findings}))
            .content(content)
            .decision(),
            Self::Note {
                severity,
                category,
                name,
                message,
                details,
            } => {
                let mut facts = Facts::new(name, *severity, *category, *message);
                facts.told.clone_from(details);
                facts
            }
            other => Facts::new(
                "unnamed",
                Severity::Warn,
                Category::Audit,
                format!("Unnamed event {:?}", std::mem::discriminant(other)),
            ),
        }
    }
}
