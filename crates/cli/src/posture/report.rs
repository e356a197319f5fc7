//! What was seen, for people and for programs.

use super::check::{Check, Found, Outcome};
use super::fix::Mended;
use crate::audit_log::safe;
use crate::scan::visible;
use blastshield_audit::Severity;
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};
use std::io::{self, Write};

/// A check and what it saw.
pub(crate) type Seen = (&'static Check, Outcome);

/// How many were found, by severity, and how many were not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) critical: usize,
    pub(crate) warn: usize,
    pub(crate) info: usize,
    fine: usize,
    not_here: usize,
}

impl Tally {
    pub(crate) fn of(seen: &[Seen]) -> Self {
        let mut tally = Self::default();
        for (check, outcome) in seen {
            let count = match (outcome, check.severity) {
                (Outcome::Fine, _) => &mut tally.fine,
                (Outcome::NotHere, _) => &mut tally.not_here,
                (Outcome::Found(_), Severity::Info) => &mut tally.info,
                (Outcome::Found(_), Severity::Warn) => &mut tally.warn,
                (Outcome::Found(_), Severity::Critical) => &mut tally.critical,
            };
            *count += 1;
        }
        tally
    }

    fn line(self) -> String {
        let all = self.critical + self.warn + self.info + self.fine + self.not_here;
        let plural = if self.warn == 1 { "" } else { "s" };
        format!(
            "{all} checks: {} critical, {} warning{plural}, {} to know, {} fine, {} not applicable",
            self.critical, self.warn, self.info, self.fine, self.not_here
        )
    }
}

pub(crate) fn people(
    out: &mut impl Write,
    seen: &[Seen],
    mended: &[Mended],
    colours: bool,
) -> io::Result<()> {
    let tally = Tally::of(seen);
    let paint = |text: &str, style: Style| {
        if colours {
            text.style(style).to_string()
        } else {
            text.to_owned()
        }
    };
    for mended in mended {
        writeln!(out, "{}", visible::line(&mended.told()))?;
    }
    for severity in [Severity::Critical, Severity::Warn, Severity::Info] {
        let (title, style) = match severity {
            Severity::Critical => ("CRITICAL", Style::new().red().bold()),
            Severity::Warn => ("WARNINGS", Style::new().yellow().bold()),
            Severity::Info => ("TO KNOW", Style::new().cyan().bold()),
        };
        let found: Vec<(&Check, &Found)> = found(seen)
            .filter(|(check, _)| check.severity == severity)
            .collect();
        if found.is_empty() {
            continue;
        }
        writeln!(out, "{}", paint(title, style))?;
        for (check, found) in found {
            writeln!(
                out,
                "  {}  {} · {}",
                paint(check.id, Style::new().bold()),
                check.title,
                visible::line(&found.evidence)
            )?;
            let fix = format!("    fix: {}", visible::line(fix(check, found)));
            writeln!(out, "{}", paint(&fix, Style::new().dimmed()))?;
        }
    }
    writeln!(out, "{}", tally.line())
}

pub(crate) fn machine(out: &mut impl Write, seen: &[Seen], mended: &[Mended]) -> io::Result<()> {
    let tally = Tally::of(seen);
    let checks: Vec<Value> = seen.iter().map(told).collect();
    let fixed: Vec<Value> = mended.iter().map(Mended::json).collect();
    let document = json!({
        "summary": {
            "checks": seen.len(), "critical": tally.critical, "warn": tally.warn, "info": tally.info,
            "ok": tally.fine, "not_applicable": tally.not_here,
        },
        "fixed": fixed,
        "checks": checks,
    });
    writeln!(out, "{}", safe(&document))
}

/// Every check as a row of a Markdown table.
pub(crate) fn list(
    out: &mut impl Write,
    checks: impl Iterator<Item = &'static Check>,
) -> io::Result<()> {
    writeln!(out, "| check | severity | what is wrong | what mends it |")?;
    writeln!(out, "|---|---|---|---|")?;
    for check in checks {
        let severity = check.severity.as_str().to_ascii_lowercase();
        writeln!(
            out,
            "| `{}` | {severity} | {} | {} |",
            check.id, check.title, check.fix
        )?;
    }
    Ok(())
}

fn found(seen: &[Seen]) -> impl Iterator<Item = (&'static Check, &Found)> {
    seen.iter().filter_map(|(check, outcome)| match outcome {
        Outcome::Found(found) => Some((*check, found)),
        _ => None,
    })
}

fn fix<'f>(check: &Check, found: &'f Found) -> &'f str {
    found.fix.as_deref().unwrap_or(check.fix)
}

fn told((check, outcome): &Seen) -> Value {
    let severity = check.severity.as_str().to_ascii_lowercase();
    match outcome {
        Outcome::Found(found) => json!({
            "id": check.id, "severity": severity, "status": "found", "title": check.title,
            "evidence": found.evidence, "fix": fix(check, found), "fixable": !found.mends.is_empty(),
        }),
        outcome => json!({
            "id": check.id, "severity": severity, "title": check.title,
            "status": if *outcome == Outcome::Fine { "ok" } else { "not_applicable" },
        }),
    }
}
