//! Security proxies: where their definitions are, what they may reach, and how many workers stand ready.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::ConfigError;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Security proxies.
#[derive(Clone, Debug)]
pub struct ProxySettings {
    /// Folder of service definitions.
    pub dir: PathBuf,
    /// The credential of the service that ships; others are named by their definitions.
    pub moltbook_token: Option<Secret>,
    /// Plain HTTP to this machine, for tests.
    pub allow_loopback: bool,
    /// Start workers with what layers there are.
    pub degrade: bool,
    /// Workers ready for each service in use.
    pub ready: usize,
    /// How long such a worker may wait.
    pub ready_idle: Duration,
    /// Tasks at once.
    pub max_tasks: usize,
}

pub(super) fn proxies(read: &Reader<'_>, data: &Path) -> Result<ProxySettings, ConfigError> {
    Ok(ProxySettings {
        dir: read
            .optional("proxies.dir")
            .map_or_else(|| data.join("services"), PathBuf::from),
        moltbook_token: read.secret("proxies.moltbook_token"),
        allow_loopback: read.truth("proxies.allow_loopback")?,
        degrade: read.one_of(
            "proxies.missing_layers",
            &[("refuse", false), ("degrade", true)],
        )?,
        ready: read.number("proxies.ready_workers", 0..=4)?,
        ready_idle: read.millis("proxies.ready_idle_ms")?,
        max_tasks: read.number("proxies.max_tasks", 1..=10_000)?,
    })
}
