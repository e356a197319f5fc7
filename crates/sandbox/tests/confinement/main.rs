//! Real processes in the real sandbox: what they try, how they end, what holds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod escapes;
mod layers;
mod life;
mod network;
mod runs;
mod scene;
mod template;
mod worker;

use blastshield_sandbox::{Bounds, Confinement, Finished, Launcher};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sandbox-escapes");

fn launcher() -> Launcher {
    Launcher::at(PROGRAM)
}

/// A plugin that can also read the program of these tests.
fn plugin() -> Confinement {
    Confinement::plugin().read(PathBuf::from(PROGRAM).parent().unwrap())
}

fn words<const N: usize>(command: [&str; N]) -> Vec<OsString> {
    command.map(OsString::from).to_vec()
}

fn sh(script: &str, confinement: &Confinement, bounds: Bounds) -> Finished {
    launcher()
        .run(
            &words(["sh", "-c", script]),
            confinement,
            bounds,
            b"",
            |_| {},
        )
        .unwrap()
}

/// Generous: these tests share two processors with others.
fn bounds() -> Bounds {
    Bounds {
        time: Duration::from_secs(60),
        ..Bounds::default()
    }
}
