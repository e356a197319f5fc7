//! `blastshield quarantine`: services that wait after a bad end, and the owner's word that lets them go on.
//!
//! Works on the store and the data folder. While a gateway runs, the audit log is its own, and a clear that is not in the
//! log does not count: then the gateway is asked to do it.

use crate::args::SettingsOptions;
use crate::remote::Remote;
use crate::scan::visible;
use crate::serve::runtime;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::{Context, bail};
use blastshield_audit::alerts::{FileSink, Rules};
use blastshield_audit::{Audit, Event, Log, LogError, SystemClock, log};
use blastshield_config::Settings;
use blastshield_leak::Scanner;
use blastshield_recovery::{ClearError, HoldView, Options, Recorder, Recovery, Unrecorded};
use blastshield_store::{Store, StoreOptions};
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  blastshield quarantine list                      services that wait
  blastshield quarantine list --all                also those that were cleared
  blastshield quarantine show k7f39xq2             what happened, what was put aside, what was restored
  blastshield quarantine clear k7f39xq2            let it go on; its relationships are in use again
  blastshield quarantine clear k7f39xq2 --keep-review

What was put aside lies in proxies/workspaces of the data folder and is never deleted by blastshield.
Exit codes: 0 done, 1 nothing to clear under this id, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QuarantineOptions {
    #[command(subcommand)]
    command: QuarantineCommand,
}

#[derive(Debug, Subcommand)]
enum QuarantineCommand {
    /// List services that wait, oldest first
    List(ListOptions),
    /// Show one hold with what led to it
    Show(ShowOptions),
    /// Let a service go on
    Clear(ClearOptions),
}

#[derive(Debug, Args)]
struct ListOptions {
    /// Also those that were cleared, newest first
    #[arg(long)]
    all: bool,
    /// Print one JSON document a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct ShowOptions {
    /// The hold
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct ClearOptions {
    /// The hold
    #[arg(value_name = "ID")]
    id: String,
    /// Who says so, for the audit log
    #[arg(long, value_name = "NAME", default_value = "owner (cli)")]
    by: String,
    /// Leave relationships under review
    #[arg(long)]
    keep_review: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

pub(crate) fn run(options: &QuarantineOptions) -> anyhow::Result<u8> {
    match &options.command {
        QuarantineCommand::List(options) => list(options),
        QuarantineCommand::Show(options) => show(options),
        QuarantineCommand::Clear(options) => clear(options),
    }
}

fn list(options: &ListOptions) -> anyhow::Result<u8> {
    let holds = with_recovery(&settings(&options.settings)?, None, async |recovery| {
        Ok(recovery.list(options.all).await?)
    })?;
    if options.json {
        for hold in &holds {
            say(serde_json::to_string(hold)?)?;
        }
        return Ok(CLEAN);
    }
    if holds.is_empty() {
        say("nothing waits")?;
        return Ok(CLEAN);
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["id", "service", "kind", "since", "workspace", "why"]);
    for hold in &holds {
        let why = match &hold.cleared_by {
            Some(by) => format!("cleared by {by}"),
            None => hold.reason.clone(),
        };
        table.add_row([
            hold.id.clone(),
            hold.service.clone(),
            hold.kind.to_owned(),
            hold.since.clone(),
            workspace(hold),
            visible::line(&why),
        ]);
    }
    say(table)?;
    Ok(CLEAN)
}

fn workspace(hold: &HoldView) -> String {
    match &hold.quarantine {
        None => "as it was".to_owned(),
        Some(one) if one.step != "placed" => format!("quarantine: {}", one.step),
        Some(one) => one.restored.as_ref().map_or_else(
            || "quarantine, empty".to_owned(),
            |name| format!("quarantine, restored {name}"),
        ),
    }
}

fn show(options: &ShowOptions) -> anyhow::Result<u8> {
    let hold = with_recovery(&settings(&options.settings)?, None, async |recovery| {
        Ok(recovery.show(&options.id).await?)
    })?;
    let Some(hold) = hold else {
        eprintln!("there is no hold with this id");
        return Ok(FINDINGS);
    };
    if options.json {
        say(serde_json::to_string_pretty(&hold)?)?;
        return Ok(CLEAN);
    }
    for (name, value) in described(&hold) {
        say(format!("{name:<14} {}", visible::line(&value)))?;
    }
    Ok(CLEAN)
}

fn described(hold: &HoldView) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("Hold", format!("{} ({})", hold.id, hold.kind)),
        ("Service", hold.service.clone()),
        ("Since", hold.since.clone()),
        ("Trigger", hold.trigger.clone()),
        ("Why", hold.reason.clone()),
        ("Last action", hold.last_action.clone()),
        ("Requests", hold.requests.to_string()),
        ("Files written", hold.files_written.to_string()),
    ];
    lines.extend(hold.files.iter().map(|file| ("", file.clone())));
    lines.push((
        "Crash report",
        hold.report.clone().unwrap_or_else(|| "none".to_owned()),
    ));
    if let Some(one) = &hold.quarantine {
        lines.push(("Put aside", format!("proxies/workspaces/{}", one.folder)));
        lines.push(("Step", one.step.to_owned()));
        let restored = one.restored.clone();
        lines.push((
            "Restored",
            restored.unwrap_or_else(|| "nothing: no known-good backup".to_owned()),
        ));
        lines.push(("To review", one.review.join(", ")));
    }
    if let (Some(at), Some(by)) = (&hold.cleared, &hold.cleared_by) {
        lines.push(("Cleared", format!("{at} by {by}")));
    }
    lines
}

fn clear(options: &ClearOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    let outcome = match audit(&settings) {
        Ok(audit) => clear_here(&settings, audit, options)?,
        Err(LogError::Busy) => clear_there(&settings, options)?,
        Err(error) => return Err(error).context("the audit log cannot be opened"),
    };
    match outcome {
        Ok(cleared) if options.json => say(cleared)?,
        Ok(cleared) => tell(&cleared)?,
        Err(why) => {
            eprintln!("not cleared: {why}");
            return Ok(FINDINGS);
        }
    }
    Ok(CLEAN)
}

fn tell(cleared: &Value) -> anyhow::Result<()> {
    let service = cleared.get("service").and_then(Value::as_str);
    say(format!("{} may go on", service.unwrap_or_default()))?;
    let reviewed = cleared.get("reviewed").and_then(Value::as_array);
    let names: Vec<&str> = reviewed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !names.is_empty() {
        let names = visible::line(&names.join(", "));
        say(format!("in use again: {names}"))?;
    }
    let more = cleared.get("still_held").and_then(Value::as_u64);
    if let Some(more) = more.filter(|more| *more > 0) {
        say(format!(
            "but {more} further holds are on: see `blastshield quarantine list`"
        ))?;
    }
    Ok(())
}

/// Prints a line; a reader that went away is an error, not a panic.
pub(crate) fn say(text: impl Display) -> anyhow::Result<()> {
    Ok(writeln!(io::stdout(), "{text}")?)
}

/// What was cleared, or why nothing was.
type Clearing = Result<Value, String>;

fn clear_here(
    settings: &Settings,
    audit: Audit,
    options: &ClearOptions,
) -> anyhow::Result<Clearing> {
    with_recovery(settings, Some(audit), async |recovery| {
        match recovery
            .clear(&options.id, &options.by, options.keep_review)
            .await
        {
            Ok(cleared) => Ok(Ok(json!({
                "id": cleared.id, "service": cleared.service, "reviewed": cleared.reviewed,
                "still_held": cleared.still_held,
            }))),
            Err(error @ (ClearError::Unknown | ClearError::Already)) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    })
}

fn clear_there(settings: &Settings, options: &ClearOptions) -> anyhow::Result<Clearing> {
    let plain = |b: u8| b.is_ascii_alphanumeric();
    if options.id.is_empty() || !options.id.bytes().all(plain) {
        return Ok(Err("there is no hold with this id".to_owned()));
    }
    let path = format!("/v1/quarantines/{}/clear", options.id);
    let request = json!({"by": options.by, "keep_review": options.keep_review});
    let answer = Remote::of(settings)?.post(&path, &request)?;
    match answer.status {
        200 => Ok(Ok(answer.body)),
        404 | 409 => Ok(Err(answer.message())),
        _ => bail!("{}", answer.message()),
    }
}

/// The audit log, if no other process writes it.
pub(crate) fn audit(settings: &Settings) -> Result<Audit, LogError> {
    let redact = Arc::new(Scanner::shipped());
    let clock = Arc::new(SystemClock);
    let options = log::Options {
        retain_days: Some(settings.store.retention_days),
        ..log::Options::default()
    };
    let log = Log::open(&settings.logs.dir, options, redact.clone(), clock.clone())?;
    Ok(Audit::new(
        Arc::new(log),
        Rules::default(),
        vec![Box::new(FileSink::new(&settings.logs.dir))],
        redact,
        clock,
    ))
}

/// For commands that only look: there is nothing that they could record.
struct Nobody;

impl Recorder for Nobody {
    fn record(&self, _: &Event<'_>) -> Result<(), Unrecorded> {
        Err(Unrecorded)
    }
}

/// Works with the store and the workspaces of these settings.
pub(crate) fn with_recovery<T>(
    settings: &Settings,
    audit: Option<Audit>,
    work: impl AsyncFnOnce(&Recovery) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    runtime()?.block_on(async {
        let options = match &settings.store.url {
            Some(url) => StoreOptions::parse(url.reveal())?,
            None => StoreOptions::sqlite(&settings.store.path),
        };
        let store = Store::open(options)
            .await
            .context("cannot open the store")?;
        let recorder: Arc<dyn Recorder> = match audit {
            Some(audit) => Arc::new(audit),
            None => Arc::new(Nobody),
        };
        let recovery = Recovery::open(
            Options::new(&settings.data_dir),
            store.clone(),
            recorder,
            Arc::new(Scanner::shipped()),
            Arc::new(SystemClock),
        );
        let result = match recovery {
            Ok(recovery) => work(&recovery).await,
            Err(error) => Err(error).context("cannot open the workspaces"),
        };
        store.close().await;
        result
    })
}
