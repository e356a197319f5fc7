//! Sessions and proxies as their callers meet them, under simulated time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod abuse;
mod bounded;
mod concurrent;
mod holds;
mod model;
mod outbound;
mod patterns;

use blastshield_limits::{Moment, SessionLimits, Sessions, Settings};

/// So many milliseconds after a start in the year 2023.
fn at(millis: u64) -> Moment {
    Moment::from_millis(1_700_000_000_000 + millis)
}

fn sessions(settings: Settings) -> Sessions {
    Sessions::new(settings, *b"a test's secret!").unwrap()
}

fn limited(limits: SessionLimits) -> Sessions {
    sessions(Settings {
        limits,
        ..Settings::default()
    })
}
