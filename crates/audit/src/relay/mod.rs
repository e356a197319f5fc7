//! Events of a process that does not write the log, laid down for the one that does.
//!
//! A log has one writer. Whoever works beside it in the same data folder puts each event into a file of its own, on disk
//! before [`Recorder::record`] returns, and the writer takes them in, oldest first. What is taken in twice, because the
//! writer died between the two steps, is in the log twice; nothing is lost.

mod sent;

use crate::recorder::{Recorder, Unrecorded};
use crate::{Category, Event, Redact, Severity, files};
use sent::Sent;
use serde_json::Map;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

const FOLDER: &str = "relayed";
const SUFFIX: &str = ".event";
/// Files that may wait: a writer that is gone is not waited for without bounds.
const MAX_WAITING: usize = 1000;
/// Files that one call takes in.
const MAX_TAKEN: usize = 256;
const MAX_BYTES: u64 = 64 << 10;

/// The way into a log that another process writes. Events that are not about traffic or approvals are refused; what lies
/// in files is redacted like the log itself.
pub struct Relay {
    folder: PathBuf,
    redact: Arc<dyn Redact>,
}

impl Relay {
    /// Beside the log in this folder.
    ///
    /// # Errors
    /// When the folder for events cannot be made.
    pub fn open(logs: &Path, redact: Arc<dyn Redact>) -> io::Result<Self> {
        let folder = logs.join(FOLDER);
        files::folder(&folder)?;
        Ok(Self { folder, redact })
    }

    fn keep(&self, event: &Sent) -> io::Result<()> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        if waiting(&self.folder)?.len() >= MAX_WAITING {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let name = format!(
            "{:020}-{}-{:06}{SUFFIX}",
            since.unwrap_or_default().as_micros(),
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed) % 1_000_000
        );
        files::replace(&self.folder, &name, &serde_json::to_vec(event)?)
    }
}

impl Recorder for Relay {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        if matches!(event, Event::Undeliverable { .. }) {
            // Whether the owner can be reached is known to the process with the channels.
            return Ok(());
        }
        let event = Sent::of(event, self.redact.as_ref()).ok_or(Unrecorded)?;
        self.keep(&event).map_err(|_| Unrecorded)
    }
}

/// Takes in what others laid down beside this log: how many events. One that cannot be recorded stays for the next time.
///
/// # Errors
/// When the folder cannot be read.
pub fn take_in(logs: &Path, recorder: &dyn Recorder) -> io::Result<usize> {
    let folder = logs.join(FOLDER);
    let mut taken = 0;
    for path in waiting(&folder)?.into_iter().take(MAX_TAKEN) {
        let recorded = match read(&path) {
            Some(event) => event.recorded(recorder),
            None => recorder.record(&Event::Note {
                severity: Severity::Warn,
                category: Category::Audit,
                name: "relayed_event_malformed",
                message: "An event that another process laid down could not be read",
                details: Map::new(),
            }),
        };
        if recorded.is_err() {
            break;
        }
        fs::remove_file(&path)?;
        taken += 1;
    }
    Ok(taken)
}

/// What lies there, oldest first.
fn waiting(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(SUFFIX))
        .take(2 * MAX_WAITING)
        .collect();
    names.sort();
    Ok(names)
}

fn read(path: &Path) -> Option<Sent> {
    // A link would lead out of the folder.
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Decision, Fingerprint, Origin, Risk};
    use std::sync::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Recorder for Heard {
        fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
            self.0.lock().unwrap().push(format!("{event:?}"));
            Ok(())
        }
    }

    fn relay(logs: &Path) -> Relay {
        Relay::open(logs, Arc::new(blastshield_leak::Scanner::shipped())).unwrap()
    }

    struct Deaf;

    impl Recorder for Deaf {
        fn record(&self, _: &Event<'_>) -> Result<(), Unrecorded> {
            Err(Unrecorded)
        }
    }

    #[test]
    fn events_arrive_in_order_and_unchanged() {
        let logs = tempfile::tempdir().unwrap();
        let relay = relay(logs.path());
        let print = Fingerprint::of("x");
        let events = [
            Event::ApprovalRequested {
                id: "a",
                action: "http",
                session: None,
                shown: print,
            },
            Event::HttpDecision {
                host: "a.test",
                method: "GET",
                session: Some("s"),
                decision: Decision::Deny,
                why: "host_blocked",
            },
            Event::OutboundBlocked {
                service: "a.test",
                session: None,
                patterns: &["p", "q"],
                content: print,
            },
            Event::Injection {
                origin: Origin::Web,
                source: "a.test",
                session: None,
                score: 12.5,
                risk: Risk::High,
                rules: &["r"],
                content: print,
                decision: Decision::Block,
            },
            Event::ApprovalDecided {
                id: "a",
                action: "http",
                answer: Answer::Timeout,
                channel: "timeout",
            },
        ];
        for event in &events {
            relay.record(event).unwrap();
        }
        assert_eq!(take_in(logs.path(), &Deaf).unwrap(), 0, "nothing is lost");
        let heard = Heard::default();
        assert_eq!(take_in(logs.path(), &heard).unwrap(), events.len());
        let sent: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
        assert_eq!(*heard.0.lock().unwrap(), sent);
        assert_eq!(take_in(logs.path(), &heard).unwrap(), 0);
    }

    #[test]
    fn what_is_no_event_of_ours_is_noted_and_nothing_else_is_taken() {
        let logs = tempfile::tempdir().unwrap();
        let heard = Heard::default();
        assert_eq!(take_in(logs.path(), &heard).unwrap(), 0);
        let relay = relay(logs.path());
        let session = Event::SessionTerminated {
            session: "s",
            why: "x",
        };
        assert_eq!(relay.record(&session), Err(Unrecorded));
        let folder = logs.path().join(FOLDER);
        std::fs::write(folder.join("1.event"), "{\"Lockdown\":{\"on\":false}}").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.join("2.event")).unwrap();
        assert_eq!(take_in(logs.path(), &heard).unwrap(), 2);
        let heard = heard.0.lock().unwrap().join("\n");
        assert_eq!(heard.matches("relayed_event_malformed").count(), 2);
    }

    #[test]
    fn no_secret_and_nothing_long_lies_in_a_file() {
        let logs = tempfile::tempdir().unwrap();
        let relay = relay(logs.path());
        let secret = format!(
            "sk-ant-{}-{}",
            "api03",
            "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH".repeat(3)
        );
        let (long, details) = (
            "y".repeat(1 << 20),
            Map::from_iter([("said".to_owned(), secret.clone().into())]),
        );
        let events = [
            Event::HttpDecision {
                host: &secret,
                method: "GET",
                session: Some(&secret),
                decision: Decision::Deny,
                why: &long,
            },
            Event::Note {
                severity: Severity::Warn,
                category: Category::Audit,
                name: "x",
                message: &secret,
                details,
            },
        ];
        for event in &events {
            relay.record(event).unwrap();
        }
        for path in waiting(&logs.path().join(FOLDER)).unwrap() {
            let text = std::fs::read_to_string(path).unwrap();
            assert!(
                !text.contains(&secret) && text.len() < 8192,
                "{}",
                text.len()
            );
        }
        assert_eq!(
            take_in(logs.path(), &Heard::default()).unwrap(),
            events.len()
        );
    }

    #[test]
    fn what_waits_is_bounded() {
        let logs = tempfile::tempdir().unwrap();
        let relay = relay(logs.path());
        for n in 0..MAX_WAITING {
            std::fs::write(logs.path().join(FOLDER).join(format!("{n}.event")), "").unwrap();
        }
        let note = Event::HttpDecision {
            host: "a.test",
            method: "GET",
            session: None,
            decision: Decision::Deny,
            why: "x",
        };
        assert_eq!(relay.record(&note), Err(Unrecorded));
    }
}
