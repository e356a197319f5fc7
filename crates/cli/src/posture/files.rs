//! Whose our files are, and who else may read or write them.

use super::check::{Check, Found, Mend, Outcome, critical, found_any, listed, warn};
use super::scene::{Scene, open};
use crate::scan::visible;
use blastshield_store::beside;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files of a log folder that are looked at.
const MAX_FILES: usize = 10_000;
const WRITE: u32 = 0o022;
const ANY: u32 = 0o077;
const BY_FIX: &str = "blastshield audit --fix";
const BY_OWNER: &str = "chown it to the user that runs blastshield";

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    critical("files.config_writable", "Others may write the configuration file", BY_FIX, |s| loose(config(s), WRITE)),
    critical("files.config_readable", "Everyone may read secrets in the configuration file", BY_FIX, config_readable),
    warn("files.config_owner", "The configuration file belongs to another user", BY_OWNER, |s| owned(s, config(s))),
    critical("files.config_parent", "Everyone may replace the configuration file", "chmod o-w on that folder", |s| parents(config(s).first(), "configuration file")),
    critical("files.data_writable", "Others may write the data folder", BY_FIX, |s| loose(vec![s.settings.data_dir.clone()], WRITE)),
    warn("files.data_readable", "Others may look into the data folder", BY_FIX, |s| loose(vec![s.settings.data_dir.clone()], 0o055)),
    warn("files.data_owner", "The data folder belongs to another user", BY_OWNER, |s| owned(s, vec![s.settings.data_dir.clone()])),
    critical("files.data_parent", "Everyone may replace the data folder", "chmod o-w on that folder", |s| parents(Some(&s.settings.data_dir), "data folder")),
    warn("files.links", "Something of ours is a link to elsewhere", "put the real file or folder there, or name its place in the settings", links),
    critical("files.store_open", "Others may read or write the database", BY_FIX, |s| loose(store(s), ANY)),
    warn("files.store_owner", "The database belongs to another user", BY_OWNER, |s| owned(s, store(s))),
    critical("files.token_open", "Others may read or write the owner's token", BY_FIX, |s| loose(vec![token(s)], ANY)),
    critical("files.token_owner", "The owner's token belongs to another user", BY_OWNER, |s| owned(s, vec![token(s)])),
    warn("files.logs_folder", "Others may look into the log folder, or write there", BY_FIX, |s| loose(vec![s.settings.logs.dir.clone()], ANY)),
    critical("files.logs_writable", "Others may write log files", BY_FIX, |s| loose(logs(s), WRITE)),
    warn("files.logs_readable", "Others may read log files", BY_FIX, |s| loose(logs(s), 0o044)),
    warn("files.logs_owner", "Log files belong to another user", BY_OWNER, |s| owned(s, logs(s))),
    critical("files.authorities", "Others may write the file of trusted certificate authorities", "chmod go-w on the file of web.ca_file", |s| kept(s.settings.web.ca_file.iter(), WRITE)),
    critical("files.browser", "Others may write the browser's executable", "chmod go-w on the file of renderer.chromium_path", |s| kept(s.settings.renderer.chromium_path.iter(), WRITE)),
    critical("files.known_secrets", "Everyone may read files of secrets", "chmod o-rwx on the files of leak.secret_files", |s| kept(s.settings.leaks.secret_files.iter(), 0o007)),
    critical("files.environment", "Everyone may read the file of variables, or others may write it", "chmod 600 on the file of environment.file", |s| kept(s.settings.environment.file.iter(), 0o027)),
    critical("files.requirements", "Others may write what the environment must hold", "chmod go-w on the file of environment.schema_file", |s| kept(s.settings.environment.schema.iter(), WRITE)),
    warn("files.prompts", "Others may write system prompts", "chmod go-w on the files of leak.prompt_files", |s| kept(s.settings.leaks.prompt_files.iter(), WRITE)),
    warn("files.named_missing", "A file that the settings name cannot be read", "put it there, or take it out of the settings", missing),
];

fn config(scene: &Scene) -> Vec<PathBuf> {
    scene.config.iter().map(|(path, _)| path.clone()).collect()
}

fn token(scene: &Scene) -> PathBuf {
    scene.settings.data_dir.join("owner-token")
}

fn store(scene: &Scene) -> Vec<PathBuf> {
    let path = &scene.settings.store.path;
    if scene.settings.store.url.is_some() {
        return Vec::new();
    }
    vec![path.clone(), beside(path, "-wal"), beside(path, "-shm")]
}

/// Our files in the log folder; it may hold others'.
fn logs(scene: &Scene) -> Vec<PathBuf> {
    let ours = |name: &str| {
        name.starts_with("security-supervisor-")
            || (name.ends_with(".jsonl")
                && ["access", "security", "upstream"]
                    .iter()
                    .any(|channel| name.starts_with(channel)))
    };
    fs::read_dir(&scene.settings.logs.dir)
        .into_iter()
        .flatten()
        .take(MAX_FILES)
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(ours))
        .map(|entry| entry.path())
        .collect()
}

/// Found when any of these has any of these rights; `--fix` takes them away.
fn loose(paths: Vec<PathBuf>, bits: u32) -> Outcome {
    let mut evidence = Vec::new();
    let mut mends = Vec::new();
    let mut there = false;
    for path in paths {
        let Ok(found) = path.metadata() else { continue };
        there = true;
        if found.mode() & bits != 0 {
            evidence.push(format!("{} is {:04o}", shown(&path), found.mode() & 0o7777));
            mends.push(Mend { path, take: bits });
        }
    }
    if evidence.is_empty() {
        return if there {
            Outcome::Fine
        } else {
            Outcome::NotHere
        };
    }
    let fix = match mends.as_slice() {
        [one] => Some(format!("chmod {} {}", symbols(bits), quoted(&one.path))),
        _ => None,
    };
    Outcome::Found(Found {
        evidence: listed(evidence),
        fix,
        mends,
    })
}

/// As [`loose`], for files that are not ours to change.
fn kept<'p>(paths: impl Iterator<Item = &'p PathBuf>, bits: u32) -> Outcome {
    match loose(paths.cloned().collect(), bits) {
        Outcome::Found(found) => Outcome::Found(Found {
            mends: Vec::new(),
            ..found
        }),
        other => other,
    }
}

fn config_readable(scene: &Scene) -> Outcome {
    if super::secrets::in_config(scene).is_empty() && super::secrets::leaked(scene).is_empty() {
        return if scene.config.is_some() {
            Outcome::Fine
        } else {
            Outcome::NotHere
        };
    }
    loose(config(scene), 0o007)
}

/// Ours are this user's; to root they may be anyone's, but all the same one's as the data folder.
fn owned(scene: &Scene, paths: Vec<PathBuf>) -> Outcome {
    let keeper = if scene.root {
        scene.settings.data_dir.metadata().map(|found| found.uid())
    } else {
        Ok(scene.user)
    };
    let Ok(keeper) = keeper else {
        return Outcome::NotHere;
    };
    let mut there = false;
    let mut wrong = Vec::new();
    for path in paths {
        let Ok(found) = path.metadata() else { continue };
        there = true;
        if found.uid() != keeper && found.uid() != 0 {
            wrong.push(format!("{} belongs to user {}", shown(&path), found.uid()));
        }
    }
    if there {
        found_any(wrong)
    } else {
        Outcome::NotHere
    }
}

/// A folder above that everyone may write, without the bit that keeps others' files.
fn parents(path: Option<&PathBuf>, what: &str) -> Outcome {
    let Some(real) = path.and_then(|path| path.canonicalize().ok()) else {
        return Outcome::NotHere;
    };
    let open = real.ancestors().skip(1).enumerate().find(|(_, folder)| {
        folder
            .metadata()
            .is_ok_and(|found| found.mode() & 0o1002 == 0o002)
    });
    match open {
        None => Outcome::Fine,
        Some((0, _)) => found_any(vec![format!("everyone may write the folder of the {what}")]),
        Some((above, _)) => found_any(vec![format!(
            "everyone may write the folder {} levels above the {what}",
            above + 1
        )]),
    }
}

fn links(scene: &Scene) -> Outcome {
    let paths = [
        scene.settings.data_dir.clone(),
        scene.settings.logs.dir.clone(),
        token(scene),
    ]
    .into_iter()
    .chain(store(scene));
    let links = paths
        .filter(|path| {
            path.symlink_metadata()
                .is_ok_and(|found| found.is_symlink())
        })
        .map(|path| format!("{} is a link", shown(&path)));
    found_any(links.collect())
}

fn missing(scene: &Scene) -> Outcome {
    let settings = &scene.settings;
    let named: Vec<&PathBuf> = settings
        .web
        .ca_file
        .iter()
        .chain(&settings.renderer.chromium_path)
        .chain(&settings.leaks.secret_files)
        .chain(&settings.leaks.prompt_files)
        .collect();
    if named.is_empty() {
        return Outcome::NotHere;
    }
    let gone = named.into_iter().filter(|path| open(path).is_none());
    found_any(gone.map(|path| shown(path)).collect())
}

/// A path as the operator named it.
pub(super) fn shown(path: &Path) -> String {
    visible::line(&path.display().to_string())
}

/// For a shell.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", shown(path).replace('\'', r"'\''"))
}

/// Bits to take, as `chmod` has them.
fn symbols(bits: u32) -> String {
    let who = |shift: u32, name: &str| {
        let letters: String = [(4, 'r'), (2, 'w'), (1, 'x')]
            .into_iter()
            .filter(|(bit, _)| bits >> shift & bit != 0)
            .map(|(_, letter)| letter)
            .collect();
        (!letters.is_empty()).then(|| format!("{name}-{letters}"))
    };
    let parts: Vec<String> = [who(3, "g"), who(0, "o")].into_iter().flatten().collect();
    parts.join(",")
}
