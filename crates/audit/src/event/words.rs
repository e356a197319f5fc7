//! The words that events use on the wire and in the log.

use serde::{Deserialize, Serialize};

/// How a content came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A message of a user or another agent.
    Message,
    /// The output of a tool.
    ToolResult,
    /// The agent's memory.
    Memory,
    /// A web page or search result.
    Web,
    /// An e-mail.
    Email,
    /// A document.
    Document,
}

impl Origin {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::ToolResult => "tool_result",
            Self::Memory => "memory",
            Self::Web => "web",
            Self::Email => "email",
            Self::Document => "document",
        }
    }
}

/// The detector's word for a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Risk {
    /// Hardly any.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Beyond doubt.
    Critical,
}

impl Risk {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// How grave a pattern of abuse is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth noting.
    Low,
    /// Worth slowing down.
    Medium,
    /// Worth a ban.
    High,
}

impl Level {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Decision {
    /// Yes.
    Allow,
    /// Held back because of its content.
    Block,
    /// The owner is asked.
    Ask,
    /// No.
    Deny,
    /// No answer could be had, which means no.
    Error,
}

impl Decision {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Allow, Self::Block, Self::Ask, Self::Deny, Self::Error];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Error => "error",
        }
    }
}

/// The answer to an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The owner said yes.
    Approved,
    /// The owner said no.
    Denied,
    /// Nobody answered in time, which means no.
    Timeout,
}

impl Answer {
    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
        }
    }
}

/// A step of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentStep {
    /// Refused by a rule.
    Refused,
    /// About to be paid.
    Intended,
    /// Paid.
    Paid,
    /// Certainly not paid.
    Failed,
    /// Nobody knows yet.
    Unknown,
}

impl PaymentStep {
    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Intended => "intended",
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}
