//! What a memory looked like when it was last accepted, and what has happened to it since.

use super::entries::{Entry, entries};
use crate::hex::sha256;
use blastshield_detect::{Detector, Kind, Profile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// More files than this are not kept.
const MAX_FILES: usize = 16_384;

/// Why a baseline cannot take a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// The path leads out of the folder.
    #[error("a path in a baseline is relative and stays in its folder")]
    Path,
    /// There are too many files.
    #[error("a baseline holds at most {MAX_FILES} files")]
    Full,
}

/// A memory file as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its place in the folder, with `/`.
    pub path: String,
    /// SHA-256 of all of it.
    pub hash: String,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// Entries that must not be loaded: their index and score.
    pub poisoned: Vec<(usize, f32)>,
}

/// Takes down the entries of a file and which of them are poisoned by the strict block line.
#[must_use]
pub fn snapshot(path: &str, text: &str, detector: &Detector) -> File {
    let line = Profile::Strict.block_line();
    let found = entries(text);
    let mut poisoned: Vec<(usize, f32)> = Vec::new();
    for (index, entry) in found.iter().enumerate() {
        let body = text.get(entry.start..entry.end).unwrap_or_default();
        let score = detector.assess(body, Kind::Memory).score;
        if score >= line || score.is_nan() {
            poisoned.push((index, score));
        }
    }
    let whole = detector.assess(text, Kind::Memory);
    if poisoned.is_empty() && (whole.score >= line || whole.score.is_nan()) {
        // Only together do the entries say it: name those that the findings touch.
        let touched = |entry: &Entry| {
            whole.matches.iter().any(|found| {
                found.weight >= 1.0 && found.span.start < entry.end && entry.start < found.span.end
            })
        };
        poisoned.extend(
            found
                .iter()
                .enumerate()
                .filter(|(_, entry)| touched(entry))
                .map(|(index, _)| (index, whole.score)),
        );
    }
    File {
        path: path.to_owned(),
        hash: sha256(text),
        entries: found,
        poisoned,
    }
}

/// A file in a baseline: hashes only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// SHA-256 of all of it.
    pub hash: String,
    /// The hashes of its entries, in order.
    pub entries: Vec<String>,
}

/// What was accepted: relative paths and hashes, no contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The files by path.
    pub files: BTreeMap<String, Known>,
}

impl Baseline {
    /// A baseline of these files.
    pub fn of<'f>(files: impl IntoIterator<Item = &'f File>) -> Result<Self, BaselineError> {
        let mut baseline = Self::default();
        for file in files {
            baseline.accept(file)?;
        }
        Ok(baseline)
    }

    /// Takes a file as it is now.
    pub fn accept(&mut self, file: &File) -> Result<(), BaselineError> {
        if !is_relative(&file.path) {
            return Err(BaselineError::Path);
        }
        if self.files.len() >= MAX_FILES && !self.files.contains_key(&file.path) {
            return Err(BaselineError::Full);
        }
        let known = Known {
            hash: file.hash.clone(),
            entries: file
                .entries
                .iter()
                .map(|entry| entry.hash.clone())
                .collect(),
        };
        self.files.insert(file.path.clone(), known);
        Ok(())
    }
}

/// Whether a path stays below the folder it is read in, on every system.
#[must_use]
pub fn is_relative(path: &str) -> bool {
    !path.is_empty()
        && !path.contains([':', '\\', '\0'])
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

/// What happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It must not be loaded, and was not accepted before.
    Poisoned,
    /// It stands where another stood.
    Changed,
    /// It was not there.
    Added,
    /// It is gone.
    Removed,
}

/// One entry that is not as it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// In which file.
    pub path: String,
    /// Its first line now; absent if it is gone.
    pub line: Option<usize>,
    /// Its bytes now; absent if it is gone.
    pub span: Option<(usize, usize)>,
    /// Its hash now, or the one it had.
    pub hash: String,
    /// The hash of what it replaced.
    pub before: Option<String>,
    /// Its score, if it is poisoned.
    pub score: Option<f32>,
}

/// What is not as it was accepted: poison first, then by path and line. A file that is gone counts as its entries.
#[must_use]
pub fn compare(baseline: &Baseline, now: &[File]) -> Vec<Change> {
    let mut changes = Vec::new();
    let nothing = Known::default();
    for file in now {
        let known = baseline.files.get(&file.path).unwrap_or(&nothing);
        if known.hash != file.hash {
            compare_file(known, file, &mut changes);
        }
    }
    let here: std::collections::HashSet<&str> = now.iter().map(|file| file.path.as_str()).collect();
    for (path, known) in &baseline.files {
        if !here.contains(path.as_str()) {
            changes.extend(known.entries.iter().map(|hash| removed(path, hash)));
        }
    }
    changes.sort_by(|a, b| {
        let poison = |change: &Change| change.kind != ChangeKind::Poisoned;
        (poison(a), &a.path, a.line, a.kind).cmp(&(poison(b), &b.path, b.line, b.kind))
    });
    changes
}

fn compare_file(known: &Known, file: &File, changes: &mut Vec<Change>) {
    // Where each accepted hash stands, first to last.
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (index, hash) in known.entries.iter().enumerate() {
        places.entry(hash).or_default().push_back(index);
    }
    let kept: Vec<Option<usize>> = file
        .entries
        .iter()
        .map(|entry| places.get_mut(entry.hash.as_str())?.pop_front())
        .collect();
    let mut is_kept = vec![false; known.entries.len()];
    for index in kept.iter().flatten() {
        if let Some(flag) = is_kept.get_mut(*index) {
            *flag = true;
        }
    }
    // An entry that is gone was replaced by the first new one after the same neighbour.
    let mut gone_after: HashMap<Option<usize>, VecDeque<&str>> = HashMap::new();
    let mut neighbour = None;
    for (index, (hash, kept)) in known.entries.iter().zip(&is_kept).enumerate() {
        if *kept {
            neighbour = Some(index);
        } else {
            gone_after.entry(neighbour).or_default().push_back(hash);
        }
    }
    let scores: HashMap<usize, f32> = file.poisoned.iter().copied().collect();
    neighbour = None;
    for (index, (entry, kept)) in file.entries.iter().zip(&kept).enumerate() {
        if kept.is_some() {
            neighbour = *kept;
            continue;
        }
        let before = gone_after.get_mut(&neighbour).and_then(VecDeque::pop_front);
        let score = scores.get(&index).copied();
        changes.push(Change {
            kind: match (score, before) {
                (Some(_), _) => ChangeKind::Poisoned,
                (None, Some(_)) => ChangeKind::Changed,
                (None, None) => ChangeKind::Added,
            },
            path: file.path.clone(),
            line: Some(entry.line),
            span: Some((entry.start, entry.end)),
            hash: entry.hash.clone(),
            before: before.map(str::to_owned),
            score,
        });
    }
    changes.extend(
        gone_after
            .values()
            .flatten()
            .map(|hash| removed(&file.path, hash)),
    );
}

fn removed(path: &str, hash: &str) -> Change {
    Change {
        kind: ChangeKind::Removed,
        path: path.to_owned(),
        line: None,
        span: None,
        hash: hash.to_owned(),
        before: None,
        score: None,
    }
}
