//! Looks at the browser's processes from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) struct Proc {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) state: char,
    pub(crate) command: String,
}

pub(crate) fn all() -> Vec<Proc> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?.chars().next()?;
            let parent = fields.next()?.parse().ok()?;
            let command = fs::read(entry.path().join("cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            Some(Proc {
                pid,
                parent,
                state,
                command,
            })
        })
        .collect()
}

fn own() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

/// Our own children, zombies included.
pub(crate) fn children() -> Vec<Proc> {
    all().into_iter().filter(|p| p.parent == own()).collect()
}

/// The one running browser that we started.
pub(crate) fn browser() -> Proc {
    let mut browsers: Vec<Proc> = children()
        .into_iter()
        .filter(|p| p.command.contains("--user-data-dir="))
        .collect();
    assert_eq!(browsers.len(), 1);
    browsers.remove(0)
}

pub(crate) fn profile(browser: &Proc) -> PathBuf {
    let rest = browser.command.split("--user-data-dir=").nth(1).unwrap();
    PathBuf::from(rest.split(' ').next().unwrap())
}

/// Everybody below this process.
pub(crate) fn descendants(of: i32) -> Vec<Proc> {
    let mut found: Vec<Proc> = Vec::new();
    let mut rest = all();
    loop {
        let (more, others): (Vec<Proc>, Vec<Proc>) = rest
            .into_iter()
            .partition(|p| p.parent == of || found.iter().any(|f| f.pid == p.parent));
        rest = others;
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

pub(crate) fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Waits until none of these runs any more.
pub(crate) async fn gone(pids: &[i32]) -> bool {
    for _ in 0..100 {
        if !all()
            .iter()
            .any(|p| pids.contains(&p.pid) && p.state != 'Z')
        {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

/// Waits until no process has this path in its command line.
pub(crate) async fn none_names(path: &Path) -> bool {
    let path = path.to_str().unwrap();
    for _ in 0..100 {
        if !all().iter().any(|p| p.command.contains(path)) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}
