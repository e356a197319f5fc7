//! The inbound stages in order, as types: each is made only from the one before it.
//!
//! `Raw` → `Sized` → `Sanitised` → `Scanned` → `Validated` → a [`Verdict`], and only an allowing one holds
//! [`SafeContent`]. There is no way to content that was not scored, and what is scored is exactly what is returned.
//!
//! ```
//! use blastshield_detect::{Detector, Profile};
//! use blastshield_pipeline::{Mode, Raw, Verdict};
//!
//! let detector = Detector::shipped()?;
//! let page = b"<p>Bread needs flour, water, salt and time.</p>";
//! let verdict = Raw::new(page, Some("text/html"), None)
//!     .sized(1_000_000)?
//!     .sanitised(Mode::Text, None)?
//!     .scanned(&detector)
//!     .validated(None)?
//!     .judged_by(Profile::Strict);
//! assert!(matches!(verdict, Verdict::Safe(content) if content.text().starts_with("Bread")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod links;
mod report;
mod schema;
mod snippet;
mod stages;
mod verdict;

pub use blastshield_content::{ContentError, Mode};
pub use report::{Fingerprint, Report};
pub use schema::{MAX_DEPTH, Schema, SchemaError};
pub use snippet::{Risk, Snippet, snippet};
pub use stages::{Raw, Sanitised, Scanned, Sized, StageError, Validated};
pub use verdict::{Blocked, Gray, SafeContent, Verdict};
