//! `blastshield prompt`: the sections that tell a model how to stay safe, and whether a prompt still holds them.

use crate::{CLEAN, FINDINGS};
use anyhow::{Context, bail};
use blastshield_guard::prompt::Sections;
use clap::Args;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest prompt that is read.
const MAX_PROMPT: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  blastshield prompt >> system-prompt.md
  blastshield prompt --hash                        what an agent can show
  blastshield prompt --verify system-prompt.md     exit 0 if all sections are in it, unaltered

Exit codes: 0 printed or verified, 1 altered or missing, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PromptOptions {
    /// Print JSON: version, hash, sections
    #[arg(long)]
    json: bool,
    /// Print only the SHA-256 of the sections
    #[arg(long, conflicts_with = "verify")]
    hash: bool,
    /// Say whether a prompt holds all sections, in order and unaltered; `-` for standard input
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,
}

pub(crate) fn run(options: &PromptOptions) -> anyhow::Result<u8> {
    let sections = Sections::shipped();
    let (version, hash) = (sections.version, sections.hash.as_str());
    if let Some(file) = &options.verify {
        let verified = sections.verify(&read(file)?);
        if options.json {
            let answer =
                serde_json::json!({"version": version, "hash": hash, "verified": verified});
            println!("{answer}");
        } else if verified {
            println!("unaltered: version {version}, {hash}");
        } else {
            println!(
                "altered or missing: version {version} is not in this prompt as it was printed"
            );
        }
        return Ok(if verified { CLEAN } else { FINDINGS });
    }
    match (options.hash, options.json) {
        (true, true) => println!("{}", serde_json::json!({"version": version, "hash": hash})),
        (true, false) => println!("{hash}"),
        (false, true) => println!("{}", serde_json::to_string_pretty(&sections)?),
        (false, false) => print!("{}", sections.render()),
    }
    Ok(CLEAN)
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let cannot = "cannot read the prompt";
    if file.as_os_str() == "-" {
        let input = std::io::stdin().lock();
        input
            .take(MAX_PROMPT + 1)
            .read_to_end(&mut bytes)
            .context(cannot)?;
    } else {
        let input = std::fs::File::open(file).context(cannot)?;
        input
            .take(MAX_PROMPT + 1)
            .read_to_end(&mut bytes)
            .context(cannot)?;
    }
    if bytes.len() as u64 > MAX_PROMPT {
        bail!("the prompt is larger than {} MiB", MAX_PROMPT >> 20);
    }
    // A byte that is no text alters it.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
