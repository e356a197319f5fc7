//! Finding the end of a log that may have been left in any state, without losing or hiding anything.
//!
//! Up to the head everything was synced. What follows the head is kept as far as it continues the chain; the rest (a torn
//! last line, or worse after a power cut) goes to a file of its own, and an entry will say so. When the head does not fit
//! the log, nothing but a torn last line is touched: the chain goes on from the head, so that [`verify`](super::verify())
//! points at the gap for good.

use super::entry::{self, Link};
use super::head::{self, Head, Reading};
use super::segments::{self, HEAD_NAME, LOG_NAME, Line, Lines};
use super::writer::Start;
use super::{Mark, segments::Segment};
use crate::{Fingerprint, LogError, Severity, files};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Of a torn end, this much is kept.
const MAX_TORN: u64 = 1024 * 1024;

/// Something that the log must tell about itself.
pub(crate) struct Incident {
    pub(crate) severity: Severity,
    pub(crate) name: &'static str,
    pub(crate) message: &'static str,
    pub(crate) details: Value,
    /// A file to be renamed once the entry is on disk.
    pub(crate) then: Option<(PathBuf, PathBuf)>,
}

pub(crate) struct Recovered {
    pub(crate) start: Start,
    pub(crate) incidents: Vec<Incident>,
}

pub(crate) fn recover(folder: &Path) -> Result<Recovered, LogError> {
    let head = head::read(&folder.join(HEAD_NAME))?;
    let current = folder.join(LOG_NAME);
    let rotated = rotated(folder)?;
    if let (false, Some(newest), Some(head)) = (current.try_exists()?, rotated.last(), head.head())
        && newest.first == Some(head.first)
    {
        // Killed between the two renames of a new file: the old one goes on.
        fs::rename(&newest.path, &current)?;
        return recover(folder);
    }
    let before = match rotated.last() {
        Some(segment) => segments::last_link(&segment.path)?,
        None => None,
    };
    let mut found = Found::scan(&current, head.head(), before.as_ref())?;
    let mut incidents = Vec::new();
    if found.length < found.all {
        save_torn(folder, &current, &found)?;
    }
    for (after, pending) in segments::pending_torn(folder)? {
        incidents.push(torn_incident(folder, after, pending)?);
    }
    let empty = found.last.is_none() && rotated.is_empty();
    if let Some(incident) = judge(head, empty, &mut found) {
        incidents.push(incident);
    }
    let last = found.last.unwrap_or_default();
    let start = Start {
        last,
        first: found.first.unwrap_or(last.seq + 1),
        length: found.length,
        day: found.day,
    };
    Ok(Recovered { start, incidents })
}

fn rotated(folder: &Path) -> Result<Vec<Segment>, LogError> {
    let mut all = segments::list(folder)?;
    all.retain(|segment| segment.first.is_some());
    Ok(all)
}

/// What the files say.
struct Found {
    /// First entry of the current file.
    first: Option<u64>,
    last: Option<Mark>,
    day: Option<u64>,
    /// Bytes of the current file that count, and all that it has.
    length: u64,
    all: u64,
    /// Whether the entry of the head stands where the head says.
    fits: bool,
}

impl Found {
    fn scan(current: &Path, head: Option<Head>, before: Option<&Link>) -> io::Result<Self> {
        let mut found = Self {
            first: None,
            last: before.map(|link| link.mark),
            day: before.map(|link| link.time.day()),
            length: 0,
            all: 0,
            fits: head
                .is_some_and(|head| head.mark == before.map(|link| link.mark).unwrap_or_default()),
        };
        let Some(mut lines) = Lines::open(current, 0)? else {
            return Ok(found);
        };
        found.all = fs::metadata(current)?.len();
        if let Some(Line::Whole) = lines.next()? {
            found.first = entry::check(&lines.line).ok().map(|link| link.mark.seq);
        }
        let Some(head) = head else {
            found.collect(current)?;
            return Ok(found);
        };
        if head.end == 0 || before.is_some_and(|link| link.mark == head.mark) {
            // Of this file nothing was known to be on disk.
            found.last = Some(head.mark);
            found.follow(current, 0)?;
            return Ok(found);
        }
        let at_head = segments::last_link_before(current, head.end.min(found.all))?
            .filter(|link| link.mark == head.mark && head.end <= found.all);
        if let Some(link) = at_head {
            found.fits = true;
            found.first = Some(head.first);
            found.take(&link, head.end);
            found.follow(current, head.end)?;
        } else {
            found.first = found.first.or(Some(head.first));
            found.collect(current)?;
        }
        Ok(found)
    }

    fn take(&mut self, link: &Link, end: u64) {
        self.last = Some(link.mark);
        self.day = Some(self.day.unwrap_or(0).max(link.time.day()));
        self.length = end;
    }

    /// Takes lines as long as they continue the chain.
    fn follow(&mut self, current: &Path, from: u64) -> io::Result<()> {
        let Some(mut lines) = Lines::open(current, from)? else {
            return Ok(());
        };
        while let Some(Line::Whole) = lines.next()? {
            let last = self.last.unwrap_or_default();
            match entry::check(&lines.line) {
                Ok(link) if link.prev == last.hash && link.mark.seq == last.seq + 1 => {
                    self.take(&link, lines.offset);
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Takes everything but an unfinished last line; the last entry that proves itself is the last.
    fn collect(&mut self, current: &Path) -> io::Result<()> {
        let Some(mut lines) = Lines::open(current, 0)? else {
            return Ok(());
        };
        while let Some(line) = lines.next()? {
            if line == Line::Partial {
                break;
            }
            if let Ok(link) = entry::check(&lines.line) {
                self.take(&link, lines.offset);
            }
            self.length = lines.offset;
        }
        Ok(())
    }
}

/// Whether head and log tell the same story; where they do not, the chain goes on from whichever is further.
fn judge(head: Reading, empty: bool, found: &mut Found) -> Option<Incident> {
    let incident = |name, message, details| Incident {
        severity: Severity::Critical,
        name,
        message,
        details,
        then: None,
    };
    let last = found.last.unwrap_or_default();
    match head {
        Reading::Missing if empty => None,
        Reading::Missing | Reading::Unreadable => Some(incident(
            "audit_head_lost",
            "The head of the audit log is missing or unreadable: entries at its end may be missing",
            json!({"continuesAfter": last.seq}),
        )),
        Reading::Found { head, .. } if head.mark.seq > last.seq => {
            found.last = Some(head.mark);
            Some(incident(
                "audit_end_lost",
                "The audit log ends before its head: entries are missing",
                json!({"lastFound": last.seq, "lastKnown": head.mark.seq, "hash": head.mark.hash.to_string()}),
            ))
        }
        Reading::Found { damaged: true, .. } => Some(incident(
            "audit_head_damaged",
            "The head of the audit log is damaged",
            json!({"continuesAfter": last.seq}),
        )),
        Reading::Found { head, .. } if !found.fits => Some(incident(
            "audit_head_differs",
            "The audit log does not hold its last known entry where it was: it was changed",
            json!({"lastFound": last.seq, "lastKnown": head.mark.seq, "hash": head.mark.hash.to_string()}),
        )),
        Reading::Found { .. } => None,
    }
}

/// Copies what does not count to a file of its own, on disk before it is cut off.
fn save_torn(folder: &Path, current: &Path, found: &Found) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut file = File::open(current)?;
    file.seek(SeekFrom::Start(found.length))?;
    file.take(MAX_TORN).read_to_end(&mut bytes)?;
    let after = found.last.unwrap_or_default().seq;
    let path = folder.join(segments::torn_name(after, true));
    let mut saved = files::private().create(true).truncate(false).open(path)?;
    let mut earlier = Vec::new();
    (&mut saved).take(2 * MAX_TORN).read_to_end(&mut earlier)?;
    if !earlier.ends_with(&bytes) {
        saved.write_all(&bytes)?;
    }
    saved.sync_all()?;
    files::sync_folder(folder)
}

fn torn_incident(folder: &Path, after: u64, pending: PathBuf) -> io::Result<Incident> {
    let mut bytes = Vec::new();
    File::open(&pending)?
        .take(MAX_TORN)
        .read_to_end(&mut bytes)?;
    let name = segments::torn_name(after, false);
    Ok(Incident {
        severity: Severity::Warn,
        name: "audit_torn",
        message: "The end of the audit log was torn and is kept aside",
        details: json!({"after": after, "file": name, "content": Fingerprint::of(&bytes).to_json()}),
        then: Some((pending, folder.join(name))),
    })
}
