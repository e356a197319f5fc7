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
    /// Run the gateway: search, fetch and web-fetch for agents
    Serve(ServeOptions),
    /// Run the forward proxy alone: the only way out for agents
    Egress(crate::egress::EgressOptions),
    /// Run a command whose only way out is the forward proxy
    Run(crate::run::RunOptions),
    /// Close every way out at once, or open them again
    Lockdown(crate::lockdown::LockdownOptions),
    /// Fetch a page as an agent would get it
    Fetch(FetchOptions),
    /// Search the web as an agent would
    Search(SearchOptions),
    /// Explain what policy and address guard say about a URL, without connecting
    Check(CheckOptions),
    /// Turn HTML on standard input into what an agent would get
    Convert(ConvertOptions),
    /// Look for prompt injection in files, folders, standard input or JSONL rows
    Scan(ScanOptions),
    /// Scan what an agent remembers, name what changed, take poison away
    #[command(subcommand)]
    Memory(crate::memory::MemoryCommand),
    /// Print the safety sections of a system prompt, or verify that a prompt holds them
    Prompt(crate::prompt::PromptOptions),
    /// Make, list and look for canaries
    Canary(crate::canary::CanaryOptions),
    /// Look for secrets and personal data in files, folders, standard input or JSONL rows
    Leak(LeakOptions),
    /// Look at the security of this deployment: files, tokens, settings, kernel, OpenClaw
    Audit(crate::posture::AuditOptions),
    /// Verify the audit log, or read it
    AuditLog(crate::audit_log::AuditLogOptions),
    /// List security proxies that wait after a bad end, and let them go on
    Quarantine(crate::quarantine::QuarantineOptions),
    /// Make and check known-good copies of what security proxies may change
    Backup(crate::backup::BackupOptions),
    /// Confine commands, and show what this machine can confine
    #[command(subcommand)]
    Sandbox(crate::sandbox::SandboxCommand),
    /// Print our policy for other programs: a seccomp profile for containers, a Squid configuration
    #[command(subcommand)]
    Export(crate::export::ExportCommand),
    /// Measure the detector on labelled JSONL rows
    Eval(EvalOptions),
    /// Train the embedded model from labelled JSONL rows and the built-in phrase banks
    Train(TrainOptions),
    /// List the rules
    Rules(RulesOptions),
    /// Show every setting, its value and where it comes from
    Config(ConfigOptions),
    /// Check that what a deployment needs is set, and show which modes follow
    #[command(subcommand)]
    Env(crate::env_check::EnvCommand),
    /// Ask a running gateway whether it is ready; exit 0 if it is
    Health(HealthOptions),
    /// Print the skill file that teaches OpenClaw to use the gateway, or look into a skill before it is installed
    Skill(crate::skill::SkillOptions),
    /// List, show and decide what waits for the owner, through the running gateway
    Approvals(crate::approvals::ApprovalsOptions),
    /// Show, ask for and clear up payments, through the running gateway
    Wallet(crate::wallet::WalletOptions),
    /// Define untrusted services and run tasks with them in confined workers
    Proxy(crate::proxy::ProxyOptions),
    /// Print the OpenAPI document of the gateway
    Openapi,
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

const LEAK_EXAMPLES: &str = "\
Examples:
  blastshield leak ~/agent/memory              every file below a folder
  git diff --cached | blastshield leak -       what is about to be committed
  blastshield leak --scope outbound post.txt   as a post to strangers is checked
  blastshield leak --jsonl rows.jsonl          one answer a line, in order

Values are never shown, only their kind and place. Exit codes: 0 nothing found, 1 findings, 2 error";

#[derive(Debug, Args)]
#[command(after_help = LEAK_EXAMPLES)]
pub(crate) struct LeakOptions {
    /// Files or folders; `-` for standard input
    #[arg(value_name = "PATH", required_unless_present_any = ["jsonl", "rules"])]
    pub(crate) paths: Vec<PathBuf>,
    /// Rows {"id","text"}, one a line, from a file or `-`; answers one line a row, in order
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with = "paths")]
    pub(crate) jsonl: Option<PathBuf>,
    /// Print one JSON document a file instead of a report for people
    #[arg(long)]
    pub(crate) json: bool,
    /// What counts
    #[arg(long, value_enum, default_value = "report")]
    pub(crate) scope: LeakScope,
    /// List what is looked for
    #[arg(long, conflicts_with_all = ["paths", "jsonl"])]
    pub(crate) rules: bool,
    /// With --rules: print a Markdown table, as in docs/leaks.md
    #[arg(long, requires = "rules")]
    pub(crate) markdown: bool,
    /// Largest file to read, in MiB; larger ones are reported and left out
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub(crate) max_size: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LeakScope {
    /// Everything but bare numbers
    Report,
    /// What must not be said to strangers
    Outbound,
    /// What opens doors
    Secrets,
    /// Everything
    All,
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
    /// Print docs/rules.md
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Where settings come from: a file, then the environment, then these.
#[derive(Clone, Debug, Args)]
pub(crate) struct SettingsOptions {
    /// Configuration file; blastshield.toml in this folder when there is one
    #[arg(long, value_name = "FILE", env = "BLASTSHIELD_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Set one setting, such as server.port=3001; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

const SERVE_EXAMPLES: &str = "\
Examples:
  blastshield serve                                on 127.0.0.1:3000, data in ./data
  CLAWRUBBER_BRAVE_API_KEY=… blastshield serve     with search
  blastshield serve --set policy.profile=paranoid --port 8080

`blastshield config` lists every setting. Exit codes: 0 ended by a signal, 2 error";

#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<String>,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

const FETCH_EXAMPLES: &str = "\
Examples:
  blastshield fetch https://example.org
  blastshield fetch --mode text --max-chars 2000 https://example.org
  blastshield fetch --json https://example.org | jq .safety

Exit codes: 0 allowed, 1 blocked, 2 error";

#[derive(Debug, Args)]
#[command(after_help = FETCH_EXAMPLES)]
pub(crate) struct FetchOptions {
    /// What to fetch
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// In which form
    #[arg(long, value_enum, default_value = "markdown")]
    pub(crate) mode: ModeName,
    /// Most characters of content
    #[arg(long, value_name = "N")]
    pub(crate) max_chars: Option<usize>,
    /// Print the gateway's answer as it is
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    Text,
    Markdown,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 answered, 2 error")]
pub(crate) struct SearchOptions {
    /// The words to look for
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// How many results
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub(crate) count: u32,
    /// Print the gateway's answer as it is
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  blastshield check https://example.org
  blastshield check --resolve 10.0.0.7 https://intranet.example
  blastshield check --jsonl urls.jsonl           rows {\"id\",\"url\",\"dns\"?: {host: [addresses]}}

Without --resolve the name is looked up; rows without \"dns\" are judged by name alone.
Exit codes: 0 allowed, 1 blocked, 2 error";

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckOptions {
    /// What would be fetched
    #[arg(value_name = "URL", required_unless_present = "jsonl")]
    pub(crate) url: Option<String>,
    /// Address that the name resolves to; may be repeated
    #[arg(long, value_name = "IP")]
    pub(crate) resolve: Vec<std::net::IpAddr>,
    /// Rows, one a line, from a file or `-`; answers one line a row
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "resolve"])]
    pub(crate) jsonl: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  blastshield convert < page.html
  blastshield convert --mode text --url https://example.org/a < page.html
  blastshield convert --jsonl < rows.jsonl       rows {\"html\",\"url\"?} -> {\"text\",\"flags\",\"decision\"}

A blocked page is not printed, except with --jsonl, which is for measuring.
Exit codes: 0 allowed, 1 blocked, 2 error";

#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertOptions {
    /// In which form
    #[arg(long, value_enum, default_value = "markdown")]
    pub(crate) mode: ModeName,
    /// Where the page comes from: links are resolved against it
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<url::Url>,
    /// Where the medium and block lines lie
    #[arg(long, value_enum, default_value = "strict")]
    pub(crate) profile: ProfileName,
    /// Print one JSON document: text, flags, decision, score, summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Read rows instead of a page
    #[arg(long, conflicts_with_all = ["json", "url"])]
    pub(crate) jsonl: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigOptions {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the table of all settings as Markdown, as in docs/settings.md
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
}

#[derive(Debug, Args)]
pub(crate) struct HealthOptions {
    #[command(flatten)]
    pub(crate) settings: SettingsOptions,
}
