//! The deployment as the checks see it. Everything that has to be asked of the machine is asked here, once.

use super::openclaw::Claw;
use super::store;
use crate::args::SettingsOptions;
use crate::scan::visible;
use crate::settings::values;
use blastshield_audit::log::{self, Verdict};
use blastshield_audit::{Clock, LogError, SystemClock, Time};
use blastshield_config::{Settings, Values, find};
use blastshield_leak::Scanner;
use blastshield_store::StoreState;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The configuration file in the working folder.
const FILE: &str = "blastshield.toml";
/// The largest configuration that is looked into.
const MAX_TEXT: u64 = 1 << 20;

pub(crate) struct Scene {
    pub(crate) settings: Settings,
    pub(crate) values: Values,
    /// The configuration file and its text.
    pub(crate) config: Option<(PathBuf, String)>,
    /// The environment.
    pub(crate) variables: BTreeMap<String, String>,
    /// Where `proc` and `sys` are.
    pub(crate) machine: PathBuf,
    /// Whose files ours should be.
    pub(crate) user: u32,
    /// Whether that is root.
    pub(crate) root: bool,
    pub(crate) now: Time,
    /// Free and all bytes where the data lies.
    pub(crate) space: Option<(u64, u64)>,
    /// Free and all inodes there.
    pub(crate) inodes: Option<(u64, u64)>,
    pub(crate) store: StoreState,
    pub(crate) log: Result<LogState, LogError>,
    pub(crate) claw: Option<Claw>,
    pub(crate) scanner: Scanner,
}

/// The audit log: nothing when there is none.
pub(crate) type LogState = Option<(Verdict, Option<Time>)>;

impl Scene {
    /// Looks at the deployment that these options name.
    pub(crate) fn look(options: &SettingsOptions, openclaw: Option<&Path>) -> anyhow::Result<Self> {
        let config = options.config.clone().unwrap_or_else(|| FILE.into());
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self::of(values(options)?, config, variables, openclaw)
    }

    /// The deployment of these values.
    pub(crate) fn of(
        values: Values,
        config: PathBuf,
        variables: BTreeMap<String, String>,
        openclaw: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let settings = Settings::from_values(&values)?;
        let config = bounded(&config).map(|text| (config, text));
        let claw = Claw::look(openclaw, &variables);
        let user = rustix::process::geteuid();
        let [space, inodes] = room(&settings.data_dir);
        Ok(Self {
            store: store::look(&settings.store),
            log: log_state(&settings.logs.dir),
            settings,
            values,
            config,
            variables,
            machine: "/".into(),
            user: user.as_raw(),
            root: user.is_root(),
            now: SystemClock.now(),
            space,
            inodes,
            claw,
            scanner: Scanner::shipped(),
        })
    }

    /// A setting that is not a secret, with its value and who said so.
    pub(crate) fn said(&self, key: &str) -> String {
        let Some(setting) = find(key) else {
            return key.to_owned();
        };
        let (value, origin) = self.values.get(setting);
        let value = match (setting.secret, value.is_empty()) {
            (_, true) => "not set".to_owned(),
            (true, false) => "set".to_owned(),
            (false, false) => {
                // A value that is a credential by its looks is not shown, whatever the setting.
                let shown: String = self.scanner.redact(value).chars().take(80).collect();
                format!("= {}", visible::line(&shown))
            }
        };
        format!("{key} {value} (from {origin})")
    }

    /// A short file of the machine, such as `proc/sys/kernel/core_pattern`.
    pub(crate) fn machine_file(&self, path: &str) -> Option<String> {
        bounded(&self.machine.join(path)).map(|text| text.trim().to_owned())
    }

    /// A setting's own words, unread.
    pub(crate) fn raw(&self, key: &str) -> &str {
        find(key).map_or("", |setting| self.values.get(setting).0)
    }
}

/// A regular file; anything else, such as a pipe that nobody writes to, is not waited for.
pub(crate) fn open(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}

/// A text file, if there is one and it is not too long.
pub(crate) fn bounded(path: &Path) -> Option<String> {
    let file = open(path)?;
    let mut text = String::new();
    let read = file.take(MAX_TEXT + 1).read_to_string(&mut text).ok()? as u64;
    (read <= MAX_TEXT).then_some(text)
}

pub(crate) fn log_state(folder: &Path) -> Result<LogState, LogError> {
    match log::verify(folder) {
        Ok(verdict) => {
            let newest = log::tail(folder, 1)?.pop().map(|entry| entry.timestamp);
            Ok(Some((verdict, newest)))
        }
        Err(LogError::Missing | LogError::Io(ErrorKind::NotFound)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Free and all bytes, and free and all inodes, where a folder is or will be.
fn room(folder: &Path) -> [Option<(u64, u64)>; 2] {
    let here = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let found = here
        .ancestors()
        .find(|place| place.is_dir())
        .and_then(|place| rustix::fs::statvfs(place).ok());
    let Some(room) = found else {
        return [None, None];
    };
    let bytes = (
        room.f_bavail.saturating_mul(room.f_frsize),
        room.f_blocks.saturating_mul(room.f_frsize),
    );
    let some = |pair: (u64, u64)| (pair.1 > 0).then_some(pair);
    [some(bytes), some((room.f_favail, room.f_files))]
}
