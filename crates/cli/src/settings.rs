//! Settings of this run, and `blastshield config`, which shows them.

use crate::args::{ConfigOptions, SettingsOptions};
use anyhow::{Context, bail};
use blastshield_config::{Settings, Values, markdown, shown};
use comfy_table::{Table, presets};
use std::io::ErrorKind;

const FILE: &str = "blastshield.toml";

/// The values of this run: file, environment, flags.
pub(crate) fn values(options: &SettingsOptions) -> anyhow::Result<Values> {
    let file = match &options.config {
        Some(path) => Some(
            std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?,
        ),
        None => match std::fs::read_to_string(FILE) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).context("cannot read blastshield.toml"),
        },
    };
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut values = Values::read(file.as_deref(), environment)?;
    for pair in &options.set {
        let Some((key, value)) = pair.split_once('=') else {
            bail!("--set takes KEY=VALUE");
        };
        values.set_flag(key.trim(), value.trim().to_owned())?;
    }
    Ok(values)
}

/// The settings of this run.
pub(crate) fn settings(options: &SettingsOptions) -> anyhow::Result<Settings> {
    Ok(Settings::from_values(&values(options)?)?)
}

pub(crate) fn run(options: &ConfigOptions) -> anyhow::Result<()> {
    if options.markdown {
        print!("{}", markdown());
        return Ok(());
    }
    let values = values(&options.settings)?;
    let effective = shown(&values);
    if options.json {
        let entries: serde_json::Map<String, serde_json::Value> = effective
            .iter()
            .map(|entry| {
                let value =
                    serde_json::json!({ "value": entry.value, "from": entry.origin.to_string() });
                (entry.setting.key.to_owned(), value)
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&entries)?);
    } else {
        let mut table = Table::new();
        table.load_style(presets::UTF8_BORDERS_ONLY);
        table.set_header(["setting", "value", "from"]);
        for entry in &effective {
            table.add_row([entry.setting.key, &entry.value, &entry.origin.to_string()]);
        }
        println!("{table}");
    }
    // Shown first, so that a wrong value can be found in the table.
    Settings::from_values(&values)?;
    Ok(())
}
