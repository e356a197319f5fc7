//! Two accounts of a session, the child's and core's, laid side by side. The worse counts.

use crate::decision::{Contradiction, Exit, Reported};
use crate::names::RelPath;
use crate::relationships::{Relationships, Status};
use crate::report::{CrashReport, Found, Trigger};
use crate::snapshot::Snapshot;
use crate::workspace::{LOGS, RELATIONSHIPS, TRAIL, Workspace};
use blastshield_audit::Digest;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io::Read;

/// What core itself knows of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How the process ended.
    pub exit: Exit,
    /// Requests that reached the broker, answered or not.
    pub requests: u64,
    /// Requests that the broker refused because the definition or the capability does not allow them.
    pub violations: u64,
    /// Whether the broker saw the burn limit.
    pub burned: bool,
    /// Whether core knows what caused an exception: the service was down, a time-out…
    pub root_cause_known: bool,
    /// Whether core ended it because the owner said so.
    pub owner_stop: bool,
    /// Files that core itself wrote in the workspace meanwhile.
    pub core_wrote: Vec<RelPath>,
}

impl Facts {
    /// Of a process that ended like this and did nothing.
    #[must_use]
    pub const fn new(exit: Exit) -> Self {
        Self {
            exit,
            requests: 0,
            violations: 0,
            burned: false,
            root_cause_known: false,
            owner_stop: false,
            core_wrote: Vec::new(),
        }
    }
}

/// Both accounts together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What was found in place of a report.
    pub found: Found,
    /// Files of the workspace that changed by either account, fit to be shown; the trail and the report aside.
    pub files: Vec<String>,
    /// Where the accounts differ.
    pub contradictions: Vec<Contradiction>,
    /// Requests by the larger count.
    pub requests: u64,
}

impl Evidence {
    /// The child's account, for the decision.
    #[must_use]
    pub fn reported(&self) -> Reported {
        match &self.found {
            Found::Report(report, _) => Reported::Trigger(report.trigger()),
            Found::Missing => Reported::Missing,
            Found::Unusable(_) => Reported::Unusable,
        }
    }

    /// The report, if there is a usable one.
    #[must_use]
    pub fn report(&self) -> Option<&CrashReport> {
        match &self.found {
            Found::Report(report, _) => Some(report),
            _ => None,
        }
    }
}

/// Lays both accounts side by side.
pub(crate) fn weigh(
    workspace: &Workspace,
    before: &Snapshot,
    after: &Snapshot,
    found: Found,
    facts: &Facts,
    review: &[String],
) -> Evidence {
    let changes = before.changes(after);
    let (report, own_path) = match &found {
        Found::Report(report, path) => (Some(report.as_ref()), Some(path.as_str())),
        _ => (None, None),
    };
    let declared: BTreeSet<&str> = report
        .map(CrashReport::files_written)
        .unwrap_or_default()
        .iter()
        .map(RelPath::as_str)
        .collect();
    let by_core: BTreeSet<&str> = facts.core_wrote.iter().map(RelPath::as_str).collect();
    let mut contradictions = BTreeSet::new();
    let by_child = |path: &str| !by_core.contains(path) || declared.contains(path);
    if changes.files.iter().any(|path| path == RELATIONSHIPS)
        && by_child(RELATIONSHIPS)
        && !are_in_order(workspace, review)
    {
        contradictions.insert(Contradiction::Relationships);
    }
    let mut files: BTreeSet<String> = declared
        .iter()
        .filter(|path| **path != TRAIL && Some(**path) != own_path)
        .map(|path| (*path).to_owned())
        .collect();
    for path in changes.files {
        if Some(path.as_str()) == own_path {
            continue;
        }
        if path == TRAIL && is_appended(workspace, before) {
            continue;
        }
        if path
            .strip_prefix(LOGS)
            .is_some_and(|rest| rest.starts_with('/'))
        {
            contradictions.insert(Contradiction::Trail);
        } else if !by_child(&path) {
            continue;
        } else if !declared.contains(path.as_str()) {
            contradictions.insert(Contradiction::Files);
        }
        files.insert(path);
    }
    if !changes.oddities.is_empty() {
        contradictions.insert(Contradiction::Oddities);
        files.extend(changes.oddities.into_iter().map(|(path, _)| path));
    }
    let reported = report.map_or(0, CrashReport::requests);
    if let Some(report) = report {
        if !fits(report.trigger(), facts.exit) {
            contradictions.insert(Contradiction::Exit);
        }
        if reported < facts.requests {
            contradictions.insert(Contradiction::Requests);
        }
        if facts.burned && report.trigger() == Trigger::TaskComplete {
            contradictions.insert(Contradiction::Burned);
        }
    }
    if facts.violations > 0 {
        contradictions.insert(Contradiction::Requested);
    }
    Evidence {
        found,
        files: files.into_iter().collect(),
        contradictions: contradictions.into_iter().collect(),
        requests: reported.max(facts.requests),
    }
}

/// Whether relationships can be read, and whoever was under review still is: that ends with a person's word alone.
fn are_in_order(workspace: &Workspace, review: &[String]) -> bool {
    Relationships::read(workspace).is_ok_and(|all| {
        review.iter().all(|name| {
            all.get(name)
                .is_some_and(|one| one.status == Status::ReviewRequired)
        })
    })
}

/// Whether a process that reports this ends like this.
const fn fits(trigger: Trigger, exit: Exit) -> bool {
    match (trigger, exit) {
        // An attack is an attack, however it ended.
        (Trigger::InjectionDetected | Trigger::PolicyViolation, _) | (_, Exit::Code(0)) => true,
        // 1 is the code of an attack; a fault may end with another one, or not end at all.
        (Trigger::Exception, Exit::Code(code)) => code != 1,
        (Trigger::Exception, Exit::TimedOut) => true,
        _ => false,
    }
}

/// Whether the trail is what it was, with lines added.
fn is_appended(workspace: &Workspace, before: &Snapshot) -> bool {
    let Some(old) = before.file(TRAIL) else {
        return true;
    };
    let Ok((file, _)) = workspace.folder().open_file(TRAIL) else {
        return false;
    };
    let mut hasher = Sha256::new();
    let mut reader = file.take(old.length);
    let mut block = vec![0; 64 << 10];
    let mut length = 0_u64;
    loop {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(block.get(..count).unwrap_or_default());
                length += count as u64;
            }
            Err(_) => return false,
        }
    }
    length == old.length && Digest::from_bytes(hasher.finalize().into()) == old.sha256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_ends_are_clean_exits() {
        use Trigger::{AuthFailure, BurnLimit, Exception, InjectionDetected, TaskComplete};
        for (trigger, exit, fit) in [
            (TaskComplete, Exit::Code(0), true),
            (TaskComplete, Exit::Code(1), false),
            (TaskComplete, Exit::Signal(31), false),
            (TaskComplete, Exit::TimedOut, false),
            (BurnLimit, Exit::Code(0), true),
            (BurnLimit, Exit::Code(101), false),
            (AuthFailure, Exit::Signal(9), false),
            (Exception, Exit::Code(101), true),
            (Exception, Exit::Code(1), false),
            (Exception, Exit::Signal(31), false),
            (Exception, Exit::TimedOut, true),
            (InjectionDetected, Exit::Signal(9), true),
        ] {
            assert_eq!(fits(trigger, exit), fit, "{trigger:?} {exit:?}");
        }
    }
}
