//! `blastshield memory`: what an agent remembers, scanned, compared with what was accepted, watched, taken away.

mod book;
mod events;
mod files;
mod folder;
mod look;
mod name;
mod options;
mod owner;
mod quarantine;
mod report;
mod restore;
mod scan;
mod seen;
mod watch;

pub(crate) use options::MemoryCommand;

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn run(command: &MemoryCommand) -> anyhow::Result<u8> {
    match command {
        MemoryCommand::Scan(options) if options.watch => watch::run(options),
        MemoryCommand::Scan(options) => scan::run(options),
        MemoryCommand::Restore(options) => restore::run(options),
    }
}

/// An error without the system's own words, which may hold a path.
fn cannot(what: &'static str) -> impl Fn(io::Error) -> anyhow::Error {
    move |error| anyhow::anyhow!("cannot {what}: {}", error.kind())
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
