//! What core remembers of a service between runs: its limiter, and since when it has seen the credential. A file of
//! core's own, out of every worker's reach, replaced as a whole.

use blastshield_limits::proxy::ProxyState;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const MAX_BYTES: u64 = 8 << 20;

/// Held by the one core that runs the proxies of a data folder, until it is dropped.
#[derive(Debug)]
pub(crate) struct OneCore(#[expect(dead_code, reason = "held open")] File);

impl OneCore {
    /// Nothing when another process has it.
    pub(crate) fn take(data: &Path) -> io::Result<Option<Self>> {
        use rustix::fs::{FlockOperation, flock};
        let folder = data.join("proxies");
        make(&folder)?;
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(folder.join("core.lock"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// The file's content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) limits: ProxyState,
    pub(crate) credential: Option<Seen>,
}

/// A credential by a salted hash, since when, and when the owner was last reminded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    pub(crate) salt: String,
    pub(crate) print: String,
    pub(crate) since_ms: u64,
    pub(crate) reminded_ms: u64,
}

/// A file that is read once and then only written.
#[derive(Debug)]
pub(crate) struct StateFile(PathBuf);

impl StateFile {
    /// The file of a service. The folder is made when missing.
    pub(crate) fn at(data: &Path, service: &str) -> io::Result<Self> {
        let folder = data.join("proxies").join("state");
        make(&folder)?;
        Ok(Self(folder.join(format!("{service}.json"))))
    }

    /// What it holds; nothing kept yet is nothing seen yet. What cannot be read is an error: it must not start fresh.
    pub(crate) fn read(&self) -> io::Result<Kept> {
        let file = match File::open(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text)?;
        serde_json::from_str(&text).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Replaces it; on return it outlives this process, and with `lasting` its bytes outlive the machine's.
    pub(crate) fn write(&self, kept: &Kept, lasting: bool) -> io::Result<()> {
        let text = serde_json::to_vec(kept).map_err(|_| io::ErrorKind::InvalidData)?;
        let half = self.0.with_extension("half");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&half)?;
        file.write_all(&text)?;
        if lasting {
            file.sync_data()?;
        }
        fs::rename(&half, &self.0)
    }
}

/// The state of a new session: what was sent in the last hour still counts, a burned session does not.
pub(crate) fn fresh_session(state: &ProxyState) -> ProxyState {
    let mut value = serde_json::to_value(state).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.insert("total".to_owned(), 0.into());
        map.insert("burned".to_owned(), false.into());
    }
    serde_json::from_value(value).unwrap_or_else(|_| state.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use blastshield_limits::Moment;
    use blastshield_limits::proxy::{Declined, Outbound, ProxyLimits};

    #[test]
    fn it_is_read_back_and_damage_is_no_fresh_start() {
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile::at(folder.path(), "x").unwrap();
        assert_eq!(file.read().unwrap(), Kept::default());
        let mut limiter = Outbound::new(ProxyLimits::default());
        let _ = limiter.request(Moment::from_millis(5)).unwrap();
        let kept = Kept {
            limits: limiter.state().clone(),
            credential: None,
        };
        file.write(&kept, true).unwrap();
        assert_eq!(file.read().unwrap(), kept);
        fs::write(folder.path().join("proxies/state/x.json"), "{").unwrap();
        assert!(file.read().is_err());
    }

    #[test]
    fn one_core_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = OneCore::take(folder.path()).unwrap();
        assert!(first.is_some());
        assert!(OneCore::take(folder.path()).unwrap().is_none());
        drop(first);
        assert!(OneCore::take(folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_new_session_is_not_burned_and_keeps_the_windows() {
        let limits = ProxyLimits {
            max_per_minute: 2,
            burn_limit: 2,
            ..ProxyLimits::default()
        };
        let mut limiter = Outbound::new(limits);
        for at in [1, 2] {
            let _ = limiter.request(Moment::from_millis(at)).unwrap();
        }
        let burned = limiter.request(Moment::from_millis(3)).unwrap_err();
        assert_eq!(burned, Declined::Burned { limit: 2 });
        let mut next = Outbound::resume(limits, fresh_session(limiter.state()));
        // What was sent within the hour still counts.
        assert!(next.request(Moment::from_millis(4)).is_err());
        assert!(next.request(Moment::from_millis(3_700_000)).is_err());
        let mut later = Outbound::resume(limits, fresh_session(next.state()));
        assert!(later.request(Moment::from_millis(3_700_001)).is_ok());
    }
}
