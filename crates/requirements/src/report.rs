//! The answer of a check: names, states and modes. It holds no value.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How grave it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something works less well, or not at all.
    Warn,
    /// What must not be so.
    Critical,
}

impl Severity {
    /// The name in schemas and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Critical => "critical",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Info, Self::Warn, Self::Critical]
            .into_iter()
            .find(|severity| severity.name() == name)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How a variable was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has a value of the right form.
    Set,
    /// It is not there.
    Missing,
    /// It is there without anything but white space: it counts as not set.
    Empty,
    /// It has a value that cannot be right.
    Malformed,
}

impl State {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Missing => "missing",
            Self::Empty => "empty",
            Self::Malformed => "malformed",
        }
    }

    /// What is wrong, if something is.
    #[must_use]
    pub const fn problem(self) -> Option<Problem> {
        match self {
            Self::Set => None,
            Self::Missing => Some(Problem::Missing),
            Self::Empty => Some(Problem::Empty),
            Self::Malformed => Some(Problem::Malformed),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is wrong with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Problem {
    /// It is not there.
    Missing,
    /// It is there without a value.
    Empty,
    /// Its value cannot be right.
    Malformed,
}

/// Something that the operator should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The variable's name.
    pub variable: String,
    /// Its group.
    pub group: String,
    /// How grave it is.
    pub severity: Severity,
    /// What is wrong.
    pub problem: Problem,
    /// The same as a sentence, with what follows from it.
    pub message: String,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The gravest severity of all findings.
    pub gravest: Option<Severity>,
    /// Each feature's mode.
    pub modes: BTreeMap<String, String>,
    /// By feature, the variables that its mode needs and that are not set right.
    pub unmet: BTreeMap<String, Vec<String>>,
    /// Each variable's state.
    pub variables: BTreeMap<String, State>,
    /// What is wrong, in the order of the schema.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The mode of a feature.
    #[must_use]
    pub fn mode(&self, feature: &str) -> Option<&str> {
        self.modes.get(feature).map(String::as_str)
    }

    /// Whether a feature is in this mode *and* has all that the mode needs. Ask this before acting: a wallet that may
    /// spend but has no daily limit is in its spending mode and may not act on it.
    #[must_use]
    pub fn in_force(&self, feature: &str, mode: &str) -> bool {
        self.mode(feature) == Some(mode) && !self.unmet.contains_key(feature)
    }
}
