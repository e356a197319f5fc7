//! The log, the metrics and the alerts as the rest of the program meets them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod chain;
mod crash;
mod metrics;
mod recording;
mod rotation;
mod tamper;

use blastshield_audit::log::{Options, Verdict, verify};
use blastshield_audit::{Category, Event, Log, Redact, Severity, Time};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// 2023-11-14T22:13:20Z.
const START: u64 = 1_700_000_000_000;
const DAY: u64 = 86_400_000;

/// Takes a planted word for a secret.
struct Planted;

const SECRET: &str = "pl4nted-s3cret";

impl Redact for Planted {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if text.contains(SECRET) {
            Cow::Owned(text.replace(SECRET, "[REDACTED]"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// A clock that stands until it is moved.
#[derive(Clone)]
struct Hands(Arc<AtomicU64>);

impl Hands {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(START)))
    }

    fn forward(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }

    fn clock(&self) -> Arc<impl Fn() -> Time + Send + Sync + use<>> {
        let hands = Arc::clone(&self.0);
        Arc::new(move || Time::from_millis(hands.load(Ordering::SeqCst)))
    }
}

fn open(folder: &Path, options: Options, hands: &Hands) -> Log {
    Log::open(folder, options, Arc::new(Planted), hands.clock()).unwrap()
}

fn small() -> Options {
    Options {
        max_bytes: 1500,
        retain_days: None,
        ..Options::default()
    }
}

fn note(message: &str) -> Event<'_> {
    Event::Note {
        severity: Severity::Info,
        category: Category::Threat,
        name: "test",
        message,
        details: Map::from_iter([("n".to_owned(), Value::from(1))]),
    }
}

fn critical(message: &str) -> Event<'_> {
    Event::Note {
        severity: Severity::Critical,
        category: Category::Leak,
        name: "test",
        message,
        details: Map::new(),
    }
}

#[track_caller]
fn entries(folder: &Path) -> u64 {
    match verify(folder).unwrap() {
        Verdict::Verified { entries, .. } => entries,
        broken => panic!("{broken:?}"),
    }
}

/// All files of a folder by name, without the lock.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}
