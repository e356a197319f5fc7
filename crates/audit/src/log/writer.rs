//! The end of the log: the only place that adds bytes to it.
//!
//! A line counts when all of it was written; a write that failed half-way is cut off again before anything else is
//! written. After a failed sync nobody knows what the disk holds, so everything since the last good sync is kept in
//! memory and written once more, and nothing further is taken until that succeeded.

use super::entry::Draft;
use super::head::{Head, HeadFile};
use super::medium::{Medium, Opener};
use super::segments::{self, HEAD_NAME, LOG_NAME, NEXT_NAME};
use super::{Mark, Options};
use crate::{LogError, Time, files};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Unsynced bytes at which a sync is due.
pub(crate) const MAX_PENDING: usize = 64 * 1024;

pub(crate) struct Writer {
    pub(crate) folder: PathBuf,
    pub(crate) options: Options,
    opener: Opener,
    medium: Arc<dyn Medium>,
    /// First entry of the current file.
    first: u64,
    /// Bytes of the current file that count.
    length: u64,
    /// The last entry.
    pub(crate) last: Mark,
    /// How far the disk is known to have it.
    synced: Synced,
    /// What was written since.
    pending: Vec<u8>,
    /// When the oldest of it was written.
    pending_since: Option<Time>,
    /// Day of the last entry, once there is one.
    day: Option<u64>,
    today: u64,
    /// Somebody syncs or turns the page.
    pub(crate) led: bool,
    /// A write failed: there may be bytes past `length`.
    ragged: bool,
    /// A sync failed: `pending` may not be what the disk holds.
    doubtful: bool,
}

/// How far a file is known to be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Synced {
    mark: Mark,
    length: u64,
}

/// What a sync covers, to be carried out without holding up writers.
pub(crate) struct Ticket {
    medium: Arc<dyn Medium>,
    head: Head,
}

impl Ticket {
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.medium.sync()
    }
}

/// What the writer starts from.
pub(crate) struct Start {
    pub(crate) last: Mark,
    pub(crate) first: u64,
    pub(crate) length: u64,
    pub(crate) day: Option<u64>,
}

impl Writer {
    /// Goes on after `start`; what follows it in the file is cut off.
    pub(crate) fn open(
        folder: PathBuf,
        options: Options,
        opener: Opener,
        start: &Start,
    ) -> Result<(Self, HeadFile), LogError> {
        let medium = opener(&folder.join(LOG_NAME))?;
        medium.cut(start.length)?;
        medium.sync()?;
        let head = Head {
            mark: start.last,
            first: start.first,
            end: start.length,
        };
        let head_file = HeadFile::create(&folder.join(HEAD_NAME), &head)?;
        files::sync_folder(&folder)?;
        let writer = Self {
            folder,
            options,
            opener,
            medium,
            first: start.first,
            length: start.length,
            last: start.last,
            synced: Synced {
                mark: start.last,
                length: start.length,
            },
            pending: Vec::new(),
            pending_since: None,
            day: start.day,
            today: 0,
            led: false,
            ragged: false,
            doubtful: false,
        };
        Ok((writer, head_file))
    }

    /// Writes an entry after the last one. `Err` means that it is not in the log.
    pub(crate) fn write(&mut self, draft: &Draft, time: Time) -> Result<Mark, LogError> {
        self.mend()?;
        let (line, mark) = draft.line(self.last, time);
        if let Err(error) = self.medium.write_at(&line, self.length) {
            self.ragged = true;
            let _ = self.mend();
            return Err(error.into());
        }
        self.length += line.len() as u64;
        self.pending.extend_from_slice(&line);
        self.pending_since.get_or_insert(time);
        self.last = mark;
        if self.day != Some(time.day()) {
            self.today = 0;
        }
        // A clock that goes back must not turn the page twice.
        self.day = Some(self.day.unwrap_or(0).max(time.day()));
        self.today += 1;
        Ok(mark)
    }

    /// Puts right what an earlier failure left behind.
    fn mend(&mut self) -> Result<(), LogError> {
        if self.ragged {
            self.medium.cut(self.length)?;
            self.ragged = false;
        }
        if self.doubtful {
            self.medium.write_at(&self.pending, self.synced.length)?;
            self.medium.sync().map_err(LogError::unsynced)?;
            self.doubtful = false;
        }
        Ok(())
    }

    /// Whether the page must be turned before the next entry: the day changed, or the file is full.
    pub(crate) fn turn_due(&self, time: Time) -> bool {
        self.day_done(time).is_some() || self.length >= self.options.max_bytes.max(1)
    }

    /// Whether the file is to be followed by a new one, or is new already.
    pub(crate) fn has_entries(&self) -> bool {
        self.length > 0
    }

    /// Whether the day changed since the last entry, with that day, its last entry and how many of its entries this
    /// process wrote.
    pub(crate) fn day_done(&self, time: Time) -> Option<(u64, Mark, u64)> {
        let day = self.day.filter(|day| time.day() > *day)?;
        Some((day, self.last, self.today))
    }

    /// Whether entries that nobody waits for should be synced now.
    pub(crate) fn sync_due(&self, time: Time) -> bool {
        self.pending.len() >= MAX_PENDING
            || self
                .pending_since
                .is_some_and(|since| time.since(since) >= self.options.group)
    }

    /// Whether an entry is known to be on disk.
    pub(crate) fn is_synced(&self, seq: u64) -> bool {
        self.synced.mark.seq >= seq
    }

    /// Something to sync, unless `through` is on disk already.
    pub(crate) fn ticket(&mut self, through: u64) -> Result<Option<Ticket>, LogError> {
        self.mend()?;
        Ok((!self.is_synced(through)).then(|| Ticket {
            medium: Arc::clone(&self.medium),
            head: Head {
                mark: self.last,
                first: self.first,
                end: self.length,
            },
        }))
    }

    /// The ticket's sync succeeded.
    pub(crate) fn settle(&mut self, ticket: &Ticket) -> Head {
        let done = ticket.head.end.saturating_sub(self.synced.length);
        let done = usize::try_from(done).unwrap_or(usize::MAX);
        self.pending.drain(..done.min(self.pending.len()));
        if self.pending.is_empty() {
            self.pending_since = None;
        }
        self.synced = Synced {
            mark: ticket.head.mark,
            length: ticket.head.end,
        };
        ticket.head
    }

    /// The ticket's sync failed.
    pub(crate) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Goes on in a new file. Everything in this one is on disk. When a step fails, the old file goes on.
    pub(crate) fn turn(&mut self) -> Result<(), LogError> {
        let next = self.folder.join(NEXT_NAME);
        let current = self.folder.join(LOG_NAME);
        let rotated = self.folder.join(segments::rotated_name(self.first));
        let medium = (self.opener)(&next)?;
        medium.cut(0)?;
        if current.try_exists()? {
            if rotated.try_exists()? {
                return Err(LogError::NameTaken);
            }
            fs::rename(&current, &rotated)?;
        }
        fs::rename(&next, &current)?;
        files::sync_folder(&self.folder)?;
        self.medium = medium;
        self.first = self.last.seq + 1;
        self.length = 0;
        self.synced = Synced {
            mark: self.last,
            length: 0,
        };
        Ok(())
    }
}
