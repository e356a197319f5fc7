//! When a security proxy dies: what it leaves behind, what core makes of it, and what must happen before it may live again.
//!
//! **In core**, around each spawn:
//!
//! 1. [`Recovery::begin`] takes the service's lock, refuses while a hold is on, looks at the workspace and notes the
//!    session in the store. One child at a time per service: what changed is then attributable.
//! 2. Core spawns the child with [`Session::path`] as its only folder, and waits for it to be gone.
//! 3. [`Recovery::end`] takes core's own account ([`Facts`]), reads the child's ([`report`]), weighs both
//!    ([`decision`]), raises the alert, keeps hold and quarantine in the store, moves the workspace aside and restores it.
//!    A [`Session`] that is dropped without it, or lost with core, counts as an end without a report.
//! 4. [`Recovery::resume`] at start finishes what a crash of core interrupted. [`Recovery::backup`] daily.
//!    [`Recovery::clear`] when the owner says so, [`Recovery::settle`] when core itself mended the cause of an exception.
//!
//! **In the child**: [`Workspace::open`], [`Trail`] for its calls, [`drafts`], [`relationships`], and [`farewell`] on
//! every way out.

#![cfg_attr(test, allow(clippy::string_slice, reason = "a test may fail loudly"))]

pub mod alert;
pub mod backups;
mod clear;
pub mod decision;
pub mod drafts;
mod ending;
mod error;
mod evidence;
pub mod farewell;
mod folder;
mod home;
mod id;
mod names;
mod quarantine;
mod record;
mod recovery;
pub mod relationships;
pub mod report;
mod restore;
mod session;
pub mod snapshot;
mod trail;
mod views;
pub mod workspace;

pub use blastshield_audit::{Recorder, Unrecorded};
pub use clear::Cleared;
pub use decision::{Contradiction, Decision, Exit, Hold, Kind, Respawn};
pub use ending::Outcome;
pub use error::{BeginError, ClearError, RecoveryError};
pub use evidence::{Evidence, Facts};
pub use names::{NameError, RelPath, ServiceName};
pub use quarantine::Step;
pub use recovery::{Options, Recovery};
pub use report::{CrashReport, LastWords, Suspicious, Trigger};
pub use restore::{RestoreError, Restored};
pub use session::Session;
pub use trail::Trail;
pub use views::{HoldView, QuarantineView};
pub use workspace::{Workspace, WorkspaceError};
