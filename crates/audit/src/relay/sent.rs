//! Events about traffic and approvals as they lie in files.

use crate::recorder::{Recorder, Unrecorded};
use crate::{
    Answer, Category, Decision, Event, Fingerprint, Origin, Redact, Risk, Severity, clean,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An event with its words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Sent {
    Injection {
        origin: Origin,
        source: String,
        session: Option<String>,
        score: f64,
        risk: Risk,
        rules: Vec<String>,
        content: Fingerprint,
        decision: Decision,
    },
    OutboundBlocked {
        service: String,
        session: Option<String>,
        patterns: Vec<String>,
        content: Fingerprint,
    },
    HttpDecision {
        host: String,
        method: String,
        session: Option<String>,
        decision: Decision,
        why: String,
    },
    ApprovalRequested {
        id: String,
        action: String,
        session: Option<String>,
        shown: Fingerprint,
    },
    ApprovalDecided {
        id: String,
        action: String,
        answer: Answer,
        channel: String,
    },
    Note {
        severity: Severity,
        category: Category,
        name: String,
        message: String,
        details: Map<String, Value>,
    },
}

/// Longest text of an event.
const MAX_TEXT: usize = 1024;

impl Sent {
    /// The event as the log would have it: redacted and bounded before it lies anywhere.
    pub(super) fn of(event: &Event<'_>, redact: &dyn Redact) -> Option<Self> {
        let line = |text: &str| clean::line(redact, text, MAX_TEXT);
        let some = |text: &Option<&str>| text.map(line);
        let all = |texts: &[&str]| texts.iter().map(|text| line(text)).collect();
        Some(match event {
            Event::Injection {
                origin,
                source,
                session,
                score,
                risk,
                rules,
                content,
                decision,
            } => Self::Injection {
                origin: *origin,
                source: line(source),
                session: some(session),
                score: *score,
                risk: *risk,
                rules: all(rules),
                content: *content,
                decision: *decision,
            },
            Event::OutboundBlocked {
                service,
                session,
                patterns,
                content,
            } => Self::OutboundBlocked {
                service: line(service),
                session: some(session),
                patterns: all(patterns),
                content: *content,
            },
            Event::HttpDecision {
                host,
                method,
                session,
                decision,
                why,
            } => Self::HttpDecision {
                host: line(host),
                method: line(method),
                session: some(session),
                decision: *decision,
                why: line(why),
            },
            Event::ApprovalRequested {
                id,
                action,
                session,
                shown,
            } => Self::ApprovalRequested {
                id: line(id),
                action: line(action),
                session: some(session),
                shown: *shown,
            },
            Event::ApprovalDecided {
                id,
                action,
                answer,
                channel,
            } => Self::ApprovalDecided {
                id: line(id),
                action: line(action),
                answer: *answer,
                channel: line(channel),
            },
            Event::Note {
                severity,
                category,
                name,
                message,
                details,
            } => Self::Note {
                severity: *severity,
                category: *category,
                name: line(name),
                message: line(message),
                details: clean::details(redact, details),
            },
            _ => return None,
        })
    }

    pub(super) fn recorded(&self, recorder: &dyn Recorder) -> Result<(), Unrecorded> {
        match self {
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
                let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
                recorder.record(&Event::Injection {
                    origin: *origin,
                    source,
                    session: session.as_deref(),
                    score: *score,
                    risk: *risk,
                    rules: &rules,
                    content: *content,
                    decision: *decision,
                })
            }
            Self::OutboundBlocked {
                service,
                session,
                patterns,
                content,
            } => {
                let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
                recorder.record(&Event::OutboundBlocked {
                    service,
                    session: session.as_deref(),
                    patterns: &patterns,
                    content: *content,
                })
            }
            Self::HttpDecision {
                host,
                method,
                session,
                decision,
                why,
            } => recorder.record(&Event::HttpDecision {
                host,
                method,
                session: session.as_deref(),
                decision: *decision,
                why,
            }),
            Self::ApprovalRequested {
                id,
                action,
                session,
                shown,
            } => recorder.record(&Event::ApprovalRequested {
                id,
                action,
                session: session.as_deref(),
                shown: *shown,
            }),
            Self::ApprovalDecided {
                id,
                action,
                answer,
                channel,
            } => recorder.record(&Event::ApprovalDecided {
                id,
                action,
                answer: *answer,
                channel,
            }),
            Self::Note {
                severity,
                category,
                name,
                message,
                details,
            } => recorder.record(&Event::Note {
                severity: *severity,
                category: *category,
                name,
                message,
                details: details.clone(),
            }),
        }
    }
}
