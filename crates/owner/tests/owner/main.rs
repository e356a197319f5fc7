//! What holds between an agent that asks and an owner who answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod alerts;
mod approvals;
mod botapi;
mod crashes;
mod forgery;
mod line;
mod posts;
mod safety;
mod sharing;
mod telegram;

use blastshield_audit::{Clock, Event, Time};
use blastshield_leak::Scanner;
use blastshield_owner::{
    Action, Approvals, Ask, Options, Recorder, Reply, Scope, Unrecorded, Value, Verdict,
};
use blastshield_store::{Store, StoreOptions};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A store in a folder of its own, a clock to turn, and what was recorded.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<AtomicU64>,
    pub(crate) log: Arc<Log>,
    pub(crate) options: Options,
}

/// Events as text, and whether the disk takes them.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    pub(crate) broken: AtomicBool,
}

impl Recorder for Log {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(Unrecorded);
        }
        self.lines.lock().unwrap().push(format!("{event:?}"));
        Ok(())
    }
}

impl Log {
    pub(crate) fn count(&self, words: &[&str]) -> usize {
        let lines = self.lines.lock().unwrap();
        lines
            .iter()
            .filter(|line| words.iter().all(|word| line.contains(word)))
            .count()
    }

    pub(crate) fn all(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}

pub(crate) const START_MS: u64 = 1_800_000_000_000;

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(AtomicU64::new(START_MS)),
            log: Arc::default(),
            options: Options {
                look_every: Duration::from_millis(50),
                ..Options::default()
            },
        }
    }

    pub(crate) async fn store(&self) -> Store {
        let path = self.folder.path().join("store.db");
        Store::open(StoreOptions::sqlite(path)).await.unwrap()
    }

    pub(crate) async fn open(&self) -> Approvals {
        self.open_on(self.store().await).await
    }

    pub(crate) async fn open_on(&self, store: Store) -> Approvals {
        let clock = Arc::clone(&self.clock);
        let clock: Arc<dyn Clock> =
            Arc::new(move || Time::from_millis(clock.load(Ordering::SeqCst)));
        Approvals::open(
            store,
            Arc::clone(&self.log) as Arc<dyn Recorder>,
            Arc::new(Scanner::shipped()),
            clock,
            self.options,
        )
        .await
        .unwrap()
    }

    pub(crate) fn pass(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }
}

pub(crate) fn payment() -> Ask {
    Ask::new(
        Action::Payment,
        "Outgoing payment requires approval",
        "agent",
    )
    .with("amount_sats", Value::Number(2000))
    .with(
        "invoice",
        Value::Secret(format!("lnbc20u1{}abcd", "q".repeat(180))),
    )
}

pub(crate) fn visit(host: &str) -> Ask {
    Ask::new(Action::Http, "The host is not on the allowlist", "agent").to_host(host)
}

pub(crate) fn yes() -> Reply<'static> {
    yes_for(Scope::Once)
}

pub(crate) fn yes_for(scope: Scope) -> Reply<'static> {
    Reply {
        verdict: Verdict::Approve(scope),
        shown: None,
        confirm: None,
    }
}

pub(crate) fn no() -> Reply<'static> {
    Reply {
        verdict: Verdict::Deny,
        shown: None,
        confirm: None,
    }
}

/// Waits until something holds; fails after a time that no healthy run needs.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..2000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}
