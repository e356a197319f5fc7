//! `blastshield audit-log`: proves that the audit log is what was written, and reads it. Nothing in it can steer a
//! terminal.

mod options;

pub(crate) use options::AuditLogOptions;

use crate::scan::visible;
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use blastshield_audit::LogError;
use blastshield_audit::log::{self, Entry, Filter, Incident, LOG_NAME, MAX_TAIL, Mark, Verdict};
use options::{AuditLogCommand, QueryOptions, TailOptions, VerifyOptions};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How often a followed log is looked at.
const PAUSE: Duration = Duration::from_millis(300);
pub(crate) fn run(options: &AuditLogOptions) -> anyhow::Result<u8> {
    match &options.command {
        AuditLogCommand::Verify(options) => verify(options),
        AuditLogCommand::Tail(options) => tail(options),
        AuditLogCommand::Query(options) => query(options),
    }
}

fn verify(options: &VerifyOptions) -> anyhow::Result<u8> {
    let folder = options.place.folder()?;
    let Some(verdict) = present(log::verify_with(&folder, &options.marks))? else {
        return none(options.place.json);
    };
    let mut out = io::stdout().lock();
    match verdict {
        Verdict::Verified {
            entries,
            first,
            last,
            torn,
            incidents,
        } => {
            let [from, to] = span(&folder)?;
            if options.place.json {
                let incidents: Vec<Value> = incidents.iter().map(told).collect();
                let answer = json!({
                    "verified": true, "entries": entries, "from": from, "to": to,
                    "first": placed(first), "last": placed(last), "torn_bytes": torn,
                    "marks": options.marks.len(), "incidents": incidents,
                });
                writeln!(out, "{}", safe(&answer))?;
                return Ok(CLEAN);
            }
            writeln!(
                out,
                "verified: {entries} entries, {} to {}, from {from} to {to}",
                first.seq, last.seq
            )?;
            writeln!(out, "last entry: {}:{}", last.seq, last.hash)?;
            if !options.marks.is_empty() {
                writeln!(out, "marks found: {}", options.marks.len())?;
            }
            if torn > 0 {
                writeln!(
                    out,
                    "{torn} bytes of an entry that was never finished stand at the end"
                )?;
            }
            for incident in &incidents {
                let (seq, severity) = (incident.seq, incident.severity);
                writeln!(
                    out,
                    "{severity} in entry {seq}: {}",
                    visible::line(&incident.message)
                )?;
            }
            Ok(CLEAN)
        }
        Verdict::Broken {
            file,
            line,
            seq,
            why,
        } => {
            let file = visible::line(&file);
            if options.place.json {
                let answer = json!({
                    "verified": false, "file": file, "line": line, "seq": seq, "why": why.to_string(),
                });
                writeln!(out, "{}", safe(&answer))?;
            } else {
                let place = match line {
                    0 => file,
                    line => format!("{file}, line {line}"),
                };
                writeln!(out, "BROKEN at {place} (entry {seq}): {why}")?;
            }
            Ok(FINDINGS)
        }
    }
}

fn tail(options: &TailOptions) -> anyhow::Result<u8> {
    let folder = options.place.folder()?;
    let shown = present(log::tail(&folder, options.lines))?;
    if shown.is_none() && !options.follow {
        return none(options.place.json);
    }
    let entries = shown.unwrap_or_default();
    show(&entries, options.place.json)?;
    if options.follow {
        let last = match entries.last() {
            Some(entry) => entry.seq,
            // No lines were asked for: what is there already is not new.
            None => present(log::tail(&folder, 1))?
                .and_then(|entries| entries.last().map(|entry| entry.seq))
                .unwrap_or(0),
        };
        follow(&folder, last, options.place.json)?;
    }
    Ok(if entries.is_empty() && options.lines > 0 {
        FINDINGS
    } else {
        CLEAN
    })
}

/// Shows what is written after `last`, for as long as somebody reads it.
fn follow(folder: &Path, mut last: u64, as_json: bool) -> anyhow::Result<()> {
    let current = folder.join(LOG_NAME);
    let mut seen = None;
    loop {
        let state = std::fs::metadata(&current)
            .ok()
            .map(|found| (found.ino(), found.len()));
        if state != seen {
            let entries = present(log::tail(folder, MAX_TAIL))?.unwrap_or_default();
            let fresh: Vec<Entry> = entries
                .into_iter()
                .filter(|entry| entry.seq > last)
                .collect();
            if let (Some(first), true) = (fresh.first(), last > 0)
                && first.seq > last + 1
            {
                eprintln!("entries {} to {} are not shown", last + 1, first.seq - 1);
            }
            show(&fresh, as_json)?;
            last = fresh.last().map_or(last, |entry| entry.seq);
            seen = state;
        }
        std::thread::sleep(PAUSE);
    }
}

fn query(options: &QueryOptions) -> anyhow::Result<u8> {
    let folder = options.place.folder()?;
    let filter = Filter {
        severity: options.severity,
        category: options.category,
        since: options.since,
        until: options.until,
        text: options.text.clone(),
    };
    let Some(mut entries) = present(log::query(&folder, filter))? else {
        return none(options.place.json);
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut found = false;
    for entry in entries.by_ref() {
        write_entry(&mut out, &entry?, options.place.json)?;
        found = true;
    }
    out.flush()?;
    if entries.unreadable() > 0 {
        eprintln!(
            "{} lines are no entries; run blastshield audit-log verify",
            entries.unreadable()
        );
    }
    Ok(if found { CLEAN } else { FINDINGS })
}

fn show(entries: &[Entry], as_json: bool) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for entry in entries {
        write_entry(&mut out, entry, as_json)?;
    }
    Ok(out.flush()?)
}

fn write_entry(out: &mut impl Write, entry: &Entry, as_json: bool) -> io::Result<()> {
    if as_json {
        let entry = json!({
            "seq": entry.seq, "timestamp": entry.timestamp.to_string(), "severity": entry.severity.as_str(),
            "category": entry.category.as_str(), "message": entry.message, "details": entry.details,
            "prev": entry.prev.to_string(), "hash": entry.hash.to_string(),
        });
        return writeln!(out, "{}", safe(&entry));
    }
    let details = serde_json::to_string(&entry.details).unwrap_or_default();
    writeln!(
        out,
        "{:>6}  {}  {:<8}  {:<8}  {}  {}",
        entry.seq,
        entry.timestamp,
        entry.severity,
        entry.category,
        visible::line(&entry.message),
        visible::line(&details)
    )
}

/// When the first and the last entry were written.
fn span(folder: &Path) -> Result<[String; 2], LogError> {
    let first = log::query(folder, Filter::default())?.next().transpose()?;
    let last = log::tail(folder, 1)?.pop();
    Ok([first, last]
        .map(|entry| entry.map_or("–".to_owned(), |entry| entry.timestamp.to_string())))
}

/// No log is an answer; anything else that goes wrong is an error.
fn present<T>(result: Result<T, LogError>) -> anyhow::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(LogError::Missing | LogError::Io(ErrorKind::NotFound)) => Ok(None),
        Err(error) => Err(error).context("cannot read the audit log"),
    }
}

fn none(as_json: bool) -> anyhow::Result<u8> {
    if as_json {
        writeln!(
            io::stdout(),
            "{}",
            json!({"error": "there is no audit log in this folder"})
        )?;
    } else {
        eprintln!("there is no audit log in this folder");
    }
    Ok(FINDINGS)
}

fn placed(mark: Mark) -> Value {
    json!({"seq": mark.seq, "hash": mark.hash.to_string()})
}

fn told(incident: &Incident) -> Value {
    json!({"seq": incident.seq, "severity": incident.severity.as_str(), "message": incident.message})
}

/// JSON in which whatever a terminal might obey or hide is escaped.
pub(crate) fn safe(value: &Value) -> String {
    let text = value.to_string();
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let mut own = [0; 4];
        let own: &str = c.encode_utf8(&mut own);
        if visible::line(own) == own {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a text cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_steers_nothing() {
        let value = json!({"a": "x\u{9b}2J\u{202e}\u{e0041}\u{7f}ü\n"});
        let text = safe(&value);
        assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{e0041}', '\u{7f}']));
        assert!(text.contains('ü'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
