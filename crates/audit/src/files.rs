//! Files that belong to their owner alone, and replacing one as a whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// For reading and writing, made with mode 0600.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Opens or makes a file; takes everyone else's rights from an existing one, and follows no link out of the folder.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let file = private().create(true).truncate(false).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Makes a folder for its owner alone when it is missing.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Names that were added to or taken from a folder are on disk.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Beginning of the names of half-made files.
pub(crate) const HALF_MADE: &str = ".security-supervisor-";

/// Replaces `name` in `folder` as a whole: a reader sees the old or the new, also after a power cut.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let half = folder.join(format!(
        "{HALF_MADE}{}-{}.tmp",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    ));
    let written = (|| {
        let mut file = private().create_new(true).open(&half)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&half, folder.join(name))
    })();
    if written.is_err() {
        // The old file stands; what could not be removed is removed by the next start.
        let _ = fs::remove_file(&half);
        return written;
    }
    sync_folder(folder)
}
