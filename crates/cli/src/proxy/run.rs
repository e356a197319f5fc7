//! Runs a task: in the gateway that serves, or in this process when none does.

use super::RunOptions;
use crate::remote::{Answer, Remote, reachable};
use crate::scan::visible;
use crate::serve::runtime;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::bail;
use blastshield_config::Settings;
use blastshield_gateway::Local;
use serde_json::{Map, Value, json};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Seconds that one question to the gateway waits.
const STEP: u64 = 30;

pub(super) fn run(options: &RunOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    let mut params = Map::new();
    for pair in &options.params {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--param takes KEY=VALUE");
        };
        params.insert(name.to_owned(), Value::from(value));
    }
    let request = json!({
        "operation": options.operation, "params": params, "with": options.with,
        "wait": options.wait.min(STEP),
    });
    if !options
        .service
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    {
        bail!("there is no service of this name");
    }
    let path = format!("/v1/proxies/{}/tasks", options.service);
    let until = Instant::now() + Duration::from_secs(options.wait);
    let answer = if is_served(&settings) {
        remotely(&settings, &path, &request, until)?
    } else {
        runtime()?.block_on(locally(settings, &path, &request, until))?
    };
    shown(&answer, options.json)
}

/// Whether somebody listens where the gateway would.
fn is_served(settings: &Settings) -> bool {
    let address = reachable(settings.server.address);
    address.port() != 0 && TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok()
}

fn remotely(
    settings: &Settings,
    path: &str,
    request: &Value,
    until: Instant,
) -> anyhow::Result<Answer> {
    let remote = Remote::of(settings)?;
    let mut answer = remote.post(path, request)?;
    while let Some(next) = next(&answer, path, until) {
        answer = remote.get(&next)?;
    }
    Ok(answer)
}

async fn locally(
    settings: Settings,
    path: &str,
    request: &Value,
    until: Instant,
) -> anyhow::Result<Answer> {
    let local = Local::new(settings).await?;
    let (status, body) = local.post(path, request).await;
    let mut answer = Answer { status, body };
    while let Some(next) = next(&answer, path, until) {
        let (status, body) = local.get(&next).await;
        answer = Answer { status, body };
    }
    local.close().await;
    Ok(answer)
}

/// Where to look next, if there is something to wait for and time to wait.
fn next(answer: &Answer, path: &str, until: Instant) -> Option<String> {
    if answer.status != 202 {
        return None;
    }
    let left = until.saturating_duration_since(Instant::now()).as_secs();
    let id = answer.body.get("task_id")?.as_str()?;
    (left > 0).then(|| format!("{path}/{id}?wait={}", left.min(STEP)))
}

fn shown(answer: &Answer, json: bool) -> anyhow::Result<u8> {
    if !answer.is_ok() {
        bail!("{}", answer.message());
    }
    let body = &answer.body;
    let state = body.get("state").and_then(Value::as_str).unwrap_or("");
    let done = state == "done";
    if json {
        println!("{}", serde_json::to_string_pretty(body)?);
        return Ok(if done { CLEAN } else { FINDINGS });
    }
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    if let Some(summary) = text("/summary") {
        println!("{}", visible::line(summary));
    }
    if let Some(data) = body.get("data") {
        for line in serde_json::to_string_pretty(data)?.lines() {
            println!("{}", visible::line(line));
        }
    }
    if let (Some(code), Some(message)) = (text("/error/code"), text("/error/message")) {
        eprintln!("{code}: {}", visible::line(message));
    }
    if let Some(hold) = text("/error/hold") {
        eprintln!("the service is on hold; look at it with: blastshield quarantine show {hold}");
    }
    if answer.status == 202 {
        let task = text("/task_id").unwrap_or("");
        eprintln!("{task} is {state}; nobody waits for it any more");
    }
    Ok(if done { CLEAN } else { FINDINGS })
}
