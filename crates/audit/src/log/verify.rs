//! Is the log what was written? Every byte is checked; the first place that does not fit is named.
//!
//! The chain shows any change by somebody who cannot also write everything after it and the head anew. Against such a one
//! only an entry noted elsewhere helps: give it to [`verify_with`].

use super::Mark;
use super::entry::{self, Flaw, Link};
use super::head::{self, Reading};
use super::segments::{self, HEAD_NAME, Line, Lines, Segment};
use crate::{Category, Digest, LogError, Severity};
use serde_json::Value;
use std::path::Path;

const MAX_INCIDENTS: usize = 100;
/// A log that is being written may turn a page under the reader.
const ATTEMPTS: usize = 10;

/// What the log is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Every entry is as it was written, and none is missing since the first one kept.
    Verified {
        /// How many entries.
        entries: u64,
        /// The first one.
        first: Mark,
        /// The last one.
        last: Mark,
        /// Bytes of an unfinished line at the end, which was never acknowledged; the next opening puts it aside.
        torn: u64,
        /// What the log says about itself that deserves a look, at most a hundred.
        incidents: Vec<Incident>,
    },
    /// Changed, cut, reordered or incomplete.
    Broken {
        /// Name of the file.
        file: String,
        /// Line in it, from 1; 0 when it is about the file as a whole.
        line: u64,
        /// The entry that should be there.
        seq: u64,
        /// What does not fit.
        why: Why,
    },
}

/// A warning of the log about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// The entry that tells.
    pub seq: u64,
    /// How grave it is.
    pub severity: Severity,
    /// What it tells.
    pub message: String,
}

/// What does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Not an entry.
    #[error("this line is not an audit entry")]
    NotAnEntry,
    /// Changed.
    #[error("this entry was changed: its hash is not that of its bytes")]
    Changed,
    /// Another number than the next one.
    #[error("entry {0} stands here: entries are missing, repeated or out of order")]
    OutOfOrder(u64),
    /// Right number, wrong chain.
    #[error("this entry does not continue the one before: one of them was replaced")]
    Unchained,
    /// The beginning is gone and no entry tells of its deletion.
    #[error("the entries before this one are missing, and no entry records their deletion")]
    StartMissing,
    /// The name of the file is not that of its first entry.
    #[error("the file is not named after its first entry")]
    Misnamed,
    /// A file other than the last ends within a line.
    #[error("the file ends within an entry")]
    CutShort,
    /// Entries at the end are gone.
    #[error("the log ends here, but was known to reach entry {0}")]
    EndMissing(u64),
    /// Another entry than the known one.
    #[error("this is not the entry that is known to have stood here")]
    NotAsKnown,
    /// No head.
    #[error("the head file is missing")]
    HeadMissing,
    /// No readable head.
    #[error("the head file was changed or damaged")]
    HeadDamaged,
}

/// Checks the log in a folder. It may be in use.
///
/// # Errors
/// [`LogError::Missing`] when there is none.
pub fn verify(folder: &Path) -> Result<Verdict, LogError> {
    verify_with(folder, &[])
}

/// Checks the log, and that it holds the given entries, noted elsewhere.
///
/// # Errors
/// As [`verify`].
pub fn verify_with(folder: &Path, known: &[Mark]) -> Result<Verdict, LogError> {
    let state = || -> Result<(Reading, Vec<Segment>), LogError> {
        Ok((
            head::read(&folder.join(HEAD_NAME))?,
            segments::list(folder)?,
        ))
    };
    let mut before = state()?;
    let mut attempt = 1;
    loop {
        let verdict = Check::run(before.0, &before.1, known)?;
        if attempt == ATTEMPTS || matches!(verdict, Verdict::Verified { .. }) {
            return Ok(verdict);
        }
        let after = state()?;
        if after == before {
            return Ok(verdict);
        }
        before = after;
        attempt += 1;
    }
}

/// A broken place.
type Break = (u64, u64, Why);

struct Check {
    known: Vec<Mark>,
    entries: u64,
    first: Option<(Mark, Digest)>,
    last: Mark,
    /// Whether an entry tells that everything before the first was deleted.
    start_told: bool,
    torn: u64,
    incidents: Vec<Incident>,
}

impl Check {
    fn run(reading: Reading, files: &[Segment], elsewhere: &[Mark]) -> Result<Verdict, LogError> {
        let head = match reading {
            Reading::Missing if files.is_empty() => return Err(LogError::Missing),
            Reading::Missing => return Ok(about_head(Why::HeadMissing)),
            Reading::Unreadable | Reading::Found { damaged: true, .. } => {
                return Ok(about_head(Why::HeadDamaged));
            }
            Reading::Found { head, .. } => head.mark,
        };
        let mut check = Self {
            known: elsewhere.iter().copied().chain([head]).collect(),
            entries: 0,
            first: None,
            last: Mark::default(),
            start_told: false,
            torn: 0,
            incidents: Vec::new(),
        };
        let mut place = (segments::LOG_NAME.to_owned(), 0);
        for (index, file) in files.iter().enumerate() {
            let is_last = index + 1 == files.len();
            match check.file(file, is_last)? {
                Ok(lines) => place = (file.name.clone(), lines),
                Err((line, seq, why)) => {
                    return Ok(Verdict::Broken {
                        file: file.name.clone(),
                        line,
                        seq,
                        why,
                    });
                }
            }
        }
        let first_file = files.first().map(|file| file.name.clone());
        Ok(check.close(place, first_file))
    }

    /// How many lines a file has, if all of them fit.
    fn file(&mut self, file: &Segment, is_last: bool) -> Result<Result<u64, Break>, LogError> {
        let mut number = 0;
        let Some(mut lines) = Lines::open(&file.path, 0)? else {
            return Ok(Ok(0));
        };
        while let Some(line) = lines.next()? {
            number += 1;
            let due = self.last.seq + 1;
            let bad = |why| Ok(Err((number, due, why)));
            match line {
                Line::Whole => {}
                Line::Partial if is_last && file.first.is_none() => {
                    self.torn = lines.line.len() as u64;
                    return Ok(Ok(number));
                }
                Line::Partial => return bad(Why::CutShort),
                Line::TooLong => return bad(Why::NotAnEntry),
            }
            let link = match entry::check(&lines.line) {
                Ok(link) => link,
                Err(Flaw::Shape) => return bad(Why::NotAnEntry),
                Err(Flaw::Hash) => return bad(Why::Changed),
            };
            if let Err(why) = self.link(&link, file, number, &lines.line) {
                return bad(why);
            }
        }
        if number == 0 && file.first.is_some() {
            return Ok(Err((0, self.last.seq + 1, Why::CutShort)));
        }
        Ok(Ok(number))
    }

    fn link(&mut self, link: &Link, file: &Segment, number: u64, line: &[u8]) -> Result<(), Why> {
        let Mark { seq, hash } = link.mark;
        if self.first.is_none() {
            if seq == 0 || (seq == 1 && link.prev != Digest::ZERO) {
                return Err(Why::OutOfOrder(seq));
            }
            self.first = Some((link.mark, link.prev));
            self.start_told = seq == 1;
        } else if seq != self.last.seq + 1 {
            return Err(Why::OutOfOrder(seq));
        } else if link.prev != self.last.hash {
            return Err(Why::Unchained);
        }
        if number == 1 && file.first.is_some_and(|named| named != seq) {
            return Err(Why::Misnamed);
        }
        if self
            .known
            .iter()
            .any(|known| known.seq == seq && known.hash != hash)
        {
            return Err(Why::NotAsKnown);
        }
        self.last = link.mark;
        self.entries += 1;
        if link.category == Some(Category::Audit) {
            self.of_the_log(link, line);
        }
        Ok(())
    }

    /// Entries of the log about itself.
    fn of_the_log(&mut self, link: &Link, line: &[u8]) {
        let Some(entry) = entry::read(line) else {
            return;
        };
        let text = |name| entry.details.get(name).and_then(Value::as_str);
        if let (Some((first, prev)), Some("audit_pruned")) = (self.first, text("event")) {
            let through = entry.details.get("through").and_then(Value::as_u64);
            let hash = text("hash").and_then(Digest::parse);
            self.start_told |= through == Some(first.seq - 1) && hash == Some(prev);
        }
        if link.severity > Some(Severity::Info) && self.incidents.len() < MAX_INCIDENTS {
            self.incidents.push(Incident {
                seq: entry.seq,
                severity: entry.severity,
                message: entry.message,
            });
        }
    }

    fn close(self, (file, line): (String, u64), first_file: Option<String>) -> Verdict {
        let first = self.first.map(|(first, _)| first).unwrap_or_default();
        let furthest = self.known.iter().map(|mark| mark.seq).max().unwrap_or(0);
        if furthest > self.last.seq {
            return Verdict::Broken {
                file,
                line,
                seq: self.last.seq + 1,
                why: Why::EndMissing(furthest),
            };
        }

        if self.first.is_some() && !self.start_told {
            return Verdict::Broken {
                file: first_file.unwrap_or(file),
                line: 1,
                seq: first.seq.saturating_sub(1),
                why: Why::StartMissing,
            };
        }
        Verdict::Verified {
            entries: self.entries,
            first,
            last: self.last,
            torn: self.torn,
            incidents: self.incidents,
        }
    }
}

fn about_head(why: Why) -> Verdict {
    Verdict::Broken {
        file: HEAD_NAME.to_owned(),
        line: 0,
        seq: 0,
        why,
    }
}
