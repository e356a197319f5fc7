//! `blastshield backup restore`: by the gateway that runs, whose audit log and tasks they are, or here when none does.

use super::RestoreOptions;
use crate::quarantine::{audit, say, with_recovery};
use crate::remote::Remote;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::{Context, bail};
use blastshield_audit::{Audit, LogError};
use blastshield_config::Settings;
use blastshield_recovery::{RecoveryError, RestoreError, ServiceName};
use serde_json::{Value, json};

/// What was restored, or why nothing was.
type Restoring = Result<Value, String>;

pub(super) fn run(options: &RestoreOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    let service = ServiceName::new(&options.service)?;
    let outcome = match audit(&settings) {
        Ok(audit) => here(&settings, audit, &service, options)?,
        Err(LogError::Busy) => there(&settings, &service, options)?,
        Err(error) => return Err(error).context("the audit log cannot be opened"),
    };
    match outcome {
        Ok(restored) if options.json => say(restored)?,
        Ok(restored) => tell(&restored)?,
        Err(why) => {
            eprintln!("not restored: {why}");
            return Ok(FINDINGS);
        }
    }
    Ok(CLEAN)
}

fn here(
    settings: &Settings,
    audit: Audit,
    service: &ServiceName,
    options: &RestoreOptions,
) -> anyhow::Result<Restoring> {
    with_recovery(settings, Some(audit), async |recovery| {
        let from = options.from.as_deref();
        match recovery.restore(service, from, &options.by).await {
            Ok(restored) => Ok(Ok(json!({
                "service": service.as_str(), "backup": restored.backup.name,
                "files": restored.backup.files.len(), "put_aside": restored.folder,
                "still_held": restored.still_held,
            }))),
            Err(RestoreError::Recovery(RecoveryError::Busy)) => Ok(Err(
                "a task of this service is on; try again later".to_owned(),
            )),
            Err(RestoreError::Recovery(error)) => Err(error).context("it is not complete"),
            Err(error) => Ok(Err(error.to_string())),
        }
    })
}

fn there(
    settings: &Settings,
    service: &ServiceName,
    options: &RestoreOptions,
) -> anyhow::Result<Restoring> {
    let path = format!("/v1/proxies/{service}/restore");
    let request = json!({"from": options.from, "by": options.by});
    let answer = Remote::of(settings)?.post(&path, &request)?;
    match answer.status {
        200 => Ok(Ok(answer.body)),
        400 | 404 | 409 => Ok(Err(answer.message())),
        _ => bail!("{}", answer.message()),
    }
}

fn tell(restored: &Value) -> anyhow::Result<()> {
    let text = |name: &str| {
        restored
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    say(format!(
        "{} has backup {} again; what was there is in proxies/workspaces/{}",
        text("service"),
        text("backup"),
        text("put_aside")
    ))?;
    let held = restored.get("still_held").and_then(Value::as_u64);
    if let Some(held) = held.filter(|held| *held > 0) {
        say(format!(
            "it is on hold ({held}): see `blastshield quarantine list`"
        ))?;
    }
    Ok(())
}
