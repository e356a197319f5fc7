//! What the Bot API says has happened, reduced to the fields on which trust depends.

use serde_json::Value;

/// One update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Its number.
    pub id: i64,
    /// What happened.
    pub kind: UpdateKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateKind {
    /// A message came.
    Message(Incoming),
    /// A message was changed after it came.
    Edited(Incoming),
    /// A button was pressed.
    Callback(Callback),
    /// Something that was not asked for, or is not understood.
    Other,
}

/// A message as it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// Its number within the chat.
    pub message_id: i64,
    /// The person who sent it; nobody for channels and anonymous admins.
    pub from: Option<i64>,
    /// Whether the sender is a bot.
    pub from_bot: bool,
    /// Where.
    pub chat: Option<Chat>,
    /// When it was sent, in seconds since the epoch.
    pub date: i64,
    /// Whether it was changed since.
    pub edited: bool,
    /// Whether somebody else wrote it first.
    pub forwarded: bool,
    /// Whether it was written by another bot in the sender's name, or in the name of a chat.
    pub via: bool,
    /// Its text.
    pub text: Option<String>,
}

/// A chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chat {
    /// Its id; in a private chat that of the other person.
    pub id: i64,
    /// Whether only that person and the bot are in it.
    pub private: bool,
}

/// A pressed button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callback {
    /// Names it in the answer.
    pub id: String,
    /// Who pressed.
    pub from: Option<i64>,
    /// Whether a bot did.
    pub from_bot: bool,
    /// In which chat the message with the button is.
    pub chat: Option<Chat>,
    /// Which message.
    pub message_id: Option<i64>,
    /// What the button holds.
    pub data: Option<String>,
}

impl Update {
    /// Nothing when not even its number can be read.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let id = value.get("update_id")?.as_i64()?;
        let kind = if let Some(message) = value.get("message") {
            incoming(message).map(UpdateKind::Message)
        } else if let Some(message) = value.get("edited_message") {
            incoming(message).map(UpdateKind::Edited)
        } else {
            value
                .get("callback_query")
                .and_then(callback)
                .map(UpdateKind::Callback)
        };
        Some(Self {
            id,
            kind: kind.unwrap_or(UpdateKind::Other),
        })
    }
}

fn incoming(value: &Value) -> Option<Incoming> {
    let has = |name: &str| value.get(name).is_some_and(|field| !field.is_null());
    Some(Incoming {
        message_id: value.get("message_id")?.as_i64()?,
        from: sender(value),
        from_bot: is_bot(value),
        chat: value.get("chat").and_then(chat),
        date: value.get("date").and_then(Value::as_i64).unwrap_or(0),
        edited: has("edit_date"),
        // The first is today's field; the others are what older servers send.
        forwarded: [
            "forward_origin",
            "forward_from",
            "forward_from_chat",
            "forward_sender_name",
            "forward_date",
            "is_automatic_forward",
        ]
        .into_iter()
        .any(has),
        via: [
            "via_bot",
            "sender_chat",
            "sender_business_bot",
            "business_connection_id",
        ]
        .into_iter()
        .any(has),
        text: value.get("text").and_then(Value::as_str).map(str::to_owned),
    })
}

fn callback(value: &Value) -> Option<Callback> {
    let message = value.get("message");
    Some(Callback {
        id: value.get("id")?.as_str()?.to_owned(),
        from: sender(value),
        from_bot: is_bot(value),
        chat: message
            .and_then(|message| message.get("chat"))
            .and_then(chat),
        message_id: message
            .and_then(|message| message.get("message_id"))
            .and_then(Value::as_i64),
        data: value.get("data").and_then(Value::as_str).map(str::to_owned),
    })
}

fn sender(value: &Value) -> Option<i64> {
    value.pointer("/from/id").and_then(Value::as_i64)
}

fn is_bot(value: &Value) -> bool {
    value.pointer("/from/is_bot").and_then(Value::as_bool) == Some(true)
}

fn chat(value: &Value) -> Option<Chat> {
    Some(Chat {
        id: value.get("id")?.as_i64()?,
        private: value.get("type").and_then(Value::as_str) == Some("private"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_understood_still_has_its_number() {
        for odd in [
            json!({"update_id": 7}),
            json!({"update_id": 7, "message": 3}),
            json!({"update_id": 7, "callback_query": {"id": 1}}),
            json!({"update_id": 7, "poll": {}}),
        ] {
            let read = Update::read(&odd).unwrap();
            assert_eq!((read.id, read.kind), (7, UpdateKind::Other), "{odd}");
        }
        assert_eq!(Update::read(&json!({"update_id": "7"})), None);
        assert_eq!(Update::read(&json!([])), None);
    }

    #[test]
    fn a_forwarded_message_is_known_by_any_of_its_fields() {
        for field in ["forward_origin", "forward_date", "forward_sender_name"] {
            let value = json!({"update_id": 1, "message": {"message_id": 1, "date": 5, field: 1}});
            let Some(UpdateKind::Message(read)) = Update::read(&value).map(|update| update.kind)
            else {
                panic!("{field}");
            };
            assert!(read.forwarded && !read.via);
        }
    }
}
