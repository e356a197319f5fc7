//! Clients of the services an operator configured: search providers, the model judge, the Browserless renderer,
//! the chats through which the owner is reached.
//!
//! The operator chose these addresses, so they are dialled without the address guard; what they answer is
//! still an outsider's answer: bounded in bytes and time, never followed elsewhere, parsed strictly.

#![cfg_attr(test, allow(clippy::string_slice, reason = "a test may fail loudly"))]

mod base;
mod browserless;
mod discord;
mod error;
mod judge;
mod lnbits;
mod search;
mod secret;
mod telegram;
mod transport;
mod webhook;

pub use base::BaseUrl;
pub use browserless::{Browserless, BrowserlessOptions, RenderError, Rendered, WaitUntil};
pub use discord::Discord;
pub use error::{CallError, ConfigError, Fault};
pub use judge::{
    Judge, JudgeContext, JudgeError, JudgeOptions, JudgeProvider, OpenAiApi, ReasonCode, Ruling,
    Verdict,
};
pub use lnbits::{Lnbits, LnbitsError, LnbitsOptions, PayAnswer, PaymentStatus};
pub use search::{
    Brave, BraveOptions, Hit, Provider, ProviderName, QueryError, RateClass, SafeSearch, Search,
    SearchAnswer, SearchError, SearchQuery, SearchStrategy, Searxng, SearxngOptions,
};
pub use secret::Secret;
pub use telegram::{
    Button, Callback, Chat, Incoming, Outgoing, Span, Telegram, TelegramError, TelegramOptions,
    Update, UpdateKind,
};
pub use webhook::Webhook;
