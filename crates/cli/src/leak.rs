//! `blastshield leak`: secrets and personal data in files, folders, standard input and rows. Values are never shown.

use crate::args::{LeakOptions, LeakScope};
use crate::scan::input::{self, Unread};
use crate::scan::jsonl;
use crate::{CLEAN, ERROR, FINDINGS};
use anyhow::Context;
use blastshield_leak::{Finding, Scanner, Scope, fingerprint};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

impl From<LeakScope> for Scope {
    fn from(scope: LeakScope) -> Self {
        match scope {
            LeakScope::Report => Self::REPORT,
            LeakScope::Outbound => Self::OUTBOUND,
            LeakScope::Secrets => Self::SECRETS,
            LeakScope::All => Self::ALL,
        }
    }
}

pub(crate) fn run(options: &LeakOptions) -> anyhow::Result<u8> {
    if options.rules {
        return list(options.markdown).map(|()| CLEAN);
    }
    let scanner = Scanner::shipped();
    let scope = options.scope.into();
    if let Some(file) = &options.jsonl {
        return rows(file, &scanner, scope);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut total, mut leaking, mut unread) = (0_usize, 0_usize, 0_usize);
    for input in input::collect(&options.paths) {
        total += 1;
        let name = input.name();
        match input.read(options.max_size << 20) {
            Ok(text) => {
                let findings = scanner.scan_with(&text, scope);
                leaking += usize::from(!findings.is_empty());
                if options.json {
                    let decision = decision(&findings);
                    let mut places = Places::new(&text);
                    let matches: Vec<Value> = findings
                        .iter()
                        .map(|finding| describe(&mut places, finding))
                        .collect();
                    writeln!(
                        out,
                        "{}",
                        json!({"path": name, "decision": decision, "matches": matches})
                    )?;
                } else {
                    write_findings(&mut out, &name, &text, &findings)?;
                }
            }
            Err(Unread::Binary) if !options.json => {}
            Err(reason) => {
                unread += usize::from(reason != Unread::Binary);
                if options.json {
                    writeln!(
                        out,
                        "{}",
                        json!({"path": name, "error": reason.to_string()})
                    )?;
                } else {
                    writeln!(out, "{name}  {reason}")?;
                }
            }
        }
    }
    if !options.json {
        let rest = if unread > 0 {
            format!(", {unread} not read")
        } else {
            String::new()
        };
        writeln!(out, "{total} scanned: {leaking} with findings{rest}")?;
    }
    out.flush()?;
    Ok(match (leaking, unread) {
        (0, 0) => CLEAN,
        (0, _) => ERROR,
        _ => FINDINGS,
    })
}

fn decision(findings: &[Finding]) -> &'static str {
    if findings.is_empty() {
        "allow"
    } else {
        "block"
    }
}

fn describe(places: &mut Places<'_>, finding: &Finding) -> Value {
    let (line, column) = places.of(finding.start);
    json!({
        "kind": finding.rule,
        "class": finding.class.name(),
        "start": finding.start,
        "end": finding.end,
        "line": line,
        "column": column,
        "seen": finding.seen.name(),
    })
}

/// Lines and columns of bytes, as editors count them. Places in rising order cost one walk over the text.
struct Places<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            column: 1,
        }
    }

    fn of(&mut self, at: usize) -> (usize, usize) {
        if at < self.at {
            *self = Self::new(self.text);
        }
        for c in self.text.get(self.at..at).unwrap_or_default().chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.at = at;
        (self.line, self.column)
    }
}

fn write_findings(
    out: &mut impl Write,
    name: &str,
    text: &str,
    findings: &[Finding],
) -> io::Result<()> {
    let mut places = Places::new(text);
    for finding in findings {
        let (line, column) = places.of(finding.start);
        let shown = fingerprint(text.get(finding.span()).unwrap_or_default());
        let seen = match finding.seen.name() {
            "plain" => String::new(),
            other => format!(", {other}"),
        };
        writeln!(
            out,
            "{name}:{line}:{column}  {} ({}{seen})  {shown}",
            finding.rule,
            finding.class.name()
        )?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: Value,
    text: String,
}

fn rows(file: &Path, scanner: &Scanner, scope: Scope) -> anyhow::Result<u8> {
    let reader: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot open {}", file.display()))?)
    };
    let mut reader = BufReader::with_capacity(1 << 20, reader);
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut found, mut failed) = (false, false);
    loop {
        let lines = jsonl::read_batch(&mut reader)?;
        if lines.is_empty() {
            break;
        }
        let answers: Vec<(Value, bool)> = lines
            .par_iter()
            .map(|line| answer(line, scanner, scope))
            .collect();
        for (answer, fine) in answers {
            failed |= !fine;
            found |= fine
                && answer
                    .get("decision")
                    .is_some_and(|decision| decision == "block");
            writeln!(out, "{answer}")?;
        }
        out.flush()?;
    }
    Ok(match (found, failed) {
        (_, true) => ERROR,
        (true, false) => FINDINGS,
        (false, false) => CLEAN,
    })
}

fn answer(line: &[u8], scanner: &Scanner, scope: Scope) -> (Value, bool) {
    let Ok(row) = serde_json::from_slice::<Row>(line) else {
        return (
            json!({"id": null, "error": "not a row with a text", "decision": "block"}),
            false,
        );
    };
    let findings = scanner.scan_with(&row.text, scope);
    let matches: Vec<Value> = findings
        .iter()
        .map(|finding| json!({"kind": finding.rule, "start": finding.start, "end": finding.end}))
        .collect();
    (
        json!({"id": row.id, "decision": decision(&findings), "matches": matches}),
        true,
    )
}

fn list(markdown: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if markdown {
        writeln!(out, "| rule | class | means |\n|---|---|---|")?;
    }
    for rule in blastshield_leak::rules() {
        let class = rule.class.name();
        if markdown {
            writeln!(out, "| `{}` | {class} | {} |", rule.id, rule.means)?;
        } else {
            writeln!(out, "{:<28} {class:<11} {}", rule.id, rule.means)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_an_editor_in_any_order() {
        let text = "ab\nжé x\n\nend";
        let mut places = Places::new(text);
        for (at, place) in [
            (0, (1, 1)),
            (3, (2, 1)),
            (8, (2, 4)),
            (11, (4, 1)),
            (1, (1, 2)),
        ] {
            assert_eq!(places.of(at), place, "{at}");
        }
    }
}
