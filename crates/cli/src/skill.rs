//! `blastshield skill`: the skill that teaches OpenClaw to use the gateway, and a look into skills of others.

use crate::scan::input::{self, Unread};
use crate::scan::visible;
use crate::{CLEAN, ERROR, FINDINGS};
use anyhow::{Context, bail};
use blastshield_detect::Detector;
use blastshield_leak::Scanner;
use blastshield_skills::{Examination, Examiner, File, Finding, Severity, rules};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Teaches an OpenClaw agent to use the gateway.
const SKILL: &str = include_str!("../../../integrations/openclaw/skills/blastshield/SKILL.md");
/// Largest file of a skill that is read.
const MOST: u64 = 4 << 20;

const EXAMPLES: &str = "\
Examples:
  blastshield skill > SKILL.md                     the skill that teaches OpenClaw to use the gateway
  blastshield skill scan ~/Downloads/weather       what a skill would bring along
  blastshield skill scan --json weather | jq .findings
  blastshield skill rules                          which commands are looked for";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SkillOptions {
    #[command(subcommand)]
    command: Option<SkillCommand>,
}

#[derive(Debug, Subcommand)]
enum SkillCommand {
    /// Look for injection, secrets, fetched programs and hosts in a skill before it is installed
    Scan(ScanOptions),
    /// List the rules about commands
    Rules,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing but what is worth knowing, 1 something worth a look or grave, 2 error or something could not be read"
)]
struct ScanOptions {
    /// The skill's folder, or one file
    #[arg(value_name = "DIR")]
    path: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &SkillOptions) -> anyhow::Result<u8> {
    match &options.command {
        None => print(SKILL.trim_end()).map(|()| CLEAN),
        Some(SkillCommand::Scan(options)) => scan(options),
        Some(SkillCommand::Rules) => {
            for rule in rules() {
                print(&format!(
                    "{:<9} {:<24} {}",
                    rule.severity.name(),
                    rule.id,
                    rule.means
                ))?;
            }
            Ok(CLEAN)
        }
    }
}

fn scan(options: &ScanOptions) -> anyhow::Result<u8> {
    let root = &options.path;
    root.symlink_metadata()
        .with_context(|| format!("cannot look at {}", visible::line(&root.to_string_lossy())))?;
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for input in input::collect(std::slice::from_ref(root)) {
        let name = match &input {
            input::Input::File(path) | input::Input::Link(path) | input::Input::Lost(path, _) => {
                within(root, path)
            }
            input::Input::Standard => bail!("a skill is a folder or a file"),
        };
        match input.read(MOST) {
            Ok(text) => files.push((name, text)),
            Err(why) => unread.push((name, why)),
        }
    }
    let given: Vec<File<'_>> = files
        .iter()
        .map(|(path, content)| File { path, content })
        .collect();
    let (detector, secrets) = (Detector::shipped()?, Scanner::shipped());
    let seen = Examiner::new(&detector, &secrets).examine(&given)?;
    if options.json {
        let unread: Vec<_> = unread
            .iter()
            .map(|(name, why)| json!({"file": name, "why": why.to_string()}))
            .collect();
        let mut report = serde_json::to_value(&seen)?;
        if let Some(fields) = report.as_object_mut() {
            fields.insert("unread".to_owned(), unread.into());
        }
        print(&format!("{report:#}"))?;
    } else {
        print(&for_people(&seen, &unread))?;
    }
    Ok(match seen.gravest() {
        Some(Severity::Warn | Severity::Critical) => FINDINGS,
        // What could not be read may be anything.
        _ if !unread.is_empty() => ERROR,
        _ => CLEAN,
    })
}

/// A file's name below the skill's folder.
fn within(root: &Path, path: &Path) -> String {
    let below = path
        .strip_prefix(root)
        .ok()
        .filter(|rest| !rest.as_os_str().is_empty());
    let name = below.map_or_else(|| path.file_name().map(Path::new), Some);
    visible::line(&name.unwrap_or(path).to_string_lossy())
}

fn for_people(seen: &Examination, unread: &[(String, Unread)]) -> String {
    let mut lines: Vec<String> = seen.findings.iter().map(line).collect();
    lines.extend(
        unread
            .iter()
            .map(|(name, why)| format!("unread   {name}: {why}")),
    );
    if !seen.hosts.is_empty() {
        let more = match seen.more_hosts {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!(
            "hosts    {}{more}",
            visible::line(&seen.hosts.join(", "))
        ));
    }
    lines.push(format!(
        "{} files, {} bytes: {}",
        seen.files,
        seen.bytes,
        seen.summary()
    ));
    lines.join("\n")
}

fn line(found: &Finding) -> String {
    let means = rules().iter().find(|rule| rule.id == found.rule);
    let means = means.map_or_else(String::new, |rule| format!(": {}", rule.means));
    format!(
        "{:<8} {}:{} {} {}{means}",
        found.severity.name(),
        visible::line(&found.file),
        found.line,
        found.kind.name(),
        found.rule
    )
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
