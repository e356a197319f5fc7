//! What an answer should not hold although it gives nothing away: codes that steer a terminal, text that nobody sees,
//! links that run scripts, orders for the next agent.

use super::{Issue, IssueKind, Severity};
use blastshield_detect::{Detector, Kind, Profile};
use blastshield_text::{SignalKind, ViewKind, Views};
use memchr::memchr_iter;

/// Longest sequence of a terminal that is shown as one place.
const MAX_SEQUENCE: usize = 256;
/// Sequences that are named; more of them say nothing new.
const MAX_SEQUENCES: usize = 16;

fn issue(description: &str, start: usize, end: usize) -> Issue {
    Issue {
        kind: IssueKind::SuspiciousContent,
        description: description.to_owned(),
        location: (start..end).into(),
        severity: Severity::Warn,
    }
}

/// Sequences that a terminal would obey.
pub(crate) fn terminal(text: &str, issues: &mut Vec<Issue>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for start in memchr_iter(0x1b, bytes)
        .chain(text.match_indices('\u{9b}').map(|(at, _)| at))
        .take(MAX_SEQUENCES)
    {
        if start < done {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        let mut end = rest.len();
        for (at, c) in rest.char_indices().skip(2) {
            let over =
                c.is_ascii_alphabetic() || c == '\u{7}' || c == '\u{1b}' || c.is_whitespace();
            if over || at >= MAX_SEQUENCE {
                end = at + usize::from(c.is_ascii_alphabetic() || c == '\u{7}');
                break;
            }
        }
        done = start + end;
        issues.push(issue("a control sequence for terminals", start, done));
    }
}

/// Text that runs backwards or is not shown at all.
pub(crate) fn unseen(views: &Views, issues: &mut Vec<Issue>) {
    for signal in views.signals() {
        let description = match signal.kind {
            SignalKind::Bidi => "characters that turn the direction of text",
            SignalKind::Tags => "invisible tag characters",
            _ => continue,
        };
        issues.push(issue(description, signal.first.start, signal.first.end));
    }
    for view in views.iter().filter(|view| view.kind() == ViewKind::Hidden) {
        let span = view.origin(0..view.text().len());
        issues.push(issue(
            "a message in invisible characters",
            span.start,
            span.end,
        ));
    }
}

/// Links that run a script instead of leading somewhere.
pub(crate) fn scripts(text: &str, views: &Views, issues: &mut Vec<Issue>) {
    let plain = views.plain();
    for scheme in ["javascript:", "vbscript:", "data:text/html"] {
        for (at, _) in plain.text().match_indices(scheme).take(MAX_SEQUENCES) {
            let span = plain.origin(at..at + scheme.len());
            let before = text.get(..span.start).unwrap_or_default();
            let from = before.ceil_char_boundary(before.len().saturating_sub(32));
            let before = before
                .get(from..)
                .unwrap_or_default()
                .trim_end_matches(['"', '\'', '<', ' ']);
            let linked = ["](", "]:", "href=", "src=", "action=", "url(", "data="]
                .iter()
                .any(|mark| before.ends_with(mark));
            if linked {
                issues.push(issue("a link that runs a script", span.start, span.end));
            }
        }
    }
}

/// Orders for whoever reads the answer next.
pub(crate) fn orders(text: &str, detector: &Detector, issues: &mut Vec<Issue>) {
    let assessment = detector.assess(text, Kind::ToolResult);
    if assessment.score < Profile::Strict.block_line() {
        return;
    }
    let span = assessment.matches.first().map(|found| found.span);
    let (start, end) = span.map_or((0, text.len()), |span| (span.start, span.end));
    issues.push(issue("instructions for another agent", start, end));
}
