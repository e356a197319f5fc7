//! What is to go out, as files in `drafts/` with a state that only moves forward.
//!
//! `IN_PROGRESS` → `PENDING_APPROVAL` → `SENT`; from the first two also → `ABANDONED`; what needs no approval goes from
//! `IN_PROGRESS` to `SENT`. `SENT` and `ABANDONED` are final.

use crate::names::RelPath;
use crate::workspace::{DRAFTS, Workspace, WorkspaceError};
use blastshield_audit::{Digest, Time};
use serde::{Deserialize, Serialize};

/// Characters of a draft's text at most.
pub const MAX_BODY: usize = 64 << 10;
/// Drafts that are looked at.
pub const MAX_DRAFTS: usize = 1000;
const MAX_FILE: u64 = 512 << 10;
const MAX_LABEL: usize = 64;

/// Where a draft stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DraftState {
    /// Being written.
    InProgress,
    /// The owner is asked.
    PendingApproval,
    /// It went out.
    Sent,
    /// It will not go out.
    Abandoned,
}

impl DraftState {
    /// The word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::PendingApproval => "PENDING_APPROVAL",
            Self::Sent => "SENT",
            Self::Abandoned => "ABANDONED",
        }
    }

    /// Whether it may become this.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (
                Self::InProgress,
                Self::PendingApproval | Self::Sent | Self::Abandoned
            ) | (Self::PendingApproval, Self::Sent | Self::Abandoned)
        )
    }
}

/// A draft was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// Not from where it stands.
    #[error("a draft that is {} cannot become {}", .from.as_str(), .to.as_str())]
    Illegal {
        /// Where it stands.
        from: DraftState,
        /// What was wanted.
        to: DraftState,
    },
    /// The file.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// A draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    id: String,
    state: DraftState,
    operation: String,
    created: String,
    updated: String,
    body: String,
}

impl Draft {
    /// Begins a draft; its id is its file's name in `drafts/`, without `.json`.
    ///
    /// # Errors
    /// When the id is no plain name or taken, or the text too long.
    pub fn begin(
        workspace: &Workspace,
        id: &str,
        operation: &str,
        body: &str,
        now: Time,
    ) -> Result<Self, WorkspaceError> {
        let draft = Self {
            id: id.to_owned(),
            state: DraftState::InProgress,
            operation: operation.to_owned(),
            created: now.to_string(),
            updated: now.to_string(),
            body: body.to_owned(),
        };
        draft.check()?;
        workspace.create(&draft.path(), &draft.bytes()?)?;
        Ok(draft)
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is missing, no plain file, or malformed.
    pub fn read(workspace: &Workspace, id: &str) -> Result<Self, WorkspaceError> {
        let path = path(id).ok_or(WorkspaceError::Malformed("id"))?;
        let bytes = workspace.read(&path, MAX_FILE)?;
        let draft: Self =
            serde_json::from_slice(&bytes).map_err(|_| WorkspaceError::Malformed("draft"))?;
        if draft.id != id {
            return Err(WorkspaceError::Malformed("id"));
        }
        draft.check()?;
        Ok(draft)
    }

    /// Moves it on; on return that is on disk. The state on disk counts, not the one in hand.
    ///
    /// # Errors
    /// [`DraftError::Illegal`] when the way is closed.
    pub fn become_state(
        &mut self,
        workspace: &Workspace,
        to: DraftState,
        now: Time,
    ) -> Result<(), DraftError> {
        let kept = Self::read(workspace, &self.id)?;
        if !kept.state.may_become(to) {
            return Err(DraftError::Illegal {
                from: kept.state,
                to,
            });
        }
        let next = Self {
            state: to,
            updated: now.to_string(),
            ..kept
        };
        workspace.write(&next.path(), &next.bytes()?)?;
        *self = next;
        Ok(())
    }

    /// Replaces the text of a draft that is in progress.
    ///
    /// # Errors
    /// When it is not, or the text is too long.
    pub fn rewrite(
        &mut self,
        workspace: &Workspace,
        body: &str,
        now: Time,
    ) -> Result<(), DraftError> {
        let kept = Self::read(workspace, &self.id)?;
        if kept.state != DraftState::InProgress {
            return Err(DraftError::Illegal {
                from: kept.state,
                to: DraftState::InProgress,
            });
        }
        let next = Self {
            body: body.to_owned(),
            updated: now.to_string(),
            ..kept
        };
        next.check()?;
        workspace.write(&next.path(), &next.bytes()?)?;
        *self = next;
        Ok(())
    }

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it stands.
    #[must_use]
    pub const fn state(&self) -> DraftState {
        self.state
    }

    /// What it is for.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Its text.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Of its text: what an approval is bound to.
    #[must_use]
    pub fn sha256(&self) -> Digest {
        Digest::of(self.body.as_bytes())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> RelPath {
        // The id was checked when the draft was made or read.
        RelPath::trusted(format!("{DRAFTS}/{}.json", self.id))
    }

    fn check(&self) -> Result<(), WorkspaceError> {
        if path(&self.id).is_none() {
            return Err(WorkspaceError::Malformed("id"));
        }
        if self.operation.is_empty() || self.operation.len() > MAX_LABEL {
            return Err(WorkspaceError::Malformed("operation"));
        }
        if self.body.len() > MAX_BODY {
            return Err(WorkspaceError::TooLarge);
        }
        if Time::parse(&self.created).is_none() || Time::parse(&self.updated).is_none() {
            return Err(WorkspaceError::Malformed("time"));
        }
        Ok(())
    }

    fn bytes(&self) -> Result<Vec<u8>, WorkspaceError> {
        serde_json::to_vec_pretty(self).map_err(|_| WorkspaceError::Malformed("draft"))
    }
}

fn path(id: &str) -> Option<RelPath> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if id.is_empty() || id.len() > MAX_LABEL || !id.bytes().all(plain) {
        return None;
    }
    RelPath::new(&format!("{DRAFTS}/{id}.json")).ok()
}

/// Every well-formed draft, by name; what is no draft is left out and counted.
///
/// # Errors
/// When the folder cannot be read.
pub fn list(workspace: &Workspace) -> Result<(Vec<Draft>, usize), WorkspaceError> {
    let folder = workspace.folder().child(DRAFTS)?;
    let (mut names, more) = folder.names(MAX_DRAFTS)?;
    names.sort();
    let mut drafts = Vec::new();
    let mut others = usize::from(more);
    for name in names {
        let id = name
            .to_str()
            .ok()
            .and_then(|name| name.strip_suffix(".json"));
        match id.map(|id| Draft::read(workspace, id)) {
            Some(Ok(draft)) => drafts.push(draft),
            _ => others += 1,
        }
    }
    Ok((drafts, others))
}

/// Drafts that are being written.
///
/// # Errors
/// When the folder cannot be read.
pub fn in_progress(workspace: &Workspace) -> Result<Vec<Draft>, WorkspaceError> {
    let (mut drafts, _) = list(workspace)?;
    drafts.retain(|draft| draft.state == DraftState::InProgress);
    Ok(drafts)
}

/// Gives up every draft that is being written; which ones.
///
/// # Errors
/// When the folder cannot be read.
pub fn abandon_in_progress(
    workspace: &Workspace,
    now: Time,
) -> Result<Vec<RelPath>, WorkspaceError> {
    Ok(abandon(workspace, in_progress(workspace)?, now))
}

pub(crate) fn abandon(workspace: &Workspace, open: Vec<Draft>, now: Time) -> Vec<RelPath> {
    open.into_iter()
        .filter_map(|mut draft| {
            let done = draft.become_state(workspace, DraftState::Abandoned, now);
            done.is_ok().then(|| draft.path())
        })
        .collect()
}

#[cfg(test)]
mod tests;
