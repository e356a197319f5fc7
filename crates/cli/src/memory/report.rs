//! What a pass has found, for people or for programs. Contents are never shown: places, scores and hashes are.

use super::files::Unread;
use super::look::Looked;
use super::quarantine::NotTaken;
use super::scan::Tally;
use blastshield_detect::Severity;
use blastshield_guard::memory::{Change, ChangeKind};
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

/// Places shown for a file; the rest are counted.
pub(super) const MAX_PLACES: usize = 16;

/// A file that was moved to quarantine.
pub(super) struct Taken {
    pub(super) id: String,
    /// The line that puts it back.
    pub(super) undo: String,
}

/// Writes what was found.
pub(super) struct Report<W> {
    out: W,
    json: bool,
    /// There is a baseline to compare with.
    compared: bool,
}

impl<W: Write> Report<W> {
    pub(super) fn new(out: W, json: bool, compared: bool) -> Self {
        Self {
            out,
            json,
            compared,
        }
    }

    pub(super) fn looked(
        &mut self,
        looked: &Looked,
        taken: Option<&Result<Taken, NotTaken>>,
    ) -> io::Result<()> {
        if self.json {
            let mut line = self.described(looked);
            let fields = match taken {
                None => Vec::new(),
                Some(Ok(taken)) => {
                    vec![("quarantined", json!({"id": taken.id, "undo": taken.undo}))]
                }
                Some(Err(why)) => vec![("error", json!(why.to_string()))],
            };
            if let Some(object) = line.as_object_mut() {
                object.extend(
                    fields
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value)),
                );
            }
            return writeln!(self.out, "{line}");
        }
        self.for_people(looked)?;
        match taken {
            None => Ok(()),
            Some(Ok(taken)) => writeln!(self.out, "  moved to quarantine; undo: {}", taken.undo),
            Some(Err(why)) => writeln!(self.out, "  {}", paint(why, Style::new().yellow())),
        }
    }

    fn described(&self, looked: &Looked) -> Value {
        let changes = if self.compared {
            looked.changes.as_slice()
        } else {
            &[]
        };
        let changes: Vec<Value> = changes
            .iter()
            .map(|change| {
                json!({
                    "kind": change.kind,
                    "line": change.line,
                    "hash": change.hash,
                    "before": change.before,
                })
            })
            .collect();
        let poison: Vec<Value> = looked
            .poison
            .iter()
            .map(|p| json!({"line": p.line, "score": round(p.score), "severity": p.severity, "hash": p.hash}))
            .collect();
        json!({
            "path": looked.file.path,
            "sha256": looked.file.hash,
            "score": round(looked.score),
            "severity": looked.severity,
            "line": looked.line,
            "blocked": looked.blocked,
            "poisoned": !looked.poison.is_empty(),
            "accepted": looked.accepted,
            "warnings": looked.warnings,
            "entries": poison,
            "changes": changes,
        })
    }

    fn for_people(&mut self, looked: &Looked) -> io::Result<()> {
        let verdict = verdict(looked);
        if let Some(verdict) = verdict {
            let label = format!("{} {:.1}", looked.severity, looked.score);
            let place = format!("{}:{}", looked.file.path, looked.line);
            writeln!(
                self.out,
                "{}  {}  {verdict}",
                paint(place, Style::new().bold()),
                paint(label, colour(looked.severity).bold())
            )?;
            // Any score at all is a warning; in words only where they say more than the line above.
            let worth = looked.severity > Severity::Low || looked.blocked;
            for warning in looked.warnings.iter().filter(|_| worth) {
                writeln!(self.out, "  {warning}")?;
            }
        }
        if !looked.poison.is_empty() {
            writeln!(self.out, "  {}", looked.reason)?;
        }
        for poison in looked.poison.iter().take(MAX_PLACES) {
            let hash: String = poison.hash.chars().take(8).collect();
            let line = format!(
                "line {}: poisoned, {} {:.1} ({hash})",
                poison.line, poison.severity, poison.score
            );
            writeln!(self.out, "  {}", paint(line, Style::new().red()))?;
        }
        self.more(looked.poison.len())?;
        if !self.compared || looked.accepted {
            return Ok(());
        }
        let mut other: Vec<&Change> = looked.changes.iter().collect();
        other.retain(|change| change.kind != ChangeKind::Poisoned);
        if verdict.is_none() && !other.is_empty() {
            writeln!(
                self.out,
                "{}",
                paint(&looked.file.path, Style::new().bold())
            )?;
        }
        for change in other.iter().take(MAX_PLACES) {
            writeln!(self.out, "  {}", told(change))?;
        }
        self.more(other.len())
    }

    fn more(&mut self, all: usize) -> io::Result<()> {
        match all.checked_sub(MAX_PLACES) {
            Some(more) if more > 0 => writeln!(self.out, "  and {more} more"),
            _ => Ok(()),
        }
    }

    pub(super) fn unread(&mut self, path: &str, why: Unread) -> io::Result<()> {
        if self.json {
            let line = json!({"path": path, "error": why.to_string()});
            return writeln!(self.out, "{line}");
        }
        if why == Unread::Binary {
            return Ok(());
        }
        writeln!(self.out, "{path}  {}", paint(why, Style::new().yellow()))
    }

    /// A file of the baseline is not there any more.
    pub(super) fn gone(&mut self, path: &str) -> io::Result<()> {
        if self.json {
            return writeln!(self.out, "{}", json!({"path": path, "gone": true}));
        }
        writeln!(self.out, "{path}  gone since it was accepted")
    }

    pub(super) fn finish(mut self, tally: &Tally, accepted: bool) -> io::Result<W> {
        if self.json {
            return Ok(self.out);
        }
        let counts = [
            (tally.poisoned, "poisoned"),
            (tally.annotated, "annotated"),
            (tally.clean, "clean"),
            (tally.accepted, "accepted"),
            (tally.binary, "binary"),
            (tally.unread, "not read"),
        ];
        let total: usize = counts.iter().map(|(count, _)| count).sum();
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, name)| *count > 0 || *name == "poisoned")
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        writeln!(self.out, "{total} memory files: {}", parts.join(", "))?;
        if accepted {
            writeln!(
                self.out,
                "this state is accepted; changes are named from now on"
            )?;
        }
        Ok(self.out)
    }
}

/// In a word, if there is something to say.
fn verdict(looked: &Looked) -> Option<&'static str> {
    match (looked.poison.is_empty(), looked.blocked) {
        _ if looked.accepted => None,
        (false, true) => Some("blocked"),
        (true, true) => Some("blocked by entries that were accepted"),
        (false, false) => Some("poisoned"),
        (true, false) if looked.warnings.is_empty() => None,
        (true, false) => Some("annotated"),
    }
}

fn told(change: &Change) -> String {
    let hash: String = change.hash.chars().take(8).collect();
    let what = match change.kind {
        ChangeKind::Poisoned => "poisoned",
        ChangeKind::Changed => "changed",
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
    };
    match change.line {
        Some(line) => format!("line {line}: {what} ({hash})"),
        None => format!("{what} ({hash})"),
    }
}

/// A score as people write it: 12.4, not 12.399999618530273. What is no number is the most.
pub(super) fn round(score: f32) -> f64 {
    if score.is_nan() {
        return 20.0;
    }
    (f64::from(score) * 10.0).round() / 10.0
}

fn colour(severity: Severity) -> Style {
    match severity {
        Severity::Low => Style::new().green(),
        Severity::Medium => Style::new().yellow(),
        Severity::High | Severity::Critical => Style::new().red(),
    }
}

/// Coloured on a terminal that wants it, plain elsewhere.
pub(super) fn paint(text: impl std::fmt::Display, style: Style) -> String {
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
