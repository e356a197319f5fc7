//! `blastshield wallet`: what may be spent, what was, and what became of it, through the running gateway.

use crate::args::SettingsOptions;
use crate::remote::{Answer, Remote};
use crate::scan::visible;
use crate::settings::settings;
use crate::{CLEAN, FINDINGS};
use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::{Table, presets};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Seconds that one question may wait at the gateway.
const WAIT: u64 = 30;

const EXAMPLES: &str = "\
Examples:
  blastshield wallet status
  blastshield wallet pay lnbc20u1… --memo \"March invoice\" --amount 2000
  blastshield wallet list
  blastshield wallet show pay_1f0c9a7be2d43358
  blastshield wallet resolve pay_1f0c9a7be2d43358              look at LNbits once more
  blastshield wallet resolve pay_1f0c9a7be2d43358 --as failed  your word, where LNbits cannot tell

A payment from here needs the owner's yes as well: `blastshield approvals`.
Exit codes: 0 done, 1 refused, denied, failed or unknown, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WalletOptions {
    #[command(subcommand)]
    command: WalletCommand,
}

#[derive(Debug, Subcommand)]
enum WalletCommand {
    /// Show the mode, today's spending and the limits
    Status(CommonOptions),
    /// Ask for an invoice to be paid, and wait for the outcome
    Pay(PayOptions),
    /// List payments, newest first
    List(ListOptions),
    /// Show one payment
    Show(OneOptions),
    /// Find out what became of a payment whose outcome is unknown; never pays
    Resolve(ResolveOptions),
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
struct PayOptions {
    /// The BOLT 11 invoice
    #[arg(value_name = "INVOICE")]
    invoice: String,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    memo: Option<String>,
    /// What it must cost, in sats; another amount is refused
    #[arg(long, value_name = "SATS")]
    amount: Option<u64>,
    /// Do not wait for the outcome
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Debug, Args)]
struct ListOptions {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    limit: u32,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Debug, Args)]
struct OneOptions {
    /// The payment
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Debug, Args)]
struct ResolveOptions {
    /// The payment
    #[arg(value_name = "ID")]
    id: String,
    /// Your word on what became of it, instead of a look at LNbits
    #[arg(long = "as", value_enum, value_name = "OUTCOME")]
    outcome: Option<OutcomeName>,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OutcomeName {
    Paid,
    Failed,
}

pub(crate) fn run(options: &WalletOptions) -> anyhow::Result<u8> {
    match &options.command {
        WalletCommand::Status(options) => status(options),
        WalletCommand::Pay(options) => pay(options),
        WalletCommand::List(options) => list(options),
        WalletCommand::Show(options) => {
            let answer = remote(&options.common)?.get(&path(&options.id)?)?;
            show(&answer, &options.common)
        }
        WalletCommand::Resolve(options) => {
            let word = options.outcome.map(|outcome| match outcome {
                OutcomeName::Paid => "paid",
                OutcomeName::Failed => "failed",
            });
            let body = word.map_or_else(|| json!({}), |word| json!({"outcome": word}));
            let path = format!("{}/resolve", path(&options.id)?);
            let answer = remote(&options.common)?.post(&path, &body)?;
            show(&answer, &options.common)
        }
    }
}

fn remote(options: &CommonOptions) -> anyhow::Result<Remote> {
    Remote::of(&settings(&options.settings)?)
}

/// The path of a payment; what cannot be an id is not sent anywhere.
fn path(id: &str) -> anyhow::Result<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(plain) {
        bail!("an id looks like pay_1f0c9a7be2d43358, as `blastshield wallet list` shows it");
    }
    Ok(format!("/v1/payments/{id}"))
}

fn status(options: &CommonOptions) -> anyhow::Result<u8> {
    let answer = remote(options)?.get("/v1/wallet")?;
    if !answer.is_ok() {
        bail!("{}", answer.message());
    }
    let wallet = &answer.body;
    if options.json {
        return print(&format!("{wallet:#}")).map(|()| CLEAN);
    }
    let mut lines = vec![format!("mode       {}", text(wallet, "mode"))];
    let missing: Vec<&str> = wallet
        .get("missing")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !missing.is_empty() {
        lines.push(format!("missing    {}", missing.join(", ")));
    }
    let spent = number(wallet, "spent_sats");
    lines.push(format!(
        "today      {} sats spent, {} set aside, {} left of {} ({})",
        spent,
        number(wallet, "reserved_sats"),
        number(wallet, "left_sats"),
        number(wallet, "daily_limit_sats"),
        text(wallet, "day")
    ));
    lines.push(format!(
        "threshold  {} sats; over it the amount is repeated",
        number(wallet, "approval_threshold_sats")
    ));
    let balance = match wallet.get("balance_sats") {
        Some(balance) => format!("{balance} sats"),
        None => "not known".to_owned(),
    };
    lines.push(format!("balance    {balance}"));
    print(&lines.join("\n")).map(|()| CLEAN)
}

fn pay(options: &PayOptions) -> anyhow::Result<u8> {
    let remote = remote(&options.common)?;
    let mut body = json!({"bolt11": options.invoice});
    if let Some(fields) = body.as_object_mut() {
        if let Some(memo) = &options.memo {
            fields.insert("memo".to_owned(), memo.as_str().into());
        }
        if let Some(amount) = options.amount {
            fields.insert("amount_sats".to_owned(), amount.into());
        }
    }
    let mut answer = remote.post("/v1/payments", &body)?;
    if !answer.is_ok() || options.no_wait {
        return show(&answer, &options.common);
    }
    let path = path(&text(&answer.body, "payment_id"))?;
    if !options.common.json && is_open(&answer.body) {
        let approval = text(&answer.body, "approval_id");
        eprintln!("the owner is asked: blastshield approvals show {approval}");
    }
    while answer.is_ok() && is_open(&answer.body) {
        answer = remote.get(&format!("{path}?wait={WAIT}"))?;
    }
    show(&answer, &options.common)
}

fn list(options: &ListOptions) -> anyhow::Result<u8> {
    let path = format!("/v1/payments?limit={}", options.limit);
    let answer = remote(&options.common)?.get(&path)?;
    let payments = match answer.body.get("payments").and_then(Value::as_array) {
        Some(payments) if answer.is_ok() => payments,
        _ => bail!("{}", answer.message()),
    };
    if options.common.json {
        return print(&format!("{:#}", Value::from(payments.clone()))).map(|()| CLEAN);
    }
    if payments.is_empty() {
        return print("nothing was asked to be paid").map(|()| CLEAN);
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["id", "state", "reason", "sats", "fee", "invoice", "memo"]);
    for payment in payments {
        table.add_row([
            text(payment, "payment_id"),
            text(payment, "state"),
            text(payment, "reason"),
            number(payment, "amount_sats").to_string(),
            payment
                .get("fee_sats")
                .map(Value::to_string)
                .unwrap_or_default(),
            text(payment, "invoice"),
            text(payment, "memo").chars().take(40).collect(),
        ]);
    }
    print(&table.to_string()).map(|()| CLEAN)
}

/// One payment, or why there is none.
fn show(answer: &Answer, options: &CommonOptions) -> anyhow::Result<u8> {
    if !answer.is_ok() {
        if matches!(answer.status, 400 | 403 | 404 | 409 | 429) {
            eprintln!("blastshield: {}", answer.message());
            return Ok(FINDINGS);
        }
        bail!("{}", answer.message());
    }
    let payment = &answer.body;
    if options.json {
        print(&format!("{payment:#}"))?;
    } else {
        let reason = text(payment, "reason");
        let reason = if reason.is_empty() {
            reason
        } else {
            format!(" ({reason})")
        };
        print(&format!(
            "{}: {}{reason}\n{} sats for {}\n{}",
            text(payment, "payment_id"),
            text(payment, "state"),
            number(payment, "amount_sats"),
            text(payment, "invoice"),
            text(payment, "message"),
        ))?;
    }
    let bad = ["failed", "denied", "expired", "unknown"];
    Ok(if bad.contains(&text(payment, "state").as_str()) {
        FINDINGS
    } else {
        CLEAN
    })
}

fn is_open(payment: &Value) -> bool {
    let open = ["requested", "asked", "approved", "sending"];
    open.contains(&text(payment, "state").as_str())
}

/// A text with nothing in it that could steer a terminal.
fn text(value: &Value, name: &str) -> String {
    visible::line(value.get(name).and_then(Value::as_str).unwrap_or_default())
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_become_paths() {
        assert_eq!(path("pay_0f").unwrap(), "/v1/payments/pay_0f");
        for bad in ["", "a/b", "a b", "..", "pay_0?x=1", &"a".repeat(65)] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_over_is_not_waited_for() {
        for (state, open) in [
            ("asked", true),
            ("sending", true),
            ("paid", false),
            ("unknown", false),
            ("", false),
        ] {
            assert_eq!(is_open(&json!({"state": state})), open, "{state}");
        }
    }
}
