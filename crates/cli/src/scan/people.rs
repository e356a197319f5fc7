//! Findings as people like to read them: the passage, marked, with rule and reason.

use super::{Outcome, Scanned, Tally, visible};
use blastshield_detect::{Decision, Match, Profile, Severity, Span, ViewKind};
use owo_colors::{OwoColorize, Style};
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

/// Passages shown for a file; the rest are counted.
const MAX_PASSAGES: usize = 6;
/// Characters shown before, in and after a match.
const BEFORE: usize = 40;
const WITHIN: usize = 160;
const AFTER: usize = 40;

pub(crate) fn write(
    out: &mut impl Write,
    outcome: &Outcome,
    profile: Profile,
    verbose: bool,
) -> io::Result<()> {
    match &outcome.result {
        Err(reason) => writeln!(
            out,
            "{}  {}",
            outcome.name,
            paint(reason, Style::new().yellow())
        ),
        Ok(scanned) if scanned.assessment.score >= profile.medium_line() => {
            write_findings(out, &outcome.name, scanned)
        }
        Ok(scanned) if verbose => {
            let score = format!("clean ({:.1})", scanned.assessment.score);
            writeln!(
                out,
                "{}  {}",
                outcome.name,
                paint(score, Style::new().green())
            )
        }
        Ok(_) => Ok(()),
    }
}

fn write_findings(out: &mut impl Write, name: &str, scanned: &Scanned) -> io::Result<()> {
    let assessment = &scanned.assessment;
    let verdict = match scanned.decision {
        Decision::Block => "block",
        Decision::Allow => "allow, look at it",
    };
    let label = format!("{} {:.1}", assessment.severity, assessment.score);
    writeln!(
        out,
        "{}  {}  {verdict}",
        paint(name, Style::new().bold()),
        paint(label, colour(assessment.severity).bold())
    )?;
    writeln!(out, "  {}", assessment.reason)?;
    let passages = passages(&assessment.matches);
    for passage in passages.iter().take(MAX_PASSAGES) {
        write_passage(out, &scanned.text, passage)?;
    }
    if let Some(more) = passages
        .len()
        .checked_sub(MAX_PASSAGES)
        .filter(|more| *more > 0)
    {
        writeln!(out, "        and {more} more")?;
    }
    writeln!(out)
}

/// Matches at overlapping places, told once.
struct Passage<'m> {
    span: Span,
    matches: Vec<&'m Match>,
}

fn passages(matches: &[Match]) -> Vec<Passage<'_>> {
    let mut passages: Vec<Passage<'_>> = Vec::new();
    for found in matches {
        // The model judges whole windows; a rule inside shows the place better.
        let overlapping = passages
            .iter_mut()
            .find(|p| p.span.start < found.span.end && found.span.start < p.span.end);
        match overlapping {
            Some(passage) => {
                if found.span.end - found.span.start < passage.span.end - passage.span.start {
                    passage.span = found.span;
                }
                passage.matches.push(found);
            }
            None => passages.push(Passage {
                span: found.span,
                matches: vec![found],
            }),
        }
    }
    passages
}

fn write_passage(out: &mut impl Write, text: &str, passage: &Passage<'_>) -> io::Result<()> {
    let Span { start, end } = passage.span;
    let before = text.get(..start).unwrap_or_default();
    let inside = text.get(start..end).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let number = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let line_start: String = before
        .chars()
        .rev()
        .take_while(|c| *c != '\n')
        .take(BEFORE)
        .collect();
    let lead: String = line_start.chars().rev().collect();
    let tail: String = after
        .chars()
        .take_while(|c| *c != '\n')
        .take(AFTER)
        .collect();
    let mut marked = visible::line(&inside.chars().take(WITHIN).collect::<String>());
    if inside.chars().nth(WITHIN).is_some() {
        marked.push('…');
    }
    let mark = Style::new().red().underline();
    writeln!(
        out,
        "  {number:>5} │ {}{}{}",
        visible::line(&lead),
        paint(marked, mark),
        visible::line(&tail)
    )?;
    let mut told: Vec<String> = Vec::new();
    for found in &passage.matches {
        let hidden = if found.view == ViewKind::Plain {
            String::new()
        } else {
            format!(" in {} text", found.view.name())
        };
        let quoted = if found.mentioned { ", quoted" } else { "" };
        let line = format!("{} ({}{quoted}{hidden})", found.rule, found.category);
        if !told.contains(&line) {
            told.push(line);
        }
    }
    writeln!(
        out,
        "        │ {}",
        paint(told.join(", "), Style::new().dimmed())
    )
}

pub(crate) fn write_summary(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    let total = tally.clean + tally.suspicious + tally.blocked + tally.binary + tally.unread;
    let mut parts = vec![
        format!("{} blocked", tally.blocked),
        format!("{} suspicious", tally.suspicious),
        format!("{} clean", tally.clean),
    ];
    if tally.binary > 0 {
        parts.push(format!("{} binary", tally.binary));
    }
    if tally.unread > 0 {
        parts.push(format!("{} not read", tally.unread));
    }
    writeln!(out, "{total} scanned: {}", parts.join(", "))
}

fn colour(severity: Severity) -> Style {
    match severity {
        Severity::Low => Style::new().green(),
        Severity::Medium => Style::new().yellow(),
        Severity::High | Severity::Critical => Style::new().red(),
    }
}

/// Coloured on a terminal that wants it, plain elsewhere.
fn paint(text: impl std::fmt::Display, style: Style) -> String {
    static COLOURS: LazyLock<bool> = LazyLock::new(|| {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        io::stdout().is_terminal() && !refused
    });
    if *COLOURS {
        text.style(style).to_string()
    } else {
        text.to_string()
    }
}
