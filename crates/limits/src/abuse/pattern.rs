//! Patterns as an operator writes them.

use serde::{Deserialize, Serialize};

/// How grave a pattern is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a note.
    Low,
    /// Worth a look.
    Medium,
    /// Worth an alert.
    High,
}

/// What happens to a session that shows a pattern; the later is the harder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is only reported.
    Warn,
    /// The session cools down.
    Throttle,
    /// The session is blocked until the block ends or the owner pardons it.
    Block,
}

/// What a session did. Each kind has a history of its own, so that a flood of one does not wash the others away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Someone spoke to the agent.
    Message,
    /// The agent read something: a tool's result, a page. Its author is not the session.
    Content,
    /// The agent called a tool.
    ToolCall,
}

impl EventKind {
    pub(crate) const COUNT: usize = 3;

    pub(crate) fn place(self) -> usize {
        match self {
            Self::Message => 0,
            Self::Content => 1,
            Self::ToolCall => 2,
        }
    }
}

/// When an event counts for a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Trigger {
    /// Always.
    Any,
    /// It was scored so high, or its score is not a number.
    Score {
        /// The least score that counts.
        at_least: f32,
    },
    /// It was filed under one of these categories and scored so high.
    Category {
        /// Names of categories, as the detector gives them.
        among: Vec<String>,
        /// The least score that counts.
        #[serde(default)]
        at_least: f32,
    },
    /// Its text matches an expression; ASCII case is ignored.
    Text {
        /// A regular expression without look-around and back-references.
        pattern: String,
    },
    /// It asks for a credential, see [`asks_for_credentials`](crate::asks_for_credentials).
    Credentials,
    /// Policy refused it.
    Refused,
}

/// So many of the last so many events, within a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which events are looked at.
    pub of: EventKind,
    /// An event counts if any of these holds.
    pub any: Vec<Trigger>,
    /// So many must count.
    pub count: u8,
    /// Among the last so many of this kind; all that are remembered, if not given.
    #[serde(default)]
    pub last: Option<u8>,
    /// That are younger than this, in milliseconds; of any age, if not given.
    #[serde(default)]
    pub within_ms: Option<u64>,
}

/// A habit to look for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Its name in reports and metrics: lower-case letters, digits and underscores.
    pub id: String,
    /// What it means, for a person.
    pub description: String,
    /// How grave it is.
    pub severity: Severity,
    /// What happens to the session.
    pub action: Action,
    /// It is seen when any of these rules is fulfilled.
    pub when: Vec<Rule>,
}

/// Which patterns are looked for, and how hard the consequences are.
#[derive(Clone, Debug, PartialEq)]
pub struct AbuseSettings {
    /// Whether anything is looked for. A block that stands is not lifted by switching this off.
    pub enabled: bool,
    /// The patterns; by default the [shipped](Pattern::shipped) ones.
    pub patterns: Vec<Pattern>,
    /// One action for every pattern, in place of its own.
    pub action: Option<Action>,
    /// How long a block lasts, in milliseconds.
    pub block_ms: u64,
    /// How long a throttled session cools down, in milliseconds.
    pub throttle_ms: u64,
}

impl Default for AbuseSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            patterns: Pattern::shipped(),
            action: None,
            block_ms: 3_600_000,
            throttle_ms: 60_000,
        }
    }
}
