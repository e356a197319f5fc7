//! A view of the files that holds only what was given: an empty file system with a few folders bound into it.

use crate::confinement::{Confinement, Role};
use crate::error::{SandboxError, said};
use crate::layers::{Layer, Layers};
use crate::sys;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Component, Path, PathBuf};

/// Where the empty file system is put at first: any folder that exists will do, what is in it stays reachable.
const BASES: [&str; 5] = ["/tmp", "/run", "/var", "/mnt", "/dev"];
/// Devices that cannot do harm.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
const OLD: &str = "/old";
const NEW: &str = "/new";

/// Builds the view and enters it. `alone` says that this is the first process of its own table.
pub(super) fn build(
    confinement: &Confinement,
    alone: bool,
    layers: &mut Layers,
) -> Result<(), SandboxError> {
    match assemble(confinement, alone) {
        Ok(()) => {
            layers.hold(
                Layer::MountNamespace,
                "a view of what was given, and nothing else",
            );
            Ok(())
        }
        Err(Trouble::Before(error)) => {
            layers.miss(Layer::MountNamespace, said(&error));
            Ok(())
        }
        // Half a view is worse than none.
        Err(Trouble::Within(error)) => {
            Err(SandboxError::step("build the view of the files", error))
        }
    }
}

enum Trouble {
    /// Nothing was changed.
    Before(io::Error),
    Within(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Within(error)
    }
}

impl From<rustix::io::Errno> for Trouble {
    fn from(error: rustix::io::Errno) -> Self {
        Self::Within(error.into())
    }
}

fn assemble(confinement: &Confinement, alone: bool) -> Result<(), Trouble> {
    let before = |e: rustix::io::Errno| Trouble::Before(e.into());
    // What happens here stays here.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private).map_err(before)?;
    let base = BASES
        .into_iter()
        .find(|base| Path::new(base).is_dir())
        .ok_or(Trouble::Before(io::ErrorKind::NotFound.into()))?;
    tmpfs(Path::new(base), "mode=0755,size=4m,nr_inodes=4096").map_err(before)?;
    std::env::set_current_dir(base)?;
    folder(Path::new("old"))?;
    folder(Path::new("new"))?;
    rustix::process::pivot_root(".", "old")?;
    std::env::set_current_dir("/")?;
    // A root must be a mount of its own.
    rustix::mount::mount_bind(NEW, NEW)?;

    if confinement.system {
        for path in crate::SYSTEM {
            system(Path::new(path))?;
        }
    }
    // Before what was given, which may lie in it.
    if confinement.limits.scratch > 0 {
        let tmp = inside(Path::new("/tmp"));
        folder(&tmp)?;
        let options = format!(
            "mode=0777,size={},nr_inodes=16384",
            confinement.limits.scratch
        );
        tmpfs(&tmp, &options)?;
    }
    let mut given: Vec<(&PathBuf, bool)> = confinement
        .read
        .iter()
        .map(|path| (path, false))
        .chain(confinement.write.iter().map(|path| (path, true)))
        .collect();
    // Outer folders first, so that an inner one is seen; writable after readable, so that it counts.
    given.sort_by_key(|(path, write)| (path.components().count(), *write));
    // A worker executes nothing.
    let executable = match confinement.role {
        Role::Worker => libc::MOUNT_ATTR_NOEXEC,
        Role::Plugin => 0,
    };
    for (path, write) in given {
        let attributes = if write { WRITABLE } else { READABLE };
        bind(path, path, attributes | executable)?;
    }
    if confinement.role == Role::Plugin {
        devices()?;
        if alone {
            processes();
        }
    }
    sys::mount_attributes(c"/new", libc::MOUNT_ATTR_RDONLY, false)?;

    std::env::set_current_dir(NEW)?;
    rustix::mount::unmount(OLD, UnmountFlags::DETACH)?;
    // The new root over the old one, and the old one away.
    rustix::process::pivot_root(".", ".")?;
    rustix::mount::unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")?;
    Ok(())
}

const READABLE: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const WRITABLE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const DEVICE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// A folder of the system: links as links, what does not exist not at all.
fn system(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(before(path)) else {
        return Ok(());
    };
    let place = inside(path);
    if found.is_symlink() {
        if let Some(above) = place.parent() {
            folder(above)?;
        }
        return symlink(std::fs::read_link(before(path))?, place);
    }
    bind(path, path, READABLE)
}

fn devices() -> io::Result<()> {
    folder(&inside(Path::new("/dev")))?;
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        if before(&path).exists() {
            bind(&path, &path, DEVICE)?;
        }
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, inside(&Path::new("/dev").join(name)))?;
    }
    Ok(())
}

/// The processes of its own table and nothing else of `/proc`. Some containers forbid it; then there is none.
fn processes() {
    let place = inside(Path::new("/proc"));
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if folder(&place).is_ok() {
        let _ = rustix::mount::mount(
            "proc",
            &place,
            "proc",
            flags,
            c"subset=pid,hidepid=invisible",
        );
    }
}

/// Makes what was at `from` appear at `to`.
fn bind(from: &Path, to: &Path, attributes: u64) -> io::Result<()> {
    let (from, to) = (before(from), inside(to));
    let found = std::fs::metadata(&from)?;
    if !to.exists() {
        if found.is_dir() {
            folder(&to)?;
        } else {
            if let Some(above) = to.parent() {
                folder(above)?;
            }
            std::fs::File::create_new(&to)?;
        }
    }
    rustix::mount::mount_bind_recursive(&from, &to)?;
    let to = CString::new(to.as_os_str().as_bytes())?;
    sys::mount_attributes(&to, attributes, true)
}

fn tmpfs(place: &Path, options: &str) -> rustix::io::Result<()> {
    let options = CString::new(options).map_err(|_| rustix::io::Errno::INVAL)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", place, "tmpfs", flags, options.as_c_str())
}

fn folder(place: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(place)
}

fn before(path: &Path) -> PathBuf {
    under(OLD, path)
}

fn inside(path: &Path) -> PathBuf {
    under(NEW, path)
}

fn under(root: &str, path: &Path) -> PathBuf {
    let mut whole = PathBuf::from(root);
    for part in path.components() {
        if let Component::Normal(name) = part {
            whole.push(name);
        }
    }
    whole
}
