//! A disk that fails in every way, and the log on it.

use super::medium::{Medium, Opener};
use super::*;
use crate::clean::tests::Hunter;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// What is wrong with the disk at the moment.
#[derive(Default)]
struct Faults {
    /// Bytes that still fit into a write before the disk is full; `u64::MAX` for a healthy one.
    room: AtomicU64,
    no_sync: AtomicBool,
    no_cut: AtomicBool,
    syncs: AtomicU64,
}

struct Faulty {
    file: File,
    faults: Arc<Faults>,
}

impl Medium for Faulty {
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let room = usize::try_from(self.faults.room.load(SeqCst)).unwrap_or(usize::MAX);
        if bytes.len() > room {
            Medium::write_at(&self.file, &bytes[..room], at)?;
            return Err(ErrorKind::StorageFull.into());
        }
        Medium::write_at(&self.file, bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.faults.syncs.fetch_add(1, SeqCst);
        if self.faults.no_sync.load(SeqCst) {
            return Err(ErrorKind::Other.into());
        }
        Medium::sync(&self.file)
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        if self.faults.no_cut.load(SeqCst) {
            return Err(ErrorKind::Other.into());
        }
        Medium::cut(&self.file, length)
    }
}

fn open(folder: &Path) -> (Log, Arc<Faults>) {
    let faults = Arc::new(Faults::default());
    faults.room.store(u64::MAX, SeqCst);
    let given = Arc::clone(&faults);
    let opener: Opener = Arc::new(move |path| {
        Ok(Arc::new(Faulty {
            file: files::open_private(path)?,
            faults: Arc::clone(&given),
        }))
    });
    let clock = Arc::new(|| Time::from_millis(1_000_000));
    let log = Log::open_on(folder, Options::default(), Arc::new(Hunter), clock, opener).unwrap();
    (log, faults)
}

fn note(message: &str, severity: Severity) -> Event<'_> {
    Event::Note {
        severity,
        category: Category::Threat,
        name: "test",
        message,
        details: Map::new(),
    }
}

fn messages(folder: &Path) -> Vec<String> {
    let entries = query(folder, Filter::default()).unwrap();
    entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.category != Category::Audit)
        .map(|entry| entry.message)
        .collect()
}

#[track_caller]
fn assert_whole(folder: &Path) {
    let verdict = verify(folder).unwrap();
    assert!(
        matches!(verdict, Verdict::Verified { torn: 0, .. }),
        "{verdict:?}"
    );
}

#[test]
fn a_full_disk_refuses_and_recovers_by_itself() {
    for room in [0, 1, 100, 250] {
        for cut_fails in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let (log, faults) = open(folder.path());
            log.append(&note("before", Severity::Info)).unwrap();
            faults.room.store(room, SeqCst);
            faults.no_cut.store(cut_fails, SeqCst);
            for severity in Severity::ALL {
                let full = log.append(&note("lost", severity)).unwrap_err();
                assert!(matches!(full, LogError::Full | LogError::Io(_)), "{full:?}");
            }
            faults.room.store(u64::MAX, SeqCst);
            faults.no_cut.store(false, SeqCst);
            log.append(&note("after", Severity::Critical)).unwrap();
            assert_eq!(messages(folder.path()), ["before", "after"]);
            assert_whole(folder.path());
        }
    }
}

#[test]
fn a_disk_full_until_the_end_leaves_a_torn_line_that_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open(folder.path());
    log.append(&note("before", Severity::Critical)).unwrap();
    faults.room.store(100, SeqCst);
    faults.no_cut.store(true, SeqCst);
    log.append(&note("lost", Severity::Info)).unwrap_err();
    drop(log);
    let torn = verify(folder.path()).unwrap();
    assert!(
        matches!(torn, Verdict::Verified { torn: 100, .. }),
        "{torn:?}"
    );
    let (log, _) = open(folder.path());
    drop(log);
    let Verdict::Verified {
        torn: 0, incidents, ..
    } = verify(folder.path()).unwrap()
    else {
        panic!("not whole");
    };
    assert_eq!(incidents.len(), 1);
    assert_eq!(messages(folder.path()), ["before"]);
}

#[test]
fn an_unconfirmed_entry_is_an_error_and_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open(folder.path());
    log.append(&note("grouped", Severity::Info)).unwrap();
    faults.no_sync.store(true, SeqCst);
    let unsynced = LogError::Unsynced(ErrorKind::Other);
    assert_eq!(
        log.append(&note("doubtful", Severity::Critical)),
        Err(unsynced)
    );
    // Until the disk confirms, nothing more is taken, whatever it is.
    assert_eq!(log.append(&note("refused", Severity::Info)), Err(unsynced));
    // The kernel may have dropped what it could not write.
    let path = folder.path().join(LOG_NAME);
    let length = fs::metadata(&path).unwrap().len();
    let file = files::private().open(&path).unwrap();
    Medium::write_at(&file, &[0; 64], length - 64).unwrap();
    faults.no_sync.store(false, SeqCst);
    log.append(&note("after", Severity::Critical)).unwrap();
    assert_eq!(messages(folder.path()), ["grouped", "doubtful", "after"]);
    drop(log);
    assert_whole(folder.path());
}

#[test]
fn those_who_wait_share_a_sync_and_the_rest_is_grouped() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open(folder.path());
    let before = faults.syncs.load(SeqCst);
    for _ in 0..50 {
        log.append(&note("grouped", Severity::Info)).unwrap();
    }
    assert_eq!(faults.syncs.load(SeqCst), before);
    log.append(&note("waited for", Severity::Critical)).unwrap();
    assert_eq!(faults.syncs.load(SeqCst), before + 1);
    log.flush().unwrap();
    assert_eq!(
        faults.syncs.load(SeqCst),
        before + 1,
        "nothing was left to sync"
    );
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    log.append(&note("waited for", Severity::Critical)).unwrap();
                }
            });
        }
    });
    assert!(faults.syncs.load(SeqCst) <= before + 401);
    drop(log);
    assert_whole(folder.path());
    assert_eq!(messages(folder.path()).len(), 451);
}

#[test]
fn what_nobody_waits_for_is_synced_when_it_is_much() {
    let folder = tempfile::tempdir().unwrap();
    let (log, faults) = open(folder.path());
    let before = faults.syncs.load(SeqCst);
    for _ in 0..400 {
        log.append(&note(&"x".repeat(900), Severity::Info)).unwrap();
    }
    let syncs = faults.syncs.load(SeqCst) - before;
    assert!((3..20).contains(&syncs), "{syncs}");
}

#[test]
fn an_entry_on_disk_is_what_the_head_knows() {
    let folder = tempfile::tempdir().unwrap();
    let (log, _) = open(folder.path());
    log.append(&note("grouped", Severity::Info)).unwrap();
    let mark = log.append(&note("synced", Severity::Critical)).unwrap();
    let head = head::read(&folder.path().join(segments::HEAD_NAME)).unwrap();
    assert_eq!(head.head().unwrap().mark, log.head());
    assert_eq!(log.head().seq, mark);
}
