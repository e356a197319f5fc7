//! How long one check takes with a hundred thousand sessions in the table.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a benchmark may fail loudly"
)]

use blastshield_limits::{
    Moment, SessionLimits, Sessions, Settings, Sighting, asks_for_credentials,
};
use divan::Bencher;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() {
    divan::main();
}

const SESSIONS: u64 = 100_000;

fn at(millis: u64) -> Moment {
    Moment::from_millis(1_700_000_000_000 + millis)
}

/// A full table and its keys.
fn full() -> (Sessions, Vec<String>) {
    let settings = Settings {
        limits: SessionLimits {
            messages_per_minute: 10_000,
            tool_calls_per_minute: 10_000,
            tokens_per_hour: u32::MAX,
            ..SessionLimits::default()
        },
        max_sessions: 100_000,
        ..Settings::default()
    };
    let sessions = Sessions::new(settings, [3; 16]).unwrap();
    let keys: Vec<String> = (0..SESSIONS).map(|n| format!("agent:main:{n}")).collect();
    for (number, key) in keys.iter().enumerate() {
        sessions.message(key, at(number as u64 / 100)).unwrap();
    }
    (sessions, keys)
}

fn each(bencher: Bencher<'_, '_>, work: impl Fn(&Sessions, &str, Moment) + Sync) {
    let (sessions, keys) = full();
    let turn = AtomicU64::new(0);
    bencher.bench(|| {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        // A stride that visits the keys in no order of the table.
        let key = &keys[(turn * 7_919 % SESSIONS) as usize];
        work(&sessions, key, at(1_000 + turn / 50));
    });
}

#[divan::bench(threads = [1, 2], sample_size = 1000)]
fn message(bencher: Bencher<'_, '_>) {
    each(bencher, |sessions, key, now| {
        let _ = divan::black_box(sessions.message(key, now));
    });
}

#[divan::bench(sample_size = 1000)]
fn tokens(bencher: Bencher<'_, '_>) {
    each(bencher, |sessions, key, now| {
        let _ = divan::black_box(sessions.tokens(key, 100, now));
    });
}

#[divan::bench(sample_size = 1000)]
fn observe(bencher: Bencher<'_, '_>) {
    each(bencher, |sessions, key, now| {
        let seen =
            Sighting::message("How do I validate a password field in a form?").scored(4.0, &[]);
        let _ = divan::black_box(sessions.observe(key, &seen, now));
    });
}

#[divan::bench(sample_size = 1000)]
fn new_session_in_a_full_table(bencher: Bencher<'_, '_>) {
    let (sessions, _) = full();
    let turn = AtomicU64::new(0);
    bencher.bench(|| {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        sessions.message(&format!("new:{turn}"), at(1_000 + turn / 50))
    });
}

#[divan::bench]
fn credentials_in_4_kb(bencher: Bencher<'_, '_>) {
    let text = "The token is checked before the password field is shown to me. ".repeat(64);
    bencher
        .counter(divan::counter::BytesCount::of_str(&text))
        .bench(|| asks_for_credentials(divan::black_box(&text)));
}
