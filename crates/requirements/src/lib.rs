//! What must be set in the environment, and which modes follow from what is set.
//!
//! A schema says which variables there are, how grave it is when one is missing, and how the features of a deployment
//! follow from them. [`Requirements::check`] looks each variable up once and answers with names, states and modes:
//! values are looked at and dropped.
//!
//! ```
//! use blastshield_requirements::{Requirements, Severity};
//!
//! let report = Requirements::shipped()?.check(|_| None);
//! assert_eq!(report.gravest, Some(Severity::Critical));
//! assert_eq!(report.mode("wallet"), Some("disabled"));
//! # Ok::<(), blastshield_requirements::SchemaError>(())
//! ```

mod changes;
mod check;
mod env_file;
mod error;
mod node;
mod parse;
mod pattern;
mod report;
mod schema;

pub use changes::{Change, Subject};
pub use env_file::{EnvFile, EnvFileError, MAX_ENV_FILE_BYTES};
pub use error::{Fault, MAX_SCHEMA_BYTES, SchemaError};
pub use report::{Finding, Problem, Report, Severity, State};
pub use schema::{Feature, Mode, Requirements, SHIPPED, Variable};
