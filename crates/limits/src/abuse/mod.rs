//! Abuse patterns: what a session does again and again, and what follows from it.
//!
//! The history of a session holds hashes, lengths, scores and which rules matched; never contents.

mod credentials;
mod history;
mod pattern;
mod shipped;
mod watch;
mod words;

pub use credentials::asks_for_credentials;
pub(crate) use history::Conduct;
pub use history::{HISTORY, PastEvent};
pub use pattern::{AbuseSettings, Action, EventKind, Pattern, Rule, Severity, Trigger};
pub use shipped::SUSPICIOUS_SCORE;
pub use watch::{Detection, MAX_RULES, Sighting};
pub(crate) use watch::{Event, Watch};
