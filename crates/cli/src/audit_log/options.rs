//! The options of `blastshield audit-log`, and what is understood as a time or a mark.

use crate::args::SettingsOptions;
use crate::settings::settings;
use blastshield_audit::log::{MAX_TAIL, Mark};
use blastshield_audit::{Category, Clock, Digest, Severity, SystemClock, Time};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  blastshield audit-log verify                               is it what was written?
  blastshield audit-log verify --mark 1024:9f86d08…          and does it hold this entry, noted elsewhere?
  blastshield audit-log tail -n 50 --follow
  blastshield audit-log query --severity warn --category payment --since 7d";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditLogOptions {
    #[command(subcommand)]
    pub(super) command: AuditLogCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum AuditLogCommand {
    /// Check every entry and the chain that binds them
    Verify(VerifyOptions),
    /// Show the last entries
    Tail(TailOptions),
    /// Show the entries that match, oldest first
    Query(QueryOptions),
}

#[derive(Debug, Args)]
pub(super) struct Place {
    /// Folder of the log; the log folder of the configuration when not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

impl Place {
    pub(super) fn folder(&self) -> anyhow::Result<PathBuf> {
        match &self.dir {
            Some(dir) => Ok(dir.clone()),
            None => Ok(settings(&self.settings)?.logs.dir),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 verified, 1 broken or no log there, 2 error")]
pub(super) struct VerifyOptions {
    #[command(flatten)]
    pub(super) place: Place,
    /// An entry that was noted elsewhere and must be in the log; may be repeated
    #[arg(long = "mark", value_name = "SEQ:HASH", value_parser = mark)]
    pub(super) marks: Vec<Mark>,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 shown, 1 no log there or no entries, 2 error")]
pub(super) struct TailOptions {
    #[command(flatten)]
    pub(super) place: Place,
    /// How many
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20, value_parser = lines)]
    pub(super) lines: usize,
    /// Go on with what is written from now on; Ctrl-C ends it
    #[arg(long, short)]
    pub(super) follow: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 found, 1 nothing found or no log there, 2 error")]
pub(super) struct QueryOptions {
    #[command(flatten)]
    pub(super) place: Place,
    /// At least this grave: info, warn or critical
    #[arg(long, value_parser = severity)]
    pub(super) severity: Option<Severity>,
    /// About this: threat, leak, payment, approval, session, …
    #[arg(long, value_parser = category)]
    pub(super) category: Option<Category>,
    /// Not before: RFC 3339, a date (UTC), or how long ago, such as 30m, 12h or 7d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) since: Option<Time>,
    /// Before; written as for --since
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(super) until: Option<Time>,
    /// This text in message or details, in any case
    #[arg(long)]
    pub(super) text: Option<String>,
}

fn mark(text: &str) -> Result<Mark, String> {
    let parsed = text.split_once(':').and_then(|(seq, hash)| {
        Some(Mark {
            seq: seq.parse().ok().filter(|seq| *seq > 0)?,
            hash: Digest::parse(&hash.to_ascii_lowercase())?,
        })
    });
    parsed.ok_or_else(|| "a mark is the number of an entry, a colon and its hash".to_owned())
}

fn lines(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number <= MAX_TAIL);
    number.ok_or_else(|| format!("a number up to {MAX_TAIL}"))
}

fn severity(text: &str) -> Result<Severity, String> {
    Severity::parse(text).ok_or_else(|| "one of info, warn, critical".to_owned())
}

fn category(text: &str) -> Result<Category, String> {
    Category::parse(text).ok_or_else(|| {
        let names = Category::ALL.map(|one| one.as_str().to_ascii_lowercase());
        format!("one of {}", names.join(", "))
    })
}

/// A moment, or how long ago it was.
fn moment(text: &str) -> Result<Time, String> {
    const WRONG: &str = "a time such as 2026-11-16T12:00:00Z, a date, or how long ago, such as 7d";
    if let Some(time) = Time::parse(text) {
        return Ok(time);
    }
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => return Err(WRONG.to_owned()),
    };
    let number: u64 = text
        .trim_end_matches(['s', 'm', 'h', 'd'])
        .parse()
        .map_err(|_| WRONG.to_owned())?;
    let ago = number.saturating_mul(unit).saturating_mul(1000);
    Ok(Time::from_millis(
        SystemClock.now().millis().saturating_sub(ago),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_moments_are_read() {
        let hash = Digest::of(b"x").to_string();
        let found = mark(&format!("7:{}", hash.to_uppercase())).unwrap();
        assert_eq!((found.seq, found.hash.to_string()), (7, hash.clone()));
        for wrong in [
            "7",
            "0:ab",
            "x:y",
            &format!("0:{hash}"),
            &format!(":{hash}"),
        ] {
            assert!(mark(wrong).is_err(), "{wrong}");
        }
        assert_eq!(moment("2026-11-16").unwrap().date(), "2026-11-16");
        assert!(moment("2d").unwrap() < moment("30m").unwrap());
        for wrong in ["", "d", "yesterday", "-1d", "7dd7"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
        assert!(lines("10001").is_err() && lines("0").is_ok());
        assert_eq!(severity("Warn"), Ok(Severity::Warn));
        assert!(category("nonsense").unwrap_err().contains("payment"));
    }
}
