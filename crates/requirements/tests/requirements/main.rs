//! What the requirements promise, on the shipped schema and on hostile ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod changes;
mod env_file;
mod hostile;
mod manual;
mod modes;
mod secrets;
mod values;

use blastshield_requirements::{Report, Requirements};
use std::collections::BTreeMap;

/// A value of the right form for each variable of the shipped schema, assembled so that no scanner takes it for a secret.
fn right(name: &str) -> String {
    match name {
        "OPENAI_API_KEY" => format!("sk-{}", "Ab1".repeat(12)),
        "TELEGRAM_BOT_TOKEN" => format!("123456789:{}", "Ab_-9".repeat(7)),
        "TELEGRAM_OWNER_ID" => "123456789".into(),
        "REQUIRE_POST_APPROVAL" => "true".into(),
        "LNBITS_URL" => "https://lnbits.example".into(),
        "LNBITS_INVOICE_KEY" => "0a".repeat(16),
        "LNBITS_ADMIN_KEY" => "0b".repeat(16),
        "WALLET_DAILY_LIMIT_SATS" => "10000".into(),
        "WALLET_APPROVAL_THRESHOLD_SATS" => "1000".into(),
        "MOLTBOOK_API_TOKEN" => format!("moltbook_{}", "x7".repeat(8)),
        "SUPERVISOR_ALLOWED_DOMAINS" => "api.openai.com, *.example.org".into(),
        other => panic!("no value for {other}"),
    }
}

fn shipped() -> Requirements {
    Requirements::shipped().unwrap()
}

fn check(requirements: &Requirements, values: &BTreeMap<String, String>) -> Report {
    requirements.check(|name| values.get(name).cloned())
}

/// A look-up of these.
fn values<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
