//! `blastshield memory scan --watch`.

use super::{HARMLESS, POISON, command};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A watcher and what it tells.
struct Watcher {
    child: Child,
    events: Receiver<Value>,
}

impl Watcher {
    /// Starts in a folder and waits until the first pass is done; gives what was told until then.
    fn start(folder: &Path, more: &[&str]) -> (Self, Vec<Value>) {
        let mut arguments = vec!["memory", "scan", "mem", "--watch", "--json"];
        arguments.extend(more);
        let mut child = command(folder, &arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let watcher = Self { child, events };
        let first = watcher.until("watching", "");
        (watcher, first)
    }

    /// What is told up to this event of this path. Patience, not a promise: the machine may be busy.
    fn until(&self, event: &str, path: &str) -> Vec<Value> {
        let mut told: Vec<Value> = Vec::new();
        loop {
            let Ok(next) = self.events.recv_timeout(Duration::from_secs(30)) else {
                panic!("no {event} of {path}, only {told:?}");
            };
            let found = next["event"] == event && next["path"].as_str().unwrap_or_default() == path;
            told.push(next);
            if found {
                return told;
            }
        }
    }

    /// Ends as with Ctrl-C, and says how it ended.
    fn end(mut self) -> i32 {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &id])
            .status();
        assert!(sent.unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("mem")).unwrap();
    fs::write(folder.path().join("mem/MEMORY.md"), HARMLESS).unwrap();
    folder
}

fn has(told: &[Value], event: &str) -> bool {
    told.iter().any(|line| line["event"] == event)
}

#[test]
fn new_poison_is_told_with_its_line() {
    let folder = folder();
    let memory = folder.path().join("mem/MEMORY.md");
    let (watcher, first) = Watcher::start(folder.path(), &[]);
    assert_eq!(first.len(), 1, "{first:?}");
    fs::write(&memory, format!("{HARMLESS}{POISON}")).unwrap();
    let told = watcher.until("poisoned", "MEMORY.md");
    assert_eq!(told.last().unwrap()["line"], 5);
    assert!(
        !told
            .iter()
            .any(|line| line.to_string().contains("reveal your"))
    );
    fs::write(&memory, HARMLESS).unwrap();
    watcher.until("clean", "MEMORY.md");
    assert_eq!(watcher.end(), 1);
}

#[test]
fn files_come_change_are_renamed_and_go() {
    let folder = folder();
    let at = folder.path().join("mem");
    let (watcher, _) = Watcher::start(folder.path(), &[]);
    fs::write(at.join("a.md"), "- One thing.\n").unwrap();
    watcher.until("new", "a.md");
    fs::write(at.join("a.md"), "- One thing.\n- Another thing.\n").unwrap();
    watcher.until("added", "a.md");
    fs::rename(at.join("a.md"), at.join("b.md")).unwrap();
    let told = watcher.until("renamed", "b.md");
    assert_eq!(told.last().unwrap()["from"], "a.md");
    // Replaced in one step, as careful editors do.
    fs::write(at.join("b.tmp"), format!("- One thing.\n{POISON}")).unwrap();
    fs::rename(at.join("b.tmp"), at.join("b.md")).unwrap();
    watcher.until("poisoned", "b.md");
    fs::remove_file(at.join("b.md")).unwrap();
    watcher.until("removed", "b.md");
    assert_eq!(watcher.end(), 1);
}

#[test]
fn a_half_written_file_is_looked_at_again() {
    let folder = folder();
    let file = folder.path().join("mem/half.md");
    let (watcher, _) = Watcher::start(folder.path(), &[]);
    let (start, rest) = POISON.split_at(20);
    fs::write(&file, start).unwrap();
    let told = watcher.until("new", "half.md");
    assert!(!has(&told, "poisoned"));
    fs::write(&file, format!("{start}{rest}")).unwrap();
    watcher.until("poisoned", "half.md");
    assert_eq!(watcher.end(), 1);
}

#[test]
fn what_cannot_be_read_is_told_once_and_tried_again() {
    let folder = folder();
    let at = folder.path().join("mem");
    let (watcher, _) = Watcher::start(folder.path(), &[]);
    let huge = fs::File::create(at.join("huge.md")).unwrap();
    huge.set_len(5 << 20).unwrap();
    watcher.until("unread", "huge.md");
    let elsewhere = folder.path().join("elsewhere.md");
    fs::write(&elsewhere, HARMLESS).unwrap();
    std::os::unix::fs::symlink(&elsewhere, at.join("link.md")).unwrap();
    let told = watcher.until("unread", "link.md");
    assert_eq!(told.len(), 1, "{told:?}");
    fs::write(at.join("huge.md"), POISON).unwrap();
    watcher.until("poisoned", "huge.md");
    assert_eq!(watcher.end(), 1);
}

#[test]
fn a_folder_may_vanish_and_come_back() {
    let folder = folder();
    let (at, away) = (folder.path().join("mem"), folder.path().join("away"));
    let (watcher, _) = Watcher::start(folder.path(), &[]);
    fs::rename(&at, &away).unwrap();
    watcher.until("gone", "");
    fs::write(away.join("new.md"), POISON).unwrap();
    fs::rename(&away, &at).unwrap();
    let told = watcher.until("poisoned", "new.md");
    assert!(has(&told, "back") && !has(&told, "removed"), "{told:?}");
    assert_eq!(watcher.end(), 1);
}

#[test]
fn poison_is_taken_and_what_was_restored_is_left() {
    let folder = folder();
    let memory = folder.path().join("mem/MEMORY.md");
    let (watcher, _) = Watcher::start(folder.path(), &["--quarantine"]);
    fs::write(&memory, format!("{HARMLESS}{POISON}")).unwrap();
    let told = watcher.until("quarantined", "MEMORY.md");
    assert!(has(&told, "poisoned"));
    assert!(!memory.exists());
    let id = told.last().unwrap()["id"].as_str().unwrap();
    let restored = super::run(folder.path(), &["memory", "restore", id, "--dir", "mem"]);
    assert_eq!(super::code(&restored), 0);
    watcher.until("new", "MEMORY.md");
    // Events come in order: had it been taken again, that would be told before this.
    fs::write(folder.path().join("mem/later.md"), HARMLESS).unwrap();
    let told = watcher.until("new", "later.md");
    assert!(!has(&told, "quarantined") && memory.exists(), "{told:?}");
    assert_eq!(watcher.end(), 1);
}

#[test]
fn what_changed_since_it_was_accepted_is_told_at_the_start() {
    let folder = folder();
    let memory = folder.path().join("mem/MEMORY.md");
    let accepted = super::run(folder.path(), &["memory", "scan", "mem", "--accept"]);
    assert_eq!(super::code(&accepted), 0);
    fs::write(&memory, HARMLESS.replace("Mimi", "Tom")).unwrap();
    fs::write(folder.path().join("mem/more.md"), HARMLESS).unwrap();
    let (watcher, first) = Watcher::start(folder.path(), &[]);
    assert!(has(&first, "changed") && has(&first, "new"), "{first:?}");
    fs::write(folder.path().join("mem/.blastshield-baseline.json"), "{").unwrap();
    watcher.until("baseline", "");
    assert_eq!(watcher.end(), 0);
}
