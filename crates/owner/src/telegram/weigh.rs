//! Whether a message is the owner's own word.

use blastshield_upstream::{Callback, Incoming};

/// How far two clocks may be apart: a message may seem so much older than the request that it answers.
pub(super) const SLACK_S: i64 = 120;

/// The text of a message that counts.
///
/// # Errors
/// Why it does not.
pub(super) fn message(
    message: &Incoming,
    owner: i64,
    not_before_s: i64,
) -> Result<&str, &'static str> {
    if message.from != Some(owner) || message.from_bot {
        return Err("not from the owner");
    }
    if !message
        .chat
        .is_some_and(|chat| chat.private && chat.id == owner)
    {
        return Err("not in the private chat with the owner");
    }
    if message.via {
        return Err("written through another bot or chat");
    }
    if message.forwarded {
        return Err("forwarded");
    }
    if message.edited {
        return Err("edited");
    }
    if message.date < not_before_s {
        return Err("sent before this program was set up");
    }
    message.text.as_deref().ok_or("not a text")
}

/// What a button held that counts.
///
/// # Errors
/// Why it does not.
pub(super) fn callback(callback: &Callback, owner: i64) -> Result<&str, &'static str> {
    if callback.from != Some(owner) || callback.from_bot {
        return Err("not from the owner");
    }
    if !callback
        .chat
        .is_some_and(|chat| chat.private && chat.id == owner)
    {
        return Err("not in the private chat with the owner");
    }
    callback.data.as_deref().ok_or("a button without data")
}

/// Whether a message is older than the request that it is about.
pub(super) const fn is_stale(date_s: i64, created_ms: i64) -> bool {
    date_s.saturating_add(SLACK_S).saturating_mul(1000) < created_ms
}
