//! The SQLite file belongs to its owner alone, from its first byte on.

use crate::StoreError;
use std::{
    fs,
    io::{Error, ErrorKind},
    path::Path,
};

/// Makes the folder (0700) and the file (0600) when missing and takes everyone else's rights from an existing file.
/// SQLite gives its companion files the rights of the main one.
pub(crate) fn prepare(path: &Path) -> Result<(), StoreError> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(cause)?;
    }
    let mut open = fs::OpenOptions::new();
    open.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(StoreError::Config("the location is not a regular file"));
    }
    let file = open.open(path).map_err(cause)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata().map_err(cause)?.permissions().mode();
        if mode & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))
                .map_err(cause)?;
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn cause(error: Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => StoreError::ReadOnly,
        ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::AlreadyExists => {
            StoreError::Config("the location is not a regular file")
        }
        _ => StoreError::Unavailable,
    }
}
