//! The `blastshield` command.

mod args;
mod eval;
mod progress;
mod rules;
mod scan;
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

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Scan(options) => scan::run(&options),
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
