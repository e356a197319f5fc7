//! What a watcher knows of each file since its last look.

use super::book::{Book, known};
use super::files::{Found, Listing, Unread};
use super::folder::Stamp;
use blastshield_guard::memory::{File, Known};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All files, by path.
#[derive(Default)]
pub(super) struct Seen {
    files: BTreeMap<String, Sight>,
    entries: usize,
}

/// Paths that are not there any more, by the hash that they had.
pub(super) type Vanished = HashMap<String, Vec<String>>;

/// One file.
#[derive(Default)]
pub(super) struct Sight {
    /// As it was when it was read or tried.
    pub(super) stamp: Option<Stamp>,
    /// Looked at again after its stamp was first seen: a write in the same tick of the clock cannot hide any more.
    settled: bool,
    /// Its hashes, if it was read.
    pub(super) known: Option<Known>,
    /// Hashes of its poison.
    pub(super) poison: BTreeSet<String>,
    unread: Option<Unread>,
}

impl Sight {
    fn entries(&self) -> usize {
        self.known.as_ref().map_or(0, |known| known.entries.len())
    }
}

impl Seen {
    /// As if all that was accepted had been seen.
    pub(super) fn of(book: &Book) -> Self {
        let mut seen = Self::default();
        for (path, known) in book.files() {
            let sight = Sight {
                known: Some(known.clone()),
                ..Sight::default()
            };
            seen.put(path, sight);
        }
        seen
    }

    /// Entries of all files together.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Whether a file has to be read.
    pub(super) fn is_due(&self, found: &Found) -> bool {
        let same = |sight: &Sight| sight.settled && sight.stamp == Some(found.stamp);
        !self.files.get(&found.path).is_some_and(same)
    }

    /// What was known of a file; it counts as never seen from now on.
    pub(super) fn take(&mut self, path: &str) -> Sight {
        let sight = self.files.remove(path).unwrap_or_default();
        self.entries = self.entries.saturating_sub(sight.entries());
        sight
    }

    /// A file was read.
    pub(super) fn read(
        &mut self,
        stamp: Stamp,
        settled: bool,
        file: &File,
        poison: BTreeSet<String>,
    ) {
        let sight = Sight {
            stamp: Some(stamp),
            settled,
            known: Some(known(file)),
            poison,
            unread: None,
        };
        self.put(&file.path, sight);
    }

    /// A file could not be read. Whether that is news.
    pub(super) fn unread(&mut self, path: &str, stamp: Option<Stamp>, why: Unread) -> bool {
        let before = self.take(path);
        let sight = Sight {
            settled: stamp.is_some() && before.stamp == stamp,
            stamp,
            unread: Some(why),
            ..Sight::default()
        };
        self.put(path, sight);
        before.unread != Some(why)
    }

    fn put(&mut self, path: &str, sight: Sight) {
        self.entries += sight.entries();
        self.files.insert(path.to_owned(), sight);
    }

    /// What is not there any more. What could not be listed may still be there.
    pub(super) fn vanished(&self, listing: &Listing) -> Vanished {
        let here: BTreeSet<&str> = listing.found.iter().map(|f| f.path.as_str()).collect();
        let hidden = |path: &str| {
            listing.unread.iter().any(|(unread, _)| {
                unread == "."
                    || path
                        .strip_prefix(unread.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut vanished = Vanished::new();
        for (path, sight) in &self.files {
            if !here.contains(path.as_str()) && !hidden(path) {
                let hash = sight.known.as_ref().map(|known| known.hash.clone());
                vanished
                    .entry(hash.unwrap_or_default())
                    .or_default()
                    .push(path.clone());
            }
        }
        vanished
    }
}
