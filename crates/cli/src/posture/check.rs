//! What a check is: a row of a table with a function that looks.

use super::scene::Scene;
use blastshield_audit::Severity;
use std::path::PathBuf;

/// One thing that is looked at.
pub(crate) struct Check {
    /// `area.what`, stable.
    pub(crate) id: &'static str,
    /// How grave it is when it is found.
    pub(crate) severity: Severity,
    /// What is wrong when it is found.
    pub(crate) title: &'static str,
    /// What mends it, unless the finding knows better.
    pub(crate) fix: &'static str,
    pub(crate) look: fn(&Scene) -> Outcome,
}

/// What a check saw.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing wrong.
    Fine,
    /// What it looks at is not part of this deployment, or cannot be seen from here.
    NotHere,
    /// Something wrong.
    Found(Found),
}

/// Something wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// What was seen; never a secret.
    pub(crate) evidence: String,
    /// The command that mends exactly this.
    pub(crate) fix: Option<String>,
    /// What `--fix` does about it.
    pub(crate) mends: Vec<Mend>,
}

/// Rights to take from a file or folder of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mend {
    pub(crate) path: PathBuf,
    /// Bits of the mode that go.
    pub(crate) take: u32,
}

pub(crate) const fn info(
    id: &'static str,
    title: &'static str,
    fix: &'static str,
    look: fn(&Scene) -> Outcome,
) -> Check {
    check(id, Severity::Info, title, fix, look)
}

pub(crate) const fn warn(
    id: &'static str,
    title: &'static str,
    fix: &'static str,
    look: fn(&Scene) -> Outcome,
) -> Check {
    check(id, Severity::Warn, title, fix, look)
}

pub(crate) const fn critical(
    id: &'static str,
    title: &'static str,
    fix: &'static str,
    look: fn(&Scene) -> Outcome,
) -> Check {
    check(id, Severity::Critical, title, fix, look)
}

const fn check(
    id: &'static str,
    severity: Severity,
    title: &'static str,
    fix: &'static str,
    look: fn(&Scene) -> Outcome,
) -> Check {
    Check {
        id,
        severity,
        title,
        fix,
        look,
    }
}

/// Something wrong, mended as the table says.
pub(crate) fn found(evidence: impl Into<String>) -> Outcome {
    Outcome::Found(Found {
        evidence: crate::said::clean(&evidence.into()).into_owned(),
        fix: None,
        mends: Vec::new(),
    })
}

/// Found when `wrong`.
pub(crate) fn found_if(wrong: bool, evidence: impl FnOnce() -> String) -> Outcome {
    if wrong {
        found(evidence())
    } else {
        Outcome::Fine
    }
}

/// Found when there is anything in the list.
pub(crate) fn found_any(list: Vec<String>) -> Outcome {
    if list.is_empty() {
        Outcome::Fine
    } else {
        found(listed(list))
    }
}

/// The first few of a list.
pub(crate) fn listed(mut list: Vec<String>) -> String {
    const SHOWN: usize = 5;
    let more = list.len().saturating_sub(SHOWN);
    list.truncate(SHOWN);
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}
