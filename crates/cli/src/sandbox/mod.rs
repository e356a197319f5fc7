//! `blastshield sandbox`: what this machine can confine, and commands that are confined.

mod check;
mod run;
mod way_out;

use blastshield_proxies::Prepared;
use blastshield_sandbox::Inside;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Try each layer of confinement on this machine
    Check(check::CheckOptions),
    /// Run a command confined: no network, no files but the system's and those given, bounded in everything
    Run(Box<run::RunOptions>),
}

pub(crate) fn main(command: &SandboxCommand) -> anyhow::Result<u8> {
    match command {
        SandboxCommand::Check(options) => check::run(options),
        SandboxCommand::Run(options) => Ok(run::run(options)),
    }
}

/// A worker of ours, confined: `main` gets here before it does anything else.
pub(crate) fn inside(inside: Inside, prepared: Option<Prepared>) -> ExitCode {
    if inside.job == blastshield_proxies::JOB {
        blastshield_proxies::worker_main(inside, prepared);
    }
    // Nobody asks for a job that does not exist.
    drop(inside);
    ExitCode::from(crate::ERROR)
}
