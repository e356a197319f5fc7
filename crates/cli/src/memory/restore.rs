//! `blastshield memory restore`: puts a file back, and accepts it as it is.

use super::book::Shelf;
use super::folder::Folder;
use super::options::RestoreOptions;
use super::quarantine::{self, CONTENT, FOLDER, NOTE, Note};
use super::{cannot, name};
use crate::CLEAN;
use anyhow::{Context, bail};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

pub(super) fn run(options: &RestoreOptions) -> anyhow::Result<u8> {
    let (folder, id) = find(&options.target, &options.dir)?;
    let shelf = Shelf::of(&folder, options.baseline.as_deref())?;
    let root = Folder::open(&folder).map_err(cannot("open the folder"))?;
    let all = root
        .child(OsStr::new(FOLDER))
        .map_err(cannot("open the quarantine"))?;
    let id = OsStr::new(&id);
    let place = all.child(id).context("nothing is held under this id")?;
    let note = quarantine::note(&place).map_err(cannot("read the note"))?;
    let accepted = put_back(&root, &place, &note, &shelf)?;
    let _ = place.remove(OsStr::new(NOTE));
    let _ = all.remove_folder(id);
    if options.json {
        let line =
            serde_json::json!({"event": "restored", "path": note.path, "accepted": accepted});
        println!("{line}");
    } else if accepted {
        println!("restored {}, accepted as it is", note.path);
    } else {
        println!(
            "restored {}; it was written to after it was taken, so it is not accepted",
            note.path
        );
    }
    Ok(CLEAN)
}

fn put_back(root: &Folder, place: &Folder, note: &Note, shelf: &Shelf) -> anyhow::Result<bool> {
    let Some(mut steps) = name::decode(&note.path) else {
        bail!("the note is damaged");
    };
    let last = steps.pop().unwrap_or_default();
    let content = OsStr::new(CONTENT);
    let (hash, _) = quarantine::held(place).map_err(cannot("read what is held"))?;
    let parent = root
        .make_below(&steps)
        .map_err(cannot("open its old place"))?;
    let newer = "a newer file stands in its place: move that away first";
    if parent.stamp(&last).is_ok() {
        bail!(newer);
    }
    // Accepted before it is back: whoever watches must not take it again.
    let accepted = hash == note.sha256;
    if accepted {
        shelf.update(|book| book.restore(hash.clone()))?;
    }
    if let Err(error) = place.move_to(content, &parent, &last) {
        if accepted {
            shelf.update(|book| book.forget(&hash))?;
        }
        if error.kind() == ErrorKind::AlreadyExists {
            bail!(newer);
        }
        return Err(cannot("move it back")(error));
    }
    Ok(accepted)
}

/// The memory folder and the id: from an id, from a path into a quarantine, or from the path that a file had.
fn find(target: &Path, folder: &Path) -> anyhow::Result<(PathBuf, String)> {
    let mut parts = target.components();
    if let (Some(Component::Normal(id)), None) = (parts.next(), parts.next())
        && let Some(id) = as_id(id)
        && folder.join(FOLDER).join(id).is_dir()
    {
        return Ok((folder.to_owned(), id.to_owned()));
    }
    for place in target.ancestors() {
        let parent = place.parent();
        if parent.and_then(Path::file_name) == Some(OsStr::new(FOLDER)) {
            let id = place.file_name().and_then(as_id).context("this is no id")?;
            let folder = parent.and_then(Path::parent).unwrap_or(Path::new(""));
            return Ok((folder.to_owned(), id.to_owned()));
        }
    }
    for folder in target.ancestors().skip(1) {
        let Ok(steps) = target.strip_prefix(folder) else {
            continue;
        };
        let Ok(all) = Folder::open(folder).and_then(|root| root.child(OsStr::new(FOLDER))) else {
            continue;
        };
        let steps: Vec<String> = steps.iter().map(name::encode).collect();
        if let Some(id) = newest(&all, &steps.join("/"))? {
            return Ok((folder.to_owned(), id));
        }
    }
    bail!("nothing is held under this name; ids are the names in {FOLDER}, see --dir");
}

/// The id under which a path was taken last.
fn newest(all: &Folder, path: &str) -> anyhow::Result<Option<String>> {
    let mut found: Option<(u64, String)> = None;
    for entry in all.entries().map_err(cannot("list the quarantine"))? {
        let entry = entry.context("cannot list the quarantine")?;
        let Some(id) = entry
            .file_name()
            .to_str()
            .ok()
            .map(OsStr::new)
            .and_then(as_id)
        else {
            continue;
        };
        let held = all
            .child(OsStr::new(id))
            .and_then(|place| quarantine::note(&place));
        if let Ok(note) = held
            && note.path == path
            && found.as_ref().is_none_or(|(at, _)| *at <= note.at_ms)
        {
            found = Some((note.at_ms, id.to_owned()));
        }
    }
    Ok(found.map(|(_, id)| id))
}

fn as_id(name: &OsStr) -> Option<&str> {
    let text = name.to_str()?;
    let valid = |b: u8| b.is_ascii_hexdigit() || b == b'-';
    (!text.is_empty() && text.bytes().all(valid)).then_some(text)
}
