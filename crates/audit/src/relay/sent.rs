//! Events about traffic and approvals as they lie in files.

use crate::recorder::{Recorder, Unrecorded};
use crate::{Answer, Category, Decision, Event, Fingerprint, Origin, Risk, Severity};
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

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Sent {
    pub(super) fn of(event: &Event<'_>) -> Option<Self> {
        let some = |text: &Option<&str>| text.map(str::to_owned);
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
                source: (*source).to_owned(),
                session: some(session),
                score: *score,
                risk: *risk,
                rules: owned(rules),
                content: *content,
                decision: *decision,
            },
            Event::OutboundBlocked {
                service,
                session,
                patterns,
                content,
            } => Self::OutboundBlocked {
                service: (*service).to_owned(),
                session: some(session),
                patterns: owned(patterns),
                content: *content,
            },
            Event::HttpDecision {
                host,
                method,
                session,
                decision,
                why,
            } => Self::HttpDecision {
                host: (*host).to_owned(),
                method: (*method).to_owned(),
                session: some(session),
                decision: *decision,
                why: (*why).to_owned(),
            },
            Event::ApprovalRequested {
                id,
                action,
                session,
                shown,
            } => Self::ApprovalRequested {
                id: (*id).to_owned(),
                action: (*action).to_owned(),
                session: some(session),
                shown: *shown,
            },
            Event::ApprovalDecided {
                id,
                action,
                answer,
                channel,
            } => Self::ApprovalDecided {
                id: (*id).to_owned(),
                action: (*action).to_owned(),
                answer: *answer,
                channel: (*channel).to_owned(),
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
                name: (*name).to_owned(),
                message: (*message).to_owned(),
                details: details.clone(),
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
