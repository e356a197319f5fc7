//! What people are told when something went wrong: a secret that was mistyped into an argument is not repeated, because
//! what a command says ends up in logs.

use crate::args::Cli;
use blastshield_leak::{Scanner, Scope};
use clap::Parser as _;
use std::borrow::Cow;
use std::process::ExitCode;

/// The text without what looks like a secret.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    Scanner::shipped().redact_with(text, Scope::SECRETS)
}

/// An error, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("blastshield: {}", clean(&format!("{error:#}")));
}

/// The command line; or, after help and with what is wrong with it, the code to end with.
pub(crate) fn arguments() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        let told = error.render().to_string();
        let cleaned = clean(&told);
        if cleaned == told {
            // Nowhere is left to say that it could not be said.
            let _ = error.print();
        } else {
            eprint!("{cleaned}");
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}
