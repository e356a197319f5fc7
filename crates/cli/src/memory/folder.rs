//! A folder held open: what is done in it cannot be led out of it by a link.

use rustix::fs::{self as unix, AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

/// An open folder.
pub(super) struct Folder(OwnedFd);

/// Which file it is and when it was last touched. Nobody but the system sets the time of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    device: i128,
    inode: i128,
    length: i128,
    modified: (i128, i128),
    changed: (i128, i128),
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        Self {
            device: i128::from(stat.st_dev),
            inode: i128::from(stat.st_ino),
            length: i128::from(stat.st_size),
            modified: (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
            changed: (i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
        }
    }

    /// Its bytes.
    pub(super) fn length(&self) -> u64 {
        u64::try_from(self.length).unwrap_or(u64::MAX)
    }

    /// The same file, whatever became of its content.
    pub(super) fn same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens a folder that somebody named; a link is followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        Ok(Self(unix::openat(CWD, path, FOLDER, Mode::empty())?))
    }

    /// A folder in this one; a link is refused.
    pub(super) fn child(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER | OFlags::NOFOLLOW;
        Ok(Self(unix::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// A folder below this one, by its steps.
    pub(super) fn below(&self, steps: &[OsString]) -> io::Result<Self> {
        let mut folder = self.child(OsStr::new("."))?;
        for step in steps {
            folder = folder.child(step)?;
        }
        Ok(folder)
    }

    /// The same; folders that are missing are made.
    pub(super) fn make_below(&self, steps: &[OsString]) -> io::Result<Self> {
        let mut folder = self.child(OsStr::new("."))?;
        for step in steps {
            folder = match folder.child(step) {
                Err(error) if error.kind() == ErrorKind::NotFound => folder.make(step)?,
                other => other?,
            };
        }
        Ok(folder)
    }

    /// Makes a folder for its owner alone.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<Self> {
        unix::mkdirat(&self.0, name, Mode::RWXU)?;
        self.child(name)
    }

    /// Makes a folder unless it exists, and takes everyone else's rights.
    pub(super) fn make_private(&self, name: &OsStr) -> io::Result<Self> {
        match self.make(name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let folder = self.child(name)?;
                unix::fchmod(&folder.0, Mode::RWXU)?;
                Ok(folder)
            }
            other => other,
        }
    }

    /// What is in it.
    pub(super) fn entries(&self) -> io::Result<Dir> {
        Ok(Dir::read_from(&self.0)?)
    }

    /// What a name stands for; a link stands for itself.
    pub(super) fn stamp(&self, name: &OsStr) -> io::Result<(FileType, Stamp)> {
        let stat = unix::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((FileType::from_raw_mode(stat.st_mode), Stamp::of(&stat)))
    }

    /// The bytes of a file, if there are at most so many; a link, pipe or device is refused.
    pub(super) fn read(&self, name: &OsStr, most: u64) -> io::Result<(Vec<u8>, Stamp)> {
        // A pipe must not make us wait.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = unix::openat(&self.0, name, flags, Mode::empty())?;
        let stat = unix::fstat(&file)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        File::from(file).take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Ok((bytes, Stamp::of(&stat)))
    }

    /// Moves a file to another folder in one step, and never over another file.
    pub(super) fn move_to(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        let flags = unix::RenameFlags::NOREPLACE;
        match unix::renameat_with(&self.0, name, &to.0, new, flags) {
            // The file system does not know how: a second name cannot replace anything either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                unix::linkat(&self.0, name, &to.0, new, AtFlags::empty())?;
                unix::unlinkat(&self.0, name, AtFlags::empty())?;
            }
            other => other?,
        }
        unix::fsync(&to.0)?;
        Ok(unix::fsync(&self.0)?)
    }

    /// Replaces a file as a whole: a reader sees the old or the new, also after a power cut.
    pub(super) fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut half = name.to_owned();
        half.push(format!(".{}.tmp", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let written = (|| {
            let file = unix::openat(&self.0, &half, flags, Mode::RUSR | Mode::WUSR)?;
            let mut file = File::from(file);
            file.write_all(bytes)?;
            file.sync_all()?;
            unix::renameat(&self.0, &half, &self.0, name)?;
            Ok(unix::fsync(&self.0)?)
        })();
        if written.is_err() {
            let _ = unix::unlinkat(&self.0, &half, AtFlags::empty());
        }
        written
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unix::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(unix::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Waits until nobody else who asks holds it; it is held until this folder is dropped.
    pub(super) fn lock(&self) -> io::Result<()> {
        Ok(unix::flock(&self.0, FlockOperation::LockExclusive)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn name(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    #[test]
    fn no_link_leads_out() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(outside.path().join("secret.md"), "x").unwrap();
        symlink(outside.path(), inside.path().join("notes")).unwrap();
        symlink(outside.path().join("secret.md"), inside.path().join("a.md")).unwrap();
        let folder = Folder::open(inside.path()).unwrap();
        assert!(folder.child(name("notes")).is_err());
        assert!(folder.below(&["notes".into()]).is_err());
        assert!(folder.read(name("a.md"), 10).is_err());
    }

    #[test]
    fn nothing_is_replaced_by_a_move() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "old").unwrap();
        fs::write(folder.path().join("new"), "new").unwrap();
        let open = Folder::open(folder.path()).unwrap();
        let moved = open.move_to(name("old"), &open, name("new"));
        assert_eq!(moved.unwrap_err().kind(), ErrorKind::AlreadyExists);
        open.move_to(name("old"), &open, name("third")).unwrap();
        assert_eq!(fs::read(folder.path().join("third")).unwrap(), b"old");
    }

    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::open(folder.path()).unwrap();
        unix::mknodat(&open.0, "p.md", FileType::Fifo, Mode::RWXU, 0).unwrap();
        let read = open.read(name("p.md"), 10);
        assert_eq!(read.unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn what_is_written_belongs_to_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let open = Folder::open(folder.path()).unwrap();
        open.replace(name("b.json"), b"1").unwrap();
        open.replace(name("b.json"), b"2").unwrap();
        let path = folder.path().join("b.json");
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
