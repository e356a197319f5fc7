//! The audit log: JSON lines, each bound to the one before by its hash.
//!
//! **When is an entry safe?** `Ok` from [`Log::append`] means that it is in the file: it outlives the process, also a
//! `kill -9`. Critical entries and decisions are moreover on disk (`fdatasync`) before `append` returns; whoever waits at
//! the same time shares one sync. All others are synced together with the next of those, after 64 KiB, after
//! [`Options::group`], or by [`Log::flush`], whichever comes first; a power cut can cost no more than that.
//!
//! **Which file?** `security-supervisor-audit.log` is the current one. When the day changes (UTC) or the file is full, it
//! is renamed after its first entry and the chain goes on in a new one; a new day begins with an anchor, an entry that
//! names the last entry of the day before. Files older than the retention are deleted, each after an entry with its last
//! hash, from which [`verify()`] then starts.

mod entry;
mod head;
mod medium;
mod read;
mod recover;
mod retain;
mod segments;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use entry::{Entry, Mark};
pub use read::{Entries, Filter, MAX_TAIL, query, tail};
pub use segments::LOG_NAME;
pub use verify::{Incident, Verdict, Why, verify, verify_with};

use crate::clean::{self, MAX_MESSAGE};
use crate::{Category, Clock, Event, LogError, Redact, Severity, Time, files};
use entry::Draft;
use head::HeadFile;
use medium::Opener;
use serde_json::{Map, Value, json};
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use writer::Writer;

/// How the log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// A file this long is followed by a new one.
    pub max_bytes: u64,
    /// Files whose last entry is older are deleted; nothing is deleted when this is `None`.
    pub retain_days: Option<u32>,
    /// How long an entry that nobody waits for may stay unsynced while others come in.
    pub group: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_bytes: 16 * 1024 * 1024,
            retain_days: Some(90),
            group: Duration::from_secs(1),
        }
    }
}

/// The one writer of a log.
pub struct Log {
    writer: Mutex<Writer>,
    /// Told whenever the lead is free again.
    free: Condvar,
    /// Used by whoever has the lead.
    head: Mutex<HeadFile>,
    redact: Arc<dyn Redact>,
    clock: Arc<dyn Clock>,
    incidents: Vec<Incident>,
    /// Held as long as the log is open.
    _lock: File,
}

impl Log {
    /// Opens or begins the log in a folder and records that it did.
    ///
    /// # Errors
    /// [`LogError::Busy`] when another process writes it.
    pub fn open(
        folder: &Path,
        options: Options,
        redact: Arc<dyn Redact>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, LogError> {
        Self::open_on(folder, options, redact, clock, medium::files())
    }

    fn open_on(
        folder: &Path,
        options: Options,
        redact: Arc<dyn Redact>,
        clock: Arc<dyn Clock>,
        opener: Opener,
    ) -> Result<Self, LogError> {
        files::folder(folder)?;
        let lock = files::open_private(&folder.join(segments::LOCK_NAME))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LogError::Busy),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        sweep(folder)?;
        let recovered = recover::recover(folder)?;
        let (writer, head) = Writer::open(folder.to_owned(), options, opener, &recovered.start)?;
        let mut log = Self {
            writer: Mutex::new(writer),
            free: Condvar::new(),
            head: Mutex::new(head),
            redact,
            clock,
            incidents: Vec::new(),
            _lock: lock,
        };
        for incident in recovered.incidents {
            let (name, message) = (incident.name, incident.message);
            let mark = log.write(&of_the_log(
                incident.severity,
                name,
                message,
                incident.details,
            ))?;
            log.incidents.push(Incident {
                seq: mark.seq,
                severity: incident.severity,
                message: message.to_owned(),
            });
            if let Some((from, to)) = incident.then {
                fs::rename(from, to)?;
            }
        }
        log.write(&of_the_log(
            Severity::Info,
            "audit_opened",
            "Audit log opened",
            json!({"after": recovered.start.last.seq}),
        ))?;
        Ok(log)
    }

    /// Records an event and returns its number. See the module for what `Ok` promises.
    ///
    /// # Errors
    /// [`LogError::Unsynced`] when the entry is in the file and may not be on disk; with any other, it is not recorded.
    /// The next call tries anew.
    pub fn append(&self, event: &Event<'_>) -> Result<u64, LogError> {
        let facts = event.facts();
        let redact = self.redact.as_ref();
        let mut details = clean::details(redact, &facts.told);
        details.extend(facts.known);
        details.insert(
            "event".to_owned(),
            Value::from(clean::line(redact, &facts.name, 64)),
        );
        self.write(&Draft {
            severity: facts.severity,
            category: facts.category,
            message: clean::line(redact, &facts.message, MAX_MESSAGE),
            details,
            synced: facts.decision || facts.severity == Severity::Critical,
        })
        .map(|mark| mark.seq)
    }

    /// Everything recorded so far is on disk, and the day is closed if it is over. To be called about once a second.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn flush(&self) -> Result<(), LogError> {
        let time = self.clock.now();
        if lock(&self.writer).turn_due(time) {
            self.turn(time)?;
        }
        let last = lock(&self.writer).last;
        self.sync(last.seq)
    }

    /// The last entry. Noted elsewhere, it shows later that nothing before it was changed: see [`verify_with`].
    #[must_use]
    pub fn head(&self) -> Mark {
        lock(&self.writer).last
    }

    /// What was found wrong when the log was opened; it is recorded.
    #[must_use]
    pub fn incidents(&self) -> &[Incident] {
        &self.incidents
    }

    fn write(&self, draft: &Draft) -> Result<Mark, LogError> {
        let (mark, sync) = loop {
            let time = self.clock.now();
            let mut writer = lock(&self.writer);
            if !writer.turn_due(time) {
                let mark = writer.write(draft, time)?;
                break (mark, draft.synced || writer.sync_due(time));
            }
            drop(writer);
            self.turn(time)?;
        };
        if sync {
            self.sync(mark.seq)?;
        }
        Ok(mark)
    }

    fn sync(&self, through: u64) -> Result<(), LogError> {
        match self.lead(Some(through)) {
            Some(mut lead) => self.sync_holding(&mut lead.head, through),
            None => Ok(()),
        }
    }

    /// Waits for the lead; nothing when another's sync covered `through` meanwhile. Entries are written all the while, so
    /// that the next sync covers everyone who waited for this one.
    fn lead(&self, through: Option<u64>) -> Option<Lead<'_>> {
        let mut writer = lock(&self.writer);
        loop {
            if through.is_some_and(|seq| writer.is_synced(seq)) {
                return None;
            }
            if !writer.led {
                writer.led = true;
                let head = lock(&self.head);
                return Some(Lead { log: self, head });
            }
            writer = self
                .free
                .wait(writer)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn sync_holding(&self, head: &mut HeadFile, through: u64) -> Result<(), LogError> {
        let Some(ticket) = lock(&self.writer).ticket(through)? else {
            return Ok(());
        };
        let synced = ticket.sync();
        let mut writer = lock(&self.writer);
        match synced {
            Ok(()) => {
                let at = writer.settle(&ticket);
                drop(writer);
                head.write(&at).map_err(LogError::unsynced)
            }
            Err(error) => {
                writer.doubt();
                Err(LogError::unsynced(error))
            }
        }
    }

    /// Goes on in a new file, with an anchor if the day changed, and lets old files go.
    fn turn(&self, time: Time) -> Result<(), LogError> {
        let Some(mut lead) = self.lead(None) else {
            return Ok(());
        };
        loop {
            let last = lock(&self.writer).last;
            self.sync_holding(&mut lead.head, last.seq)?;
            let mut writer = lock(&self.writer);
            if !writer.turn_due(time) {
                return Ok(());
            }
            if writer.last != last {
                continue;
            }
            lead.head.sync()?;
            let done = writer.day_done(time);
            if writer.has_entries() {
                writer.turn()?;
            }
            if let Some((day, last, entries)) = done {
                let anchor = json!({
                    "day": Time::of_day(day).date(), "entries": entries, "through": last.seq, "hash": last.hash.to_string(),
                });
                writer.write(
                    &of_the_log(Severity::Info, "audit_anchor", "Daily anchor", anchor),
                    time,
                )?;
            }
            break;
        }
        // What could not be deleted today is deleted another day.
        let _ = self.prune(&mut lead.head, time);
        Ok(())
    }

    fn prune(&self, head: &mut HeadFile, time: Time) -> Result<(), LogError> {
        let (folder, days) = {
            let writer = lock(&self.writer);
            (writer.folder.clone(), writer.options.retain_days)
        };
        let Some(days) = days else { return Ok(()) };
        while let Some(old) = retain::oldest(&folder, days, time)? {
            let mark = lock(&self.writer).write(&old.draft(), time)?;
            self.sync_holding(head, mark.seq)?;
            fs::remove_file(&old.path)?;
            files::sync_folder(&folder)?;
        }
        Ok(())
    }
}

/// The right to sync and to turn the page.
struct Lead<'a> {
    log: &'a Log,
    head: MutexGuard<'a, HeadFile>,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        lock(&self.log.writer).led = false;
        self.log.free.notify_all();
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Nobody is left to tell; the next opening finds whatever the disk took.
        let _ = self.flush();
        let _ = lock(&self.head).sync();
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").finish_non_exhaustive()
    }
}

/// A panic elsewhere must not silence the log; the writer's state is whole between its calls.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry of the log about itself.
fn of_the_log(severity: Severity, name: &str, message: &str, details: Value) -> Draft {
    let mut map = match details {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    map.insert("event".to_owned(), Value::from(name));
    Draft {
        severity,
        category: Category::Audit,
        message: message.to_owned(),
        details: map,
        synced: true,
    }
}

/// Removes what a killed process left half-made.
fn sweep(folder: &Path) -> Result<(), LogError> {
    for (name, path) in segments::names(folder)? {
        if name == segments::NEXT_NAME
            || (name.starts_with(files::HALF_MADE) && name.ends_with(".tmp"))
        {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
