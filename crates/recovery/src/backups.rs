//! Daily copies of what a proxy may change, made by core and kept where no proxy can write.
//!
//! A backup is `relationships-YYYYMMDD.json`, further files that the definition names, and a manifest of their hashes that
//! is written last: without it they do not count. A backup is never written over; a second one of a day has `-2`.

mod keep;
mod manifest;

pub use keep::{BackupError, Made};
pub use manifest::{Backup, Kept};

pub(crate) use manifest::{good, latest_good, open, restore};
