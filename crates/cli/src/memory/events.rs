//! What happens in a watched folder, one line an event.

use super::files::Unread;
use super::look::{Looked, Poison};
use super::report::{paint, round};
use blastshield_guard::memory::{Change, ChangeKind};
use owo_colors::Style;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Something that happened.
pub(super) enum Event<'e> {
    /// The first pass is done.
    Watching {
        files: usize,
    },
    Poisoned(&'e Looked, &'e Poison),
    /// It was poisoned, and is not any more.
    Clean(&'e str),
    New(&'e str),
    Renamed {
        from: &'e str,
        to: &'e str,
    },
    /// One entry is not as it was.
    Entry(&'e str, &'e Change),
    /// So many more events of this file.
    More(&'e str, usize),
    Removed(&'e str),
    Unread(&'e str, Unread),
    Quarantined {
        path: &'e str,
        id: &'e str,
        undo: &'e str,
    },
    NotTaken(&'e str, &'e str),
    FolderGone,
    FolderBack,
    /// The baseline was changed, or cannot be read any more.
    Baseline(&'static str),
}

/// Writes events as they come.
pub(super) struct Teller<W> {
    out: W,
    json: bool,
}

impl<W: Write> Teller<W> {
    pub(super) fn new(out: W, json: bool) -> Self {
        Self { out, json }
    }

    /// Writes one line, at once.
    pub(super) fn tell(&mut self, event: &Event<'_>, at_ms: u64) -> io::Result<()> {
        if self.json {
            let mut line = described(event);
            if let Some(object) = line.as_object_mut() {
                object.insert("at_ms".to_owned(), json!(at_ms));
            }
            writeln!(self.out, "{line}")?;
        } else {
            let (word, rest) = told(event);
            let word = paint(format!("{word:<12}"), style(event));
            writeln!(self.out, "{word} {rest}")?;
        }
        self.out.flush()
    }
}

fn described(event: &Event<'_>) -> Value {
    let (word, _) = told(event);
    match event {
        Event::Watching { files } => json!({"event": word, "files": files}),
        Event::Poisoned(looked, poison) => json!({
            "event": word,
            "path": looked.file.path,
            "line": poison.line,
            "score": round(poison.score),
            "severity": poison.severity,
            "blocked": looked.blocked,
            "hash": poison.hash,
        }),
        Event::Entry(path, change) => json!({
            "event": word,
            "path": path,
            "line": change.line,
            "hash": change.hash,
            "before": change.before,
        }),
        Event::Renamed { from, to } => json!({"event": word, "path": to, "from": from}),
        Event::More(path, count) => json!({"event": word, "path": path, "count": count}),
        Event::Unread(path, why) => json!({"event": word, "path": path, "error": why.to_string()}),
        Event::NotTaken(path, why) => json!({"event": word, "path": path, "error": why}),
        Event::Quarantined { path, id, undo } => {
            json!({"event": word, "path": path, "id": id, "undo": undo})
        }
        Event::Clean(path) | Event::New(path) | Event::Removed(path) => {
            json!({"event": word, "path": path})
        }
        Event::FolderGone | Event::FolderBack => json!({"event": word}),
        Event::Baseline(what) => json!({"event": word, "what": what}),
    }
}

fn told(event: &Event<'_>) -> (&'static str, String) {
    match event {
        Event::Watching { files } => ("watching", format!("{files} memory files")),
        Event::Poisoned(looked, poison) => {
            let verdict = if looked.blocked { "  blocked" } else { "" };
            let place = format!("{}:{}", looked.file.path, poison.line);
            let rest = format!("{place}  {} {:.1}{verdict}", poison.severity, poison.score);
            ("poisoned", rest)
        }
        Event::Clean(path) => ("clean", format!("{path}  no poison any more")),
        Event::New(path) => ("new", (*path).to_owned()),
        Event::Renamed { from, to } => ("renamed", format!("{from} -> {to}")),
        Event::Entry(path, change) => {
            let word = match change.kind {
                ChangeKind::Poisoned => "poisoned",
                ChangeKind::Changed => "changed",
                ChangeKind::Added => "added",
                ChangeKind::Removed => "dropped",
            };
            let line = change
                .line
                .map_or_else(String::new, |line| format!(":{line}"));
            (word, format!("{path}{line}"))
        }
        Event::More(path, count) => ("more", format!("{path}  and {count} more")),
        Event::Removed(path) => ("removed", (*path).to_owned()),
        Event::Unread(path, why) => ("unread", format!("{path}  {why}")),
        Event::Quarantined { path, undo, .. } => ("quarantined", format!("{path}  undo: {undo}")),
        Event::NotTaken(path, why) => ("failed", format!("{path}  {why}")),
        Event::FolderGone => (
            "gone",
            "the folder cannot be read; waiting for it".to_owned(),
        ),
        Event::FolderBack => ("back", "the folder can be read again".to_owned()),
        Event::Baseline(what) => ("baseline", (*what).to_owned()),
    }
}

fn style(event: &Event<'_>) -> Style {
    match event {
        Event::Poisoned(..) => Style::new().red().bold(),
        Event::Quarantined { .. } | Event::Unread(..) | Event::NotTaken(..) | Event::FolderGone => {
            Style::new().yellow()
        }
        _ => Style::new().dimmed(),
    }
}
