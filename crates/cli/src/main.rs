//! The `blastshield` command.

mod args;
mod ask;
mod audit_log;
mod canary;
mod check;
mod convert;
mod env_check;
mod eval;
mod health;
mod leak;
mod memory;
mod posture;
mod progress;
mod prompt;
mod rules;
mod scan;
mod serve;
mod settings;
mod train;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// Nothing at or over the block line.
const CLEAN: u8 = 0;
/// Something at or over it.
const FINDINGS: u8 = 1;
/// The command could not do its work.
const ERROR: u8 = 2;

/// Teaches an OpenClaw agent to use the gateway.
const SKILL: &str = include_str!("../../../integrations/openclaw/skills/blastshield/SKILL.md");

fn openapi() -> anyhow::Result<()> {
    println!("{}", blastshield_gateway::openapi().to_pretty_json()?);
    Ok(())
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(options) => serve::run(&options).map(|()| CLEAN),
        Command::Fetch(options) => ask::fetch(&options),
        Command::Search(options) => ask::search(&options),
        Command::Check(options) => check::run(&options),
        Command::Convert(options) => convert::run(&options),
        Command::Config(options) => settings::run(&options).map(|()| CLEAN),
        Command::Env(command) => Ok(env_check::run(&command)),
        Command::Health(options) => health::run(&options),
        Command::Skill => {
            print!("{SKILL}");
            Ok(CLEAN)
        }
        Command::Openapi => openapi().map(|()| CLEAN),
        Command::Scan(options) => scan::run(&options),
        Command::Memory(command) => memory::run(&command),
        Command::Prompt(options) => prompt::run(&options),
        Command::Canary(options) => canary::run(&options),
        Command::Leak(options) => leak::run(&options),
        Command::Audit(options) => Ok(posture::run(&options)),
        Command::AuditLog(options) => audit_log::run(&options),
        Command::Eval(options) => eval::run(&options).map(|()| CLEAN),
        Command::Train(options) => train::run(&options).map(|()| CLEAN),
        Command::Rules(options) => rules::run(&options).map(|()| CLEAN),
        Command::Completions { shell } => {
            clap_complete::generate(
                shell,
                &mut Cli::command(),
                "blastshield",
                &mut std::io::stdout(),
            );
            Ok(CLEAN)
        }
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) if broken_pipe(&error) => ExitCode::from(CLEAN),
        Err(error) => {
            eprintln!("blastshield: {error:#}");
            ExitCode::from(ERROR)
        }
    }
}

/// The reader of our output went away, as `head` does: not an error of ours.
fn broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
