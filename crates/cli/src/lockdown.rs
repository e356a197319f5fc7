//! `blastshield lockdown`: the kill switch, through the running gateway or, when none runs, in the data folder.

use crate::CLEAN;
use crate::args::SettingsOptions;
use crate::remote::Remote;
use crate::serve::runtime;
use crate::settings::settings;
use anyhow::bail;
use blastshield_config::Settings;
use blastshield_gateway::Local;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

const PATH: &str = "/v1/lockdown";
const EXAMPLES: &str = "\
Examples:
  blastshield lockdown on        close every way out at once; it stays closed through restarts
  blastshield lockdown off
  blastshield lockdown status

Exit codes: 0 done, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LockdownOptions {
    /// What to do
    #[arg(value_enum)]
    switch: Switch,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
    Status,
}

pub(crate) fn run(options: &LockdownOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    let body = match options.switch {
        Switch::On => Some(json!({"on": true})),
        Switch::Off => Some(json!({"on": false})),
        Switch::Status => None,
    };
    let answer = match by_gateway(&settings, body.as_ref()) {
        Some(answer) => answer?,
        None => by_hand(settings, body.as_ref())?,
    };
    let on = answer.get("on").and_then(Value::as_bool);
    if options.json {
        println!("{answer}");
    } else if on == Some(true) {
        println!("lockdown is on: every way out is closed");
    } else {
        println!("lockdown is off");
    }
    Ok(CLEAN)
}

/// Through the running gateway; nothing when none can be asked.
fn by_gateway(settings: &Settings, body: Option<&Value>) -> Option<anyhow::Result<Value>> {
    let remote = Remote::of(settings).ok()?;
    let answer = match body {
        Some(body) => remote.post(PATH, body),
        None => remote.get(PATH),
    }
    .ok()?;
    Some(if answer.is_ok() {
        Ok(answer.body)
    } else {
        Err(anyhow::anyhow!(answer.message()))
    })
}

/// In the data folder itself; processes that share it look there a few times a second.
fn by_hand(settings: Settings, body: Option<&Value>) -> anyhow::Result<Value> {
    runtime()?.block_on(async {
        let local = Local::new(settings).await?;
        let (status, answer) = match body {
            Some(body) => local.post(PATH, body).await,
            None => local.get(PATH).await,
        };
        local.close().await;
        if status != 200 {
            bail!("the lockdown could not be changed: {answer}");
        }
        Ok(answer)
    })
}
