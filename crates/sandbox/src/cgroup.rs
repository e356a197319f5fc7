//! Memory and processes of the whole tree, where this user may make control groups (version 2).

use crate::confinement::Limits;
use crate::layers::{Layer, Layers};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";

/// Puts this process, and so everything it starts, into a control group of its own.
pub(crate) fn join(limits: &Limits, layers: &mut Layers) {
    let pid = std::process::id();
    let joined = places(Path::new(ROOT))
        .iter()
        .find(|place| enter(&place.join(name(pid)), limits, pid).is_ok())
        .is_some();
    if joined {
        let detail = format!("{} MiB for the whole tree", limits.memory >> 20);
        layers.hold(Layer::CgroupMemory, detail);
    } else {
        layers.miss(
            Layer::CgroupMemory,
            "no control group of version 2 with memory that this user may divide",
        );
    }
}

/// Removes the group of a process that is gone.
pub(crate) fn remove(pid: u32) {
    for place in places(Path::new(ROOT)) {
        let _ = std::fs::remove_dir(place.join(name(pid)));
    }
}

fn name(pid: u32) -> String {
    format!("blastshield-{pid}")
}

/// Our group and the one above it, as far as they hand out memory.
fn places(root: &Path) -> Vec<PathBuf> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(own) = own.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Vec::new();
    };
    dividing(root, own)
}

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
        .and_then(|()| set("cgroup.procs", pid.to_string()));
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

#[cfg(test)]
mod tests {
    use super::*;

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
