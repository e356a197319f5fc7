//! What is defined, and whether it can be used.

use super::{CheckOptions, ListOptions};
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use blastshield_config::Settings;
use blastshield_proxies::definition::{Approval, Definition, Operation, ParamKind};
use blastshield_proxies::{Definitions, definitions};
use serde_json::{Value, json};
use std::io::Write as _;

pub(super) fn list(options: &ListOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    let all = read(&settings)?;
    if options.json {
        let all: Vec<Value> = all.values().map(|(one, from)| view(one, from)).collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(CLEAN);
    }
    let mut out = std::io::stdout().lock();
    for (definition, from) in all.values() {
        writeln!(out, "{} ({from}): {}", definition.name, definition.purpose)?;
        writeln!(out, "  at {}", definition.base)?;
        for operation in definition.operations.values() {
            let params: Vec<String> = operation
                .params
                .iter()
                .map(|(name, param)| {
                    let mark = if param.required { "" } else { "?" };
                    format!("{name}{mark}={}", kind(&param.kind))
                })
                .collect();
            let approval = match operation.approval {
                Approval::Never => "",
                Approval::Policy => "  [approval by policy]",
                Approval::Always => "  [approval]",
            };
            writeln!(
                out,
                "  {:<16} {} {}{approval}",
                operation.name,
                params.join(" "),
                operation.purpose
            )?;
        }
    }
    Ok(CLEAN)
}

pub(super) fn check(options: &CheckOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    let file = options
        .what
        .as_deref()
        .filter(|what| what.contains(['/', '.']));
    if let Some(file) = file {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let parsed = Definition::parse(&text, settings.proxies.allow_loopback);
        return Ok(match parsed {
            Ok(definition) => told(&definition, file, options.json),
            Err(error) => wrong(file, &error.to_string(), options.json),
        });
    }
    let all = match definitions(&settings.proxies.dir, settings.proxies.allow_loopback) {
        Ok(all) => all,
        Err(error) => return Ok(wrong("definitions", &error.to_string(), options.json)),
    };
    match options.what.as_deref() {
        None => {
            for (definition, from) in all.values() {
                told(definition, from, options.json);
            }
            Ok(CLEAN)
        }
        Some(name) => Ok(match all.get(name) {
            Some((definition, from)) => told(definition, from, options.json),
            None => wrong(name, "there is no service of this name", options.json),
        }),
    }
}

fn told(definition: &Definition, from: &str, json: bool) -> u8 {
    if json {
        println!("{}", view(definition, from));
    } else {
        let set = match &definition.credential {
            Some(credential) if std::env::var_os(&credential.variable).is_some() => {
                format!("{} is set", credential.variable)
            }
            Some(credential) => format!("{} is not set here", credential.variable),
            None => "no credential".to_owned(),
        };
        println!(
            "{from}: good: {} operations; {set}",
            definition.operations.len()
        );
    }
    CLEAN
}

fn wrong(what: &str, error: &str, json: bool) -> u8 {
    let (what, error) = (crate::said::clean(what), crate::said::clean(error));
    if json {
        println!("{}", json!({"file": what, "ok": false, "error": error}));
    } else {
        eprintln!("{what}: {error}");
    }
    FINDINGS
}

pub(super) fn read(settings: &Settings) -> anyhow::Result<Definitions> {
    Ok(definitions(
        &settings.proxies.dir,
        settings.proxies.allow_loopback,
    )?)
}

fn view(definition: &Definition, from: &str) -> Value {
    let operation = |operation: &Operation| {
        json!({
            "name": operation.name, "method": operation.method.as_str(), "purpose": operation.purpose,
            "params": operation.params.iter().map(|(name, param)| {
                json!({"name": name, "type": kind(&param.kind), "required": param.required})
            }).collect::<Vec<_>>(),
            "approval": match operation.approval {
                Approval::Never => "never", Approval::Policy => "policy", Approval::Always => "always",
            },
        })
    };
    json!({
        "name": definition.name, "from": from, "ok": true, "purpose": definition.purpose,
        "host": definition.host(),
        "credential": definition.credential.as_ref().map(|credential| &credential.variable),
        "limits": definition.limits,
        "operations": definition.operations.values().map(operation).collect::<Vec<_>>(),
    })
}

fn kind(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Id => "id".to_owned(),
        ParamKind::Integer { min, max } => format!("{min}..{max}"),
        ParamKind::Boolean => "boolean".to_owned(),
        ParamKind::Choice(words) => words.join("|"),
        ParamKind::Text(_) => "text".to_owned(),
    }
}
