//! Which files may go, and the entry that must be on disk before one does.

use super::entry::Draft;
use super::{Mark, of_the_log, segments};
use crate::{LogError, Severity, Time};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A file whose time is over.
pub(crate) struct Old {
    pub(crate) path: PathBuf,
    name: String,
    last: Mark,
}

impl Old {
    /// Says with which entry the file ended: the one after it is where verification starts.
    pub(crate) fn draft(&self) -> Draft {
        of_the_log(
            Severity::Info,
            "audit_pruned",
            "Old audit file deleted",
            json!({"file": self.name, "through": self.last.seq, "hash": self.last.hash.to_string()}),
        )
    }
}

/// The oldest file, if its last entry is more than `days` old. A file without a readable end is evidence and stays.
pub(crate) fn oldest(folder: &Path, days: u32, now: Time) -> Result<Option<Old>, LogError> {
    let Some(oldest) = segments::list(folder)?
        .into_iter()
        .find(|segment| segment.first.is_some())
    else {
        return Ok(None);
    };
    Ok(segments::last_link(&oldest.path)?
        .filter(|link| link.time.day().saturating_add(u64::from(days)) < now.day())
        .map(|link| Old {
            path: oldest.path,
            name: oldest.name,
            last: link.mark,
        }))
}
