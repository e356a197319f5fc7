//! `blastshield canary`: makes marks to be placed where only the agent's inside is, lists them, and looks for them.

use crate::args::SettingsOptions;
use crate::scan::input::{self, Input, Unread};
use crate::serve::runtime;
use crate::settings::settings;
use crate::{CLEAN, ERROR, FINDINGS};
use anyhow::{Context, bail};
use blastshield_config::Settings;
use blastshield_gateway::Local;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Bytes that are checked at once.
const WINDOW: usize = 256 << 10;
/// Bytes that two windows share: a canary on the border is whole in one of them, also encoded or split.
const SHARED: usize = 16 << 10;
/// A body that holds a window, however it has to be escaped.
const BODY: usize = 8 * WINDOW;
const EXAMPLES: &str = "\
Examples:
  blastshield canary new system-prompt                   put the value into the system prompt
  blastshield canary new notes --severity warn
  blastshield canary list
  blastshield canary check answer.txt logs/              also finds them encoded or split
  tail -n 1000 agent.log | blastshield canary check -";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CanaryOptions {
    #[command(subcommand)]
    command: CanaryCommand,
}

#[derive(Debug, Subcommand)]
enum CanaryCommand {
    /// Make a canary and print it: this is the only time that it is shown whole
    New(NewOptions),
    /// List canaries by location
    List(ListOptions),
    /// Look for canaries in files, folders or standard input
    Check(CheckOptions),
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 made, 2 error")]
struct NewOptions {
    /// Where it will be placed: letters, digits, `_`, `-` and `.`
    #[arg(value_name = "LOCATION")]
    location: String,
    /// How bad it is when it leaks
    #[arg(long, value_enum, default_value = "critical")]
    severity: SeverityName,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SeverityName {
    Warn,
    Critical,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 listed, 2 error")]
struct ListOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A canary that is found raises the alarm, as it would in traffic.
Exit codes: 0 none found, 1 found, 2 error or something could not be read"
)]
struct CheckOptions {
    /// Files or folders; `-` for standard input
    #[arg(value_name = "PATH", default_value = "-")]
    paths: Vec<PathBuf>,
    /// Print one JSON document a file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

pub(crate) fn run(options: &CanaryOptions) -> anyhow::Result<u8> {
    match &options.command {
        CanaryCommand::New(options) => place(options),
        CanaryCommand::List(options) => list(options),
        CanaryCommand::Check(options) => check(options),
    }
}

fn place(options: &NewOptions) -> anyhow::Result<u8> {
    let severity = match options.severity {
        SeverityName::Warn => "warn",
        SeverityName::Critical => "critical",
    };
    let request = json!({ "location": options.location, "severity": severity });
    let made = with_gateway(settings(&options.settings)?, async |local| {
        answered(local.post("/v1/canaries", &request).await)
    })?;
    if options.json {
        println!("{made}");
    } else {
        println!("{}", text(&made, "value"));
    }
    Ok(CLEAN)
}

fn list(options: &ListOptions) -> anyhow::Result<u8> {
    let answer = with_gateway(settings(&options.settings)?, async |local| {
        answered(local.get("/v1/canaries").await)
    })?;
    let canaries = answer.get("canaries").and_then(Value::as_array);
    for canary in canaries.into_iter().flatten() {
        if options.json {
            println!("{canary}");
        } else {
            let [value, location, severity] =
                ["value", "location", "severity"].map(|key| text(canary, key));
            println!("{location}  {severity}  {value}");
        }
    }
    Ok(CLEAN)
}

fn check(options: &CheckOptions) -> anyhow::Result<u8> {
    let mut settings = settings(&options.settings)?;
    settings.security.max_body_bytes = settings.security.max_body_bytes.max(BODY);
    let (mut leaks, mut unread) = (false, false);
    with_gateway(settings, async |local| {
        for input in input::collect(&options.paths) {
            let name = input.name();
            let found = match open(&input) {
                Ok(reader) => search(local, reader).await?,
                Err(why) => Err(why),
            };
            leaks |= found.as_ref().is_ok_and(|found| !found.is_empty());
            unread |= found.is_err();
            tell(&name, &found, options.json);
        }
        Ok(())
    })?;
    Ok(match (leaks, unread) {
        (true, _) => FINDINGS,
        (false, true) => ERROR,
        (false, false) => CLEAN,
    })
}

/// A canary by its location, severity and first characters.
type Leak = (String, String, String);

/// The canaries in what is read, each once.
async fn search(
    local: &Local,
    mut reader: impl Read,
) -> anyhow::Result<Result<BTreeSet<Leak>, Unread>> {
    let mut found = BTreeSet::new();
    let mut window = Vec::with_capacity(WINDOW);
    loop {
        let room = WINDOW.saturating_sub(window.len()) as u64;
        let fresh = match reader.by_ref().take(room).read_to_end(&mut window) {
            Ok(fresh) => fresh,
            Err(error) => return Ok(Err(Unread::Failed(error.kind()))),
        };
        if fresh == 0 {
            return Ok(Ok(found));
        }
        let request = json!({ "content": String::from_utf8_lossy(&window) });
        let answer = answered(local.post("/v1/outbound/check", &request).await)?;
        let canaries = answer.get("canaries").and_then(Value::as_array);
        for canary in canaries.into_iter().flatten() {
            let [location, severity, token] =
                ["location", "severity", "token"].map(|key| text(canary, key).to_owned());
            found.insert((location, severity, token));
        }
        window.drain(..window.len().saturating_sub(SHARED));
    }
}

fn tell(name: &str, found: &Result<BTreeSet<Leak>, Unread>, as_json: bool) {
    match found {
        Err(why) if as_json => println!("{}", json!({"path": name, "error": why.to_string()})),
        Err(why) => println!("{name}  {why}"),
        Ok(found) if as_json => {
            let canaries: Vec<Value> = found
                .iter()
                .map(|(location, severity, token)| {
                    json!({"token": token, "location": location, "severity": severity})
                })
                .collect();
            println!("{}", json!({"path": name, "canaries": canaries}));
        }
        Ok(found) => {
            for (location, severity, token) in found {
                println!("{name}  canary of {location}  {severity}  {token}");
            }
        }
    }
}

fn open(input: &Input) -> Result<Box<dyn Read>, Unread> {
    let failed = |error: io::Error| Unread::Failed(error.kind());
    match input {
        Input::Standard => Ok(Box::new(io::stdin().lock())),
        Input::Link(_) => Err(Unread::Link),
        Input::Lost(_, kind) => Err(Unread::Failed(*kind)),
        Input::File(path) if !path.metadata().map_err(failed)?.is_file() => Err(Unread::NotAFile),
        Input::File(path) => Ok(Box::new(File::open(path).map_err(failed)?)),
    }
}

/// Uses the gateway's own endpoints without a server.
fn with_gateway<T>(
    settings: Settings,
    work: impl AsyncFnOnce(&Local) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    runtime()?.block_on(async {
        let local = Local::new(settings)
            .await
            .context("cannot open the gateway's data")?;
        let result = work(&local).await;
        local.close().await;
        result
    })
}

/// An error answer is an error here.
fn answered((status, answer): (u16, Value)) -> anyhow::Result<Value> {
    if let Some(error) = answer.get("error") {
        bail!("{} ({})", text(error, "message"), text(error, "code"));
    }
    if status != 200 {
        bail!("the gateway answered with status {status}");
    }
    Ok(answer)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
