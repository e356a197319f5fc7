//! `blastshield env`: whether what a deployment needs is set, and which modes follow. Values are never shown.

use crate::CLEAN;
use anyhow::{Context, bail};
use blastshield_requirements::{
    EnvFile, MAX_ENV_FILE_BYTES, MAX_SCHEMA_BYTES, Report, Requirements, SHIPPED, Severity,
};
use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The gravest finding is a warning.
const WARNED: u8 = 1;
/// Something critical is missing or wrong.
const CRITICAL: u8 = 2;
/// Nothing was checked: apart from the others, so that a pipeline does not take it for a finding.
const FAILED: u8 = 3;

#[derive(Debug, Subcommand)]
pub(crate) enum EnvCommand {
    /// Check the environment, or a file of variables, against the requirements
    Check(EnvCheckOptions),
    /// Print the schema that ships, to start one's own from
    #[command(after_help = "Exit codes: 0 printed, 3 error")]
    Schema,
}

const EXAMPLES: &str = "\
Examples:
  blastshield env check                       the environment of this shell
  blastshield env check --env-file .env       KEY=VALUE lines; nothing is run
  blastshield env check --json | jq .modes.wallet
  blastshield env schema > env.schema.json    then edit it, and
  blastshield env check --schema env.schema.json

Values are never shown. Exit codes by the gravest finding: 0 none or info, 1 warn,
2 critical (or a wrong command line), 3 error: the schema or the file cannot be used";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EnvCheckOptions {
    /// Requirements to check against, instead of those that ship
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Variables as KEY=VALUE lines from a file, or from standard input with `-`, instead of the environment
    #[arg(long, value_name = "FILE")]
    env_file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Ends with a code of its own also when it fails: see [`FAILED`].
pub(crate) fn run(command: &EnvCommand) -> u8 {
    let outcome = match command {
        EnvCommand::Check(options) => check(options),
        EnvCommand::Schema => print(SHIPPED).map(|()| CLEAN),
    };
    outcome.unwrap_or_else(|error| {
        crate::said::error(&error);
        FAILED
    })
}

fn check(options: &EnvCheckOptions) -> anyhow::Result<u8> {
    let requirements = match &options.schema {
        Some(path) => Requirements::parse(&read(path, MAX_SCHEMA_BYTES)?)
            .with_context(|| format!("cannot use {}", path.display()))?,
        None => Requirements::shipped()?,
    };
    let report = match &options.env_file {
        Some(path) => {
            let file = EnvFile::parse(&read(path, MAX_ENV_FILE_BYTES)?)
                .with_context(|| format!("cannot use {}", path.display()))?;
            requirements.check(|name| file.get(name).map(str::to_owned))
        }
        // What is not UTF-8 gets a character that no value may have.
        None => requirements
            .check(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())),
    };
    if options.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        print(&for_people(&requirements, &report)?)?;
    }
    Ok(match report.gravest {
        None | Some(Severity::Info) => CLEAN,
        Some(Severity::Warn) => WARNED,
        Some(Severity::Critical) => CRITICAL,
    })
}

/// A text file of at most so many bytes.
fn read(path: &Path, most: usize) -> anyhow::Result<String> {
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?)
    };
    let mut bytes = Vec::new();
    source
        .take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.len() > most {
        bail!("{} is larger than {most} bytes", path.display());
    }
    // The error of `String` holds the bytes.
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => bail!("{} is not UTF-8", path.display()),
    }
}

/// A reader that went away does not change the code that says what was found.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn for_people(requirements: &Requirements, report: &Report) -> anyhow::Result<String> {
    let mut text = String::new();
    writeln!(text, "{}", variables(requirements, report))?;
    writeln!(text, "{}", modes(requirements, report))?;
    for severity in [Severity::Critical, Severity::Warn, Severity::Info] {
        for finding in report.findings.iter().filter(|f| f.severity == severity) {
            writeln!(text, "{severity:<8} {}", finding.message)?;
        }
    }
    let count = |severity| {
        let of_it = report.findings.iter().filter(|f| f.severity == severity);
        of_it.count()
    };
    writeln!(
        text,
        "{} variables: {} critical, {} warn, {} info",
        report.variables.len(),
        count(Severity::Critical),
        count(Severity::Warn),
        count(Severity::Info),
    )?;
    Ok(text)
}

/// Variables by group, groups in the order of the schema.
fn variables(requirements: &Requirements, report: &Report) -> Table {
    let mut groups: Vec<&str> = Vec::new();
    for variable in requirements.variables() {
        if !groups.contains(&variable.group.as_str()) {
            groups.push(&variable.group);
        }
    }
    let mut table = table(["group", "variable", "state", "severity", "switches"]);
    for group in groups {
        let mut title = group;
        let members = requirements
            .variables()
            .iter()
            .filter(|variable| variable.group == group);
        for variable in members {
            let state = report.variables.get(&variable.name);
            let finding = report
                .findings
                .iter()
                .find(|finding| finding.variable == variable.name);
            let switches: Vec<&str> = requirements.switched_by(&variable.name).collect();
            table.add_row([
                title,
                variable.name.as_str(),
                state.map_or("", |state| state.name()),
                finding.map_or("", |finding| finding.severity.name()),
                &switches.join(", "),
            ]);
            title = "";
        }
    }
    table
}

fn modes(requirements: &Requirements, report: &Report) -> Table {
    let mut table = table(["feature", "mode", "means"]);
    for feature in requirements.features() {
        let mode = report.mode(&feature.name).unwrap_or_default();
        let mut means = feature.means(mode).unwrap_or_default().to_owned();
        if let Some(unmet) = report.unmet.get(&feature.name) {
            means = format!("not in force without {}", unmet.join(", "));
        }
        table.add_row([feature.name.as_str(), mode, &means]);
    }
    table
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(header);
    table
}
