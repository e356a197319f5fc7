//! The only files that a security proxy has: `posts/`, `drafts/`, `logs/` and `relationships.json`.
//!
//! Backups are not among them. The pattern draws `backups/` beside `logs/`; here they lie outside the workspace, because
//! whoever may write a workspace may poison what it would be restored from.

use crate::folder::Folder;
use crate::names::RelPath;
use crate::snapshot::{Bounds, Snapshot};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// Content that was read and cleaned.
pub const POSTS: &str = "posts";
/// What is to go out.
pub const DRAFTS: &str = "drafts";
/// The audit trail and the reports.
pub const LOGS: &str = "logs";
/// Who is who.
pub const RELATIONSHIPS: &str = "relationships.json";
/// The audit trail.
pub const TRAIL: &str = "logs/audit.jsonl";

/// Bytes of a file that a proxy writes at most.
pub const MAX_FILE: u64 = 8 << 20;

/// What went wrong in a workspace. Names no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceError {
    /// It is not there.
    #[error("the file is not in the workspace")]
    Missing,
    /// A link, a pipe, a folder, a file with two names, or a way out.
    #[error("this is no plain file of the workspace")]
    NotPlain,
    /// Larger than allowed.
    #[error("the file is larger than allowed")]
    TooLarge,
    /// Not what such a file must be.
    #[error("the file is malformed: {0}")]
    Malformed(&'static str),
    /// No room is left.
    #[error("no space is left for the workspace")]
    Full,
    /// Anything else that the system says.
    #[error("the workspace cannot be used: {0}")]
    Io(io::ErrorKind),
}

impl From<io::Error> for WorkspaceError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as Kind;
        // What the system says of a link where none may be.
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return Self::NotPlain;
        }
        match error.kind() {
            Kind::NotFound => Self::Missing,
            Kind::InvalidInput
            | Kind::NotADirectory
            | Kind::IsADirectory
            | Kind::CrossesDevices => Self::NotPlain,
            Kind::FileTooLarge => Self::TooLarge,
            Kind::StorageFull | Kind::QuotaExceeded => Self::Full,
            kind => Self::Io(kind),
        }
    }
}

/// An open workspace. Every path is resolved below its descriptor, following no link.
#[derive(Debug)]
pub struct Workspace {
    root: Folder,
}

impl Workspace {
    /// Opens the workspace at a path that core chose: what a child does with the folder it was given.
    ///
    /// # Errors
    /// When it is missing or no folder.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self {
            root: Folder::open(path)?,
        })
    }

    /// Makes the folders of the layout in a folder of core's, for its owner alone.
    pub(crate) fn lay_out(root: Folder) -> Result<Self, WorkspaceError> {
        for name in [POSTS, DRAFTS, LOGS] {
            root.make(name)?;
        }
        Ok(Self { root })
    }

    /// The folder's descriptor, for a sandbox to allow.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.root.fd()
    }

    /// A second handle on the same folder.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn duplicate(&self) -> Result<OwnedFd, WorkspaceError> {
        Ok(self.root.fd().try_clone_to_owned()?)
    }

    /// The bytes of a file, if they are at most so many.
    ///
    /// # Errors
    /// When it is missing, too large, or no plain file.
    pub fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, WorkspaceError> {
        Ok(self.root.read(path.as_str(), most)?)
    }

    /// Replaces a file as a whole; on return it is on disk. Its folder must be there.
    ///
    /// # Errors
    /// When it is too large or cannot be written; then the old one stays.
    pub fn write(&self, path: &RelPath, bytes: &[u8]) -> Result<(), WorkspaceError> {
        if bytes.len() as u64 > MAX_FILE {
            return Err(WorkspaceError::TooLarge);
        }
        let (folder, name) = path.split();
        match folder {
            Some(folder) => self.root.child(folder)?.replace(name, bytes)?,
            None => self.root.replace(name, bytes)?,
        }
        Ok(())
    }

    /// Writes a file that must not be there yet.
    ///
    /// # Errors
    /// As [`Workspace::write`]; `Io(AlreadyExists)` when it is there.
    pub fn create(&self, path: &RelPath, bytes: &[u8]) -> Result<(), WorkspaceError> {
        if bytes.len() as u64 > MAX_FILE {
            return Err(WorkspaceError::TooLarge);
        }
        let (folder, name) = path.split();
        match folder {
            Some(folder) => self.root.child(folder)?.create(name, bytes)?,
            None => self.root.create(name, bytes)?,
        }
        Ok(())
    }

    /// What is in it now, to be compared later.
    ///
    /// # Errors
    /// Never for what a hostile process left there: that is in the snapshot as an oddity.
    pub fn snapshot(&self, bounds: &Bounds) -> Result<Snapshot, WorkspaceError> {
        Ok(Snapshot::take(&self.root, bounds, None)?)
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_layout_is_private() {
        let place = tempfile::tempdir().unwrap();
        let workspace = Workspace::lay_out(Folder::open(place.path()).unwrap()).unwrap();
        for name in [POSTS, DRAFTS, LOGS] {
            let mode = std::fs::metadata(place.path().join(name))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o700, "{name}");
        }
        let path = RelPath::new("posts/a.json").unwrap();
        workspace.write(&path, b"{}").unwrap();
        assert_eq!(workspace.read(&path, 9), Ok(b"{}".to_vec()));
        assert_eq!(workspace.read(&path, 1), Err(WorkspaceError::TooLarge));
        let gone = RelPath::new("posts/b.json").unwrap();
        assert_eq!(workspace.read(&gone, 1), Err(WorkspaceError::Missing));
        let mode = std::fs::metadata(place.path().join("posts/a.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
