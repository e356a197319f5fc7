//! One pass over a folder of memories.

use super::book::{Shelf, known};
use super::files::{MAX_ENTRIES, Unread, list};
use super::folder::Folder;
use super::look::{Looked, look};
use super::options::MemoryScanOptions;
use super::owner::Owner;
use super::report::{Report, Taken};
use super::{cannot, now_ms, quarantine};
use crate::{CLEAN, ERROR, FINDINGS};
use blastshield_detect::Detector;
use blastshield_guard::memory::Known;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};

/// Files handed to all cores at once; bounds what is held in memory.
pub(super) const BATCH: usize = 64;

/// Counts for the last line and the exit code.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) clean: usize,
    pub(super) annotated: usize,
    pub(super) poisoned: usize,
    pub(super) accepted: usize,
    pub(super) binary: usize,
    pub(super) unread: usize,
    /// Poison of which the owner should have been told, and was not.
    pub(super) untold: usize,
}

impl Tally {
    fn count(&mut self, looked: &Looked) {
        let place = if !looked.poison.is_empty() {
            &mut self.poisoned
        } else if looked.accepted {
            &mut self.accepted
        } else if looked.warnings.is_empty() {
            &mut self.clean
        } else {
            &mut self.annotated
        };
        *place += 1;
    }

    /// Findings first; what could not be looked at is not clean.
    fn exit_code(&self) -> u8 {
        match (self.poisoned, self.unread) {
            _ if self.untold > 0 => ERROR,
            (0, 0) => CLEAN,
            (0, _) => ERROR,
            _ => FINDINGS,
        }
    }
}

pub(super) fn run(options: &MemoryScanOptions) -> anyhow::Result<u8> {
    let detector = Detector::shipped()?;
    let root = Folder::open(&options.folder).map_err(cannot("open the folder"))?;
    let shelf = Shelf::of(&options.folder, options.baseline.as_deref())?;
    let listing = list(&root, shelf.stamp().as_ref()).map_err(cannot("list the folder"))?;
    let book = shelf.load()?.unwrap_or_default();
    let mut report = Report::new(std::io::stdout().lock(), options.json, book.compares());
    let mut tally = Tally::default();
    let owner = Owner::of(options)?;
    // Everything that is there, with its hashes if it was read and left there.
    let mut present: BTreeMap<String, Option<Known>> = BTreeMap::new();
    let mut entries = 0;
    for batch in listing.found.chunks(BATCH) {
        let results: Vec<Result<Looked, Unread>> = batch
            .par_iter()
            .map(|found| look(&root, found, &detector, &book))
            .collect();
        for (found, result) in batch.iter().zip(results) {
            let kept = result
                .as_ref()
                .map_or(0, |looked| looked.file.entries.len());
            let result = result.and_then(|looked| {
                entries += kept;
                if entries > MAX_ENTRIES {
                    Err(Unread::Many)
                } else {
                    Ok(looked)
                }
            });
            let looked = match result {
                Ok(looked) => looked,
                // It went away while we looked.
                Err(Unread::Failed(ErrorKind::NotFound)) => continue,
                Err(why) => {
                    present.insert(found.path.clone(), None);
                    tally_unread(&mut tally, why);
                    report.unread(&found.path, why)?;
                    continue;
                }
            };
            tally.count(&looked);
            let taken = (options.quarantine && !looked.poison.is_empty()).then(|| {
                quarantine::take(&root, &looked, now_ms()).map(|id| Taken {
                    undo: quarantine::undo(&options.folder, &id, &shelf),
                    id,
                })
            });
            if !matches!(taken, Some(Ok(_))) {
                present.insert(found.path.clone(), Some(known(&looked.file)));
            }
            if !looked.poison.is_empty() && !owner.tell(&looked, matches!(taken, Some(Ok(_)))) {
                tally.untold += 1;
            }
            report.looked(&looked, taken.as_ref())?;
        }
    }
    for (path, why) in &listing.unread {
        present.insert(path.clone(), None);
        tally_unread(&mut tally, *why);
        report.unread(path, *why)?;
    }
    for path in book.files().keys() {
        if !present.contains_key(path) {
            report.gone(path)?;
        }
    }
    if options.accept {
        shelf.update(|book| {
            book.begin(|path| present.contains_key(path));
            for (path, known) in present {
                if let Some(known) = known {
                    book.accept(path, known);
                }
            }
        })?;
    }
    report.finish(&tally, options.accept)?.flush()?;
    Ok(tally.exit_code())
}

fn tally_unread(tally: &mut Tally, why: Unread) {
    match why {
        Unread::Binary => tally.binary += 1,
        _ => tally.unread += 1,
    }
}
