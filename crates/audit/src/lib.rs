//! What happened, and proof of it: one typed [`Event`] goes into a hash-chained [`log`], the [`metrics`] and the
//! [`alerts`], redacted and bounded.
//!
//! ```
//! use blastshield_audit::{Audit, Event, Log, SystemClock, alerts::Rules, log};
//! use blastshield_leak::Scanner;
//! use std::sync::Arc;
//!
//! # let folder = tempfile::tempdir()?;
//! let redact = Arc::new(Scanner::shipped());
//! let clock = Arc::new(SystemClock);
//! let log = Arc::new(Log::open(folder.path(), log::Options::default(), redact.clone(), clock.clone())?);
//! let audit = Audit::new(log, Rules::default(), Vec::new(), redact, clock);
//! audit.record(&Event::ConfigChanged { key: "fail_closed", by: "owner" })?;
//! assert!(matches!(log::verify(folder.path())?, log::Verdict::Verified { entries: 2, .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod alerts;
mod clean;
mod digest;
mod error;
mod event;
mod files;
mod kinds;
pub mod log;
pub mod metrics;
mod record;
mod recorder;
mod relay;
pub mod status;
mod time;
mod visible;

pub use alerts::{Alert, Alerts};
pub use clean::{MAX_DEPTH, MAX_DETAILS, MAX_MESSAGE, Redact};
pub use digest::{Digest, Fingerprint};
pub use error::LogError;
pub use event::{Answer, Decision, Event, Level, Origin, PaymentStep, Risk};
pub use kinds::{Category, Severity};
pub use log::Log;
pub use metrics::Metrics;
pub use record::Audit;
pub use recorder::{Recorder, Unrecorded};
pub use relay::{Relay, take_in};
pub use time::{Clock, SystemClock, Time};
