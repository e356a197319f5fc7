//! What the owner has accepted: hashes in one small file, replaced as a whole.

use super::cannot;
use super::folder::{Folder, Stamp};
use anyhow::bail;
use blastshield_guard::memory::{Baseline, Change, File, Known, compare, is_relative};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Its name in the folder that it is about.
pub(super) const NAME: &str = ".blastshield-baseline.json";
const VERSION: u32 = 1;
/// Largest file that is read or written.
const MAX_BYTES: u64 = 64 << 20;
/// Restored files that are remembered; the oldest are forgotten first.
const MAX_RESTORED: usize = 4096;

/// Accepted files by path, and accepted contents wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Book {
    version: u32,
    /// A whole state was accepted, and not single files alone.
    compares: bool,
    files: BTreeMap<String, Known>,
    /// Hashes of files that the owner took back from quarantine.
    restored: Vec<String>,
}

impl Book {
    /// Whether the owner has accepted this very content.
    pub(super) fn accepts(&self, file: &File) -> bool {
        self.files
            .get(&file.path)
            .is_some_and(|known| known.hash == file.hash)
            || self.restored.contains(&file.hash)
    }

    /// What is not as it was accepted in one file.
    pub(super) fn changes(&self, file: &File) -> Vec<Change> {
        changes(self.files.get(&file.path), file)
    }

    /// The accepted files.
    pub(super) fn files(&self) -> &BTreeMap<String, Known> {
        &self.files
    }

    /// Whether there is a state to compare with.
    pub(super) fn compares(&self) -> bool {
        self.compares
    }

    /// Takes a file as it is now.
    pub(super) fn accept(&mut self, path: String, known: Known) {
        self.files.insert(path, known);
    }

    /// Begins a new state: forgets all files but those that `keep` names.
    pub(super) fn begin(&mut self, keep: impl Fn(&str) -> bool) {
        self.compares = true;
        self.files.retain(|path, _| keep(path));
    }

    /// Takes a content wherever it stands.
    pub(super) fn restore(&mut self, hash: String) {
        self.forget(&hash);
        self.restored.push(hash);
        let over = self.restored.len().saturating_sub(MAX_RESTORED);
        self.restored.drain(..over);
    }

    /// Takes it back.
    pub(super) fn forget(&mut self, hash: &str) {
        self.restored.retain(|known| known != hash);
    }
}

/// What happened to one file since it was `known`.
pub(super) fn changes(known: Option<&Known>, file: &File) -> Vec<Change> {
    let files = known.map(|known| (file.path.clone(), known.clone()));
    let baseline = Baseline {
        files: files.into_iter().collect(),
    };
    compare(&baseline, std::slice::from_ref(file))
}

/// The hashes of a file.
pub(super) fn known(file: &File) -> Known {
    Known {
        hash: file.hash.clone(),
        entries: file
            .entries
            .iter()
            .map(|entry| entry.hash.clone())
            .collect(),
    }
}

/// The hash of a text, as baselines have it.
pub(super) fn hash(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// Where a book is kept.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    parent: PathBuf,
    name: OsString,
    /// As the user named it, if it is not in the folder.
    pub(super) named: Option<PathBuf>,
}

impl Shelf {
    /// The shelf of a memory folder, or the file that was named.
    pub(super) fn of(folder: &Path, named: Option<&Path>) -> anyhow::Result<Self> {
        let path = named.map_or_else(|| folder.join(NAME), Path::to_owned);
        let Some(name) = path.file_name().map(OsStr::to_owned) else {
            bail!("--baseline must name a file");
        };
        Ok(Self {
            parent: path.parent().unwrap_or(Path::new("")).to_owned(),
            name,
            named: named.map(Path::to_owned),
        })
    }

    /// The file as it is now, if there is one.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let folder = Folder::open(&self.parent).ok()?;
        folder.stamp(&self.name).ok().map(|(_, stamp)| stamp)
    }

    /// The book, if there is one. A damaged one is an error: an empty one would name everything, or forgive everything.
    pub(super) fn load(&self) -> anyhow::Result<Option<Book>> {
        let read = Folder::open(&self.parent).and_then(|folder| folder.read(&self.name, MAX_BYTES));
        let (bytes, _) = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(cannot("read the baseline"))?,
        };
        let book: Book = serde_json::from_slice(&bytes)
            .map_err(|_| anyhow::anyhow!("the baseline is damaged or not ours"))?;
        if book.version != VERSION || !book.files.keys().all(|path| is_relative(path)) {
            bail!("the baseline is damaged or of another version");
        }
        Ok(Some(book))
    }

    /// Changes the book on disk while nobody else does.
    pub(super) fn update(&self, change: impl FnOnce(&mut Book)) -> anyhow::Result<()> {
        let cannot = cannot("write the baseline");
        let folder = Folder::open(&self.parent).map_err(&cannot)?;
        folder.lock().map_err(&cannot)?;
        let mut book = self.load()?.unwrap_or_default();
        book.version = VERSION;
        change(&mut book);
        let bytes = serde_json::to_vec(&book)?;
        if bytes.len() as u64 > MAX_BYTES {
            bail!("the baseline would have more than {} MiB", MAX_BYTES >> 20);
        }
        folder.replace(&self.name, &bytes).map_err(&cannot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::of(folder.path(), None).unwrap();
        assert_eq!(shelf.load().unwrap(), None);
        let known = Known {
            hash: "a".to_owned(),
            entries: vec!["b".to_owned()],
        };
        shelf
            .update(|book| {
                book.accept("x/MEMORY.md".to_owned(), known.clone());
                book.restore("c".to_owned());
            })
            .unwrap();
        let book = shelf.load().unwrap().unwrap();
        assert_eq!(book.files().get("x/MEMORY.md"), Some(&known));
        assert_eq!(book.restored, ["c"]);
    }

    #[test]
    fn a_damaged_book_is_no_book() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::of(folder.path(), None).unwrap();
        for text in [
            "",
            "{}",
            r#"{"version":2,"compares":true,"files":{},"restored":[]}"#,
            r#"{"version":1,"compares":true,"files":{"../x":{"hash":"a","entries":[]}},"restored":[]}"#,
            r#"{"version":1,"compares":true,"files":{},"restored":[],"more":1}"#,
        ] {
            std::fs::write(folder.path().join(NAME), text).unwrap();
            assert!(shelf.load().is_err(), "{text}");
            assert!(shelf.update(|_| {}).is_err(), "{text}");
        }
    }

    #[test]
    fn hashes_are_those_of_snapshots() {
        let detector = blastshield_detect::Detector::rules_only().unwrap();
        let file = blastshield_guard::memory::snapshot("a.md", "caf\u{e9}", &detector);
        assert_eq!(hash("caf\u{e9}"), file.hash);
    }

    #[test]
    fn the_oldest_restored_are_forgotten_first() {
        let mut book = Book::default();
        for number in 0..=MAX_RESTORED {
            book.restore(number.to_string());
        }
        assert_eq!(book.restored.len(), MAX_RESTORED);
        assert_eq!(book.restored[0], "1");
    }
}
