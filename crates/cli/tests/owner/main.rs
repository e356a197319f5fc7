//! The owner's yes and no through the running program: a Telegram that fails in every way, an agent that cheats, and
//! kills in between.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod alerts;
mod asking;
mod cheating;
mod commands;
mod crashes;
mod secrets;
mod wallet;

#[path = "../../../owner/tests/owner/botapi.rs"]
#[allow(dead_code, reason = "shared with the tests of the owner's crate")]
mod botapi;

#[path = "../../../wallet/tests/wallet/lnbits.rs"]
#[allow(dead_code, reason = "shared with the tests of the wallet's crate")]
mod lnbits;

use botapi::{BotApi, OWNER, Shown, TOKEN};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const AGENT_TOKEN: &str = "agent-token-0123456789abcdef";
pub(crate) const OWNER_TOKEN: &str = "owner-token-0123456789abcdef";

/// A run in a folder of its own with these variables and no others.
pub(crate) fn command(folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blastshield"));
    command.current_dir(folder).args(arguments).env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.env("BLASTSHIELD_OWNER_TOKEN", OWNER_TOKEN);
    command.env("BLASTSHIELD_AGENT_TOKEN", AGENT_TOKEN);
    // What is missing would be an alert at the start, which would meet the faults that are meant for a request.
    command.env("OPENAI_API_KEY", "some-key-of-a-model");
    command.env("BLASTSHIELD_STATUS_SECONDS", "1");
    command.env("BLASTSHIELD_MAX_APPROVALS_PER_REQUESTER", "100");
    command.envs(variables.iter().copied());
    command
}

/// The program, serving.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) folder: Arc<TempDir>,
    pub(crate) said: Arc<Mutex<String>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// With the owner's bot.
    pub(crate) fn with(api: &BotApi, more: &[(&str, &str)]) -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), api, more)
    }

    pub(crate) fn start_in(folder: Arc<TempDir>, api: &BotApi, more: &[(&str, &str)]) -> Self {
        let owner = OWNER.to_string();
        let mut variables = vec![
            ("TELEGRAM_BOT_TOKEN", TOKEN),
            ("TELEGRAM_OWNER_ID", owner.as_str()),
            ("BLASTSHIELD_TELEGRAM_BASE_URL", api.base.as_str()),
            ("BLASTSHIELD_TELEGRAM_TIMEOUT_MS", "700"),
        ];
        variables.extend(more);
        Self::plain(folder, &variables)
    }

    /// Without any channel but what the variables name.
    pub(crate) fn plain(folder: Arc<TempDir>, variables: &[(&str, &str)]) -> Self {
        let mut child = command(folder.path(), variables, &["serve", "--port", "0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let address = line.strip_prefix("listening on http://").expect(&line);
        let address = address.to_owned();
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().unwrap().push_str(&line);
            }
        });
        Self {
            child,
            address,
            folder,
            said,
        }
    }

    pub(crate) async fn ask(
        &self,
        token: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        exchange(&self.address, token, method, path, body)
            .await
            .expect("no answer")
    }

    pub(crate) async fn agent(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(AGENT_TOKEN, "POST", path, body).await;
        assert!(matches!(status, 200 | 201), "{path}: {status} {answer}");
        answer
    }

    pub(crate) async fn owner(&self, path: &str) -> Value {
        let (status, answer) = self.ask(OWNER_TOKEN, "GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Where a request stands.
    pub(crate) async fn state(&self, id: &str) -> String {
        let seen = self.owner(&format!("/v1/approvals/{id}")).await;
        seen["state"].as_str().unwrap().to_owned()
    }

    /// Asks the owner for something without a wait: the id.
    pub(crate) async fn asked(&self, body: &Value) -> String {
        let answer = self.agent("/v1/actions/custom", body).await;
        assert_eq!(answer["decision"], "ask", "{answer}");
        answer["approval"]["id"].as_str().unwrap().to_owned()
    }

    /// Ends it without a warning.
    pub(crate) fn kill(mut self) -> Arc<TempDir> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        Arc::clone(&self.folder)
    }

    /// Ends it as a service manager would.
    pub(crate) fn end(mut self) -> Arc<TempDir> {
        self.signal("TERM");
        self.child.wait().unwrap();
        Arc::clone(&self.folder)
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// A command of the owner's against this gateway.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let port = self.address.rsplit(':').next().unwrap();
        command(self.folder.path(), &[("BLASTSHIELD_PORT", port)], arguments)
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.folder.path().join("data/logs")
    }
}

async fn exchange(
    address: &str,
    token: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> Option<(u16, Value)> {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let mut stream = TcpStream::connect(address).await.ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).unwrap_or(Value::Null)))
}

pub(crate) fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// Waits until something holds; fails after a time that no healthy run needs.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("never happened: {what}");
}

/// Messages that show a request.
pub(crate) fn of(api: &BotApi, id: &str) -> Vec<Shown> {
    let mut chat = api.chat();
    chat.retain(|shown| shown.text.starts_with("SECURITY") && shown.text.contains(id));
    chat
}

pub(crate) async fn shown(api: &BotApi, id: &str) -> Shown {
    until("the request is shown", async || !of(api, id).is_empty()).await;
    of(api, id).pop().unwrap()
}

pub(crate) fn button(shown: &Shown, caption: &str) -> String {
    let found = shown.buttons.iter().find(|(text, _)| text == caption);
    found
        .unwrap_or_else(|| panic!("no {caption}: {:?}", shown.buttons))
        .1
        .clone()
}

/// The audit log of a folder.
pub(crate) fn audit(folder: &TempDir) -> String {
    let file = folder
        .path()
        .join("data/logs/security-supervisor-audit.log");
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The status file of a folder.
pub(crate) fn status(folder: &TempDir) -> Value {
    let file = folder
        .path()
        .join("data/logs/security-supervisor-status.json");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

pub(crate) fn act(name: &str) -> Value {
    json!({"name": name})
}
