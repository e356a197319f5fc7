//! What holds when security proxies die, of whatever cause, with whatever left behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod backups;
mod by_hand;
mod deaths;
mod ends;
mod hostile;
mod model;
mod putting_aside;
mod reports;

use blastshield_audit::{Clock, Event, Time};
use blastshield_leak::Scanner;
use blastshield_recovery::farewell::farewell;
use blastshield_recovery::relationships::{Relationships, Tier};
use blastshield_recovery::{
    BeginError, Exit, Facts, LastWords, Options, Outcome, Recorder, Recovery, RelPath, ServiceName,
    Session, Suspicious, Trail, Trigger, Unrecorded, Workspace,
};
use blastshield_store::{Store, StoreOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

pub(crate) const START_MS: u64 = 1_800_000_000_000;
pub(crate) const DAY_MS: u64 = 86_400_000;

/// Building it is the dearest part of a test.
pub(crate) static SCANNER: LazyLock<Arc<Scanner>> = LazyLock::new(|| Arc::new(Scanner::shipped()));

/// A data folder, a clock to turn, and what was recorded.
pub(crate) struct World {
    folder: Option<tempfile::TempDir>,
    data: PathBuf,
    pub(crate) clock: Arc<AtomicU64>,
    pub(crate) log: Arc<Log>,
}

/// Events as text, and whether the disk takes them.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    pub(crate) broken: AtomicBool,
    /// Where lines go as well, for a process that will not live to show them.
    pub(crate) copy: Option<PathBuf>,
}

impl Recorder for Log {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(Unrecorded);
        }
        let line = format!("{event:?}");
        if let Some(copy) = &self.copy {
            let mut file = std::fs::File::options()
                .create(true)
                .append(true)
                .open(copy)
                .unwrap();
            writeln!(file, "{line}").map_err(|_| Unrecorded)?;
        }
        self.lines.lock().unwrap().push(line);
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

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self::at(folder.path());
        world.folder = Some(folder);
        world
    }

    /// In a folder that somebody else removes.
    pub(crate) fn at(data: &Path) -> Self {
        Self {
            folder: None,
            data: data.to_owned(),
            clock: Arc::new(AtomicU64::new(START_MS)),
            log: Arc::default(),
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options::new(&self.data)
    }

    pub(crate) async fn open(&self) -> Recovery {
        self.open_with(self.options()).await
    }

    pub(crate) async fn open_with(&self, options: Options) -> Recovery {
        let store = Store::open(StoreOptions::sqlite(self.data.join("store.db")))
            .await
            .unwrap();
        self.open_on(options, store)
    }

    pub(crate) fn open_on(&self, options: Options, store: Store) -> Recovery {
        let clock = Arc::clone(&self.clock);
        let clock: Arc<dyn Clock> =
            Arc::new(move || Time::from_millis(clock.load(Ordering::SeqCst)));
        let log = Arc::clone(&self.log) as Arc<dyn Recorder>;
        Recovery::open(options, store, log, Arc::clone(&SCANNER), clock).unwrap()
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_millis(self.clock.load(Ordering::SeqCst))
    }

    pub(crate) fn pass(&self, millis: u64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.data.join("proxies/workspaces")
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.workspaces().join("moltbook")
    }

    /// Folders of workspaces that were put aside.
    pub(crate) fn aside(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(self.workspaces())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_str().unwrap().contains("-quarantine-"))
            .collect();
        found.sort();
        found
    }

    /// What an honest child does: its work, then the checklist.
    pub(crate) fn child(
        &self,
        session: &Session,
        trigger: Trigger,
        work: impl FnOnce(&Workspace) -> Vec<RelPath>,
    ) -> u8 {
        self.pass(5);
        let workspace = Workspace::open(session.path()).unwrap();
        let mut trail = Trail::open(&workspace).unwrap();
        trail
            .call("web_fetch", "moltbook.com/feed", None, &SCANNER, self.now())
            .unwrap();
        let files = work(&workspace);
        let words = LastWords {
            trigger,
            detail: "as the test has it",
            last_action: "web_fetch: moltbook.com/feed",
            requests: 1,
            suspicious: Some(Suspicious::of(b"hostile content")),
            files_written: &files,
        };
        let last = farewell(&workspace, Some(&mut trail), &words, &SCANNER, self.now());
        last.report.unwrap();
        self.pass(5);
        last.exit_code
    }

    /// A whole session of an honest child.
    pub(crate) async fn session(
        &self,
        recovery: &Recovery,
        trigger: Trigger,
        work: impl FnOnce(&Workspace) -> Vec<RelPath>,
    ) -> Outcome {
        let session = recovery.begin(&moltbook()).await.unwrap();
        let code = self.child(&session, trigger, work);
        recovery.end(session, &exit(code)).await.unwrap()
    }

    pub(crate) async fn is_held(&self, recovery: &Recovery) -> bool {
        matches!(
            recovery.begin(&moltbook()).await,
            Err(BeginError::Held { .. })
        )
    }
}

pub(crate) fn moltbook() -> ServiceName {
    ServiceName::new("moltbook").unwrap()
}

pub(crate) fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

pub(crate) fn exit(code: u8) -> Facts {
    Facts {
        requests: 1,
        ..Facts::new(Exit::Code(code.into()))
    }
}

/// Work that writes nothing.
pub(crate) fn idle(_: &Workspace) -> Vec<RelPath> {
    Vec::new()
}

/// Work that writes a post.
pub(crate) fn post(workspace: &Workspace) -> Vec<RelPath> {
    let post = path("posts/thread-4829-clean.json");
    workspace.write(&post, b"{}").unwrap();
    vec![post]
}

/// Work that makes friends.
pub(crate) fn befriend(names: &'static [&'static str]) -> impl FnOnce(&Workspace) -> Vec<RelPath> {
    move |workspace| {
        let mut all = Relationships::read(workspace).unwrap();
        for name in names {
            all.set_tier(name, Tier::Friend).unwrap();
        }
        all.write(workspace).unwrap();
        vec![path("relationships.json")]
    }
}
