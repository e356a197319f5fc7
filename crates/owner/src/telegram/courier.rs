//! Requests, decisions and alerts as Telegram messages.

use super::NAME;
use crate::command::button;
use crate::message::{body, decided};
use crate::outbox::{Courier, Fail};
use crate::state::{Scope, Verdict};
use crate::words::Word;
use crate::{Request, State};
use blastshield_upstream::{Button, CallError, Outgoing, Span, Telegram, TelegramError};

/// Hours that the button for a host grants.
const BUTTON_HOURS: u16 = 24;

pub(super) struct TelegramCourier {
    pub(super) bot: Telegram,
    pub(super) owner: i64,
}

impl Courier for TelegramCourier {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn show(&self, request: &Request) -> Result<i64, Fail> {
        let mut message = Outgoing {
            text: request.shown.clone(),
            spans: spans(&request.shown),
            buttons: buttons(request),
        };
        match self.bot.send(self.owner, &message).await {
            Err(TelegramError::Call(CallError::Rejected { status: 400 })) => {
                // Perhaps the spans are at fault: without them the text is the same.
                message.spans.clear();
                self.bot.send(self.owner, &message).await.map_err(fail)
            }
            outcome => outcome.map_err(fail),
        }
    }

    async fn settle(&self, request: &Request, message_id: i64) -> Result<(), Fail> {
        if message_id <= 0 {
            return Ok(());
        }
        let text = decided(&request.shown, &request.id, &outcome(request));
        let (_, range) = body(&request.shown);
        let message = Outgoing {
            spans: vec![span("pre", &request.shown, range.start, range.end)],
            text,
            buttons: Vec::new(),
        };
        match self.bot.edit(self.owner, message_id, &message).await {
            Ok(()) | Err(TelegramError::Gone) => Ok(()),
            Err(error) => Err(fail(error)),
        }
    }

    async fn say(&self, word: &Word) -> Result<(), Fail> {
        let text = word.text().to_owned();
        let mut message = Outgoing {
            spans: vec![span("pre", &text, 0, text.len())],
            text,
            buttons: Vec::new(),
        };
        if matches!(word, Word::Text(_)) {
            message.spans.clear();
        }
        self.bot
            .send(self.owner, &message)
            .await
            .map(drop)
            .map_err(fail)
    }
}

/// What came of a request, in a few words.
pub(crate) fn outcome(request: &Request) -> String {
    let by = request.decided_by.as_deref().unwrap_or("nobody");
    match request.state {
        State::Pending => "pending".to_owned(),
        State::Approved => {
            let scope = request.scope.unwrap_or(Scope::Once).to_word();
            format!("approved ({scope}) through {by}")
        }
        State::Denied => format!("denied through {by}"),
        State::Expired => "denied: timeout".to_owned(),
    }
}

/// Details are shown as they are, and the replies can be copied by touching them.
fn spans(text: &str) -> Vec<Span> {
    let (_, range) = body(text);
    let mut spans = vec![span("pre", text, range.start, range.end)];
    let replies = text.get(range.end..).unwrap_or_default();
    let mut at = range.end;
    for line in replies.split_inclusive('\n') {
        if let Some(order) = line.strip_prefix("  ") {
            let order = order.trim_end();
            spans.push(span("code", text, at + 2, at + 2 + order.len()));
        }
        at += line.len();
    }
    spans
}

/// Byte positions as the API counts them.
fn span(kind: &'static str, text: &str, start: usize, end: usize) -> Span {
    let units = |range: std::ops::Range<usize>| {
        text.get(range)
            .map_or(0, |part| part.chars().map(char::len_utf16).sum())
    };
    Span {
        kind,
        offset: units(0..start),
        length: units(start..end),
    }
}

fn buttons(request: &Request) -> Vec<Vec<Button>> {
    let made = |text: &str, verdict| Button {
        text: text.to_owned(),
        data: button(verdict, &request.id, &request.shown_sha256),
    };
    let deny = made("Deny", Verdict::Deny);
    if request.must_confirm {
        // A yes needs the amount, which no button can repeat.
        return vec![vec![deny]];
    }
    let mut rows = vec![vec![made("Approve", Verdict::Approve(Scope::Once)), deny]];
    if request.may_widen() {
        let hours = Verdict::Approve(Scope::Hours(BUTTON_HOURS));
        rows.push(vec![
            made(&format!("Allow host {BUTTON_HOURS} h"), hours),
            made("Always allow host", Verdict::Approve(Scope::Always)),
        ]);
    }
    rows
}

pub(super) fn fail(error: TelegramError) -> Fail {
    let later = |wait, grave| Fail::Later {
        wait,
        why: error.to_string(),
        grave,
    };
    match error {
        TelegramError::Call(CallError::RateLimited { retry_after }) => later(retry_after, false),
        TelegramError::Call(CallError::Rejected { status: 400 }) | TelegramError::Gone => {
            Fail::Never {
                why: error.to_string(),
            }
        }
        // A wrong token is answered with 401 or 404.
        TelegramError::Call(
            CallError::Rejected { .. } | CallError::Denied { .. } | CallError::Redirected { .. },
        )
        | TelegramError::Conflict
        | TelegramError::Forbidden => later(None, true),
        TelegramError::Call(_) | TelegramError::Nonsense => later(None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_utf16_units_and_cover_details_and_replies() {
        let text =
            "TITLE\n\nAction: x\n  a: 😀é\n\nReply with:\n  approve k7f39xq2\n  deny k7f39xq2";
        let units: Vec<u16> = text.encode_utf16().collect();
        let shown: Vec<String> = spans(text)
            .into_iter()
            .map(|span| String::from_utf16(&units[span.offset..span.offset + span.length]).unwrap())
            .collect();
        assert_eq!(
            shown,
            ["Action: x\n  a: 😀é", "approve k7f39xq2", "deny k7f39xq2"]
        );
    }
}
