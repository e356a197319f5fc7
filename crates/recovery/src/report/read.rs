//! Reads a report as what it is: a file that a hostile process may have written to look clean.

use super::{
    CrashReport, MAX_ACTION, MAX_DETAIL, MAX_FILES, MAX_REPORT, Suspicious, Trigger, Wire, clean,
};
use crate::names::RelPath;
use crate::snapshot::Snapshot;
use crate::workspace::{LOGS, Workspace, WorkspaceError};
use blastshield_audit::Time;
use blastshield_leak::Scanner;
use std::time::Duration;

/// How far a report's moment may lie outside its session: clocks are read twice.
const SLACK: Duration = Duration::from_secs(2);

/// What was found in place of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A well-formed report of this session.
    Report(Box<CrashReport>, RelPath),
    /// Nothing.
    Missing,
    /// Something else.
    Unusable(Unusable),
}

/// Why a file does not count as this session's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A link, pipe or folder, or it cannot be read.
    #[error("the crash report is no plain file")]
    NotPlain,
    /// Too large.
    #[error("the crash report is too large")]
    TooLarge,
    /// Not the fields of a report, or values out of bounds.
    #[error("the crash report is malformed")]
    Malformed,
    /// `adversarial` is not what the trigger says.
    #[error("the crash report contradicts itself")]
    Inconsistent,
    /// It does not speak of this session.
    #[error("the crash report is of another time")]
    OtherTime,
    /// A session ends once.
    #[error("there is more than one crash report")]
    Several,
}

/// Looks for the report of a session that began at `started` with a workspace as in `before`, and left it as in `after`.
/// What was there before the session is never its report.
#[must_use]
pub fn find(
    workspace: &Workspace,
    before: &Snapshot,
    after: &Snapshot,
    redact: &Scanner,
    (started, now): (Time, Time),
) -> Found {
    let is_report = |path: &str| {
        path.strip_prefix(LOGS)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| name.starts_with("crash-") && !name.contains('/'))
    };
    let odd = after.oddities().any(|(path, _)| is_report(path));
    let fresh: Vec<&str> = after
        .paths()
        .filter(|path| is_report(path) && before.file(path).is_none())
        .collect();
    match fresh.as_slice() {
        _ if odd => Found::Unusable(Unusable::NotPlain),
        [] => Found::Missing,
        [path] => match read(workspace, path, redact, (started, now)) {
            Ok((report, path)) => Found::Report(Box::new(report), path),
            Err(why) => Found::Unusable(why),
        },
        _ => Found::Unusable(Unusable::Several),
    }
}

fn read(
    workspace: &Workspace,
    path: &str,
    redact: &Scanner,
    (started, now): (Time, Time),
) -> Result<(CrashReport, RelPath), Unusable> {
    let path = RelPath::new(path).map_err(|_| Unusable::NotPlain)?;
    let bytes = workspace
        .read(&path, MAX_REPORT)
        .map_err(|error| match error {
            WorkspaceError::TooLarge => Unusable::TooLarge,
            _ => Unusable::NotPlain,
        })?;
    let raw: Wire = serde_json::from_slice(&bytes).map_err(|_| Unusable::Malformed)?;
    let report = parse(&raw, redact)?;
    if path.as_str() != format!("{LOGS}/{}.json", report.crash_id()) {
        return Err(Unusable::Malformed);
    }
    // A clock set back in between makes the end come before the start.
    let (first, last) = (started.min(now), started.max(now));
    let early = first.since(report.time) > SLACK;
    let late = report.time.since(last) > SLACK;
    if early || late {
        return Err(Unusable::OtherTime);
    }
    Ok((report, path))
}

fn parse(raw: &Wire, redact: &Scanner) -> Result<CrashReport, Unusable> {
    let trigger = Trigger::parse(&raw.trigger).ok_or(Unusable::Malformed)?;
    if raw.adversarial != trigger.is_adversarial() {
        return Err(Unusable::Inconsistent);
    }
    let time = Time::parse(&raw.timestamp)
        .filter(|time| time.to_string() == raw.timestamp)
        .ok_or(Unusable::Malformed)?;
    if raw.crash_id != format!("crash-{time}") {
        return Err(Unusable::Malformed);
    }
    let suspicious = match (&raw.suspicious_content_hash, raw.suspicious_content_length) {
        (None, None) => None,
        (Some(hash), Some(length)) if trigger.is_adversarial() => {
            Some(Suspicious::from_parts(hash, length).ok_or(Unusable::Malformed)?)
        }
        _ => return Err(Unusable::Malformed),
    };
    if raw.files_written_this_session.len() > MAX_FILES
        || raw.trigger_detail.chars().count() > MAX_DETAIL
        || raw.last_action.chars().count() > MAX_ACTION
    {
        return Err(Unusable::Malformed);
    }
    let files: Result<Vec<RelPath>, _> = raw
        .files_written_this_session
        .iter()
        .map(|path| RelPath::new(path))
        .collect();
    Ok(CrashReport {
        time,
        trigger,
        detail: clean(&raw.trigger_detail, redact, MAX_DETAIL),
        last_action: clean(&raw.last_action, redact, MAX_ACTION),
        requests: raw.session_request_count,
        suspicious,
        files_written: files.map_err(|_| Unusable::Malformed)?,
    })
}
