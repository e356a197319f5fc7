//! `blastshield run`: a command whose only way out is the forward proxy.

use crate::args::SettingsOptions;
use crate::egress::WayOut;
use crate::settings::settings;
use anyhow::{Context, bail};
use blastshield_sandbox::{Confinement, Exit, Launcher, Limits, Network, Streams};
use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NAME: &str = "run";
const GIB: u64 = 1 << 30;
/// Variables of ours that a command sees: how its terminal works, and nothing that could be a secret.
const PASSED: &[&str] = &["TERM", "COLORTERM", "LANG", "LC_ALL", "TZ", "NO_COLOR"];

const EXAMPLES: &str = "\
Examples:
  blastshield run --allow-domain pypi.org --allow-domain files.pythonhosted.org --write ./env -- pip install --target ./env requests
  blastshield run --write ~/agent --env OPENAI_API_KEY=… -- node ~/agent/main.js

The command has no network but the proxy and no DNS of its own; hosts that are not allowed are asked for. It sees the
system's programs and the folders that are given, and has a private /tmp.
Exit codes: the command's own, 128 and the signal's number if one ended it, 2 if it could not be started";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunOptions {
    /// A domain that it may reach beside the allowlist, with everything below it; may be repeated
    #[arg(long, value_name = "DOMAIN")]
    allow_domain: Vec<String>,
    /// A folder or file that it may read; may be repeated
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// A folder that it may read and write; may be repeated. It starts in the first one
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// A variable that it gets; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Most memory of a process, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1024))]
    memory: u64,
    #[command(flatten)]
    settings: SettingsOptions,
    /// The command and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

pub(crate) fn run(options: &RunOptions) -> anyhow::Result<u8> {
    let settings = settings(&options.settings)?;
    for path in options.read.iter().chain(&options.write) {
        if holds(path, &settings.data_dir) {
            bail!(
                "{} holds the data folder, with the owner's token in it: give other folders, or set data_dir elsewhere",
                path.display()
            );
        }
    }
    let confinement = confinement(options)?;
    let mut way_out = WayOut::open(NAME, &options.allow_domain, settings)?;
    let outcome = (|| {
        let mut child = Launcher::this_program().command(&options.command, &confinement)?;
        let listener = child
            .listener
            .take()
            .context("the command has no way out")?;
        way_out.serve(listener)?;
        Ok::<Exit, anyhow::Error>(child.wait()?)
    })();
    way_out.close();
    Ok(match outcome? {
        Exit::Code(code) => u8::try_from(code).unwrap_or(1),
        Exit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(255),
    })
}

fn confinement(options: &RunOptions) -> anyhow::Result<Confinement> {
    let mut confinement = Confinement::plugin()
        .network(Network::Proxied)
        .streams(Streams::Inherit)
        .limits(Limits {
            memory: options.memory * GIB,
            cpu: 7 * 86_400,
            files: 4096,
            processes: 1024,
            file_size: 16 * GIB,
            scratch: GIB,
        });
    for path in &options.read {
        confinement = confinement.read(path);
    }
    for path in &options.write {
        confinement = confinement.write(path);
    }
    for name in PASSED {
        if let Ok(value) = std::env::var(name) {
            confinement = confinement.env(name, &value);
        }
    }
    for pair in &options.env {
        let Some((name, value)) = pair.split_once('=') else {
            bail!("--env takes NAME=VALUE");
        };
        confinement = confinement.env(name, value);
    }
    Ok(confinement)
}

/// Whether what is given gives away the data folder too, or lies in it.
pub(crate) fn holds(given: &Path, data: &Path) -> bool {
    let (Ok(given), Ok(data)) = (given.canonicalize(), data.canonicalize()) else {
        return false;
    };
    data.starts_with(&given) || given.starts_with(&data)
}
