//! The `blastshield` command.

mod approvals;
mod args;
mod ask;
mod audit_log;
mod backup;
mod canary;
mod check;
mod convert;
mod egress;
mod env_check;
mod eval;
mod export;
mod health;
mod leak;
mod lockdown;
mod memory;
mod posture;
mod progress;
mod prompt;
mod proxy;
mod quarantine;
mod remote;
mod rules;
mod run;
mod said;
mod sandbox;
mod scan;
mod serve;
mod settings;
mod skill;
mod train;
mod wallet;

use args::{Cli, Command};
use clap::CommandFactory;
use std::process::ExitCode;

/// Nothing at or over the block line.
const CLEAN: u8 = 0;
/// Something at or over it.
const FINDINGS: u8 = 1;
/// The command could not do its work.
const ERROR: u8 = 2;

fn openapi() -> anyhow::Result<()> {
    println!("{}", blastshield_gateway::openapi().to_pretty_json()?);
    Ok(())
}

fn main() -> ExitCode {
    // Before anything else, and before any thread: this may be a confined process of ours.
    let prepare = blastshield_proxies::Prepared::for_job;
    if let Some((inside, prepared)) = blastshield_sandbox::enter_or_prepare(prepare) {
        return sandbox::inside(inside, prepared.flatten());
    }
    let arguments = match said::arguments() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let outcome = match arguments.command {
        Command::Serve(options) => serve::run(&options).map(|()| CLEAN),
        Command::Egress(options) => egress::run(&options).map(|()| CLEAN),
        Command::Run(options) => run::run(&options),
        Command::Lockdown(options) => lockdown::run(&options),
        Command::Fetch(options) => ask::fetch(&options),
        Command::Search(options) => ask::search(&options),
        Command::Check(options) => check::run(&options),
        Command::Convert(options) => convert::run(&options),
        Command::Config(options) => settings::run(&options).map(|()| CLEAN),
        Command::Env(command) => Ok(env_check::run(&command)),
        Command::Health(options) => health::run(&options),
        Command::Skill(options) => skill::run(&options),
        Command::Approvals(options) => approvals::run(&options),
        Command::Wallet(options) => wallet::run(&options),
        Command::Proxy(options) => proxy::main(&options),
        Command::Openapi => openapi().map(|()| CLEAN),
        Command::Scan(options) => scan::run(&options),
        Command::Memory(command) => memory::run(&command),
        Command::Prompt(options) => prompt::run(&options),
        Command::Canary(options) => canary::run(&options),
        Command::Leak(options) => leak::run(&options),
        Command::Audit(options) => Ok(posture::run(&options)),
        Command::AuditLog(options) => audit_log::run(&options),
        Command::Quarantine(options) => quarantine::run(&options),
        Command::Backup(options) => backup::run(&options),
        Command::Sandbox(command) => sandbox::main(&command),
        Command::Export(command) => export::run(&command).map(|()| CLEAN),
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
            said::error(&error);
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
