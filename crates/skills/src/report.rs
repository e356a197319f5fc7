//! What was found: where and by which rule, never the words.

use serde::Serialize;

/// Findings that are listed; more are counted.
pub const MAX_FINDINGS: usize = 100;

/// How grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Warn,
    /// Hardly ever meant well.
    Critical,
}

impl Severity {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Critical => "critical",
        }
    }
}

/// What kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Words that want to steer the agent.
    Injection,
    /// A secret in a file.
    Secret,
    /// A command that does what no skill should.
    Shell,
    /// An address that hides where it leads.
    Link,
    /// A name that reaches out of the skill's folder.
    Path,
}

impl Kind {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Injection => "injection",
            Self::Secret => "secret",
            Self::Shell => "shell",
            Self::Link => "link",
            Self::Path => "path",
        }
    }
}

/// Something in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The file, as it was given.
    pub file: String,
    /// Its line, from 1; 0 where it is about the file itself.
    pub line: usize,
    /// What kind of thing.
    pub kind: Kind,
    /// Which rule.
    pub rule: String,
    /// How grave.
    pub severity: Severity,
}

impl Finding {
    /// In one line, for a person.
    #[must_use]
    pub fn to_line(&self) -> String {
        let Self { file, line, .. } = self;
        let (severity, kind) = (self.severity.name(), self.kind.name());
        format!("{severity} {kind} {} in {file}:{line}", self.rule)
    }
}

/// What a skill brings along.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Examination {
    /// How many files.
    pub files: usize,
    /// Bytes of all of them.
    pub bytes: usize,
    /// Hash of names and contents.
    pub sha256: String,
    /// The highest score of a file on the detector's scale.
    pub score: f32,
    /// The gravest first; bounded.
    pub findings: Vec<Finding>,
    /// Findings that are not listed.
    pub more_findings: usize,
    /// Hosts of the addresses in it, by name; bounded.
    pub hosts: Vec<String>,
    /// Hosts that are not listed.
    pub more_hosts: usize,
}

impl Examination {
    /// The gravest finding.
    #[must_use]
    pub fn gravest(&self) -> Option<Severity> {
        self.findings.iter().map(|found| found.severity).max()
    }

    /// Findings, listed or not.
    #[must_use]
    pub fn count(&self) -> usize {
        self.findings.len() + self.more_findings
    }

    /// In one line: how many of which severity.
    #[must_use]
    pub fn summary(&self) -> String {
        let count = |severity| {
            let listed = self.findings.iter();
            listed.filter(|found| found.severity == severity).count()
        };
        let more = match self.more_findings {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        format!(
            "{} critical, {} warn, {} info{more}",
            count(Severity::Critical),
            count(Severity::Warn),
            count(Severity::Info)
        )
    }
}
