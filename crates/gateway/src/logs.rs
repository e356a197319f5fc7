//! Three log files of JSON lines: access, security, upstream. Rotated by size and by day, kept for a time.

use crate::clock::now_ms;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

/// The channels; a target names its channel.
pub const CHANNELS: [&str; 3] = ["access", "security", "upstream"];

const DAY_MS: i64 = 86_400_000;

/// A log file that begins anew when it is large or a day old.
#[derive(Clone)]
pub struct Rotating(Arc<Mutex<State>>);

struct State {
    folder: PathBuf,
    channel: &'static str,
    max_bytes: u64,
    keep_days: u32,
    file: File,
    bytes: u64,
    day: i64,
}

impl Rotating {
    /// Opens, or goes on with, the file of a channel.
    pub fn open(
        folder: &Path,
        channel: &'static str,
        max_bytes: u64,
        keep_days: u32,
    ) -> io::Result<Self> {
        private_folder(folder)?;
        let file = append(&current(folder, channel))?;
        let bytes = file.metadata()?.len();
        Ok(Self(Arc::new(Mutex::new(State {
            folder: folder.to_owned(),
            channel,
            max_bytes,
            keep_days,
            file,
            bytes,
            day: now_ms() / DAY_MS,
        }))))
    }

    fn write_at(&self, line: &[u8], now_ms: i64) -> io::Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = state.bytes > 0 && state.bytes + line.len() as u64 > state.max_bytes;
        if full || state.day != now_ms / DAY_MS {
            state.rotate(now_ms)?;
        }
        state.file.write_all(line)?;
        state.bytes += line.len() as u64;
        Ok(())
    }
}

impl State {
    fn rotate(&mut self, now_ms: i64) -> io::Result<()> {
        if self.bytes > 0 {
            let old = self.folder.join(format!("{}-{now_ms}.jsonl", self.channel));
            fs::rename(current(&self.folder, self.channel), old)?;
        }
        self.file = append(&current(&self.folder, self.channel))?;
        self.bytes = self.file.metadata()?.len();
        self.day = now_ms / DAY_MS;
        self.prune(now_ms);
        Ok(())
    }

    /// Deletes rotated files that are too old; one that cannot be deleted is tried again next time.
    fn prune(&self, now_ms: i64) {
        let oldest = now_ms - i64::from(self.keep_days) * DAY_MS;
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let rotated_at = name
                .to_str()
                .and_then(|name| name.strip_prefix(self.channel))
                .and_then(|rest| rest.strip_prefix('-'))
                .and_then(|rest| rest.strip_suffix(".jsonl"))
                .and_then(|at| at.parse::<i64>().ok());
            if rotated_at.is_some_and(|at| at < oldest) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Makes a folder, and those above it, that only its owner may enter.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn current(folder: &Path, channel: &str) -> PathBuf {
    folder.join(format!("{channel}.jsonl"))
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
}

impl Write for &Rotating {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_at(line, now_ms())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Rotating {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> Self::Writer {
        self
    }
}

/// Sends each channel to its file, and warnings to standard error as well.
pub fn set_up(folder: &Path, max_bytes: u64, keep_days: u32) -> io::Result<()> {
    let mut layers: Vec<Box<dyn Layer<Registry> + Send + Sync>> = Vec::new();
    for name in CHANNELS {
        let file = Rotating::open(folder, name, max_bytes, keep_days)?;
        let layer = tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(file)
            .with_filter(
                filter_fn(move |event| event.target() == name && *event.level() <= Level::INFO)
                    .with_max_level_hint(LevelFilter::INFO),
            );
        layers.push(layer.boxed());
    }
    let people = tracing_subscriber::fmt::layer()
        .compact()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_filter(
            filter_fn(|event| {
                let ours =
                    CHANNELS.contains(&event.target()) || event.target().starts_with("blastshield");
                ours && *event.level() <= Level::WARN
            })
            .with_max_level_hint(LevelFilter::WARN),
        );
    layers.push(people.boxed());
    tracing_subscriber::registry()
        .with(layers)
        .try_init()
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_large_file_is_put_aside_and_an_old_one_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let log = Rotating::open(folder.path(), "access", 20, 2).unwrap();
        let start = now_ms();
        log.write_at(b"0123456789\n", start).unwrap();
        log.write_at(b"0123456789\n", start + 1).unwrap();
        assert_eq!(files(folder.path()).len(), 2);
        log.write_at(b"next\n", start + 4 * DAY_MS).unwrap();
        let left = files(folder.path());
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(left.contains(&format!("access-{}.jsonl", start + 4 * DAY_MS)));
    }

    #[test]
    fn what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let log = Rotating::open(folder.path(), "security", 1_000, 2).unwrap();
            log.write_at(b"line\n", now_ms()).unwrap();
        }
        let text = fs::read_to_string(current(folder.path(), "security")).unwrap();
        assert_eq!(text, "line\nline\n");
    }
}
