//! A folder held open: what is done in it cannot be led out of it, whatever a hostile process left there.

use rustix::fs::{
    self as unix, AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags,
    ResolveFlags, Stat,
};
use rustix::io::Errno;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);
/// A pipe must not make us wait, a terminal must not become ours.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);
const BLOCK: usize = 64 << 10;

impl Folder {
    /// Opens a folder that the operator named; links above it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(unix::openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// Makes a folder of the operator's, and those above it, for its owner alone, and opens it.
    pub(crate) fn make_all(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)?;
        Self::open(path)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Opens what lies below, by plain steps joined by `/`; no link on the way, no other file system.
    fn below(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        match unix::openat2(&self.0, path, flags, Mode::empty(), BENEATH) {
            // A kernel or filter that does not know the call: step by step, which comes to the same.
            Err(Errno::NOSYS | Errno::PERM) => self.stepwise(path, flags),
            other => Ok(other?),
        }
    }

    fn stepwise(&self, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW;
        let Some((above, name)) = path.rsplit_once('/') else {
            return Ok(unix::openat(&self.0, path, flags, Mode::empty())?);
        };
        let mut folder = self.child(".")?;
        for step in above.split('/') {
            if step == ".." {
                return Err(ErrorKind::InvalidInput.into());
            }
            folder = Self(unix::openat(&folder.0, step, FOLDER, Mode::empty())?);
        }
        Ok(unix::openat(&folder.0, name, flags, Mode::empty())?)
    }

    /// A folder below this one.
    pub(crate) fn child(&self, path: &str) -> io::Result<Self> {
        self.below(path, FOLDER).map(Self)
    }

    /// The same for a name that a hostile process chose.
    pub(crate) fn child_raw(&self, name: &std::ffi::CStr) -> io::Result<Self> {
        Ok(Self(unix::openat(&self.0, name, FOLDER, Mode::empty())?))
    }

    /// The same; it is made for its owner alone, to last, when it is missing.
    pub(crate) fn make(&self, name: &str) -> io::Result<Self> {
        match unix::mkdirat(&self.0, name, Mode::RWXU) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        self.child(name)
    }

    /// What a name stands for; a link stands for itself, and nothing for nothing.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        match unix::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The names in it, as many as `most`; whether there are more.
    pub(crate) fn names(&self, most: usize) -> io::Result<(Vec<CString>, bool)> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if names.len() >= most {
                return Ok((names, true));
            }
            names.push(name.to_owned());
        }
        Ok((names, false))
    }

    /// Opens a regular file with a single name; a link, pipe, device or file with a second name is refused.
    pub(crate) fn open_file(&self, path: &str) -> io::Result<(File, Stat)> {
        regular(self.below(path, READ)?)
    }

    /// The same for a name in this folder that a hostile process chose.
    pub(crate) fn open_raw(&self, name: &std::ffi::CStr) -> io::Result<(File, Stat)> {
        regular(unix::openat(&self.0, name, READ, Mode::empty())?)
    }

    /// The bytes of a regular file, if they are at most so many.
    pub(crate) fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>> {
        let (file, stat) = self.open_file(path)?;
        if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// Puts a file in place as a whole, for its owner alone: a reader sees the old or the new, also after a power cut.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.put(name, bytes, RenameFlags::empty())
    }

    /// The same, but never over something that is there.
    pub(crate) fn create(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.put(name, bytes, RenameFlags::NOREPLACE)
    }

    fn put(&self, name: &str, bytes: &[u8], flags: RenameFlags) -> io::Result<()> {
        let half = format!(".{}.tmp", crate::id::random(12)?);
        let written = (|| {
            let open =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let mut file = File::from(unix::openat(&self.0, &half, open, PRIVATE)?);
            for block in bytes.chunks(BLOCK) {
                file.write_all(block)?;
            }
            file.sync_all()?;
            self.rename(&half, name, flags)
        })();
        if written.is_err() {
            let _ = unix::unlinkat(&self.0, &half, AtFlags::empty());
        }
        written
    }

    /// Renames within this folder and makes it last.
    pub(crate) fn rename(&self, from: &str, to: &str, flags: RenameFlags) -> io::Result<()> {
        unix::renameat_with(&self.0, from, &self.0, to, flags)?;
        self.sync()
    }

    /// Opens a file to add to it; it is made for its owner alone when it is missing.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY;
        regular(unix::openat(&self.0, name, flags, PRIVATE)?).map(|(file, _)| file)
    }

    /// Removes a file; nothing to remove is fine.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match unix::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a folder that core made, with all that core put there: two levels.
    pub(crate) fn remove_tree(&self, name: &str, depth: usize) -> io::Result<()> {
        if self.stat(name)?.is_none() {
            return Ok(());
        }
        let inner = self.child(name)?;
        let (names, _) = inner.names(usize::MAX)?;
        for entry in names {
            let stat = unix::statat(&inner.0, &entry, AtFlags::SYMLINK_NOFOLLOW)?;
            let text = entry.to_str().map_err(|_| ErrorKind::InvalidData)?;
            if FileType::from_raw_mode(stat.st_mode).is_dir() && depth > 0 {
                inner.remove_tree(text, depth - 1)?;
            } else {
                inner.remove(text)?;
            }
        }
        unix::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?;
        self.sync()
    }

    /// Makes names that were made, moved or removed last.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(unix::fsync(&self.0)?)
    }

    /// Takes a lock that ends with the returned file; nothing when somebody else has it.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Option<File>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(unix::openat(&self.0, name, flags, PRIVATE)?);
        match unix::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether a name is that of a file that was being written when its writer died.
pub(crate) fn is_half(name: &str) -> bool {
    name.len() == 17 && name.starts_with('.') && name.ends_with(".tmp")
}

fn regular(file: OwnedFd) -> io::Result<(File, Stat)> {
    let stat = unix::fstat(&file)?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() || stat.st_nlink != 1 {
        return Err(ErrorKind::InvalidInput.into());
    }
    Ok((File::from(file), stat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_leads_out() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret"), "x").unwrap();
        symlink(outside.path(), inside.path().join("posts")).unwrap();
        symlink(outside.path().join("secret"), inside.path().join("a")).unwrap();
        fs::hard_link(outside.path().join("secret"), inside.path().join("b")).unwrap();
        let folder = Folder::open(inside.path()).unwrap();
        assert!(folder.child("posts").is_err());
        for path in ["posts/secret", "a", "b", "../secret"] {
            assert!(folder.read(path, 10).is_err(), "{path}");
            assert!(
                folder.stepwise(path, READ).and_then(regular).is_err(),
                "{path}"
            );
        }
        assert!(folder.append("a").is_err());
        folder.replace("a", b"ours").unwrap();
        assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"x");
        assert_eq!(fs::read(inside.path().join("a")).unwrap(), b"ours");
    }

    #[test]
    fn pipes_and_folders_are_no_files() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        unix::mknodat(&folder.0, "p", FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::create_dir(place.path().join("d")).unwrap();
        for name in ["p", "d"] {
            assert!(folder.read(name, 10).is_err(), "{name}");
        }
        assert!(folder.append("p").is_err());
    }

    #[test]
    fn what_is_there_is_not_replaced_unless_asked() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        folder.create("a", b"1").unwrap();
        assert_eq!(
            folder.create("a", b"2").unwrap_err().kind(),
            ErrorKind::AlreadyExists
        );
        assert_eq!(folder.read("a", 1).unwrap(), b"1");
        assert_eq!(
            folder.read("a", 0).unwrap_err().kind(),
            ErrorKind::FileTooLarge
        );
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            1,
            "no halves stay"
        );
    }

    #[test]
    fn a_lock_is_one_at_a_time() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let held = folder.lock("l").unwrap();
        assert!(held.is_some());
        assert!(folder.lock("l").unwrap().is_none());
        drop(held);
        assert!(folder.lock("l").unwrap().is_some());
    }
}
