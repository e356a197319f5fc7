//! Reading the log: the last entries, or those that match, one at a time.

use super::entry::{self, Entry};
use super::segments::{self, Line, Lines, Segment};
use crate::{Category, LogError, Severity, Time};
use std::collections::VecDeque;
use std::path::Path;

/// [`tail`] gives no more.
pub const MAX_TAIL: usize = 10_000;

/// Which entries are wanted; everything when nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// At least this grave.
    pub severity: Option<Severity>,
    /// About this.
    pub category: Option<Category>,
    /// Not before.
    pub since: Option<Time>,
    /// Before.
    pub until: Option<Time>,
    /// This text in message or details, in any case.
    pub text: Option<String>,
}

impl Filter {
    /// Whether an entry is wanted.
    #[must_use]
    pub fn wants(&self, entry: &Entry) -> bool {
        self.severity.is_none_or(|least| entry.severity >= least)
            && self.category.is_none_or(|one| entry.category == one)
            && self.since.is_none_or(|since| entry.timestamp >= since)
            && self.until.is_none_or(|until| entry.timestamp < until)
            && self.text.as_deref().is_none_or(|text| {
                let text = text.to_lowercase();
                entry.message.to_lowercase().contains(&text)
                    || serde_json::to_string(&entry.details)
                        .is_ok_and(|details| details.to_lowercase().contains(&text))
            })
    }
}

/// Entries that match, oldest first, read as they are asked for.
///
/// # Errors
/// [`LogError::Missing`] when there is no log.
pub fn query(folder: &Path, filter: Filter) -> Result<Entries, LogError> {
    let files = segments::list(folder)?;
    if files.is_empty() {
        return Err(LogError::Missing);
    }
    Ok(Entries {
        files: files.into(),
        lines: None,
        filter,
        unreadable: 0,
    })
}

/// The last entries, oldest first, at most [`MAX_TAIL`].
///
/// # Errors
/// [`LogError::Missing`] when there is no log.
pub fn tail(folder: &Path, count: usize) -> Result<Vec<Entry>, LogError> {
    let count = count.min(MAX_TAIL);
    let mut files = segments::list(folder)?;
    if files.is_empty() {
        return Err(LogError::Missing);
    }
    let mut last: VecDeque<Entry> = VecDeque::new();
    while let Some(file) = files.pop()
        && last.len() < count
    {
        let wanted = count - last.len();
        let mut of_file = VecDeque::new();
        let entries = Entries {
            files: VecDeque::from([file]),
            lines: None,
            filter: Filter::default(),
            unreadable: 0,
        };
        for entry in entries {
            if of_file.len() == wanted {
                of_file.pop_front();
            }
            of_file.push_back(entry?);
        }
        of_file.append(&mut last);
        last = of_file;
    }
    Ok(last.into())
}

/// Entries one at a time; hashes are not checked, that is what [`verify`](super::verify()) is for.
pub struct Entries {
    files: VecDeque<Segment>,
    lines: Option<Lines>,
    filter: Filter,
    unreadable: u64,
}

impl Entries {
    /// Lines so far that were no entry.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    fn advance(&mut self) -> Result<Option<Entry>, LogError> {
        loop {
            let Some(lines) = &mut self.lines else {
                let Some(file) = self.files.pop_front() else {
                    return Ok(None);
                };
                self.lines = Lines::open(&file.path, 0)?;
                continue;
            };
            match lines.next()? {
                // An unfinished line is not an entry yet.
                None | Some(Line::Partial) => self.lines = None,
                Some(Line::TooLong) => self.unreadable += 1,
                Some(Line::Whole) => match entry::read(&lines.line) {
                    Some(entry) if self.filter.wants(&entry) => return Ok(Some(entry)),
                    Some(_) => {}
                    None => self.unreadable += 1,
                },
            }
        }
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance().transpose();
        if matches!(next, Some(Err(_))) {
            self.files.clear();
            self.lines = None;
        }
        next
    }
}
