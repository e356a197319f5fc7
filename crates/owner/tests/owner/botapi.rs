//! A server that speaks the Bot API on loopback as far as a private chat needs it, strict about what it is sent, and
//! that fails in all the ways in which the real one or the way to it may fail.

use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub(crate) const TOKEN: &str = "424242:AAtest_token-0123456789abcdefghij";
pub(crate) const OWNER: i64 = 777_000_111;

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is done, and the answer gets lost.
    LoseAnswer,
    /// It never arrives.
    Refuse,
    /// Nothing comes back for a long time.
    Hang,
    /// An answer that is no JSON.
    Garbage,
    /// 429 with `retry_after`.
    TooMany(u64),
    /// Another status.
    Status(u16),
}

/// A message in the owner's chat.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) id: i64,
    pub(crate) text: String,
    pub(crate) buttons: Vec<(String, String)>,
    pub(crate) edits: usize,
}

#[derive(Default)]
struct State {
    chat: Vec<Shown>,
    /// Not confirmed by an offset yet.
    updates: VecDeque<(i64, Value)>,
    /// Everything there ever was, to be repeated.
    past: Vec<Value>,
    offsets: Vec<Option<i64>>,
    answers: Vec<(String, String)>,
    faults: BTreeMap<String, VecDeque<Fault>>,
    last_update: i64,
    last_message: i64,
    /// Of several polls at once the latest is served.
    polls: u64,
    shuffle: bool,
    repeat: bool,
    complaints: Vec<String>,
}

pub(crate) struct BotApi {
    pub(crate) base: String,
    state: Arc<Mutex<State>>,
    news: Arc<Notify>,
    server: JoinHandle<()>,
}

impl Drop for BotApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl BotApi {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            last_update: 5000,
            last_message: 10,
            ..State::default()
        }));
        let news = Arc::new(Notify::new());
        let server = tokio::spawn({
            let (state, news) = (Arc::clone(&state), Arc::clone(&news));
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&state), Arc::clone(&news)));
                }
            }
        });
        Self {
            base,
            state,
            news,
            server,
        }
    }

    pub(crate) fn fault(&self, method: &str, faults: &[Fault]) {
        let mut state = self.state.lock().unwrap();
        state
            .faults
            .entry(method.to_owned())
            .or_default()
            .extend(faults);
    }

    /// From now on updates come in reverse order, and old ones come again.
    pub(crate) fn misbehave(&self) {
        let mut state = self.state.lock().unwrap();
        (state.shuffle, state.repeat) = (true, true);
    }

    pub(crate) fn chat(&self) -> Vec<Shown> {
        self.state.lock().unwrap().chat.clone()
    }

    pub(crate) fn answers(&self) -> Vec<(String, String)> {
        self.state.lock().unwrap().answers.clone()
    }

    pub(crate) fn offsets(&self) -> Vec<Option<i64>> {
        self.state.lock().unwrap().offsets.clone()
    }

    /// What the server found wrong with what it was sent.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.state.lock().unwrap().complaints.clone()
    }

    /// The owner writes a text now.
    pub(crate) fn text(&self, text: &str, date_s: i64) {
        self.message(&json!({"text": text, "date": date_s}));
    }

    /// A message of the owner's in the private chat, with these fields changed or added.
    fn message(&self, fields: &Value) {
        self.update("message", fields);
    }

    pub(crate) fn update(&self, kind: &str, fields: &Value) {
        let mut message = json!({
            "from": {"id": OWNER, "is_bot": false, "first_name": "Owner"},
            "chat": {"id": OWNER, "type": "private", "first_name": "Owner"},
        });
        for (name, value) in fields.as_object().unwrap() {
            message[name] = value.clone();
        }
        let mut state = self.state.lock().unwrap();
        state.last_message += 1;
        message["message_id"] = state.last_message.into();
        state.push(json!({kind: message}));
        drop(state);
        self.news.notify_waiters();
    }

    /// Somebody presses a button.
    pub(crate) fn press(&self, who: i64, message_id: i64, data: &str) {
        let mut state = self.state.lock().unwrap();
        let number = state.last_update + 1;
        state.push(json!({"callback_query": {
            "id": format!("q{number}"), "from": {"id": who, "is_bot": false, "first_name": "Somebody"},
            "message": {"message_id": message_id, "date": 1, "chat": {"id": OWNER, "type": "private"}},
            "chat_instance": "1", "data": data,
        }}));
        drop(state);
        self.news.notify_waiters();
    }
}

impl State {
    fn push(&mut self, mut update: Value) {
        self.last_update += 1;
        update["update_id"] = self.last_update.into();
        self.updates.push_back((self.last_update, update.clone()));
        self.past.push(update);
    }

    fn check(&mut self, body: &Value) {
        let text = body["text"].as_str().unwrap_or_default();
        let units = text.encode_utf16().count() as u64;
        let mut wrong = Vec::new();
        if text.is_empty() || units > 4096 {
            wrong.push("length of text".to_owned());
        }
        if body.get("parse_mode").is_some() {
            wrong.push("a parse mode makes markup of text".to_owned());
        }
        if body["link_preview_options"]["is_disabled"] != true {
            wrong.push("a link preview".to_owned());
        }
        for entity in body["entities"].as_array().into_iter().flatten() {
            let end = entity["offset"].as_u64().unwrap_or(9999)
                + entity["length"].as_u64().unwrap_or(9999);
            if end > units {
                wrong.push(format!("entity beyond the text: {entity}"));
            }
        }
        if body["chat_id"] != OWNER {
            wrong.push("another chat".to_owned());
        }
        self.complaints.append(&mut wrong);
    }
}

fn buttons(body: &Value, complaints: &mut Vec<String>) -> Vec<(String, String)> {
    let rows = body["reply_markup"]["inline_keyboard"].as_array();
    let all: Vec<(String, String)> = rows
        .into_iter()
        .flatten()
        .flat_map(|row| row.as_array().cloned().unwrap_or_default())
        .map(|button| {
            let part = |name: &str| button[name].as_str().unwrap_or_default().to_owned();
            (part("text"), part("callback_data"))
        })
        .collect();
    if all
        .iter()
        .any(|(_, data)| data.is_empty() || data.len() > 64)
    {
        complaints.push("callback_data".to_owned());
    }
    all
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>, news: Arc<Notify>) {
    let Some((path, body)) = read(&mut stream).await else {
        return;
    };
    let Some(method) = path.strip_prefix(&format!("/bot{TOKEN}/")) else {
        respond(
            &mut stream,
            404,
            &json!({"ok": false, "error_code": 404, "description": "Not Found"}),
        )
        .await;
        return;
    };
    let fault = {
        let mut state = state.lock().unwrap();
        state.faults.get_mut(method).and_then(VecDeque::pop_front)
    };
    match fault {
        Some(Fault::Refuse) => return,
        Some(Fault::Hang) => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            return;
        }
        Some(Fault::Garbage) => {
            let _ = stream
                .write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>",
                )
                .await;
            return;
        }
        Some(Fault::TooMany(seconds)) => {
            let body = json!({"ok": false, "error_code": 429, "description": "Too Many Requests: retry after",
                "parameters": {"retry_after": seconds}});
            respond(&mut stream, 429, &body).await;
            return;
        }
        Some(Fault::Status(status)) => {
            let body =
                json!({"ok": false, "error_code": status, "description": "Internal Server Error"});
            respond(&mut stream, status, &body).await;
            return;
        }
        Some(Fault::LoseAnswer) | None => {}
    }
    let (status, answer) = if method == "getUpdates" {
        updates(&state, &news, &body).await
    } else {
        act(&state, method, &body)
    };
    if fault != Some(Fault::LoseAnswer) {
        respond(&mut stream, status, &answer).await;
    }
}

async fn updates(state: &Mutex<State>, news: &Notify, body: &Value) -> (u16, Value) {
    let offset = body["offset"].as_i64();
    let wait =
        Duration::from_secs(body["timeout"].as_u64().unwrap_or(0)).min(Duration::from_millis(200));
    let poll = {
        let mut state = state.lock().unwrap();
        state.polls += 1;
        state.offsets.push(offset);
        if let Some(offset) = offset {
            state.updates.retain(|(id, _)| *id >= offset);
        }
        state.polls
    };
    news.notify_waiters();
    let told = news.notified();
    if state.lock().unwrap().updates.is_empty() {
        let _ = tokio::time::timeout(wait, told).await;
    }
    let state = state.lock().unwrap();
    if state.polls != poll {
        let why = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
        return (
            409,
            json!({"ok": false, "error_code": 409, "description": why}),
        );
    }
    let mut list: Vec<Value> = state
        .updates
        .iter()
        .map(|(_, update)| update.clone())
        .collect();
    if state.repeat {
        list.extend(state.past.iter().rev().take(8).cloned());
    }
    if state.shuffle {
        list.reverse();
    }
    (200, json!({"ok": true, "result": list}))
}

fn act(state: &Mutex<State>, method: &str, body: &Value) -> (u16, Value) {
    let bad = |text: &str| {
        (
            400,
            json!({"ok": false, "error_code": 400, "description": format!("Bad Request: {text}")}),
        )
    };
    let mut state = state.lock().unwrap();
    match method {
        "sendMessage" => {
            state.check(body);
            state.last_message += 1;
            let shown = Shown {
                id: state.last_message,
                text: body["text"].as_str().unwrap_or_default().to_owned(),
                buttons: buttons(body, &mut state.complaints),
                edits: 0,
            };
            let answer = json!({"ok": true, "result": {"message_id": shown.id, "date": 1, "text": shown.text}});
            state.chat.push(shown);
            (200, answer)
        }
        "editMessageText" => {
            state.check(body);
            let buttons = buttons(body, &mut state.complaints);
            let text = body["text"].as_str().unwrap_or_default().to_owned();
            let wanted = body["message_id"].as_i64();
            let Some(shown) = state.chat.iter_mut().find(|shown| Some(shown.id) == wanted) else {
                return bad("message to edit not found");
            };
            if shown.text == text && shown.buttons == buttons {
                return bad(
                    "message is not modified: specified new message content is exactly the same",
                );
            }
            (shown.text, shown.buttons) = (text, buttons);
            shown.edits += 1;
            (
                200,
                json!({"ok": true, "result": {"message_id": shown.id, "date": 1}}),
            )
        }
        "answerCallbackQuery" => {
            let part = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
            let answer = (part("callback_query_id"), part("text"));
            if answer.1.chars().count() > 200 {
                state.complaints.push("length of an answer".to_owned());
            }
            state.answers.push(answer);
            (200, json!({"ok": true, "result": true}))
        }
        _ => (
            404,
            json!({"ok": false, "error_code": 404, "description": "Not Found: method not found"}),
        ),
    }
}

async fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let head_end = loop {
        let count = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |value| value.trim().parse().unwrap());
    while bytes.len() < head_end + length {
        let count = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
    }
    let first = String::from_utf8_lossy(&bytes[..head_end])
        .lines()
        .next()?
        .to_owned();
    let path = first.split(' ').nth(1)?.to_owned();
    let body = serde_json::from_slice(&bytes[head_end..]).unwrap_or(Value::Null);
    Some((path, body))
}

async fn respond(stream: &mut TcpStream, status: u16, body: &Value) {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body.as_bytes()).await;
    let _ = stream.shutdown().await;
}
