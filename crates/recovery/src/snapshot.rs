//! What a workspace holds, as paths, lengths and hashes: two of them tell what a session changed, whoever else says what.

use crate::folder::Folder;
use crate::names::shown;
use blastshield_audit::Digest;
use rustix::fs::{AtFlags, FileType, Stat, statat};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::io::{self, Read};
use std::time::{SystemTime, UNIX_EPOCH};

/// How much is looked at; what lies beyond is an oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Files and folders.
    pub entries: usize,
    /// Folders within folders.
    pub depth: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            entries: 20_000,
            depth: 6,
            file_bytes: 16 << 20,
            total_bytes: 256 << 20,
        }
    }
}

/// Something that an honest proxy does not leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oddity {
    /// A symbolic link.
    Link,
    /// A file with a second name somewhere.
    HardLink,
    /// A pipe, socket or device.
    Special,
    /// A file or the whole is too large.
    TooLarge,
    /// Too many entries, or folders too deep.
    TooMany,
    /// It cannot be read.
    Unreadable,
    /// A name that is not plain.
    Name,
    /// A folder that was not there: sessions write into those that core made.
    Folder,
}

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Bytes.
    pub length: u64,
    /// Of its bytes.
    pub sha256: Digest,
    identity: Identity,
}

/// Which file it is and when it last changed. The time of change is the system's: no process sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    length: u64,
    changed_ns: i128,
}

/// Files that changed so shortly before they were looked at may have changed again in the same tick of the clock.
const RACY_NS: i128 = 100_000_000;
const MAX_ODDITIES: usize = 1000;

/// What a workspace held at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    files: BTreeMap<String, Entry>,
    oddities: BTreeMap<String, Oddity>,
    folders: BTreeSet<String>,
    taken_ns: i128,
}

/// What differs between two snapshots. Paths are fit to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files that were made, changed or removed, and folders that were removed.
    pub files: Vec<String>,
    /// Oddities that were not there before.
    pub oddities: Vec<(String, Oddity)>,
}

impl Changes {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.oddities.is_empty()
    }
}

impl Snapshot {
    /// The file of this path, if it was there.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&Entry> {
        self.files.get(path)
    }

    /// Paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// What should not be there.
    pub fn oddities(&self) -> impl Iterator<Item = (&str, Oddity)> {
        self.oddities
            .iter()
            .map(|(path, oddity)| (path.as_str(), *oddity))
    }

    /// Files that changed since a moment, by the system's account, and all that is odd.
    pub(crate) fn changed_since(&self, since_ns: i128) -> Vec<String> {
        let files = self
            .files
            .iter()
            .filter(|(_, entry)| entry.identity.changed_ns >= since_ns)
            .map(|(path, _)| path);
        files.chain(self.oddities.keys()).cloned().collect()
    }

    /// Whether nine tenths of a bound are used up.
    pub(crate) fn is_near(&self, bounds: &Bounds) -> bool {
        let entries = self.files.len() + self.folders.len();
        let bytes: u64 = self.files.values().map(|entry| entry.length).sum();
        entries > bounds.entries / 10 * 9 || bytes > bounds.total_bytes / 10 * 9
    }

    /// What is different in `after`.
    #[must_use]
    pub fn changes(&self, after: &Self) -> Changes {
        let mut files: Vec<String> = Vec::new();
        for (path, old) in &self.files {
            let same = after
                .files
                .get(path)
                .is_some_and(|new| (new.length, new.sha256) == (old.length, old.sha256));
            if !same {
                files.push(path.clone());
            }
        }
        files.extend(
            after
                .files
                .keys()
                .filter(|path| !self.files.contains_key(*path))
                .cloned(),
        );
        files.extend(self.folders.difference(&after.folders).cloned());
        files.sort();
        let fresh = after.folders.difference(&self.folders);
        let mut oddities: BTreeMap<String, Oddity> = fresh
            .map(|path| (path.clone(), Oddity::Folder))
            .take(MAX_ODDITIES)
            .collect();
        for (path, oddity) in &after.oddities {
            if self.oddities.get(path) != Some(oddity) {
                oddities.insert(path.clone(), *oddity);
            }
        }
        let oddities = oddities.into_iter().collect();
        Changes { files, oddities }
    }

    /// Looks at everything below a folder; what `earlier` saw and nobody touched since is not read again.
    pub(crate) fn take(root: &Folder, bounds: &Bounds, earlier: Option<&Self>) -> io::Result<Self> {
        let taken_ns = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0));
        let mut walk = Walk {
            bounds,
            earlier,
            entries: 0,
            bytes: 0,
            found: Self {
                taken_ns,
                ..Self::default()
            },
        };
        walk.folder(root, "", 0)?;
        Ok(walk.found)
    }
}

struct Walk<'a> {
    bounds: &'a Bounds,
    earlier: Option<&'a Snapshot>,
    entries: usize,
    bytes: u64,
    found: Snapshot,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder, above: &str, depth: usize) -> io::Result<()> {
        let room = self.bounds.entries.saturating_sub(self.entries);
        let (names, more) = match folder.names(room) {
            Ok(found) => found,
            // What the session closed to us is an oddity; that we cannot look at all is our own trouble.
            Err(error) if depth == 0 && error.kind() != io::ErrorKind::PermissionDenied => {
                return Err(error);
            }
            Err(_) => {
                let path = if above.is_empty() { "." } else { above };
                self.odd(path.to_owned(), Oddity::Unreadable);
                return Ok(());
            }
        };
        if more {
            self.odd(format!("{above}*"), Oddity::TooMany);
        }
        self.entries += names.len();
        for name in names {
            let path = format!("{above}{}", shown(name.to_bytes()));
            match statat(folder.fd(), &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => self.entry(folder, &name, path, &stat, depth),
                Err(_) => self.odd(path, Oddity::Unreadable),
            }
        }
        Ok(())
    }

    fn entry(&mut self, folder: &Folder, name: &CStr, path: String, stat: &Stat, depth: usize) {
        if !name.to_str().is_ok_and(crate::names::is_step) {
            self.odd(path.clone(), Oddity::Name);
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if depth >= self.bounds.depth => self.odd(path, Oddity::TooMany),
            FileType::Directory => match folder.child_raw(name) {
                Ok(inner) => {
                    self.found.folders.insert(path.clone());
                    if self.folder(&inner, &format!("{path}/"), depth + 1).is_err() {
                        self.odd(path, Oddity::Unreadable);
                    }
                }
                Err(_) => self.odd(path, Oddity::Unreadable),
            },
            FileType::RegularFile if stat.st_nlink != 1 => self.odd(path, Oddity::HardLink),
            FileType::RegularFile => match self.file(folder, name, &path, stat) {
                Ok(Some(entry)) => {
                    self.found.files.insert(path, entry);
                }
                Ok(None) => self.odd(path, Oddity::TooLarge),
                Err(_) => self.odd(path, Oddity::Unreadable),
            },
            FileType::Symlink => self.odd(path, Oddity::Link),
            _ => self.odd(path, Oddity::Special),
        }
    }

    /// Nothing when it is too large.
    fn file(
        &mut self,
        folder: &Folder,
        name: &CStr,
        path: &str,
        stat: &Stat,
    ) -> io::Result<Option<Entry>> {
        let identity = Identity::of(stat);
        let bytes = self.bytes.saturating_add(identity.length);
        if identity.length > self.bounds.file_bytes || bytes > self.bounds.total_bytes {
            return Ok(None);
        }
        self.bytes = bytes;
        if let Some(known) = self
            .earlier
            .and_then(|earlier| earlier.unchanged(path, &identity))
        {
            return Ok(Some(known.clone()));
        }
        let (file, stat) = folder.open_raw(name)?;
        let identity = Identity::of(&stat);
        let mut reader = file.take(self.bounds.file_bytes.saturating_add(1));
        let mut hasher = Sha256::new();
        let mut block = vec![0; 64 << 10];
        let mut length = 0_u64;
        loop {
            let count = reader.read(&mut block)?;
            if count == 0 {
                break;
            }
            hasher.update(block.get(..count).unwrap_or_default());
            length += count as u64;
        }
        if length > self.bounds.file_bytes {
            return Ok(None);
        }
        Ok(Some(Entry {
            length,
            sha256: Digest::from_bytes(hasher.finalize().into()),
            identity,
        }))
    }

    fn odd(&mut self, path: String, oddity: Oddity) {
        // Enough to judge by; a million links say no more than a thousand.
        if self.found.oddities.len() < MAX_ODDITIES {
            self.found.oddities.insert(path, oddity);
        }
    }
}

impl Snapshot {
    fn unchanged(&self, path: &str, identity: &Identity) -> Option<&Entry> {
        let entry = self.files.get(path)?;
        let settled = entry.identity.changed_ns < self.taken_ns - RACY_NS;
        (settled && entry.identity == *identity).then_some(entry)
    }
}

impl Identity {
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            length: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
            changed_ns: i128::from(stat.st_ctime) * 1_000_000_000 + i128::from(stat.st_ctime_nsec),
        }
    }
}

#[cfg(test)]
mod tests;
