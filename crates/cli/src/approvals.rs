//! `blastshield approvals`: what waits for the owner, and the owner's answer, through the running gateway.

mod shown;

use crate::args::SettingsOptions;
use crate::remote::{Answer, Remote};
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use shown::{about, ago, left, now_ms, outcome, print, shown, span, table, text, whole};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often `watch` looks.
const LOOK: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  blastshield approvals list                       what waits for an answer
  blastshield approvals show k7f39xq2              exactly what is asked
  blastshield approvals approve k7f39xq2
  blastshield approvals approve k7f39xq2 --scope 24h      a host, for a day
  blastshield approvals approve k7f39xq2 --confirm 2000   where the amount has to be repeated
  blastshield approvals deny k7f39xq2
  blastshield approvals watch                      new ones as they come

Exit codes: 0 done, 1 the answer does not count (late, twice, unknown, wrong amount), 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApprovalsOptions {
    #[command(subcommand)]
    command: ApprovalsCommand,
}

#[derive(Debug, Subcommand)]
enum ApprovalsCommand {
    /// List requests, newest first
    List(ListOptions),
    /// Show one request as the owner is shown it
    Show(OneOptions),
    /// Say yes
    Approve(ApproveOptions),
    /// Say no
    Deny(OneOptions),
    /// Show requests as they come, and what becomes of them
    Watch(CommonOptions),
    /// List hosts that were allowed for longer than one request
    Grants(CommonOptions),
    /// Take back what was allowed for longer than one request
    Revoke(OneOptions),
}

#[derive(Debug, Args)]
struct CommonOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct ListOptions {
    /// Which requests
    #[arg(long, value_enum, default_value = "pending")]
    state: StateName,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StateName {
    Pending,
    Approved,
    Denied,
    Expired,
    All,
}

#[derive(Debug, Args)]
struct OneOptions {
    /// The request
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Debug, Args)]
struct ApproveOptions {
    /// The request
    #[arg(value_name = "ID")]
    id: String,
    /// How far the yes reaches: once, always, or hours for its host such as 24h
    #[arg(long, value_name = "SCOPE", default_value = "once")]
    scope: String,
    /// The amount, where it has to be repeated
    #[arg(long, value_name = "AMOUNT")]
    confirm: Option<u64>,
    #[command(flatten)]
    common: CommonOptions,
}

pub(crate) fn run(options: &ApprovalsOptions) -> anyhow::Result<u8> {
    match &options.command {
        ApprovalsCommand::List(options) => list(options),
        ApprovalsCommand::Show(options) => show(options),
        ApprovalsCommand::Approve(options) => {
            let mut answer = json!({"decision": "approve", "scope": options.scope, "via": "cli"});
            if let (Some(amount), Some(fields)) = (options.confirm, answer.as_object_mut()) {
                fields.insert("confirm".to_owned(), amount.into());
            }
            decide(&options.id, answer, &options.common)
        }
        ApprovalsCommand::Deny(options) => {
            let answer = json!({"decision": "deny", "via": "cli"});
            decide(&options.id, answer, &options.common)
        }
        ApprovalsCommand::Watch(options) => watch(options),
        ApprovalsCommand::Grants(options) => grants(options),
        ApprovalsCommand::Revoke(options) => revoke(options),
    }
}

fn remote(options: &CommonOptions) -> anyhow::Result<Remote> {
    Remote::of(&settings(&options.settings)?)
}

/// The path of a request; what cannot be an id is not sent anywhere.
fn path(id: &str) -> anyhow::Result<String> {
    if id.len() != 8 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        bail!("an id has eight letters and digits, as `blastshield approvals list` shows it");
    }
    Ok(format!("/v1/approvals/{id}"))
}

fn list(options: &ListOptions) -> anyhow::Result<u8> {
    let state = match options.state {
        StateName::Pending => "&state=pending",
        StateName::Approved => "&state=approved",
        StateName::Denied => "&state=denied",
        StateName::Expired => "&state=expired",
        StateName::All => "",
    };
    let answer =
        remote(&options.common)?.get(&format!("/v1/approvals?limit={}{state}", options.limit))?;
    let requests = entries(&answer, "approvals")?;
    if options.common.json {
        return print(&format!("{:#}", Value::from(requests.to_vec()))).map(|()| CLEAN);
    }
    if requests.is_empty() {
        return print("nothing waits for an answer").map(|()| CLEAN);
    }
    let mut table = table(["id", "action", "state", "made", "time left", "about"]);
    for request in requests {
        table.add_row([
            text(request, "/id"),
            text(request, "/action"),
            text(request, "/state"),
            ago(request),
            left(request),
            about(request),
        ]);
    }
    print(&table.to_string()).map(|()| CLEAN)
}

fn show(options: &OneOptions) -> anyhow::Result<u8> {
    let answer = remote(&options.common)?.get(&path(&options.id)?)?;
    if !answer.is_ok() {
        return refuse(&answer);
    }
    print(&if options.common.json {
        format!("{:#}", answer.body)
    } else {
        whole(&answer.body)
    })
    .map(|()| CLEAN)
}

/// Decides what was just seen: the answer is bound to the hash of what the gateway showed here.
fn decide(id: &str, mut answer: Value, options: &CommonOptions) -> anyhow::Result<u8> {
    let (remote, path) = (remote(options)?, path(id)?);
    let seen = remote.get(&path)?;
    if !seen.is_ok() {
        return refuse(&seen);
    }
    if let (Some(hash), Some(fields)) = (
        seen.body.pointer("/owner/shown_sha256"),
        answer.as_object_mut(),
    ) {
        fields.insert("shown_sha256".to_owned(), hash.clone());
    }
    if !options.json {
        print(&shown(&seen.body))?;
    }
    let decided = remote.post(&format!("{path}/decision"), &answer)?;
    if !decided.is_ok() {
        return refuse(&decided);
    }
    print(&if options.json {
        format!("{:#}", decided.body)
    } else {
        format!("\n{}", outcome(&decided.body))
    })
    .map(|()| CLEAN)
}

fn watch(options: &CommonOptions) -> anyhow::Result<u8> {
    let remote = remote(options)?;
    let mut open: BTreeMap<String, ()> = BTreeMap::new();
    let mut lost = false;
    // A gateway that is not there at all is an error; one that goes away is waited for.
    remote
        .get("/v1/approvals?state=pending&limit=1")
        .and_then(|answer| entries(&answer, "approvals").map(drop))?;
    loop {
        match pending(&remote) {
            Ok(requests) => {
                lost = false;
                for (id, ()) in std::mem::take(&mut open) {
                    if requests.iter().any(|request| text(request, "/id") == id) {
                        open.insert(id, ());
                    } else if let Ok(answer) = remote.get(&format!("/v1/approvals/{id}")) {
                        print(&if options.json {
                            answer.body.to_string()
                        } else {
                            outcome(&answer.body)
                        })?;
                    }
                }
                for request in requests.iter().rev() {
                    if open.insert(text(request, "/id"), ()).is_none() {
                        print(&if options.json {
                            request.to_string()
                        } else {
                            format!("{}\n", whole(request))
                        })?;
                    }
                }
            }
            Err(error) if !lost => {
                lost = true;
                eprintln!("blastshield: {error:#}; still watching");
            }
            Err(_) => {}
        }
        std::thread::sleep(LOOK);
    }
}

fn pending(remote: &Remote) -> anyhow::Result<Vec<Value>> {
    let answer = remote.get("/v1/approvals?state=pending&limit=200")?;
    entries(&answer, "approvals").map(<[Value]>::to_vec)
}

fn grants(options: &CommonOptions) -> anyhow::Result<u8> {
    let answer = remote(options)?.get("/v1/grants")?;
    let grants = entries(&answer, "grants")?;
    if options.json {
        return print(&format!("{:#}", Value::from(grants.to_vec()))).map(|()| CLEAN);
    }
    if grants.is_empty() {
        return print("nothing is allowed for longer than one request").map(|()| CLEAN);
    }
    let mut table = table(["id", "action", "host", "for", "until"]);
    for grant in grants {
        let until = grant.get("until_ms").and_then(Value::as_i64);
        table.add_row([
            text(grant, "/id"),
            text(grant, "/action"),
            text(grant, "/host"),
            text(grant, "/requester"),
            until.map_or_else(
                || "it is taken back".to_owned(),
                |until| span(until - now_ms()),
            ),
        ]);
    }
    print(&table.to_string()).map(|()| CLEAN)
}

fn revoke(options: &OneOptions) -> anyhow::Result<u8> {
    path(&options.id)?;
    let answer = remote(&options.common)?.delete(&format!("/v1/grants/{}", options.id))?;
    if !answer.is_ok() {
        return refuse(&answer);
    }
    print("taken back").map(|()| CLEAN)
}

/// The answer did not count, or the gateway failed.
fn refuse(answer: &Answer) -> anyhow::Result<u8> {
    if matches!(answer.status, 400 | 404 | 409 | 410) {
        eprintln!("blastshield: {}", answer.message());
        return Ok(FINDINGS);
    }
    bail!("{}", answer.message())
}

fn entries<'a>(answer: &'a Answer, name: &str) -> anyhow::Result<&'a [Value]> {
    match answer.body.get(name).and_then(Value::as_array) {
        Some(list) if answer.is_ok() => Ok(list),
        _ => bail!("{}", answer.message()),
    }
}
