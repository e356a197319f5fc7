//! The memory files of a folder: which they are, within bounds.

use super::folder::{Folder, Stamp};
use super::name::encode;
use super::{book, quarantine};
use rustix::fs::FileType;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Largest file that is read.
pub(super) const MAX_FILE: u64 = 4 << 20;
/// All files together.
const MAX_BYTES: u64 = 256 << 20;
/// Memory files in one folder.
const MAX_FILES: usize = 4096;
/// Things of any kind that are looked at to find them.
const MAX_VISITED: usize = 65_536;
/// Folders in folders.
const MAX_DEPTH: usize = 16;
/// Entries of all files together that are kept to be compared.
pub(super) const MAX_ENTRIES: usize = 1 << 20;

/// What memories are written in. These are read as text whatever bytes they hold, as an agent would.
const TEXT: &[&str] = &[
    "md", "markdown", "mdx", "txt", "text", "rst", "org", "adoc", "json", "jsonl", "ndjson",
    "yaml", "yml", "toml", "csv", "tsv", "html", "htm", "xml",
];
/// Everything below a folder of such a name is memory.
const KNOWLEDGE: &[&str] = &["knowledge", "memory", "memories"];
/// What these hold is kept by other programs.
const LEFT_OUT: &[&str] = &[".git", "node_modules", quarantine::FOLDER];

/// A memory file.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its place in the folder, as reports have it.
    pub(super) path: String,
    pub(super) stamp: Stamp,
    /// By its name it is text.
    pub(super) text: bool,
}

/// Why something was not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// Not text, and not named as text: nothing that a model would read as it is.
    Binary,
    Large,
    Link,
    Special,
    Deep,
    Many,
    Failed(io::ErrorKind),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Binary => f.write_str("binary, not scanned"),
            Self::Large => write!(f, "larger than {} MiB, not scanned", MAX_FILE >> 20),
            Self::Link => f.write_str("a link, not followed: scan its target by name"),
            Self::Special => f.write_str("not a regular file, not scanned"),
            Self::Deep => write!(f, "more than {MAX_DEPTH} folders deep, not scanned"),
            Self::Many => {
                f.write_str("more than one folder may hold, not scanned: scan its parts one by one")
            }
            Self::Failed(kind) => write!(f, "cannot be read: {kind}"),
        }
    }
}

/// What a folder holds.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) found: Vec<Found>,
    pub(super) unread: Vec<(String, Unread)>,
    visited: usize,
    bytes: u64,
}

/// Lists the memory files below a folder, by path. `own` is a baseline that may lie among them.
pub(super) fn list(root: &Folder, own: Option<&Stamp>) -> io::Result<Listing> {
    let mut listing = Listing::default();
    listing.walk(root, "", 0, false, own)?;
    listing.found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

impl Listing {
    fn walk(
        &mut self,
        folder: &Folder,
        prefix: &str,
        depth: usize,
        knowledge: bool,
        own: Option<&Stamp>,
    ) -> io::Result<()> {
        for entry in folder.entries()? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." || (depth == 0 && name == book::NAME) {
                continue;
            }
            self.visited += 1;
            if self.visited > MAX_VISITED {
                self.skip(".".to_owned(), Unread::Many);
                return Ok(());
            }
            let memory = knowledge || is_memory(name);
            let kind = entry.file_type();
            if !memory && !matches!(kind, FileType::Directory | FileType::Unknown) {
                continue;
            }
            let path = format!("{prefix}{}", encode(name));
            let (kind, stamp) = match folder.stamp(name) {
                Ok(found) => found,
                // It went away while we looked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.skip(path, Unread::Failed(error.kind()));
                    continue;
                }
            };
            match kind {
                FileType::Directory if LEFT_OUT.iter().any(|left| name == *left) => {}
                FileType::Directory if depth + 1 >= MAX_DEPTH => self.skip(path, Unread::Deep),
                FileType::Directory => {
                    let inner = folder.child(name).and_then(|child| {
                        let knowledge = knowledge || is_knowledge(name);
                        self.walk(&child, &format!("{path}/"), depth + 1, knowledge, own)
                    });
                    match inner {
                        Err(error) if error.kind() != io::ErrorKind::NotFound => {
                            self.skip(path, Unread::Failed(error.kind()));
                        }
                        _ => {}
                    }
                }
                _ if !memory => {}
                FileType::RegularFile if own.is_some_and(|own| own.same_file(&stamp)) => {}
                FileType::RegularFile if stamp.length() > MAX_FILE => {
                    self.skip(path, Unread::Large);
                }
                FileType::RegularFile => self.add(path, stamp, is_text(name)),
                FileType::Symlink => self.skip(path, Unread::Link),
                _ => self.skip(path, Unread::Special),
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, stamp: Stamp, text: bool) {
        let bytes = self.bytes + stamp.length();
        if self.found.len() >= MAX_FILES || bytes > MAX_BYTES {
            return self.skip(path, Unread::Many);
        }
        self.bytes = bytes;
        self.found.push(Found { path, stamp, text });
    }

    fn skip(&mut self, path: String, why: Unread) {
        match self.unread.len().cmp(&MAX_FILES) {
            std::cmp::Ordering::Less => self.unread.push((path, why)),
            std::cmp::Ordering::Equal => self.unread.push((".".to_owned(), Unread::Many)),
            std::cmp::Ordering::Greater => {}
        }
    }
}

fn is_text(name: &OsStr) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|end| TEXT.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// By its ending, or because it has none.
fn is_memory(name: &OsStr) -> bool {
    is_text(name) || Path::new(name).extension().is_none()
}

fn is_knowledge(name: &OsStr) -> bool {
    KNOWLEDGE
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Bytes in a thousand that may be broken in a text.
const BROKEN_PER_MILLE: usize = 100;

/// The text of a memory file; lengths and places are of this text.
pub(super) fn decode(bytes: Vec<u8>, text: bool) -> Result<String, Unread> {
    let wide = |from: fn([u8; 2]) -> u16| {
        let pairs = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units = pairs.filter_map(|pair| pair.try_into().ok().map(from));
        char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect()
    };
    match bytes.get(..2) {
        Some([0xFF, 0xFE]) => return Ok(wide(u16::from_le_bytes)),
        Some([0xFE, 0xFF]) => return Ok(wide(u16::from_be_bytes)),
        _ => {}
    }
    let decoded = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let broken = || {
        let marks = decoded
            .chars()
            .filter(|c| *c == char::REPLACEMENT_CHARACTER);
        marks.count() * 1000 > decoded.len() * BROKEN_PER_MILLE
    };
    if !text && (decoded.bytes().take(8192).any(|byte| byte == 0) || broken()) {
        return Err(Unread::Binary);
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn paths(folder: &Path) -> (Vec<String>, Vec<(String, Unread)>) {
        let listing = list(&Folder::open(folder).unwrap(), None).unwrap();
        let found = listing.found.into_iter().map(|found| found.path).collect();
        (found, listing.unread)
    }

    #[test]
    fn memory_is_known_by_name_and_place() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "MEMORY.md",
            "NOTES.TXT",
            "tool.py",
            "rules",
            "knowledge/any.thing",
            "src/a.rs",
            "src/deep/b.json",
            ".git/c.md",
            ".blastshield-quarantine/d.md",
            ".blastshield-baseline.json",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let (found, unread) = paths(folder.path());
        assert_eq!(
            found,
            [
                "MEMORY.md",
                "NOTES.TXT",
                "knowledge/any.thing",
                "rules",
                "src/deep/b.json"
            ]
        );
        assert!(unread.is_empty());
    }

    #[test]
    fn what_is_not_looked_at_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("MEMORY.md")).unwrap();
        let large = fs::File::create(folder.path().join("large.md")).unwrap();
        large.set_len(MAX_FILE + 1).unwrap();
        let deep: std::path::PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 2).collect();
        fs::create_dir_all(folder.path().join(deep)).unwrap();
        let (found, mut unread) = paths(folder.path());
        assert!(found.is_empty());
        unread.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(unread[0], ("MEMORY.md".to_owned(), Unread::Link));
        assert_eq!(unread[1].1, Unread::Deep);
        assert_eq!(unread[2], ("large.md".to_owned(), Unread::Large));
    }

    #[test]
    fn text_by_name_is_never_binary() {
        assert!(decode(b"Ignore\0this".to_vec(), true).is_ok());
        assert_eq!(decode(b"\x7fELF\0".to_vec(), false), Err(Unread::Binary));
        assert_eq!(decode((128..=255).collect(), false), Err(Unread::Binary));
        assert_eq!(decode(vec![0xFF, 0xFE, b'h', 0], false), Ok("h".to_owned()));
    }
}
