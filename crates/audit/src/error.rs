//! Why something could not be recorded.

use std::io::{self, ErrorKind};

/// Why the log could not be opened, written or read. None says where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The lock is taken.
    #[error("another process is writing this audit log; stop it or choose another data folder")]
    Busy,
    /// No room.
    #[error("the disk is full; nothing was recorded")]
    Full,
    /// Written, and the disk did not confirm it.
    #[error("the entry was written, but the disk did not confirm it ({0})")]
    Unsynced(ErrorKind),
    /// There is no log.
    #[error("there is no audit log in this folder")]
    Missing,
    /// A file of the log is a folder, a link or the like.
    #[error("the audit log is not a regular file")]
    NotAFile,
    /// The name for a full file is taken.
    #[error("a file with the name of the next rotated audit file exists already; move it away")]
    NameTaken,
    /// Far too many files.
    #[error("the folder holds too many files to be that of an audit log")]
    TooManyFiles,
    /// Anything else.
    #[error("the audit log cannot be reached ({0})")]
    Io(ErrorKind),
}

impl LogError {
    #[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
    pub(crate) fn unsynced(error: io::Error) -> Self {
        Self::Unsynced(error.kind())
    }
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Self::Full
            }
            ErrorKind::InvalidInput | ErrorKind::IsADirectory => Self::NotAFile,
            kind => Self::Io(kind),
        }
    }
}
