//! `--fix`: takes rights of others from files and folders of ours, and does nothing else.

use super::check::{Mend, Outcome};
use super::files::shown;
use super::report::Seen;
use rustix::fs::{FileType, Mode, OFlags};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What became of one file.
pub(crate) struct Mended {
    path: PathBuf,
    /// The mode before and after.
    outcome: io::Result<(u32, u32)>,
}

impl Mended {
    pub(crate) fn told(&self) -> String {
        let path = shown(&self.path);
        match &self.outcome {
            Ok((before, after)) => format!("fixed: {path} was {before:04o}, is {after:04o}"),
            Err(error) => format!("not fixed: {path} ({})", error.kind()),
        }
    }

    pub(crate) fn json(&self) -> Value {
        let path = shown(&self.path);
        match &self.outcome {
            Ok((before, after)) => {
                json!({"path": path, "before": format!("{before:04o}"), "after": format!("{after:04o}")})
            }
            Err(error) => json!({"path": path, "error": error.kind().to_string()}),
        }
    }
}

/// Mends what can be mended.
pub(crate) fn apply(seen: &[Seen]) -> Vec<Mended> {
    let mut wanted: BTreeMap<PathBuf, u32> = BTreeMap::new();
    for (_, outcome) in seen {
        if let Outcome::Found(found) = outcome {
            for Mend { path, take } in &found.mends {
                *wanted.entry(path.clone()).or_default() |= take;
            }
        }
    }
    wanted
        .into_iter()
        .map(|(path, take)| Mended {
            outcome: tighten(&path, take),
            path,
        })
        .collect()
}

/// Changes what was opened: no link at the end of the path is followed, and no file that also has another name is touched.
fn tighten(path: &Path, take: u32) -> io::Result<(u32, u32)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let found = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => {}
        FileType::RegularFile if found.st_nlink == 1 => {}
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    }
    let before = Mode::from_raw_mode(found.st_mode);
    let after = before.difference(Mode::from_raw_mode(take & 0o077));
    rustix::fs::fchmod(&file, after)?;
    Ok((before.as_raw_mode(), after.as_raw_mode()))
}
