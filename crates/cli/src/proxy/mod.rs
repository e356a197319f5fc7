//! `blastshield proxy`: definitions of untrusted services, and tasks for them.

mod check;
mod run;

use crate::args::SettingsOptions;
use crate::remote::Remote;
use crate::scan::visible;
use crate::{CLEAN, FINDINGS};
use anyhow::{Context, bail};
use blastshield_proxies::definition;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  blastshield proxy list                                     services and their operations
  blastshield proxy new weather                              a commented definition, in the folder of definitions
  blastshield proxy check services/weather.toml              what is wrong with a definition
  blastshield proxy run moltbook read_feed --param limit=5
  blastshield proxy tier moltbook ann friend
  blastshield proxy run moltbook comment --param thread_id=4829 --param content='Nice bread.' --wait 600

`run` asks the running gateway if there is one, and otherwise does the work itself.
Exit codes: 0 done, 1 the task came to nothing or a definition is wrong, 2 error";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProxyOptions {
    #[command(subcommand)]
    command: ProxyCommand,
}

#[derive(Debug, Subcommand)]
enum ProxyCommand {
    /// Write a commented definition for a service
    New(NewOptions),
    /// List services, their operations and parameters
    List(ListOptions),
    /// Check a definition, or all of them
    Check(CheckOptions),
    /// Say how well a service's identity knows somebody, through the running gateway
    Tier(TierOptions),
    /// Run an operation of a service in a confined worker
    Run(RunOptions),
}

#[derive(Debug, Args)]
struct NewOptions {
    /// The service's name: lower-case letters, digits and -
    #[arg(value_name = "NAME")]
    name: String,
    /// Print it instead of writing a file
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct ListOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct CheckOptions {
    /// A file, or the name of a service; all definitions when not given
    #[arg(value_name = "FILE|NAME")]
    what: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Debug, Args)]
struct TierOptions {
    /// The service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// Somebody, as the service has them
    #[arg(value_name = "NAME")]
    name: String,
    /// How well they are known
    #[arg(value_name = "TIER", value_enum)]
    tier: TierName,
    #[command(flatten)]
    settings: SettingsOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TierName {
    Acquaintance,
    Friend,
    Ally,
}

#[derive(Debug, Args)]
struct RunOptions {
    /// The service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// The operation
    #[arg(value_name = "OPERATION")]
    operation: String,
    /// A parameter; may be repeated
    #[arg(long = "param", value_name = "KEY=VALUE")]
    params: Vec<String>,
    /// With whom it is about, for relationships
    #[arg(long, value_name = "NAME")]
    with: Option<String>,
    /// Longest time to wait for the end, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    wait: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsOptions,
}

pub(crate) fn main(options: &ProxyOptions) -> anyhow::Result<u8> {
    match &options.command {
        ProxyCommand::New(options) => new(options),
        ProxyCommand::List(options) => check::list(options),
        ProxyCommand::Check(options) => check::check(options),
        ProxyCommand::Tier(options) => tier(options),
        ProxyCommand::Run(options) => run::run(options),
    }
}

fn tier(options: &TierOptions) -> anyhow::Result<u8> {
    let settings = crate::settings::settings(&options.settings)?;
    if !definition::is_name(&options.service) {
        bail!("there is no service of this name");
    }
    let tier = format!("{:?}", options.tier);
    let path = format!("/v1/proxies/{}/relationships", options.service);
    let request = json!({"name": options.name, "tier": tier});
    let answer = Remote::of(&settings)?.post(&path, &request)?;
    if !answer.is_ok() {
        bail!("{}", answer.message());
    }
    println!("{} is now {tier}", visible::line(&options.name));
    Ok(CLEAN)
}

fn new(options: &NewOptions) -> anyhow::Result<u8> {
    let Some(text) = definition::template(&options.name) else {
        bail!("a service is named by 1 to 32 lower-case letters, digits and -, a letter first");
    };
    if options.print {
        print!("{text}");
        return Ok(CLEAN);
    }
    let settings = crate::settings::settings(&options.settings)?;
    let folder = settings.proxies.dir;
    std::fs::create_dir_all(&folder).context("cannot make the folder of definitions")?;
    let path: PathBuf = folder.join(format!("{}.toml", options.name));
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            eprintln!("{} is there already", path.display());
            return Ok(FINDINGS);
        }
        Err(error) => return Err(error).context("cannot write the definition"),
    };
    file.write_all(text.as_bytes())?;
    println!("{}", path.display());
    eprintln!("fill it in, then: blastshield proxy check {}", options.name);
    Ok(CLEAN)
}
