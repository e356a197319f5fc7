//! `blastshield backup`: known-good copies of what security proxies may change.

mod restore;

use crate::args::SettingsOptions;
use crate::quarantine::{say, with_recovery};
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use blastshield_recovery::backups::{Backup, BackupError, Made};
use blastshield_recovery::{Recovery, RecoveryError, RelPath, ServiceName};
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  blastshield backup now                           every service
  blastshield backup now moltbook
  blastshield backup list --json | jq .good
  blastshield backup restore moltbook              the newest good one
  blastshield backup restore moltbook --from 2026-02-23

The gateway makes one a day by itself and keeps 30 days, but always the newest good one. None is made while a
service is on hold or relationships are under review: what is there may be poisoned. What a restore replaces is put
aside in proxies/workspaces of the data folder and never deleted; holds stay on.
Exit codes: 0 done, 1 a service is not in order and was left out, a backup is damaged, or nothing was restored, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BackupOptions {
    #[command(subcommand)]
    command: BackupCommand,
}

#[derive(Debug, Subcommand)]
enum BackupCommand {
    /// Make a backup now
    Now(OneOptions),
    /// List backups, and check that each is what it was
    List(OneOptions),
    /// Put a backup back; what is there is put aside
    Restore(RestoreOptions),
}

#[derive(Debug, Args)]
pub(super) struct RestoreOptions {
    /// The service
    #[arg(value_name = "SERVICE")]
    pub(super) service: String,
    /// Of which day, or by its name, such as 20260223-2; the newest good one without
    #[arg(long, value_name = "DATE")]
    pub(super) from: Option<String>,
    /// Who says so, for the audit log
    #[arg(long, value_name = "NAME", default_value = "owner (cli)")]
    pub(super) by: String,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct OneOptions {
    /// The service; every one without
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
    /// Print one JSON document a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

pub(crate) fn run(options: &BackupOptions) -> anyhow::Result<u8> {
    match &options.command {
        BackupCommand::Now(options) => now(options),
        BackupCommand::List(options) => list(options),
        BackupCommand::Restore(options) => restore::run(options),
    }
}

fn services(
    options: &OneOptions,
    all: impl FnOnce() -> Result<Vec<ServiceName>, RecoveryError>,
) -> anyhow::Result<Vec<ServiceName>> {
    match &options.service {
        Some(name) => Ok(vec![ServiceName::new(name)?]),
        None => Ok(all()?),
    }
}

fn now(options: &OneOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    with_recovery(&settings, None, async |recovery| {
        let mut code = CLEAN;
        for service in services(options, || recovery.services())? {
            let extra = known_extra(recovery, &service)?;
            let (word, detail) = match recovery.backup(&service, &extra).await {
                Ok(Made::New(backup)) => ("made", files(&backup)),
                Ok(Made::Unchanged(backup)) => ("unchanged", files(&backup)),
                Ok(Made::Nothing) => ("nothing", "there is nothing to keep yet".to_owned()),
                Err(BackupError::Recovery(RecoveryError::Busy)) => {
                    code = FINDINGS;
                    ("left out", "a session is running; try again".to_owned())
                }
                Err(BackupError::Recovery(error)) => {
                    return Err(error).with_context(|| format!("cannot back {service} up"));
                }
                Err(error) => {
                    code = FINDINGS;
                    ("left out", error.to_string())
                }
            };
            if options.json {
                say(json!({"service": service.as_str(), "outcome": word, "detail": detail}))?;
            } else {
                say(format!("{service}  {word}  {detail}"))?;
            }
        }
        Ok(code)
    })
}

/// Files beside the relationships that the service's latest backup holds.
fn known_extra(recovery: &Recovery, service: &ServiceName) -> anyhow::Result<Vec<RelPath>> {
    let latest = recovery.backups(service)?.pop();
    Ok(latest.map_or_else(Vec::new, |(backup, _)| {
        backup.files.into_iter().map(|kept| kept.path).collect()
    }))
}

fn files(backup: &Backup) -> String {
    let bytes: u64 = backup.files.iter().map(|kept| kept.length).sum();
    format!(
        "{}: {} files, {bytes} bytes",
        backup.name,
        backup.files.len()
    )
}

fn list(options: &OneOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    with_recovery(&settings, None, async |recovery| {
        let mut code = CLEAN;
        let mut table = Table::new();
        table.load_style(presets::UTF8_BORDERS_ONLY);
        table.set_header(["service", "backup", "taken", "holds", "state"]);
        for service in services(options, || recovery.backed_up())? {
            for (backup, good) in recovery.backups(&service)? {
                if !good {
                    code = FINDINGS;
                }
                if options.json {
                    say(as_json(&service, &backup, good))?;
                } else {
                    let state = if good { "good" } else { "damaged" };
                    table.add_row([
                        service.to_string(),
                        backup.name.clone(),
                        backup.taken.to_string(),
                        files(&backup),
                        state.to_owned(),
                    ]);
                }
            }
        }
        if !options.json {
            if table.is_empty() {
                say("there are no backups")?;
            } else {
                say(table)?;
            }
        }
        Ok(code)
    })
}

fn as_json(service: &ServiceName, backup: &Backup, good: bool) -> Value {
    let files: Vec<Value> = backup
        .files
        .iter()
        .map(|kept| {
            json!({"path": kept.path.as_str(), "length": kept.length, "sha256": kept.sha256.to_string()})
        })
        .collect();
    json!({
        "service": service.as_str(), "backup": backup.name, "taken": backup.taken.to_string(), "files": files,
        "good": good,
    })
}
