//! What differs between two reports, for the audit log.

use crate::report::{Report, Severity};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A feature's mode.
    Mode,
    /// A variable's state.
    Variable,
    /// A finding of a variable: it came, went, or weighs otherwise.
    Finding,
}

/// One difference. A variable that has another value of the right form is no difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What changed.
    pub subject: Subject,
    /// The feature's or the variable's name.
    pub name: String,
    /// Mode, state or severity before; nothing if there was none.
    pub from: Option<String>,
    /// Mode, state or severity now; nothing if there is none.
    pub to: Option<String>,
    /// How grave the new state is: that of the finding that came, otherwise `info`.
    pub severity: Severity,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match self.subject {
            Subject::Mode => "mode of",
            Subject::Variable => "variable",
            Subject::Finding => "finding on",
        };
        let from = self.from.as_deref().unwrap_or("none");
        let to = self.to.as_deref().unwrap_or("none");
        write!(f, "{subject} {}: {from} to {to}", self.name)
    }
}

impl Report {
    /// What differs since an earlier report: modes first, then variables, then findings, each by name.
    #[must_use]
    pub fn differs_from(&self, earlier: &Self) -> Vec<Change> {
        let mut changes = compare(Subject::Mode, &earlier.modes, &self.modes);
        changes.extend(compare(
            Subject::Variable,
            &earlier.states(),
            &self.states(),
        ));
        let severities = self.severities();
        let findings = compare(
            Subject::Finding,
            &earlier.severities().into_iter().map(named).collect(),
            &self.severities().into_iter().map(named).collect(),
        );
        changes.extend(findings.into_iter().map(|change| {
            Change {
                severity: severities
                    .get(&change.name)
                    .copied()
                    .unwrap_or(Severity::Info),
                ..change
            }
        }));
        changes
    }

    fn states(&self) -> BTreeMap<String, String> {
        self.variables
            .iter()
            .map(|(name, state)| (name.clone(), state.to_string()))
            .collect()
    }

    fn severities(&self) -> BTreeMap<String, Severity> {
        self.findings
            .iter()
            .map(|finding| (finding.variable.clone(), finding.severity))
            .collect()
    }
}

fn named((name, severity): (String, Severity)) -> (String, String) {
    (name, severity.to_string())
}

fn compare(
    subject: Subject,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<Change> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != now.get(*name))
        .map(|name| Change {
            subject,
            name: name.clone(),
            from: before.get(name).cloned(),
            to: now.get(name).cloned(),
            severity: Severity::Info,
        })
        .collect()
}
