//! One look at each variable, then the modes. Values live no longer than the look.

use crate::report::{Finding, Problem, Report, Severity, State};
use crate::schema::{Condition, Mode, Requirements, Test, Variable};
use std::collections::BTreeMap;

/// Longest value that can be right.
const MAX_VALUE_BYTES: usize = 64 << 10;

impl Requirements {
    /// Looks every variable up once, finds each feature's mode, and says what is wrong.
    #[must_use]
    pub fn check(&self, lookup: impl Fn(&str) -> Option<String>) -> Report {
        let seen: BTreeMap<&str, Seen> = self
            .variables
            .iter()
            .map(|variable| {
                let value = lookup(&variable.name);
                (variable.name.as_str(), Seen::new(variable, value))
            })
            .collect();
        let mut report = Report::default();
        // By variable: the gravest need, with the feature and the mode that have it.
        let mut needs: BTreeMap<&str, Need<'_>> = BTreeMap::new();
        for feature in &self.features {
            let Some(mode) = feature.modes.iter().find(|mode| mode.applies(&seen)) else {
                continue;
            };
            report.modes.insert(feature.name.clone(), mode.name.clone());
            for (variable, severity) in &mode.needs {
                let need = Need {
                    severity: *severity,
                    feature: &feature.name,
                    mode: &mode.name,
                };
                let gravest = needs.entry(variable).or_insert(need);
                if gravest.severity < need.severity {
                    *gravest = need;
                }
                if state(&seen, variable) != State::Set {
                    let unmet = report.unmet.entry(feature.name.clone()).or_default();
                    unmet.push(variable.clone());
                }
            }
        }
        for variable in &self.variables {
            let state = state(&seen, &variable.name);
            report.variables.insert(variable.name.clone(), state);
            let need = needs.get(variable.name.as_str());
            report.findings.extend(finding(variable, state, need));
        }
        report.gravest = report.findings.iter().map(|found| found.severity).max();
        report
    }
}

/// A variable as it was found.
struct Seen {
    state: State,
    value: Option<String>,
}

impl Seen {
    fn new(variable: &Variable, value: Option<String>) -> Self {
        let state = match &value {
            None => State::Missing,
            Some(value) if value.trim().is_empty() => State::Empty,
            Some(value) if variable.admits(value) => State::Set,
            Some(_) => State::Malformed,
        };
        Self { state, value }
    }
}

impl Variable {
    fn admits(&self, value: &str) -> bool {
        value.len() <= MAX_VALUE_BYTES
            && !value
                .chars()
                .any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER)
            && self
                .pattern
                .as_ref()
                .is_none_or(|pattern| pattern.matches(value))
    }
}

impl Mode {
    fn applies(&self, seen: &BTreeMap<&str, Seen>) -> bool {
        self.when.iter().all(|condition| condition.holds(seen))
    }
}

impl Condition {
    fn holds(&self, seen: &BTreeMap<&str, Seen>) -> bool {
        let Some(seen) = seen.get(self.variable.as_str()) else {
            return false;
        };
        match &self.test {
            Test::Present => matches!(seen.state, State::Set | State::Malformed),
            Test::Valid => seen.state == State::Set,
            Test::Absent => matches!(seen.state, State::Missing | State::Empty),
            Test::Matches(pattern) => {
                seen.state == State::Set
                    && seen
                        .value
                        .as_deref()
                        .is_some_and(|value| pattern.matches(value))
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Need<'a> {
    severity: Severity,
    feature: &'a str,
    mode: &'a str,
}

fn state(seen: &BTreeMap<&str, Seen>, variable: &str) -> State {
    seen.get(variable).map_or(State::Missing, |seen| seen.state)
}

/// A variable without a value is a finding if it is required or needed; one with a wrong value always is, and then
/// never a mere `info`: somebody meant it to work.
fn finding(variable: &Variable, state: State, need: Option<&Need<'_>>) -> Option<Finding> {
    let problem = state.problem()?;
    let needed = need.map(|need| need.severity);
    let required = variable.required.then_some(variable.severity);
    let severity = match problem {
        Problem::Malformed => Some(variable.severity.max(Severity::Warn)).max(needed),
        Problem::Missing | Problem::Empty => required.max(needed),
    }?;
    let name = &variable.name;
    let what = match (problem, &variable.form) {
        (Problem::Missing, _) => format!("{name} is not set"),
        (Problem::Empty, _) => format!("{name} is set to nothing"),
        (Problem::Malformed, Some(form)) => format!("{name} is malformed: it must be {form}"),
        (Problem::Malformed, None) => {
            format!("{name} is malformed: it is too long or not plain text")
        }
    };
    let why = need.map_or_else(String::new, |need| {
        format!("; {} ({}) needs it", need.feature, need.mode)
    });
    Some(Finding {
        variable: name.clone(),
        group: variable.group.clone(),
        severity,
        problem,
        message: format!("{what}{why}. {}", variable.description),
    })
}
