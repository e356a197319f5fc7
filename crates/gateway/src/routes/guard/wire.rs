//! What travels to and from the guard.

use crate::error::ErrorBody;
use blastshield_audit::{Origin, Risk};
use blastshield_detect::{Assessment, Decision, Kind, Severity};
use blastshield_leak::Leak;
use serde::{Deserialize, Serialize};
use utoipa::{IntoResponses, ToSchema};

/// How a request with a body may fail, for the API's document.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "a description, never made")]
pub(crate) enum BodyErrors {
    /// Something in it is not as it should be.
    #[response(status = 400)]
    Bad(ErrorBody),
    /// No token, or a wrong one.
    #[response(status = 401)]
    Unauthorized(ErrorBody),
    /// It is too large.
    #[response(status = 413)]
    TooLarge(ErrorBody),
    /// It is not declared as JSON.
    #[response(status = 415)]
    NotJson(ErrorBody),
    /// There is no room, or the store does not answer.
    #[response(status = 503)]
    Busy(ErrorBody),
}

/// How a request in the name of a session may fail besides.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "a description, never made")]
pub(crate) enum SessionErrors {
    /// The session is blocked.
    #[response(status = 403)]
    Blocked(ErrorBody),
    /// The session has to wait.
    #[response(status = 429)]
    Wait(ErrorBody),
}

/// How a question of the owner may fail.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "a description, never made")]
pub(crate) enum OwnerErrors {
    /// No token, or a wrong one.
    #[response(status = 401)]
    Unauthorized(ErrorBody),
    /// The agent's token does not open this.
    #[response(status = 403)]
    Forbidden(ErrorBody),
    /// There is no room, or the store does not answer.
    #[response(status = 503)]
    Busy(ErrorBody),
}

/// What a text is to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextKind {
    /// Somebody writes to the agent.
    #[default]
    Message,
    /// What a tool returned.
    ToolResult,
    /// What the agent remembers.
    Memory,
    /// A page.
    Web,
    /// A mail.
    Email,
    /// A document.
    Document,
}

impl TextKind {
    /// As the detector has it: mails and documents are data, like pages.
    pub(crate) fn detector(self) -> Kind {
        match self {
            Self::Message => Kind::Message,
            Self::ToolResult => Kind::ToolResult,
            Self::Memory => Kind::Memory,
            Self::Web | Self::Email | Self::Document => Kind::Web,
        }
    }

    /// As the records have it.
    pub(crate) fn origin(self) -> Origin {
        match self {
            Self::Message => Origin::Message,
            Self::ToolResult => Origin::ToolResult,
            Self::Memory => Origin::Memory,
            Self::Web => Origin::Web,
            Self::Email => Origin::Email,
            Self::Document => Origin::Document,
        }
    }
}

/// How well the agent knows the author. It never changes whether or how a text is scanned.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Trust {
    /// Not at all.
    Unknown,
    /// A little.
    Acquaintance,
    /// Well.
    Friend,
    /// Very well.
    Ally,
}

/// What the detector thinks of a text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AssessmentBody {
    /// 0 is clean; 20 is the most.
    pub(crate) score: f64,
    /// `low`, `medium`, `high` or `critical`.
    pub(crate) severity: String,
    /// What was found, heaviest first.
    pub(crate) matches: Vec<MatchBody>,
    /// One line for a person.
    pub(crate) reason: String,
}

/// One finding: a place, never the words.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct MatchBody {
    /// What kind of attack.
    pub(crate) category: String,
    /// Which rule.
    pub(crate) rule: String,
    /// First byte in the text.
    pub(crate) start: usize,
    /// The byte after the last.
    pub(crate) end: usize,
    /// In which view of the text it was found.
    pub(crate) view: String,
    /// Points it brings.
    pub(crate) weight: f64,
    /// It is quoted or talked about.
    pub(crate) mentioned: bool,
}

impl From<&Assessment> for AssessmentBody {
    fn from(assessment: &Assessment) -> Self {
        let found = |found: &blastshield_detect::Match| MatchBody {
            category: found.category.name().to_owned(),
            rule: found.rule.to_string(),
            start: found.span.start,
            end: found.span.end,
            view: found.view.name().to_owned(),
            weight: round(found.weight),
            mentioned: found.mentioned,
        };
        Self {
            score: round(assessment.score),
            severity: assessment.severity.name().to_owned(),
            matches: assessment.matches.iter().map(found).collect(),
            reason: assessment.reason.clone(),
        }
    }
}

/// `allow` or `block`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionBody {
    /// It may go on.
    Allow,
    /// It may not.
    Block,
}

impl From<Decision> for DecisionBody {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Block => Self::Block,
        }
    }
}

/// A canary where none should be.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct CanaryLeak {
    /// Its first characters.
    token: String,
    /// Where it was placed.
    location: String,
    /// `warn` or `critical`.
    severity: String,
}

impl From<&Leak> for CanaryLeak {
    fn from(leak: &Leak) -> Self {
        Self {
            token: leak.shown.clone(),
            location: leak.location.to_string(),
            severity: leak.severity.name().to_owned(),
        }
    }
}

/// A score as people write it: 12.4, not 12.399999618530273. What is no number is the most.
pub(crate) fn round(score: f32) -> f64 {
    if score.is_nan() {
        return 20.0;
    }
    (f64::from(score) * 10.0).round() / 10.0
}

/// A score in the words of the records.
pub(crate) fn risk(score: f32) -> Risk {
    match Severity::of(score) {
        _ if score.is_nan() => Risk::Critical,
        Severity::Low => Risk::Low,
        Severity::Medium => Risk::Medium,
        Severity::High => Risk::High,
        Severity::Critical => Risk::Critical,
    }
}

/// Whether a score is worth a record; one that is no number is.
pub(crate) fn is_suspicious(score: f32) -> bool {
    score.is_nan() || score >= blastshield_limits::SUSPICIOUS_SCORE
}
