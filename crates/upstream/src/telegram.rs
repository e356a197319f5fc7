//! A thin client of the Telegram Bot API: long polling, messages with buttons, their later change.
//!
//! Texts go out without a parse mode: what they hold is text and never markup. What comes in is read field by field;
//! an update of unknown shape is passed on as [`UpdateKind::Other`], so that it can be counted and confirmed.

mod update;

pub use update::{Callback, Chat, Incoming, Update, UpdateKind};

use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError};
use crate::secret::Secret;
use crate::transport::{Limits, Transport, judge_status};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use zeroize::Zeroizing;

const ANSWER_BYTES: usize = 4 << 20;
/// Updates of one answer; the API allows a hundred.
const UPDATES: u32 = 50;
/// What an answer to a long poll may need beyond the wait itself.
const GRACE: Duration = Duration::from_secs(10);

/// How the bot is reached.
#[derive(Clone, Debug)]
pub struct TelegramOptions {
    /// The API's address.
    pub base: BaseUrl,
    /// The bot's token.
    pub token: Secret,
    /// Time for one call; long polls get it beyond their wait.
    pub timeout: Duration,
}

impl TelegramOptions {
    /// The public API with this token.
    ///
    /// # Errors
    /// Never in practice: the shipped address is well formed.
    pub fn new(token: Secret) -> Result<Self, ConfigError> {
        Ok(Self {
            base: "https://api.telegram.org".parse()?,
            token,
            timeout: GRACE,
        })
    }
}

/// A call to the Bot API failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TelegramError {
    /// No usable exchange.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The answer is not what the API promises.
    #[error("Telegram's answer is not understood")]
    Nonsense,
    /// Another program polls for this bot, or a webhook is set.
    #[error("another program receives this bot's messages; stop it or remove its webhook")]
    Conflict,
    /// The message is gone or may not be changed any more.
    #[error("the message cannot be changed any more")]
    Gone,
    /// The owner has not opened a chat with the bot, or blocked it.
    #[error("the bot may not write to the owner; open its chat and press Start")]
    Forbidden,
}

/// What part of a text looks like; counted in UTF-16 units, as the API does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// `pre` or `code`: shown as it is, nothing in it is a link.
    pub kind: &'static str,
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub length: usize,
}

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// Its caption.
    pub text: String,
    /// What comes back when it is pressed; 64 bytes at most.
    pub data: String,
}

/// A message to be sent, or to stand in place of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The text, at most 4096 UTF-16 units.
    pub text: String,
    /// Parts shown as they are.
    pub spans: Vec<Span>,
    /// Rows of buttons.
    pub buttons: Vec<Vec<Button>>,
}

/// The bot.
#[derive(Clone, Debug)]
pub struct Telegram {
    transport: Transport,
    options: TelegramOptions,
}

impl Telegram {
    /// A client with these options.
    ///
    /// # Errors
    /// A token that is empty or cannot be one.
    pub fn new(options: TelegramOptions) -> Result<Self, ConfigError> {
        let what = "the Telegram bot token";
        let token = options.token.expose();
        if token.is_empty() {
            return Err(ConfigError::Missing { what });
        }
        let shape = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-');
        if token.len() > 256 || !token.contains(':') || !token.bytes().all(shape) {
            return Err(ConfigError::Unusable { what });
        }
        Ok(Self {
            transport: Transport::new()?,
            options,
        })
    }

    /// Updates from `offset` on, which confirms those before it; waits for the first as long as `wait`.
    ///
    /// # Errors
    /// When no readable answer came.
    pub async fn updates(
        &self,
        offset: Option<i64>,
        wait: Duration,
    ) -> Result<Vec<Update>, TelegramError> {
        let mut body = json!({
            "timeout": wait.as_secs(), "limit": UPDATES,
            "allowed_updates": ["message", "edited_message", "callback_query"],
        });
        if let (Some(offset), Some(map)) = (offset, body.as_object_mut()) {
            map.insert("offset".to_owned(), offset.into());
        }
        let result = self
            .call("getUpdates", &body, wait + self.options.timeout)
            .await?;
        let Value::Array(list) = result else {
            return Err(TelegramError::Nonsense);
        };
        Ok(list.iter().filter_map(Update::read).collect())
    }

    /// Sends a message to a private chat: its id.
    ///
    /// # Errors
    /// When it was not sent, or nobody can say.
    pub async fn send(&self, chat: i64, message: &Outgoing) -> Result<i64, TelegramError> {
        let mut body = outgoing(message);
        body.insert("chat_id".to_owned(), chat.into());
        let result = self
            .call("sendMessage", &Value::Object(body), self.options.timeout)
            .await?;
        result
            .get("message_id")
            .and_then(Value::as_i64)
            .ok_or(TelegramError::Nonsense)
    }

    /// Puts another text in place of a message's, and its buttons away.
    ///
    /// # Errors
    /// [`TelegramError::Gone`] when that is not possible any more.
    pub async fn edit(
        &self,
        chat: i64,
        message_id: i64,
        message: &Outgoing,
    ) -> Result<(), TelegramError> {
        let mut body = outgoing(message);
        body.insert("chat_id".to_owned(), chat.into());
        body.insert("message_id".to_owned(), message_id.into());
        self.call(
            "editMessageText",
            &Value::Object(body),
            self.options.timeout,
        )
        .await
        .map(drop)
    }

    /// Tells whoever pressed a button what came of it.
    ///
    /// # Errors
    /// [`TelegramError::Gone`] when it was too long ago.
    pub async fn answer(&self, callback: &str, text: &str) -> Result<(), TelegramError> {
        let body = json!({"callback_query_id": callback, "text": text});
        self.call("answerCallbackQuery", &body, self.options.timeout)
            .await
            .map(drop)
    }

    async fn call(
        &self,
        method: &str,
        body: &Value,
        deadline: Duration,
    ) -> Result<Value, TelegramError> {
        let segment = Zeroizing::new(format!("bot{}", self.options.token.expose()));
        let mut request = Request::new(Method::POST, self.options.base.join(&[&segment, method]));
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(body.to_string().into());
        let limits = Limits {
            deadline,
            max_bytes: ANSWER_BYTES,
        };
        let (status, reply) = self.transport.exchange(request, limits).await?;
        let answer: Option<Value> = serde_json::from_slice(&reply.body).ok();
        if status.is_success() {
            let mut answer = answer.ok_or(TelegramError::Nonsense)?;
            let ok = answer.get("ok").and_then(Value::as_bool) == Some(true);
            let result = answer.get_mut("result").map(Value::take);
            return result.filter(|_| ok).ok_or(TelegramError::Nonsense);
        }
        let explained = explained(status, answer.as_ref());
        if let Some(outcome) = explained {
            return outcome;
        }
        match judge_status(status, &reply.headers) {
            Err(error) => Err(error.into()),
            Ok(()) => Err(TelegramError::Nonsense),
        }
    }
}

/// What the body says that the status does not. Its sentences are compared and never passed on.
fn explained(status: StatusCode, answer: Option<&Value>) -> Option<Result<Value, TelegramError>> {
    let description = answer
        .and_then(|answer| answer.get("description"))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let says = |words: &str| description.contains(words);
    match status {
        StatusCode::TOO_MANY_REQUESTS => {
            let seconds = answer?
                .pointer("/parameters/retry_after")
                .and_then(Value::as_u64)?;
            let retry_after = Some(Duration::from_secs(seconds));
            Some(Err(CallError::RateLimited { retry_after }.into()))
        }
        StatusCode::CONFLICT => Some(Err(TelegramError::Conflict)),
        StatusCode::FORBIDDEN => Some(Err(TelegramError::Forbidden)),
        StatusCode::BAD_REQUEST if says("chat not found") => Some(Err(TelegramError::Forbidden)),
        // It says already what it should: an earlier answer was lost.
        StatusCode::BAD_REQUEST if says("message is not modified") => Some(Ok(Value::Null)),
        StatusCode::BAD_REQUEST
            if says("message to edit not found")
                || says("message can't be edited")
                || says("query is too old")
                || says("query_id_invalid") =>
        {
            Some(Err(TelegramError::Gone))
        }
        _ => None,
    }
}

fn outgoing(message: &Outgoing) -> serde_json::Map<String, Value> {
    let entities: Vec<Value> = message
        .spans
        .iter()
        .map(|span| json!({"type": span.kind, "offset": span.offset, "length": span.length}))
        .collect();
    let rows: Vec<Vec<Value>> = message
        .buttons
        .iter()
        .map(|row| {
            row.iter()
                .map(|button| json!({"text": button.text, "callback_data": button.data}))
                .collect()
        })
        .collect();
    let mut body = serde_json::Map::new();
    body.insert("text".to_owned(), message.text.clone().into());
    body.insert("entities".to_owned(), entities.into());
    body.insert(
        "link_preview_options".to_owned(),
        json!({"is_disabled": true}),
    );
    body.insert("reply_markup".to_owned(), json!({"inline_keyboard": rows}));
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(token: &str) -> Result<Telegram, ConfigError> {
        Telegram::new(TelegramOptions::new(Secret::new(token)).unwrap())
    }

    #[test]
    fn a_token_has_the_shape_of_one() {
        assert!(made("12345:AAbb_cc-DD").is_ok());
        for bad in ["", "12345", "1:a/../b", "1:a b", "1:é"] {
            assert!(made(bad).is_err(), "{bad}");
        }
        assert!(!format!("{:?}", made("12345:AAbb").unwrap()).contains("AAbb"));
    }

    #[test]
    fn the_body_explains_what_the_status_does_not() {
        let body = |text: &str| json!({"ok": false, "description": text});
        let bad = |text: &str| explained(StatusCode::BAD_REQUEST, Some(&body(text)));
        assert_eq!(
            bad("Bad Request: message is not modified: …"),
            Some(Ok(Value::Null))
        );
        assert_eq!(
            bad("Bad Request: message to edit not found"),
            Some(Err(TelegramError::Gone))
        );
        assert_eq!(bad("Bad Request: something else"), None);
        let slow = json!({"ok": false, "parameters": {"retry_after": 7}});
        assert_eq!(
            explained(StatusCode::TOO_MANY_REQUESTS, Some(&slow)),
            Some(Err(CallError::RateLimited {
                retry_after: Some(Duration::from_secs(7))
            }
            .into()))
        );
        assert_eq!(explained(StatusCode::TOO_MANY_REQUESTS, None), None);
    }
}
