//! `blastshield audit`: the security of this deployment in one screen.
//!
//! Every check is a row of a table: what it is called, how grave it is, what mends it, and a function that looks. The
//! [`scene::Scene`] is what they look at; nothing is changed but by [`fix`].

mod check;
mod files;
mod fix;
mod guard;
mod keeping;
mod kernel;
mod lists;
mod openclaw;
mod owner;
mod report;
mod scene;
mod secrets;
mod server;
mod services;
mod store;
#[cfg(test)]
mod tests;
mod ways;

use crate::args::SettingsOptions;
use check::Check;
use clap::Args;
use report::{Seen, Tally};
use scene::Scene;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

/// Nothing that deserves a look.
const CALM: u8 = 0;
/// Warnings.
const WARNINGS: u8 = 1;
/// Something critical.
const CRITICAL: u8 = 2;
/// The deployment could not be looked at.
const FAILED: u8 = 3;

const EXAMPLES: &str = "\
Examples:
  blastshield audit                              this folder's configuration, the environment, ./data
  blastshield audit --config /etc/blastshield.toml --json | jq '.checks[] | select(.status == \"found\")'
  blastshield audit --fix                        take others' rights from our own files and folders
  blastshield audit --openclaw ~/agent/openclaw.json

Secrets are never shown. Run it as the user, and with the variables, that the gateway has.
Exit codes: 0 nothing at warn or above, 1 warnings, 2 critical, 3 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditOptions {
    /// Print JSON: every check with its outcome
    #[arg(long)]
    json: bool,
    /// Mend what is safe to mend: modes of our own files and folders; settings are never touched
    #[arg(long)]
    fix: bool,
    /// List the checks as a Markdown table, as in docs/audit.md, and look at nothing
    #[arg(long, conflicts_with_all = ["json", "fix"])]
    list: bool,
    /// OpenClaw's configuration, or the folder that holds it; looked for in ~/.openclaw when not given
    #[arg(long, value_name = "PATH")]
    openclaw: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsOptions,
}

/// Every check, by area.
const AREAS: [&[Check]; 11] = [
    files::CHECKS,
    secrets::CHECKS,
    server::CHECKS,
    lists::CHECKS,
    guard::CHECKS,
    owner::CHECKS,
    ways::CHECKS,
    services::CHECKS,
    keeping::CHECKS,
    kernel::CHECKS,
    openclaw::CHECKS,
];

/// Runs every check; an error has an exit code of its own here.
pub(crate) fn run(options: &AuditOptions) -> u8 {
    audit(options).unwrap_or_else(|error| {
        crate::said::error(&error);
        FAILED
    })
}

fn audit(options: &AuditOptions) -> anyhow::Result<u8> {
    if options.list {
        report::list(&mut io::stdout().lock(), AREAS.into_iter().flatten())?;
        return Ok(CALM);
    }
    let look = || Scene::look(&options.settings, options.openclaw.as_deref());
    let mut seen = looked(&look()?);
    let mut mended = Vec::new();
    if options.fix {
        mended = fix::apply(&seen);
        if !mended.is_empty() {
            seen = looked(&look()?);
        }
    }
    let stdout = io::stdout();
    let colours = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut out = io::BufWriter::new(stdout.lock());
    let written = if options.json {
        report::machine(&mut out, &seen, &mended)
    } else {
        report::people(&mut out, &seen, &mended, colours)
    };
    match written.and_then(|()| out.flush()) {
        // Whoever reads it may have read enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(code(Tally::of(&seen))),
    }
}

fn looked(scene: &Scene) -> Vec<Seen> {
    let checks = AREAS.into_iter().flatten();
    checks.map(|check| (check, (check.look)(scene))).collect()
}

fn code(tally: Tally) -> u8 {
    match (tally.critical, tally.warn) {
        (0, 0) => CALM,
        (0, _) => WARNINGS,
        _ => CRITICAL,
    }
}
