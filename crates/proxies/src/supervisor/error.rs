//! Why proxies cannot be set up, and why a task is not taken.

use crate::definition::{BadInput, DefinitionError};
use blastshield_recovery::RecoveryError;

/// Proxies cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// A definition.
    #[error("the service definition {file} cannot be used: {error}")]
    Definition {
        /// Its file.
        file: String,
        /// Why.
        error: DefinitionError,
    },
    /// The folder of definitions.
    #[error("the folder of service definitions cannot be read: {0}")]
    Folder(std::io::ErrorKind),
    /// Too many of them.
    #[error("there are too many service definitions")]
    TooMany,
    /// A name.
    #[error("a service's name cannot be used for its workspace")]
    Name,
    /// What is remembered of a service.
    #[error("the state of a service cannot be read: {0}")]
    State(std::io::ErrorKind),
    /// One core at a time.
    #[error("another process runs the proxies of this data folder; give the task to it")]
    Busy,
    /// Recovery.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
}

/// A task was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// No such service.
    #[error("there is no service of this name")]
    Service,
    /// No such operation.
    #[error("the service has no such operation")]
    Operation,
    /// Its parameters.
    #[error(transparent)]
    Input(#[from] BadInput),
    /// With whom.
    #[error("with names somebody by at most 64 visible characters")]
    With,
    /// The credential is not set.
    #[error("the variable {0} is not set: the service needs a credential")]
    Credential(String),
    /// Too many.
    #[error("too many tasks are on; try again")]
    Busy,
    /// It could not be kept.
    #[error("the task could not be kept; try again")]
    Unkept,
    /// No random id.
    #[error("the system gives no random numbers")]
    NoRandom,
    /// It is being closed.
    #[error("the proxies are being closed")]
    Closing,
}
