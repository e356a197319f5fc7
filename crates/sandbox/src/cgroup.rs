//! Memory and processes of the whole tree, where this user may make control groups (version 2).

use crate::confinement::Limits;
use crate::layers::{Layer, Layers};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";

/// Puts this process, and so everything it starts, into a control group of its own.
pub(crate) fn join(limits: &Limits, layers: &mut Layers) {
    let pid = std::process::id();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    match joined(Path::new(ROOT), &own, limits, pid) {
        Ok(()) => {
            let detail = format!("{} MiB for the whole tree", limits.memory >> 20);
            layers.hold(Layer::CgroupMemory, detail);
        }
        Err(why) => layers.miss(Layer::CgroupMemory, why),
    }
}

/// What keeps a process from a group of its own, in words for the owner.
fn joined(root: &Path, own: &str, limits: &Limits, pid: u32) -> Result<(), String> {
    if own.lines().any(|line| line.contains(":memory:")) {
        return Err("memory belongs to control groups of version 1 here".to_owned());
    }
    let Some(path) = unified(own) else {
        return Err("there are no control groups of version 2".to_owned());
    };
    let places = dividing(root, path);
    if places.is_empty() {
        return Err("no control group here hands out memory to those below it".to_owned());
    }
    let mut said = String::new();
    for place in places {
        match enter(&place.join(name(pid)), limits, pid) {
            Ok(()) => return Ok(()),
            Err(error) => said = crate::error::said(&error),
        }
    }
    Err(format!(
        "this user may not divide its control group: {said}"
    ))
}

/// Our place among the groups of version 2.
fn unified(own: &str) -> Option<&str> {
    own.lines().find_map(|line| line.strip_prefix("0::/"))
}

/// Removes the group of a process that is gone.
pub(crate) fn remove(pid: u32) {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let places = unified(&own).map(|path| dividing(Path::new(ROOT), path));
    for place in places.unwrap_or_default() {
        let _ = std::fs::remove_dir(place.join(name(pid)));
    }
}

fn name(pid: u32) -> String {
    format!("blastshield-{pid}")
}

/// Our group and the one above it, as far as they hand out memory.
fn dividing(root: &Path, own: &str) -> Vec<PathBuf> {
    let own = root.join(own);
    let above = own.parent().filter(|above| above.starts_with(root));
    [Some(own.as_path()), above]
        .into_iter()
        .flatten()
        .filter(|place| {
            std::fs::read_to_string(place.join("cgroup.subtree_control"))
                .is_ok_and(|handed| handed.split_ascii_whitespace().any(|one| one == "memory"))
        })
        .map(Path::to_owned)
        .collect()
}

/// All or nothing: a group that does not limit is removed again.
fn enter(group: &Path, limits: &Limits, pid: u32) -> io::Result<()> {
    std::fs::create_dir(group)?;
    let set = |file: &str, value: String| {
        std::fs::OpenOptions::new()
            .write(true)
            .open(group.join(file))
            .and_then(|mut file| file.write_all(value.as_bytes()))
    };
    let entered = set("memory.max", limits.memory.to_string())
        .and_then(|()| set("cgroup.procs", pid.to_string()))
        .and_then(|()| limited(group, limits.memory));
    if entered.is_err() {
        let _ = std::fs::remove_dir(group);
        return entered;
    }
    // Not every kernel has these.
    let _ = set("memory.swap.max", "0".to_owned());
    let _ = set("memory.oom.group", "1".to_owned());
    let _ = set("pids.max", limits.processes.saturating_add(3).to_string());
    Ok(())
}

/// Whether the kernel took the limit: it rounds down to pages, and to nothing else.
fn limited(group: &Path, memory: u64) -> io::Result<()> {
    let taken = std::fs::read_to_string(group.join("memory.max"))?;
    match taken.trim().parse::<u64>() {
        Ok(most) if most <= memory => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_it_from_a_group_is_named() {
        let root = tempfile::tempdir().unwrap();
        let limits = crate::Confinement::worker().limits;
        let why = |own: &str| joined(root.path(), own, &limits, 1).unwrap_err();
        assert!(why("4:memory:/a\n0::/\n").contains("version 1"));
        assert!(why("4:cpu:/a\n").contains("no control groups of version 2"));
        assert!(why("0::/a\n").contains("hands out memory"));
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::fs::write(root.path().join("a/cgroup.subtree_control"), "memory\n").unwrap();
        assert!(why("0::/a\n").contains("may not divide"));
    }

    #[test]
    fn a_limit_that_was_not_taken_does_not_hold() {
        let group = tempfile::tempdir().unwrap();
        for (taken, holds) in [
            ("4096\n", true),
            ("8192\n", true),
            ("max\n", false),
            ("8193\n", false),
        ] {
            std::fs::write(group.path().join("memory.max"), taken).unwrap();
            assert_eq!(limited(group.path(), 8192).is_ok(), holds, "{taken}");
        }
    }

    #[test]
    fn only_groups_that_hand_out_memory_are_divided() {
        let root = tempfile::tempdir().unwrap();
        let slice = root.path().join("user.slice/app.slice");
        std::fs::create_dir_all(slice.join("own.scope")).unwrap();
        let handed = |folder: &Path, what| {
            std::fs::write(folder.join("cgroup.subtree_control"), what).unwrap();
        };
        handed(&slice.join("own.scope"), "\n");
        handed(&slice, "cpu memory pids\n");
        let found = dividing(root.path(), "user.slice/app.slice/own.scope");
        assert_eq!(found, std::slice::from_ref(&slice));
        handed(&slice, "cpu pids\n");
        assert!(dividing(root.path(), "user.slice/app.slice/own.scope").is_empty());
        assert!(dividing(root.path(), "").is_empty());
    }

    #[test]
    fn a_group_that_does_not_limit_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("group");
        assert!(enter(&group, &crate::Confinement::worker().limits, 1).is_err());
        assert!(!group.exists());
    }
}
