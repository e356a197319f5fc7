//! An answer, checked before it is sent: secrets, the system prompt, data on its way out, and what should not be there.

mod blocks;
mod exfil;
mod parts;
mod payload;
mod roll;
mod shingles;
mod suspicious;
mod url;

pub(crate) use blocks::blocks;
pub(crate) use exfil::Judge;
pub(crate) use shingles::Matcher;
pub use shingles::PromptShingles;
pub(crate) use suspicious::{orders, scripts, terminal, unseen};
pub(crate) use url::{LOOK_BACK, find as addresses};

use blastshield_detect::Detector;
use blastshield_leak::{Class, Finding, Scanner, Scope, Seen};
use blastshield_text::{ViewKind, Views};
use serde::Serialize;
use std::ops::Range;
use std::sync::Arc;

/// What is sent instead of an answer that must not be.
pub const BLOCKED: &str = "[Response blocked due to security policy violation]";

/// More issues than this are not listed; what blocks is listed first.
pub const MAX_ISSUES: usize = 64;

/// What kind of issue it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// A key, token, password, registered value or canary.
    CredentialLeak,
    /// A piece of a system prompt.
    InstructionLeak,
    /// Data in an address or an encoded block.
    DataExfiltration,
    /// Anything else that should not be there.
    SuspiciousContent,
}

impl IssueKind {
    /// The name on the wire and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CredentialLeak => "credential_leak",
            Self::InstructionLeak => "instruction_leak",
            Self::DataExfiltration => "data_exfiltration",
            Self::SuspiciousContent => "suspicious_content",
        }
    }
}

/// Whether the answer may go out all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It may.
    Warn,
    /// It must not.
    Block,
}

impl Severity {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

/// Bytes of the answer, on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Location {
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
}

impl From<Range<usize>> for Location {
    fn from(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
        }
    }
}

/// One thing that is wrong with an answer. It names the place, never the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// Of what kind it is.
    #[serde(rename = "type")]
    pub kind: IssueKind,
    /// For a person.
    pub description: String,
    /// Where it stands.
    pub location: Location,
    /// Whether it stops the answer.
    pub severity: Severity,
}

/// The verdict on an answer.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// Nothing in it blocks.
    pub safe: bool,
    /// What was found: what blocks first, then by place.
    pub issues: Vec<Issue>,
    /// What to send instead, if it is not safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sanitized_content: Option<String>,
}

/// How the answer came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Whose answer it is.
    pub session_key: Option<String>,
    /// Tools that ran for it. Where one ran, something from outside may have steered the answer.
    pub tools_called: Vec<String>,
}

/// The options of `outputValidation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Credentials block; otherwise they are a warning.
    pub block_credential_leaks: bool,
    /// Pieces of a registered prompt block; otherwise they are a warning.
    pub block_system_prompt_leaks: bool,
    /// Look at addresses and encoded blocks.
    pub scan_for_exfiltration: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            block_credential_leaks: true,
            block_system_prompt_leaks: true,
            scan_for_exfiltration: true,
        }
    }
}

/// Phrases that stand in system prompts and seldom in answers.
const INDICATORS: [&str; 4] = [
    "you are a personal assistant",
    "your working directory is",
    "immutable safety rules",
    "tool availability (filtered by policy)",
];

/// Checks answers. Cheap to clone.
#[derive(Clone)]
pub struct Validator {
    pub(crate) rules: Rules,
    pub(crate) scanner: Scanner,
    pub(crate) prompts: Arc<PromptShingles>,
    pub(crate) detector: Option<Arc<Detector>>,
}

impl Validator {
    /// A validator that knows these secrets and prompts.
    #[must_use]
    pub fn new(rules: Rules, scanner: Scanner, prompts: Arc<PromptShingles>) -> Self {
        Self {
            rules,
            scanner,
            prompts,
            detector: None,
        }
    }

    /// The same under other rules.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The same, which also looks for instructions to the next agent.
    #[must_use]
    pub fn with_detector(mut self, detector: Arc<Detector>) -> Self {
        self.detector = Some(detector);
        self
    }

    /// Checks a whole answer.
    pub fn validate(&self, content: &str, context: &Context) -> Validation {
        let mut issues = Vec::new();
        let findings = self.scanner.scan_with(content, Scope::SECRETS);
        issues.extend(findings.iter().map(|finding| self.credential(finding)));
        let views = Views::of(content);
        self.prompt(content, &views, &mut issues);
        indicators(&views, &mut issues);
        if self.rules.scan_for_exfiltration {
            let judge = Judge {
                scanner: &self.scanner,
                context,
            };
            judge.addresses(content, &mut issues);
            issues.extend(blocks(content).into_iter().map(encoded_block));
        }
        terminal(content, &mut issues);
        unseen(&views, &mut issues);
        scripts(content, &views, &mut issues);
        if let Some(detector) = &self.detector {
            orders(content, detector, &mut issues);
        }
        Validation::of(issues)
    }

    pub(crate) fn credential(&self, finding: &Finding) -> Issue {
        let form = match finding.seen {
            Seen::Plain => "",
            Seen::Url => " in a URL",
            Seen::Encoded => ", encoded",
            Seen::Split => ", in pieces",
        };
        let what = match finding.class {
            Class::Canary => "Canary",
            Class::Registered => "Registered value",
            _ => "Potential credential",
        };
        let description = match (&finding.name, finding.class) {
            (Some(name), Class::Canary) => {
                format!("{what} of {} in output{form}", crate::label(name, 64))
            }
            _ => format!("{what} ({}) in output{form}", finding.rule),
        };
        Issue {
            kind: IssueKind::CredentialLeak,
            description,
            location: finding.span().into(),
            severity: blocks_if(self.rules.block_credential_leaks),
        }
    }

    /// Pieces of a registered prompt, plain or in what can be decoded.
    fn prompt(&self, content: &str, views: &Views, issues: &mut Vec<Issue>) {
        if self.prompts.is_empty() {
            return;
        }
        let mut spans: Vec<(usize, usize, bool)> = self
            .prompts
            .passages(content)
            .iter()
            .map(|passage| (passage.start, passage.end, passage.leaked))
            .collect();
        spans.extend(self.decoded_passages(views));
        for (start, end, leaked) in spans {
            issues.push(self.leaked_prompt(start, end, leaked));
        }
    }

    pub(crate) fn decoded_passages(&self, views: &Views) -> Vec<(usize, usize, bool)> {
        let mut spans = Vec::new();
        for view in views.iter().filter(|view| view.kind() != ViewKind::Plain) {
            for passage in self.prompts.passages(view.text()) {
                let span = view.origin(passage.start..passage.end);
                spans.push((span.start, span.end, passage.leaked));
            }
        }
        spans
    }

    pub(crate) fn leaked_prompt(&self, start: usize, end: usize, leaked: bool) -> Issue {
        Issue {
            kind: IssueKind::InstructionLeak,
            description: if leaked {
                "A passage of the system prompt in output".to_owned()
            } else {
                "Words of the system prompt in output".to_owned()
            },
            location: (start..end).into(),
            severity: blocks_if(leaked && self.rules.block_system_prompt_leaks),
        }
    }
}

pub(crate) fn encoded_block(range: Range<usize>) -> Issue {
    Issue {
        kind: IssueKind::DataExfiltration,
        description: "A long encoded block in output".to_owned(),
        location: range.into(),
        severity: Severity::Warn,
    }
}

pub(crate) fn indicators(views: &Views, issues: &mut Vec<Issue>) {
    for view in views.iter() {
        for phrase in INDICATORS {
            if let Some(at) = view.text().find(phrase) {
                let span = view.origin(at..at + phrase.len());
                issues.push(Issue {
                    kind: IssueKind::InstructionLeak,
                    description: "Possible system prompt content in output".to_owned(),
                    location: (span.start..span.end).into(),
                    severity: Severity::Warn,
                });
            }
        }
    }
}

fn blocks_if(blocking: bool) -> Severity {
    if blocking {
        Severity::Block
    } else {
        Severity::Warn
    }
}

impl Validation {
    /// The verdict that these issues give.
    pub(crate) fn of(mut issues: Vec<Issue>) -> Self {
        issues.sort_by(|a, b| {
            (b.severity, a.location, a.kind, &a.description).cmp(&(
                a.severity,
                b.location,
                b.kind,
                &b.description,
            ))
        });
        issues.dedup();
        let safe = issues.iter().all(|issue| issue.severity == Severity::Warn);
        issues.truncate(MAX_ISSUES);
        Self {
            safe,
            issues,
            sanitized_content: (!safe).then(|| BLOCKED.to_owned()),
        }
    }
}
