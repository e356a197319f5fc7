//! The files of a log: the current one, and those before it named by their first entry.

use super::entry::{self, Link, MAX_LINE};
use crate::LogError;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The current file.
pub const LOG_NAME: &str = "security-supervisor-audit.log";
pub(crate) const HEAD_NAME: &str = "security-supervisor-audit.head";
pub(crate) const LOCK_NAME: &str = "security-supervisor-audit.lock";
pub(crate) const NEXT_NAME: &str = "security-supervisor-audit.next";
const STEM: &str = "security-supervisor-audit.";
/// More files than this are not a log of ours.
const MAX_FILES: usize = 100_000;

/// A file of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// By its name; the current file has none in its name.
    pub(crate) first: Option<u64>,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

pub(crate) fn rotated_name(first: u64) -> String {
    format!("{STEM}{first:020}.log")
}

pub(crate) fn torn_name(after: u64, pending: bool) -> String {
    format!(
        "{STEM}{after:020}.torn{}",
        if pending { ".pending" } else { "" }
    )
}

fn number(name: &str, end: &str) -> Option<u64> {
    let digits = name.strip_prefix(STEM)?.strip_suffix(end)?;
    (digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

/// All files of the log, oldest first, the current one last.
pub(crate) fn list(folder: &Path) -> Result<Vec<Segment>, LogError> {
    let mut found = Vec::new();
    for (name, path) in names(folder)? {
        let first = number(&name, ".log");
        if first.is_some() || name == LOG_NAME {
            found.push(Segment { first, name, path });
        }
    }
    found.sort_by_key(|segment| segment.first.unwrap_or(u64::MAX));
    Ok(found)
}

/// Torn ends that no entry tells of yet, with the entry after which they stood.
pub(crate) fn pending_torn(folder: &Path) -> Result<Vec<(u64, PathBuf)>, LogError> {
    Ok(names(folder)?
        .into_iter()
        .filter_map(|(name, path)| Some((number(&name, ".torn.pending")?, path)))
        .collect())
}

pub(crate) fn names(folder: &Path) -> Result<Vec<(String, PathBuf)>, LogError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.path()));
        }
        if found.len() > MAX_FILES {
            return Err(LogError::TooManyFiles);
        }
    }
    Ok(found)
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// With its newline taken off.
    Whole,
    /// The file ended before the line did.
    Partial,
    /// Longer than an entry can be; the rest of it was skipped.
    TooLong,
}

/// Lines of a file in bounded memory.
pub(crate) struct Lines {
    reader: BufReader<File>,
    /// The line that [`Lines::next`] spoke of.
    pub(crate) line: Vec<u8>,
    /// Where the next line begins.
    pub(crate) offset: u64,
}

impl Lines {
    /// From a byte on; nothing when the file is gone.
    pub(crate) fn open(path: &Path, from: u64) -> io::Result<Option<Self>> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(from))?;
        Ok(Some(Self {
            reader: BufReader::with_capacity(64 * 1024, file),
            line: Vec::new(),
            offset: from,
        }))
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        self.line.clear();
        let limit = MAX_LINE as u64 + 1;
        let read = (&mut self.reader)
            .take(limit)
            .read_until(b'\n', &mut self.line)? as u64;
        self.offset += read;
        if read == 0 {
            return Ok(None);
        }
        if self.line.pop_if(|last| *last == b'\n').is_some() {
            return Ok(Some(Line::Whole));
        }
        if read < limit {
            return Ok(Some(Line::Partial));
        }
        self.offset += self.reader.skip_until(b'\n')? as u64;
        Ok(Some(Line::TooLong))
    }
}

/// The last line of a file, when it is an entry.
pub(crate) fn last_link(path: &Path) -> io::Result<Option<Link>> {
    let length = fs::metadata(path)?.len();
    last_link_before(path, length)
}

/// The line that ends with the byte before `end`, when it is an entry.
pub(crate) fn last_link_before(path: &Path, end: u64) -> io::Result<Option<Link>> {
    let mut file = File::open(path)?;
    let from = end.saturating_sub(MAX_LINE as u64 + 1);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(end - from).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != end - from {
        return Ok(None);
    }
    let Some(bytes) = bytes.strip_suffix(b"\n") else {
        return Ok(None);
    };
    let line = bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or(bytes);
    Ok(entry::check(line).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_partial_or_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let long = "y".repeat(3 * MAX_LINE);
        std::fs::write(&path, format!("a\n\n{long}\nb\nc")).unwrap();
        let mut lines = Lines::open(&path, 0).unwrap().unwrap();
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((
                line,
                String::from_utf8_lossy(&lines.line)
                    .chars()
                    .take(2)
                    .collect::<String>(),
            ));
        }
        assert_eq!(
            seen,
            [
                (Line::Whole, "a".into()),
                (Line::Whole, String::new()),
                (Line::TooLong, "yy".into()),
                (Line::Whole, "b".into()),
                (Line::Partial, "c".into()),
            ]
        );
        assert_eq!(lines.offset, std::fs::metadata(&path).unwrap().len());
    }

    #[test]
    fn files_are_in_order_and_strangers_are_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            LOG_NAME,
            &rotated_name(10),
            &rotated_name(9),
            "security-supervisor-audit.12.log",
            "other.log",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let firsts: Vec<_> = list(folder.path())
            .unwrap()
            .into_iter()
            .map(|s| s.first)
            .collect();
        assert_eq!(firsts, [Some(9), Some(10), None]);
    }
}
