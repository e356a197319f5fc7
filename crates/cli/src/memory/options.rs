//! The options of `blastshield memory`.

use crate::args::SettingsOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Scan all memory files below a folder, once or as they change
    Scan(MemoryScanOptions),
    /// Put a file back from quarantine and accept it as it is
    Restore(RestoreOptions),
}

const SCAN_EXAMPLES: &str = "\
Examples:
  blastshield memory scan ~/agent/workspace                 once
  blastshield memory scan --accept ~/agent/workspace        from now on changes are named
  blastshield memory scan --watch --quarantine --tell ~/agent/workspace
  blastshield memory scan --json ~/agent/workspace | jq 'select(.poisoned)'

Memory files are texts by their ending (.md, .txt, .json, …), files without one, and all files
below a folder named knowledge, memory or memories.
Keep the baseline where the agent cannot write: --baseline FILE.
Exit codes: 0 clean, 1 poison that was not accepted, 2 error or something could not be looked at";

#[derive(Debug, Args)]
#[command(after_help = SCAN_EXAMPLES)]
pub(crate) struct MemoryScanOptions {
    /// The folder of the agent's memory
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Print one JSON document a file, or an event with --watch; never contents
    #[arg(long)]
    pub(crate) json: bool,
    /// Go on until Ctrl-C and tell what happens, one line an event
    #[arg(long)]
    pub(crate) watch: bool,
    /// Where accepted hashes are kept; .blastshield-baseline.json in DIR by default
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Move poisoned files to .blastshield-quarantine in DIR
    #[arg(long)]
    pub(crate) quarantine: bool,
    /// Record the present state, poison included, as accepted
    #[arg(long)]
    pub(crate) accept: bool,
    /// Tell the owner of poison: the audit log, and the channels of a running gateway
    #[arg(long)]
    pub(crate) tell: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "A newer file is never overwritten. Exit codes: 0 restored, 2 error")]
pub(crate) struct RestoreOptions {
    /// An id, its folder in the quarantine, or the path that the file had
    #[arg(value_name = "ID|FILE")]
    pub(crate) target: PathBuf,
    /// The folder of the agent's memory, if an id is given
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Where accepted hashes are kept; .blastshield-baseline.json in DIR by default
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
