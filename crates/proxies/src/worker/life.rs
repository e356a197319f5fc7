//! What a worker knows of itself, and its one way out: whoever ends it, the checklist is gone through once and in order.

use blastshield_audit::{Fingerprint, Time};
use blastshield_leak::Scanner;
use blastshield_recovery::farewell::farewell;
use blastshield_recovery::{LastWords, RelPath, Suspicious, Trail, Trigger, Workspace};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// A handle that every thread of a worker has.
#[derive(Clone)]
pub(super) struct Life(Arc<Mutex<State>>);

struct State {
    workspace: Workspace,
    trail: Option<Trail>,
    scanner: Scanner,
    capability: Zeroizing<String>,
    last_action: String,
    requests: u64,
    files: Vec<RelPath>,
}

/// Why it ends.
pub(super) struct Last {
    pub(super) trigger: Trigger,
    pub(super) detail: String,
    pub(super) suspicious: Option<Suspicious>,
}

impl Last {
    pub(super) fn new(trigger: Trigger, detail: impl Into<String>) -> Self {
        Self {
            trigger,
            detail: detail.into(),
            suspicious: None,
        }
    }
}

impl Life {
    pub(super) fn begin(workspace: Workspace, scanner: Scanner, capability: String) -> Self {
        let trail = Trail::open(&workspace).ok();
        Self(Arc::new(Mutex::new(State {
            workspace,
            trail,
            scanner,
            capability: Zeroizing::new(capability),
            last_action: "none".to_owned(),
            requests: 0,
            files: Vec::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a tool call before it is made. Without a trail nothing is done.
    pub(super) fn call(&self, tool: &str, place: &str, content: Option<&[u8]>) -> Result<(), Last> {
        let mut state = self.state();
        state.last_action = format!("{tool}: {place}");
        let State { trail, scanner, .. } = &mut *state;
        let print = content.map(Fingerprint::of);
        let noted = trail
            .as_mut()
            .and_then(|trail| trail.call(tool, place, print.as_ref(), scanner, now()).ok());
        noted.ok_or_else(|| Last::new(Trigger::Exception, "the audit trail cannot be written"))
    }

    pub(super) fn asked(&self) {
        self.state().requests += 1;
    }

    pub(super) fn wrote(&self, path: RelPath) {
        self.state().files.push(path);
    }

    pub(super) fn capability(&self) -> String {
        self.state().capability.to_string()
    }

    /// Works with the workspace.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Workspace, &Scanner) -> T) -> T {
        let state = self.state();
        work(&state.workspace, &state.scanner)
    }

    /// The checklist, then the end of the process: trail, report, drafts, capability, exit code.
    pub(super) fn end(&self, last: &Last) -> ! {
        // Held until the process is gone: of several threads that end it, one does.
        let mut state = self.state();
        let State {
            workspace,
            trail,
            scanner,
            capability,
            last_action,
            requests,
            files,
        } = &mut *state;
        let words = LastWords {
            trigger: last.trigger,
            detail: &last.detail,
            last_action,
            requests: *requests,
            suspicious: last.suspicious.clone(),
            files_written: files,
        };
        crate::fault::point("worker:before-report");
        let done = farewell(workspace, trail.as_mut(), &words, scanner, now());
        crate::fault::point("worker:after-report");
        *capability = Zeroizing::default();
        std::process::exit(i32::from(done.exit_code))
    }
}

pub(super) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time::from_millis(since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }))
}
