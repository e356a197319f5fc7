//! Why a session did not begin, was not judged, or was not cleared. No variant carries a path.

use crate::workspace::WorkspaceError;
use blastshield_store::StoreError;

/// A session may not begin. Nothing was spawned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// A hold is on.
    #[error("the service is on hold ({kind}, since {id}): {reason}")]
    Held {
        /// The hold, by which it is cleared.
        id: String,
        /// `adversarial`, `pattern`, `fix` or `investigate`.
        kind: &'static str,
        /// Why.
        reason: String,
    },
    /// A session of this service is on, here or in another process.
    #[error("another session of this service is running")]
    Busy,
    /// Links, pipes or too much are in the workspace although no session put them there.
    #[error("the workspace holds what does not belong there; look at it, then try again")]
    Odd,
    /// The workspace has nearly reached its bounds; a session that crossed them would count as an attack.
    #[error("the workspace is nearly full; remove posts that are no longer needed")]
    Full,
    /// It cannot be known.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
}

/// Recovery could not do its work. Whatever it was about waits: nothing is spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoveryError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace, or the folders around it.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The audit log does not take it.
    #[error("the audit log does not take what must be recorded")]
    Unrecorded,
    /// The system gives no random numbers.
    #[error("no random id could be made")]
    NoRandom,
    /// What the store says of a quarantine does not fit the folders.
    #[error("the quarantine does not fit the folders that are there; look at them")]
    Inconsistent,
    /// Somebody else works on this service.
    #[error("another process works on this service; try again when it is done")]
    Busy,
}

impl From<std::io::Error> for RecoveryError {
    fn from(error: std::io::Error) -> Self {
        Self::Workspace(error.into())
    }
}

impl From<crate::Unrecorded> for RecoveryError {
    fn from(_: crate::Unrecorded) -> Self {
        Self::Unrecorded
    }
}

/// A hold was not cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClearError {
    /// There is none with this id.
    #[error("there is no hold with this id")]
    Unknown,
    /// It was cleared before.
    #[error("the hold was already cleared")]
    Already,
    /// Only the owner ends such a hold.
    #[error("only the owner may clear this hold")]
    OwnerOnly,
    /// Whoever clears it must be named.
    #[error("say who clears it: 1 to 64 visible characters")]
    Who,
    /// It could not be done; the hold stays.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
}

impl From<StoreError> for ClearError {
    fn from(error: StoreError) -> Self {
        Self::Recovery(error.into())
    }
}
