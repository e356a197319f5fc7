//! The head: how far the log is known to be on disk, in a file of its own, so that a log that lost its end is noticed.
//!
//! Two slots of one sector each are written in turn. A torn write can spoil the one being written and never the other, and
//! no write needs room on a full disk. The head is written after the log is synced: it may lag, it never leads.

use super::Mark;
use crate::Digest;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

const SLOT: usize = 512;

/// Where the log ended when it was last synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) mark: Mark,
    /// First entry of the file that holds it.
    pub(crate) first: u64,
    /// Where it ends in that file.
    pub(crate) end: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slot<'a> {
    seq: u64,
    hash: &'a str,
    first: u64,
    end: u64,
    check: &'a str,
}

impl Head {
    fn slot(&self) -> [u8; SLOT] {
        let Self { mark, first, end } = self;
        let body = format!(
            r#"{{"seq":{},"hash":"{}","first":{first},"end":{end}"#,
            mark.seq, mark.hash
        );
        let text = format!(r#"{body},"check":"{}"}}"#, Digest::of(body.as_bytes()));
        let mut slot = [b' '; SLOT];
        for (to, from) in slot.iter_mut().zip(text.as_bytes()) {
            *to = *from;
        }
        if let Some(last) = slot.last_mut() {
            *last = b'\n';
        }
        slot
    }

    /// Exactly what [`Head::slot`] would write, or nothing.
    fn of_slot(bytes: &[u8]) -> Option<Self> {
        let slot: Slot<'_> = serde_json::from_slice(bytes.trim_ascii_end()).ok()?;
        let head = Self {
            mark: Mark {
                seq: slot.seq,
                hash: Digest::parse(slot.hash)?,
            },
            first: slot.first,
            end: slot.end,
        };
        Digest::parse(slot.check)?;
        (head.slot() == bytes).then_some(head)
    }
}

/// What the head file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// There is none.
    Missing,
    /// No slot can be read.
    Unreadable,
    /// The later of the slots.
    Found {
        head: Head,
        /// The other slot cannot be read.
        damaged: bool,
    },
}

impl Reading {
    pub(crate) fn head(self) -> Option<Head> {
        match self {
            Self::Found { head, .. } => Some(head),
            _ => None,
        }
    }
}

pub(crate) fn read(path: &Path) -> io::Result<Reading> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Reading::Missing),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, 2 * SLOT as u64 + 1), &mut bytes)?;
    let (slots, rest) = bytes.as_chunks::<SLOT>();
    let heads: Vec<Head> = slots
        .iter()
        .filter_map(|slot| Head::of_slot(slot))
        .collect();
    Ok(heads
        .iter()
        .max_by_key(|head| head.mark.seq)
        .map_or(Reading::Unreadable, |head| Reading::Found {
            head: *head,
            damaged: heads.len() != 2 || !rest.is_empty(),
        }))
}

/// The head file of the one writer.
pub(crate) struct HeadFile {
    file: File,
    second: bool,
}

impl HeadFile {
    /// Writes both slots anew.
    pub(crate) fn create(path: &Path, head: &Head) -> io::Result<Self> {
        let file = crate::files::private()
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut head_file = Self {
            file,
            second: false,
        };
        for _ in 0..2 {
            head_file.write(head)?;
            head_file.sync()?;
        }
        head_file.file.set_len(2 * SLOT as u64)?;
        head_file.sync()?;
        Ok(head_file)
    }

    pub(crate) fn write(&mut self, head: &Head) -> io::Result<()> {
        let at = if self.second { SLOT as u64 } else { 0 };
        self.file.write_all_at(&head.slot(), at)?;
        self.second = !self.second;
        Ok(())
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: u64) -> Head {
        Head {
            mark: Mark {
                seq,
                hash: Digest::of(&seq.to_le_bytes()),
            },
            first: u64::MAX,
            end: u64::MAX,
        }
    }

    #[test]
    fn the_later_slot_counts_and_a_torn_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head");
        assert_eq!(read(&path).unwrap(), Reading::Missing);
        let mut file = HeadFile::create(&path, &head(1)).unwrap();
        for seq in 2..5 {
            file.write(&head(seq)).unwrap();
            let found = Reading::Found {
                head: head(seq),
                damaged: false,
            };
            assert_eq!(read(&path).unwrap(), found);
        }
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len(), 2 * SLOT);
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            let Reading::Found { head, damaged } = read(&path).unwrap() else {
                panic!("byte {place}");
            };
            assert!(damaged && (3..5).contains(&head.mark.seq), "byte {place}");
        }
        std::fs::write(&path, b"").unwrap();
        assert_eq!(read(&path).unwrap(), Reading::Unreadable);
    }
}
