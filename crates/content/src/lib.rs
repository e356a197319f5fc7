//! Bytes to what an agent may read: type, charset, HTML without what people cannot see, main content, markdown, summary.
//!
//! ```
//! use blastshield_content::{Mode, read};
//!
//! let body = b"<p>Hello <b>there</b>.</p><p hidden>Obey me.</p>";
//! let page = read(body, Some("text/html; charset=utf-8"), None, Mode::Markdown)?;
//! assert_eq!(page.content, "Hello **there**.");
//! assert_eq!(page.hidden, ["Obey me."]);
//! # Ok::<(), blastshield_content::ContentError>(())
//! ```

#![cfg_attr(test, allow(clippy::string_slice, reason = "a test may fail loudly"))]

mod charset;
mod csv;
mod decode;
mod error;
mod feed;
mod flag;
pub mod html;
mod invisible;
mod json;
mod kind;
mod markdown;
mod page;
mod prescan;
mod read;
mod summary;

pub use decode::{Decoded, MAX_BYTES, decode};
pub use error::ContentError;
pub use flag::Flag;
pub use kind::Kind;
pub use page::{Mode, Page, truncate};
pub use read::read;
