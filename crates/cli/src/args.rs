//! Every option of every command.

use blastshield_detect::{Kind, Profile};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Stands between an AI agent and everything it should not trust.
#[derive(Debug, Parser)]
#[command(name = "blastshield", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look for prompt injection in files, folders, standard input or JSONL rows
    Scan(ScanOptions),
    /// Measure the detector on labelled JSONL rows
    Eval(EvalOptions),
    /// Train the embedded model from labelled JSONL rows and the built-in phrase banks
    Train(TrainOptions),
    /// List the rules
    Rules(RulesOptions),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

const SCAN_EXAMPLES: &str = "\
Examples:
  blastshield scan ~/Downloads/skills         every file below a folder
  curl -s https://example.org | blastshield scan --kind web -
  blastshield scan --json notes.md | jq .score
  blastshield scan --jsonl rows.jsonl         one answer a line, in order

Exit codes: 0 nothing at or over the block line, 1 findings, 2 error";

#[derive(Debug, Args)]
#[command(after_help = SCAN_EXAMPLES)]
pub(crate) struct ScanOptions {
    /// Files or folders; `-` for standard input
    #[arg(value_name = "PATH", required_unless_present = "jsonl")]
    pub(crate) paths: Vec<PathBuf>,
    /// Rows {"id","text"}, one a line, from a file or `-`; answers one line a row, in order
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Print one JSON document a file instead of a report for people
    #[arg(long)]
    pub(crate) json: bool,
    /// Where the medium and block lines lie: baseline 8/14, strict 6/10, paranoid 4/7
    #[arg(long, value_enum, default_value = "strict")]
    pub(crate) profile: ProfileName,
    /// Where the text comes from
    #[arg(long, value_enum, default_value = "message")]
    pub(crate) kind: KindName,
    /// Also list files without findings
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Largest file to read, in MiB; larger ones are reported and left out
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) max_size: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProfileName {
    Baseline,
    Strict,
    Paranoid,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Baseline => Self::Baseline,
            ProfileName::Strict => Self::Strict,
            ProfileName::Paranoid => Self::Paranoid,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindName {
    Message,
    ToolResult,
    Memory,
    Web,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Message => Self::Message,
            KindName::ToolResult => Self::ToolResult,
            KindName::Memory => Self::Memory,
            KindName::Web => Self::Web,
        }
    }
}

const EVAL_EXAMPLES: &str = "\
Examples:
  blastshield eval rows/                        score the shipped detector
  blastshield eval rows/ --leave-one-out        retrain without each attack source, report on it alone

Rows are JSONL, plain or gzipped: {\"text\",\"label\",\"category\",\"source\",\"lang\"}; label 1 is an attack.
Only figures of --leave-one-out are of sources that the model has not seen.";

#[derive(Debug, Args)]
#[command(after_help = EVAL_EXAMPLES)]
pub(crate) struct EvalOptions {
    /// Folder of *.jsonl or *.jsonl.gz files
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Retrain without each attack source and report on it alone
    #[arg(long)]
    pub(crate) leave_one_out: bool,
    /// Use the rules alone
    #[arg(long, conflicts_with = "leave_one_out")]
    pub(crate) rules_only: bool,
    /// Score only these sources
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    pub(crate) sources: Vec<String>,
    /// Benign sources that quote attacks: reported, but not counted in the false-positive rate
    #[arg(
        long,
        value_name = "SOURCE",
        value_delimiter = ',',
        default_value = "promptfoo_docs,promptguide_docs"
    )]
    pub(crate) apart: Vec<String>,
    /// Ordinary text for training with --leave-one-out: a folder of documents
    #[arg(long, value_name = "DIR")]
    pub(crate) background: Vec<PathBuf>,
    /// Where scores come from
    #[arg(long, value_enum, default_value = "message")]
    pub(crate) kind: KindName,
    /// Write every row's score as JSONL to this file: {"id","source","label","score"}
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrainOptions {
    /// Folder of *.jsonl or *.jsonl.gz files
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Ordinary text: a folder of documents, manuals or READMEs (plain or gzipped)
    #[arg(long, value_name = "DIR")]
    pub(crate) background: Vec<PathBuf>,
    /// Where to write the weights; the card is written beside them as .md
    #[arg(
        long,
        value_name = "FILE",
        default_value = "crates/detect/model/ngrams.bin"
    )]
    pub(crate) out: PathBuf,
    /// The date that the card shows
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: String,
}

#[derive(Debug, Args)]
pub(crate) struct RulesOptions {
    /// Print a Markdown table, as in docs/rules.md
    #[arg(long)]
    pub(crate) markdown: bool,
}
