//! Secrets, personal data, internal terms and canaries: found in plain text, in URLs, encoded or cut in pieces; named by
//! place, never by value.
//!
//! ```
//! use blastshield_leak::{Class, Scanner};
//!
//! let scanner = Scanner::shipped();
//! let text = "write to jane.doe@example.org";
//! let found = scanner.scan(text);
//! assert_eq!(found.len(), 1);
//! assert_eq!((found[0].class, &text[found[0].span()]), (Class::Personal, "jane.doe@example.org"));
//! assert_eq!(scanner.redact(text), "write to [REDACTED]");
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod assign;
mod blocks;
mod canary;
mod catalogue;
mod check;
mod engine;
mod finding;
mod forms;
mod hold;
mod known;
mod literals;
mod names;
mod net;
mod number;
mod pass;
mod phrase;
mod proof;
mod redact;
mod rules;
mod runs;
mod scanner;
mod spellings;
mod split;
mod stream;
#[cfg(test)]
mod tests;
mod value;
mod view;
mod words;
mod work;

pub use canary::{Canary, CanaryError, Leak, Severity};
pub use catalogue::{RuleInfo, rules};
pub use finding::{Class, Finding, Scope, Seen};
pub use redact::{REDACTED, fingerprint};
pub use scanner::{BuildError, Builder, Scanner};
pub use stream::{Released, Stream};
