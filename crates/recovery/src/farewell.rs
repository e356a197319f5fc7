//! The last thing that a security proxy does, in this order: flush the trail, write the report, give up drafts.
//!
//! Credentials are not among the steps: the child never had one. Whoever calls this drops its capability and exits with
//! the code that is returned.

use crate::RelPath;
use crate::drafts;
use crate::report::{CrashReport, LastWords};
use crate::trail::Trail;
use crate::workspace::{TRAIL, Workspace, WorkspaceError};
use blastshield_audit::Time;
use blastshield_leak::Scanner;

/// What became of the checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Farewell {
    /// The code to exit with: 1 if adversarial.
    pub exit_code: u8,
    /// Where the report is; without one core assumes the worst.
    pub report: Result<RelPath, WorkspaceError>,
    /// Drafts that were given up.
    pub abandoned: Vec<RelPath>,
}

/// Goes through the checklist. Each step is tried even if the one before failed. The report names the files that the
/// caller wrote and those that the checklist itself touches.
pub fn farewell(
    workspace: &Workspace,
    trail: Option<&mut Trail>,
    words: &LastWords<'_>,
    redact: &Scanner,
    now: Time,
) -> Farewell {
    let mut files = words.files_written.to_vec();
    if let Some(trail) = trail {
        let _ = trail.event(&format!("end: {}", words.trigger.as_str()), redact, now);
        if trail.flush().is_ok() {
            files.extend(RelPath::new(TRAIL));
        }
    }
    let open = drafts::in_progress(workspace).unwrap_or_default();
    files.extend(open.iter().map(drafts::Draft::path));
    let words = LastWords {
        files_written: &files,
        ..words.clone()
    };
    let report = CrashReport::new(&words, redact, now).write(workspace);
    let abandoned = drafts::abandon(workspace, open, now);
    Farewell {
        exit_code: words.trigger.exit_code(),
        report,
        abandoned,
    }
}
