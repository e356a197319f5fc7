//! The message that asks the owner. Its lines are ours; a detail can fill its own line and no other.

use crate::ask::{Ask, redacted, shown};
use crate::{RequestId, show};
use blastshield_audit::Redact;

/// The first line.
pub const TITLE: &str = "SECURITY SUPERVISOR — Approval Requested";
const REPLY: &str = "\n\nReply with:\n";
/// Characters of a message: what a chat takes, with room for what is added after the decision.
const MAX_CHARS: usize = 3600;
const MAX_REASON: usize = 300;
/// Characters of each value, from generous to scarce; the first that fits the message is taken. Every name is always
/// shown, so that a long value cannot push another out of sight.
const VALUE_LIMITS: [usize; 4] = [600, 300, 160, 90];

/// What the owner sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The text.
    pub text: String,
}

impl Message {
    /// The message for a request.
    #[must_use]
    pub fn of(ask: &Ask, id: &RequestId, redact: &dyn Redact) -> Self {
        let reason = show::cut(show::one_line(&redacted(&ask.reason, redact)), MAX_REASON);
        let host = ask.ascii_host().flatten().map(|host| show::host(&host));
        let values: Vec<(&str, String)> = ask
            .details
            .iter()
            .map(|(key, value)| (key.as_str(), shown(key, value, redact)))
            .collect();
        let mut text = String::new();
        for limit in VALUE_LIMITS {
            text = assemble(ask, id, &reason, host.as_deref(), &values, limit);
            if text.chars().map(char::len_utf16).sum::<usize>() <= MAX_CHARS {
                break;
            }
        }
        Self { text }
    }
}

fn assemble(
    ask: &Ask,
    id: &RequestId,
    reason: &str,
    host: Option<&str>,
    values: &[(&str, String)],
    limit: usize,
) -> String {
    let mut text = format!(
        "{TITLE}\n\nAction: {}\nReason: {reason}\nDetails (redacted):",
        ask.action.as_str()
    );
    if let Some(host) = host {
        text.push_str("\n  host: ");
        text.push_str(host);
    }
    for (key, value) in values {
        text.push_str("\n  ");
        text.push_str(key);
        text.push_str(": ");
        text.push_str(&show::cut(value.clone(), limit));
    }
    if host.is_none() && values.is_empty() {
        text.push_str("\n  (none)");
    }
    let amount = if ask.confirm.is_some() {
        " <amount>"
    } else {
        ""
    };
    text + &format!("{REPLY}  approve {id}{amount}\n  deny {id}")
}

/// The message once it is decided: the same, without the invitation to reply.
#[must_use]
pub fn decided(shown: &str, id: &RequestId, outcome: &str) -> String {
    format!("{}\n\nDecision on {id}: {outcome}", body(shown).0)
}

/// The message up to its details, and the byte range of everything between title and invitation.
pub(crate) fn body(shown: &str) -> (&str, std::ops::Range<usize>) {
    let end = shown.rfind(REPLY).unwrap_or(shown.len());
    let start = shown.find("\n\n").map_or(0, |at| at + 2).min(end);
    (shown.get(..end).unwrap_or(shown), start..end)
}
