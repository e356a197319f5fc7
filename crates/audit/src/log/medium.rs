//! What the log is written to; a trait, so that tests can let it fail.

use crate::files;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A file as the writer needs it.
pub(crate) trait Medium: Send + Sync {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
    fn cut(&self, length: u64) -> io::Result<()>;
}

impl Medium for File {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// Opens or makes a medium.
pub(crate) type Opener = Arc<dyn Fn(&Path) -> io::Result<Arc<dyn Medium>> + Send + Sync>;

/// Real files.
pub(crate) fn files() -> Opener {
    Arc::new(|path| Ok(Arc::new(files::open_private(path)?)))
}
