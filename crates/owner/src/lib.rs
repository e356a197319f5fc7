//! The owner's yes: what is asked, how it is shown, through which channels it goes, and what the answer counts for.
//!
//! A request is shown as a [`Message`] that its details cannot forge, is bound to the hash of exactly what is shown, and is
//! decided once: by the owner, or by time, which means no. Nothing counts as approved before the audit log says so.

#![cfg_attr(test, allow(clippy::string_slice, reason = "a test may fail loudly"))]

mod approvals;
mod ask;
mod channel;
mod claim;
mod clock;
pub mod command;
mod error;
mod id;
mod message;
mod options;
mod outbox;
mod pace;
mod post;
mod record;
mod request;
mod seal;
mod settle;
pub mod show;
pub mod state;
mod telegram;
mod words;

pub use approvals::Approvals;
pub use ask::{Action, Ask, MAX_DETAILS, MAX_REASON, MAX_REQUESTER, MAX_VALUE, Value, ascii_host};
pub use blastshield_audit::{Recorder, Unrecorded};
pub use channel::{ChannelState, ChannelStatus};
pub use error::{AskError, ClaimError, DecideError, WaitError};
pub use id::RequestId;
pub use message::{Message, TITLE, decided};
pub use options::{Options, Timeouts};
pub use outbox::Running;
pub use pace::Pace;
pub use post::{DiscordChannel, WebhookChannel};
pub use request::{Grant, Page, Request};
pub use state::{Refusal, Reply, Scope, State, Verdict};
pub use telegram::{TelegramChannel, TelegramSettings};
pub use words::Alerts;
