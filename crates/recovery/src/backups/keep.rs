//! Making backups, and forgetting old ones.

use super::manifest::{self, Backup, Kept, MANIFEST, MAX_FILES};
use crate::error::RecoveryError;
use crate::folder::Folder;
use crate::home::Home;
use crate::names::{RelPath, ServiceName};
use crate::recovery::Recovery;
use crate::relationships::{self, Relationships};
use crate::workspace::{MAX_FILE, Workspace, WorkspaceError};
use blastshield_audit::{Digest, Time};
use std::io::ErrorKind;
use std::time::Duration;

/// Files with where they belong.
type Contents = Vec<(RelPath, Vec<u8>)>;

/// Backups of one day at most.
const MAX_A_DAY: usize = 48;

/// What a call to [`Recovery::backup`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    /// A backup of this name.
    New(Backup),
    /// Nothing: the newest backup is of today and holds the same.
    Unchanged(Backup),
    /// Nothing: there is nothing to keep yet.
    Nothing,
}

/// No backup was made; those that are there stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// A hold is on: what is there may be poisoned.
    #[error("the service is on hold; clear it first")]
    Held,
    /// A relationship is under review.
    #[error("relationships are under review; review them first")]
    UnderReview,
    /// The workspace holds what it should not, or a file is not of its form.
    #[error("the workspace is not in order, so it is not taken for known good")]
    Odd,
    /// Too many today.
    #[error("there are enough backups of today")]
    TooMany,
    /// It could not be done.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
}

impl From<std::io::Error> for BackupError {
    fn from(error: std::io::Error) -> Self {
        Self::Recovery(error.into())
    }
}

impl Recovery {
    /// Copies `relationships.json` and the `extra` files of a service, unless what is there may be poisoned. Backups that
    /// are older than 30 days go, but never the newest good one.
    ///
    /// # Errors
    /// [`BackupError::Held`] and [`BackupError::UnderReview`] while a person has yet to look;
    /// [`RecoveryError::Busy`] while a session is on: try again later.
    pub async fn backup(
        &self,
        service: &ServiceName,
        extra: &[RelPath],
    ) -> Result<Made, BackupError> {
        let _lock = self.home.lock(service)?;
        let lost = self
            .store
            .proxy_sessions(&self.home.id)
            .await
            .map_err(RecoveryError::from)?;
        if lost
            .iter()
            .any(|session| session.service == service.as_str())
            || !self.holds(service).await?.is_empty()
        {
            return Err(BackupError::Held);
        }
        let now = self.now();
        let keep = Duration::from_secs(self.options.keep_days.saturating_mul(86_400));
        crate::record::blocking(|| {
            let Some(files) = gather(&self.home, service, extra)? else {
                return Ok(Made::Nothing);
            };
            let folder = self.home.backups.make(service.as_str())?;
            let made = self.make(&folder, service, files, now)?;
            retain(&folder, service, now, keep)?;
            Ok(made)
        })
    }

    /// Whether no backup of this day (UTC) is there yet.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn backup_due(&self, service: &ServiceName) -> Result<bool, RecoveryError> {
        let today = self.now().day();
        self.disk(|home| {
            let Some(folder) = manifest::folder(home, service)? else {
                return Ok(true);
            };
            let all = manifest::all(&folder, service)?;
            Ok(!all.iter().any(|backup| backup.taken.day() == today))
        })
    }

    /// Every backup of a service, oldest first, each with whether all of it is what it was.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn backups(&self, service: &ServiceName) -> Result<Vec<(Backup, bool)>, RecoveryError> {
        self.disk(|home| {
            let Some(folder) = manifest::folder(home, service)? else {
                return Ok(Vec::new());
            };
            Ok(manifest::all(&folder, service)?
                .into_iter()
                .map(|backup| {
                    let good = backup.contents(&folder).is_some();
                    (backup, good)
                })
                .collect())
        })
    }

    /// Services that have backups here.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn backed_up(&self) -> Result<Vec<ServiceName>, RecoveryError> {
        let (mut names, _) = self.home.backups.names(10_000)?;
        names.sort();
        Ok(names
            .iter()
            .filter_map(|name| ServiceName::new(name.to_str().ok()?).ok())
            .collect())
    }

    fn make(
        &self,
        folder: &Folder,
        service: &ServiceName,
        files: Contents,
        now: Time,
    ) -> Result<Made, BackupError> {
        let day: String = now.date().chars().filter(char::is_ascii_digit).collect();
        let prints: Vec<(RelPath, Digest)> = files
            .iter()
            .map(|(path, bytes)| (path.clone(), Digest::of(bytes)))
            .collect();
        if let Some(newest) = manifest::all(folder, service)?.pop()
            && newest.taken.day() == now.day()
            && newest
                .files
                .iter()
                .map(|kept| (kept.path.clone(), kept.sha256))
                .eq(prints)
            && newest.contents(folder).is_some()
        {
            return Ok(Made::Unchanged(newest));
        }
        let name = free_name(folder, &day)?;
        let mut backup = Backup {
            name,
            taken: now,
            files: Vec::new(),
        };
        for (path, bytes) in files {
            let file = file_name(&path, &backup.name);
            // Left by a process that died before its manifest: it does not count.
            folder.remove(&file)?;
            folder.create(&file, &bytes)?;
            backup.files.push(Kept {
                path,
                file,
                length: bytes.len() as u64,
                sha256: Digest::of(&bytes),
            });
            self.point("backup-file");
        }
        folder.create(
            &format!("{MANIFEST}{}.json", backup.name),
            &backup.to_bytes(service)?,
        )?;
        self.point("backup-manifest");
        Ok(Made::New(backup))
    }
}

/// What is to be kept, if it is in order.
fn gather(
    home: &Home,
    service: &ServiceName,
    extra: &[RelPath],
) -> Result<Option<Contents>, BackupError> {
    let root = match home.workspaces.child(service.as_str()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let workspace = Workspace::lay_out(root).map_err(RecoveryError::from)?;
    let mut files = Vec::new();
    let wanted = std::iter::once(relationships::path()).chain(extra.iter().cloned());
    for path in wanted.take(MAX_FILES) {
        if files.iter().any(|(known, _)| *known == path) {
            continue;
        }
        match workspace.read(&path, MAX_FILE) {
            Ok(bytes) => files.push((path, bytes)),
            Err(WorkspaceError::Missing) => {}
            Err(WorkspaceError::NotPlain | WorkspaceError::TooLarge) => {
                return Err(BackupError::Odd);
            }
            Err(error) => return Err(RecoveryError::from(error).into()),
        }
    }
    let known = Relationships::read(&workspace).map_err(|_| BackupError::Odd)?;
    if known.under_review().next().is_some() {
        return Err(BackupError::UnderReview);
    }
    Ok((!files.is_empty()).then_some(files))
}

/// `relationships.json` becomes `relationships-20260223.json`, `state/topics.json` becomes `state+topics-20260223.json`.
fn file_name(path: &RelPath, stamp: &str) -> String {
    // Two paths must not become one name.
    let flat = path.as_str().replace('+', "++").replace('/', "+_");
    match flat.rsplit_once('.') {
        Some((stem, end)) => format!("{stem}-{stamp}.{end}"),
        None => format!("{flat}-{stamp}"),
    }
}

fn free_name(folder: &Folder, day: &str) -> Result<String, BackupError> {
    for number in 1..=MAX_A_DAY {
        let name = if number == 1 {
            day.to_owned()
        } else {
            format!("{day}-{number}")
        };
        if folder.stat(&format!("{MANIFEST}{name}.json"))?.is_none() {
            return Ok(name);
        }
    }
    Err(BackupError::TooMany)
}

/// Removes backups that are too old, but never the newest good one. Their manifest goes first: half a backup is none.
fn retain(
    folder: &Folder,
    service: &ServiceName,
    now: Time,
    keep: Duration,
) -> Result<(), RecoveryError> {
    let all = manifest::all(folder, service)?;
    // What seems to come from the future may never be used: it saves nobody.
    let newest_good = all
        .iter()
        .rev()
        .filter(|backup| backup.taken <= now)
        .find(|backup| backup.contents(folder).is_some());
    for backup in &all {
        if now.since(backup.taken) <= keep
            || Some(&backup.name) == newest_good.map(|good| &good.name)
        {
            continue;
        }
        folder.remove(&format!("{MANIFEST}{}.json", backup.name))?;
        folder.sync()?;
        for kept in &backup.files {
            folder.remove(&kept.file)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_paths_are_two_names() {
        let name = |path: &str| file_name(&RelPath::new(path).unwrap(), "20260223");
        assert_eq!(name("relationships.json"), "relationships-20260223.json");
        assert_eq!(name("state/topics.json"), "state+_topics-20260223.json");
        assert_eq!(name("notes"), "notes-20260223");
        let paths = ["a/b", "a+b", "a+_b", "a+/b", "a/+b", "a+_/b"];
        let mut names: Vec<String> = paths.iter().map(|path| name(path)).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), paths.len(), "{names:?}");
    }
}
