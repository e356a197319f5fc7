//! Every file of `tests/adversarial` and `tests/benign`, and the ledger that names them.
//!
//! A file that is not listed in its folder's `status.toml` must be blocked (adversarial) or
//! pass (benign) at the strict profile. Listed ones must be just as bad as listed: the test
//! also fails when one gets better, so that the lists stay true.
//! `BLASTSHIELD_BLESS=1` writes the lists anew.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

use blastshield_detect::{Detector, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static DETECTOR: LazyLock<Detector> = LazyLock::new(|| Detector::shipped().unwrap());

/// How a text fares at the strict profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Blocked,
    Suspicious,
    Passed,
}

impl Fate {
    fn of(score: f32) -> Self {
        match score {
            s if s >= 10.0 => Self::Blocked,
            s if s >= 6.0 => Self::Suspicious,
            _ => Self::Passed,
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// The fate of every file of a collection, by its path.
fn fates(collection: &str) -> BTreeMap<String, Fate> {
    let mut fates = BTreeMap::new();
    for folder in std::fs::read_dir(root().join(collection))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_dir())
    {
        for file in std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().path())
        {
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            let name = format!(
                "{}/{}",
                folder.file_name().unwrap().display(),
                file.file_name().unwrap().display()
            );
            fates.insert(
                name,
                Fate::of(DETECTOR.assess(&text, Kind::ToolResult).score),
            );
        }
    }
    fates
}

/// Compares fates with the list of exceptions, or writes the list.
fn check(collection: &str, expected: Fate, keys: &[(&str, Fate)]) {
    let fates = fates(collection);
    assert!(fates.len() > 100, "the {collection} files are missing");
    let file = root().join(collection).join("status.toml");
    let actual: BTreeMap<&str, Vec<&String>> = keys
        .iter()
        .map(|(key, fate)| {
            (
                *key,
                fates
                    .iter()
                    .filter(|(_, f)| *f == fate && *f != &expected)
                    .map(|(name, _)| name)
                    .collect(),
            )
        })
        .collect();
    if std::env::var_os("BLASTSHIELD_BLESS").is_some() {
        let mut text = String::from(
            "# What does not yet fare as it should; executed by crates/detect/tests/corpus.rs.\n",
        );
        for (key, names) in &actual {
            writeln!(text, "{key} = {names:#?}").unwrap();
        }
        std::fs::write(&file, text).unwrap();
    }
    let listed: BTreeMap<String, BTreeSet<String>> =
        toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for (name, fate) in &fates {
        let key = keys
            .iter()
            .find(|(key, _)| listed.get(*key).is_some_and(|names| names.contains(name)));
        let wanted = key.map_or(expected, |(_, fate)| *fate);
        let fine = *fate == wanted
            || (expected == Fate::Passed && key.is_none() && *fate == Fate::Suspicious);
        if !fine {
            wrong.push(format!("{name}: {fate:?}, listed as {wanted:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        fates.len(),
        wrong.join("\n")
    );
    for name in listed.values().flatten() {
        assert!(fates.contains_key(name), "{name} is listed but missing");
    }
}

#[test]
fn every_adversarial_file_fares_as_listed() {
    check(
        "adversarial",
        Fate::Blocked,
        &[("suspicious", Fate::Suspicious), ("passed", Fate::Passed)],
    );
}

#[test]
fn every_benign_file_fares_as_listed() {
    check("benign", Fate::Passed, &[("blocked", Fate::Blocked)]);
}

#[test]
fn quoting_articles_pass_at_the_baseline_profile() {
    for (name, _) in fates("benign") {
        let text =
            String::from_utf8_lossy(&std::fs::read(root().join("benign").join(&name)).unwrap())
                .into_owned();
        let score = DETECTOR.assess(&text, Kind::Web).score;
        assert!(score < 14.0, "{name} scores {score}");
    }
}

/// A row of the ledger: its test files and its status.
fn ledger() -> Vec<(String, Vec<String>, String)> {
    let text = std::fs::read_to_string(root().join("../docs/attacks.md")).unwrap();
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| technique"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let files = cells[3]
            .split('`')
            .filter(|part| part.ends_with(".txt"))
            .map(str::to_owned)
            .collect();
        (
            cells[0].to_owned(),
            files,
            cells[4].trim_end_matches('|').trim().to_owned(),
        )
    })
    .collect()
}

#[test]
fn the_ledger_tells_the_truth() {
    let fates = fates("adversarial");
    let mut wrong = Vec::new();
    for (technique, files, status) in ledger() {
        let outcomes: Vec<Fate> = files
            .iter()
            .map(|file| {
                *fates
                    .get(file)
                    .unwrap_or_else(|| panic!("{technique}: no file {file}"))
            })
            .collect();
        let real = match outcomes.as_slice() {
            [] => "not covered",
            all if all.iter().all(|fate| *fate == Fate::Blocked) => "caught",
            all if all.iter().all(|fate| *fate == Fate::Passed) => "not covered",
            _ => "partly",
        };
        if !status.starts_with(real) {
            wrong.push(format!("{technique}: {status:?} is really {real:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
