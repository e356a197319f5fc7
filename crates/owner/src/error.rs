//! Why something was not asked, decided, awaited or used.

use crate::state::{Refusal, State};
use blastshield_store::StoreError;

/// A request was not made; nobody was asked, and the answer is no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// A field is empty, too long or malformed.
    #[error("the request's {0} is missing, too long or malformed")]
    Invalid(&'static str),
    /// This requester has too many open requests.
    #[error("too many of your requests wait for the owner; wait for an answer first")]
    TooManyOfYours,
    /// This requester asked too often of late.
    #[error("too many requests within an hour; the owner is not asked again so soon")]
    TooOften,
    /// There are too many open requests.
    #[error("too many requests wait for the owner; try again later")]
    TooMany,
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It could not be written to the audit log.
    #[error("the request could not be recorded, so it was not made")]
    Unrecorded,
    /// The system gives no random numbers.
    #[error("no random id could be made")]
    NoRandom,
}

/// A decision did not take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// It does not count, and changed nothing.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store cannot say; look again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It stands, but has no effect before the audit log has it; that is tried again by itself.
    #[error("the decision waits for the audit log")]
    Unrecorded,
}

/// An answer could not be awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// There is no such request, or it is somebody else's.
    #[error("there is no request with this id")]
    Unknown,
    /// Too many wait already.
    #[error("too many wait for answers; ask again without waiting")]
    TooMany,
    /// The store cannot say.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An approval may not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// There is no such request.
    #[error("there is no request with this id")]
    Unknown,
    /// It is not approved.
    #[error("the request is {}", .0.as_str())]
    Not(State),
    /// Something else was approved.
    #[error("this is not what was approved; ask again")]
    Changed,
    /// It was used before.
    #[error("the approval was already used")]
    Used,
    /// Its use could not be written to the audit log; it is used up all the same.
    #[error("the use of the approval could not be recorded; ask again")]
    Unrecorded,
    /// It was given too long ago.
    #[error("the approval is too old; ask again")]
    Old,
    /// The store cannot say.
    #[error(transparent)]
    Store(#[from] StoreError),
}
