//! Follows a folder of memories and tells what happens in it, until it is told to end.
//!
//! The folder is asked every quarter of a second instead of waiting for the system's notices: those do not come from
//! shared and network folders, are dropped under load, and end with the folder itself.

use super::book::{Book, Shelf, changes};
use super::events::{Event, Teller};
use super::files::{Found, MAX_ENTRIES, Unread, list};
use super::folder::{Folder, Stamp};
use super::look::{Looked, look};
use super::options::MemoryScanOptions;
use super::owner::Owner;
use super::quarantine::{self, NotTaken};
use super::report::MAX_PLACES;
use super::seen::{Seen, Vanished};
use super::{cannot, now_ms, scan};
use crate::serve::runtime;
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use blastshield_detect::Detector;
use blastshield_guard::memory::{ChangeKind, Known};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};

/// Between two looks; more if a look takes long, so that most of the time is left to others.
const PAUSE: Duration = Duration::from_millis(250);

pub(super) fn run(options: &MemoryScanOptions) -> anyhow::Result<u8> {
    if options.accept {
        let once = MemoryScanOptions {
            folder: options.folder.clone(),
            baseline: options.baseline.clone(),
            settings: options.settings.clone(),
            watch: false,
            // What is accepted is told by nobody, and the rest by the watch.
            tell: false,
            ..*options
        };
        scan::run(&once)?;
    }
    // A folder that is not there at the start is more likely a slip of the pen than one that will come.
    Folder::open(&options.folder).map_err(cannot("open the folder"))?;
    let shelf = Shelf::of(&options.folder, options.baseline.as_deref())?;
    let teller = Teller::new(std::io::stdout(), options.json);
    let mut watch = Watch::new(options, shelf, Detector::shipped()?, teller)?;
    runtime()?.block_on(async {
        let mut term = signal(SignalKind::terminate()).context("cannot listen for signals")?;
        let mut int = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
        loop {
            let began = Instant::now();
            watch.look()?;
            let pause = PAUSE.max(began.elapsed() * 2);
            tokio::select! {
                _ = term.recv() => break,
                _ = int.recv() => break,
                () = tokio::time::sleep(pause) => {}
            }
        }
        anyhow::Ok(())
    })?;
    Ok(if watch.poison_seen { FINDINGS } else { CLEAN })
}

struct Watch<W> {
    folder: PathBuf,
    shelf: Shelf,
    shelf_stamp: Option<Stamp>,
    book: Book,
    detector: Detector,
    teller: Teller<W>,
    owner: Owner,
    quarantine: bool,
    seen: Seen,
    /// Files that are there for the first time are news.
    telling_new: bool,
    started: bool,
    gone: bool,
    poison_seen: bool,
}

impl<W: Write> Watch<W> {
    fn new(
        options: &MemoryScanOptions,
        shelf: Shelf,
        detector: Detector,
        teller: Teller<W>,
    ) -> anyhow::Result<Self> {
        let shelf_stamp = shelf.stamp();
        let book = shelf.load()?.unwrap_or_default();
        let telling_new = book.compares();
        Ok(Self {
            folder: options.folder.clone(),
            // What was accepted counts as seen, so that what happened since is told.
            seen: Seen::of(&book),
            shelf,
            shelf_stamp,
            book,
            detector,
            teller,
            owner: Owner::of(options)?,
            quarantine: options.quarantine,
            telling_new,
            started: false,
            gone: false,
            poison_seen: false,
        })
    }

    fn tell(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        Ok(self.teller.tell(event, now_ms())?)
    }

    /// Looks once at the folder and tells what happened since the last look.
    fn look(&mut self) -> anyhow::Result<()> {
        let own = self.shelf.stamp();
        let opened = Folder::open(&self.folder)
            .and_then(|root| list(&root, own.as_ref()).map(|listing| (root, listing)));
        let Ok((root, listing)) = opened else {
            if !self.gone {
                self.gone = true;
                self.tell(&Event::FolderGone)?;
            }
            return Ok(());
        };
        if std::mem::take(&mut self.gone) {
            self.tell(&Event::FolderBack)?;
        }
        // After the list: a file that was put back is listed only once its hash is in the book.
        self.reread_book()?;
        for (path, why) in &listing.unread {
            self.unread(path, None, *why)?;
        }
        let mut vanished = self.seen.vanished(&listing);
        let mut due: Vec<&Found> = listing.found.iter().collect();
        due.retain(|found| self.seen.is_due(found));
        // A flood of large files must not delay a small one.
        due.sort_by_key(|found| found.stamp.length());
        for batch in due.chunks(scan::BATCH) {
            let (detector, book) = (&self.detector, &self.book);
            let results: Vec<Result<Looked, Unread>> = batch
                .par_iter()
                .map(|found| look(&root, found, detector, book))
                .collect();
            for (found, result) in batch.iter().zip(results) {
                match result {
                    Ok(looked) => self.looked(&root, &looked, &mut vanished)?,
                    // The next look tells what became of it.
                    Err(Unread::Failed(ErrorKind::NotFound)) => {}
                    Err(why) => self.unread(&found.path, Some(found.stamp), why)?,
                }
            }
        }
        for path in vanished.into_values().flatten() {
            self.seen.take(&path);
            self.tell(&Event::Removed(&path))?;
        }
        if !std::mem::replace(&mut self.started, true) {
            self.telling_new = true;
            self.tell(&Event::Watching {
                files: listing.found.len(),
            })?;
        }
        Ok(())
    }

    fn reread_book(&mut self) -> anyhow::Result<()> {
        let stamp = self.shelf.stamp();
        if stamp == self.shelf_stamp {
            return Ok(());
        }
        self.shelf_stamp = stamp;
        match self.shelf.load() {
            Ok(Some(book)) => {
                self.book = book;
                Ok(())
            }
            Ok(None) => self.tell(&Event::Baseline("it is gone; what it said still counts")),
            Err(_) => self.tell(&Event::Baseline(
                "it cannot be read; what it said before still counts",
            )),
        }
    }

    /// Something that cannot be looked at. It is tried again when it was touched.
    fn unread(&mut self, path: &str, stamp: Option<Stamp>, why: Unread) -> anyhow::Result<()> {
        if !self.seen.unread(path, stamp, why) || why == Unread::Binary {
            return Ok(());
        }
        self.tell(&Event::Unread(path, why))
    }

    fn looked(
        &mut self,
        root: &Folder,
        looked: &Looked,
        vanished: &mut Vanished,
    ) -> anyhow::Result<()> {
        let path = looked.file.path.as_str();
        let before = self.seen.take(path);
        if self.seen.entries() + looked.file.entries.len() > MAX_ENTRIES {
            return self.unread(path, Some(looked.stamp), Unread::Many);
        }
        let (last, told) = (before.known, before.poison);
        let same = last
            .as_ref()
            .is_some_and(|last| last.hash == looked.file.hash);
        if !same {
            self.tell_changes(looked, last.as_ref(), vanished)?;
        }
        let was_poisoned = !told.is_empty();
        let now: BTreeSet<String> = looked.poison.iter().map(|p| p.hash.clone()).collect();
        let fresh: Vec<_> = looked
            .poison
            .iter()
            .filter(|p| !told.contains(&p.hash))
            .collect();
        self.poison_seen |= !fresh.is_empty();
        for poison in fresh.iter().take(MAX_PLACES) {
            self.tell(&Event::Poisoned(looked, poison))?;
        }
        if let Some(more) = fresh.len().checked_sub(MAX_PLACES + 1) {
            self.tell(&Event::More(path, more + 1))?;
        }
        if was_poisoned && now.is_empty() {
            self.tell(&Event::Clean(path))?;
        }
        let taken = self.quarantine
            && !now.is_empty()
            && !(same && told == now)
            && self.take(root, looked)?;
        if !fresh.is_empty() {
            self.owner.tell(looked, taken);
        }
        if taken {
            return Ok(());
        }
        let settled = before.stamp == Some(looked.stamp);
        self.seen.read(looked.stamp, settled, &looked.file, now);
        Ok(())
    }

    fn tell_changes(
        &mut self,
        looked: &Looked,
        last: Option<&Known>,
        vanished: &mut Vanished,
    ) -> anyhow::Result<()> {
        let path = looked.file.path.as_str();
        let Some(last) = last else {
            let renamed = vanished.get_mut(&looked.file.hash).and_then(Vec::pop);
            if let Some(from) = renamed {
                self.seen.take(&from);
                return self.tell(&Event::Renamed {
                    from: &from,
                    to: path,
                });
            }
            if self.telling_new {
                self.tell(&Event::New(path))?;
            }
            return Ok(());
        };
        let mut all = changes(Some(last), &looked.file);
        // Poison is told by itself, with what the owner has accepted left out.
        all.retain(|change| change.kind != ChangeKind::Poisoned);
        for change in all.iter().take(MAX_PLACES) {
            self.tell(&Event::Entry(path, change))?;
        }
        if let Some(more) = all.len().checked_sub(MAX_PLACES + 1) {
            self.tell(&Event::More(path, more + 1))?;
        }
        Ok(())
    }

    /// Whether the file is in quarantine now, or has to be looked at anew.
    fn take(&mut self, root: &Folder, looked: &Looked) -> anyhow::Result<bool> {
        let path = looked.file.path.as_str();
        match quarantine::take(root, looked, now_ms()) {
            Ok(id) => {
                let undo = quarantine::undo(&self.folder, &id, &self.shelf);
                let (id, undo) = (id.as_str(), undo.as_str());
                self.tell(&Event::Quarantined { path, id, undo })?;
                Ok(true)
            }
            Err(NotTaken::Replaced | NotTaken::Failed(ErrorKind::NotFound)) => Ok(true),
            Err(why) => {
                self.tell(&Event::NotTaken(path, &why.to_string()))?;
                Ok(false)
            }
        }
    }
}
