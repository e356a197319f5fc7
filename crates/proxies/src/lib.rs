//! Security proxies: one sacrificial, confined worker for each task with an untrusted service, and a core that believes
//! nothing it says.
//!
//! A [`Definition`] says what a service is and what may be asked of it. The [`Supervisor`] takes tasks, starts a worker in
//! the sandbox, serves its one request through the broker, and judges its end with `recovery`. [`worker_main`] is the
//! worker itself.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice,
        reason = "a test may fail loudly"
    )
)]

mod aside;
mod broker;
mod capability;
pub mod definition;
mod fault;
mod leaks;
mod protocol;
mod shape;
mod state;
mod supervisor;
mod worker;

pub use broker::{Dialler, Token};
pub use capability::NoRandomness;
pub use definition::{Definition, DefinitionError};
#[doc(hidden)]
pub use fault::probe;
pub use supervisor::{
    Config, CredentialSource, Definitions, KEPT, OpenError, OperationView, PeopleError, PersonView,
    ScannerSource, ServiceView, SubmitError, Supervisor, TaskError, TaskState, TaskView,
    definitions,
};
pub use worker::{JOB, Prepared, worker_main};
