//! `blastshield check`: what policy and address guard say about a URL. Nothing is connected.

use crate::args::CheckOptions;
use crate::serve::runtime;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use blastshield_gateway::hop_policy;
use blastshield_policy::{HopPolicy, Host, Refusal, check_url};
use blastshield_web::Resolver;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

/// Longest time for a name.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest row.
const MAX_ROW: u64 = 1 << 20;

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: serde_json::Value,
    url: String,
    #[serde(default)]
    dns: BTreeMap<String, Vec<IpAddr>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    id: serde_json::Value,
    url: &'a str,
    verdict: &'static str,
    reason: String,
}

pub(crate) fn run(options: &CheckOptions) -> anyhow::Result<u8> {
    let policy = hop_policy(&settings(&options.settings)?);
    if let Some(file) = &options.jsonl {
        return rows(file, &policy);
    }
    let url = options.url.as_deref().unwrap_or_default();
    let judged = judge(url, &policy, |host| {
        if options.resolve.is_empty() {
            look_up(host)
        } else {
            Ok(Some(options.resolve.clone()))
        }
    })?;
    let allowed = judged.is_ok();
    let answer = answer(serde_json::Value::Null, url, judged);
    if options.json {
        println!("{}", serde_json::to_string(&answer)?);
    } else {
        println!("{}: {}", answer.verdict, answer.reason);
    }
    Ok(if allowed { CLEAN } else { FINDINGS })
}

fn rows(file: &Path, policy: &HopPolicy) -> anyhow::Result<u8> {
    let input: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(
            std::fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?,
        )
    };
    let mut input = BufReader::new(input);
    let mut output = std::io::stdout().lock();
    let mut blocked = false;
    let mut line = String::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        number += 1;
        if (&mut input).take(MAX_ROW).read_line(&mut line)? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let row: Row =
            serde_json::from_str(&line).with_context(|| format!("row {number} is not a row"))?;
        let known = |host: &Host| {
            let name = host.to_string();
            let found = row.dns.iter().find(|(key, _)| {
                Host::parse(key).is_ok_and(|key| key == *host) || key.eq_ignore_ascii_case(&name)
            });
            Ok(found.map(|(_, addresses)| addresses.clone()))
        };
        let judged = judge(&row.url, policy, known)?;
        blocked |= judged.is_err();
        serde_json::to_writer(&mut output, &answer(row.id.clone(), &row.url, judged))?;
        output.write_all(b"\n")?;
    }
    Ok(if blocked { FINDINGS } else { CLEAN })
}

/// What is said of a URL: why it is allowed, or why it is not.
fn judge(
    url: &str,
    policy: &HopPolicy,
    addresses: impl FnOnce(&Host) -> anyhow::Result<Option<Vec<IpAddr>>>,
) -> anyhow::Result<Result<String, String>> {
    let target = match check_url(url, policy) {
        Ok(target) => target,
        Err(refusal) => return Ok(Err(told(&refusal))),
    };
    let answers = match target.host.ip() {
        Some(ip) => Some(vec![ip]),
        None => addresses(&target.host)?,
    };
    let Some(answers) = answers else {
        return Ok(Ok(
            "the name and the URL are allowed; no address was given".to_owned()
        ));
    };
    Ok(match policy.admit(&target, &answers) {
        Ok(admitted) if admitted.iter().any(|a| a.by_exception()) => {
            Ok("allowed by an exception of the operator".to_owned())
        }
        Ok(_) => Ok("every address is public".to_owned()),
        Err(refusal) => Err(told(&refusal)),
    })
}

fn told(refusal: &Refusal) -> String {
    format!("{refusal} ({})", refusal.code())
}

fn look_up(host: &Host) -> anyhow::Result<Option<Vec<IpAddr>>> {
    let answers = runtime()?.block_on(Resolver::system().resolve(host, PATIENCE));
    answers.map(Some).map_err(Into::into)
}

fn answer(id: serde_json::Value, url: &str, judged: Result<String, String>) -> Answer<'_> {
    let (verdict, reason) = match judged {
        Ok(reason) => ("allow", reason),
        Err(reason) => ("block", reason),
    };
    Answer {
        id,
        url,
        verdict,
        reason,
    }
}
