//! What a backup holds, and whether it still does.

use crate::error::RecoveryError;
use crate::folder::Folder;
use crate::home::Home;
use crate::names::{RelPath, ServiceName};
use crate::workspace::{MAX_FILE, Workspace};
use blastshield_audit::{Digest, Time};
use serde::{Deserialize, Serialize};

/// No file of a workspace has such a name here: `+` is never followed by a digit.
pub(super) const MANIFEST: &str = "manifest+";
const MAX_MANIFEST: u64 = 256 << 10;
pub(super) const MAX_FILES: usize = 64;

/// A file in a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it belongs in the workspace.
    pub path: RelPath,
    /// Its name among the backups.
    pub file: String,
    /// Bytes.
    pub length: u64,
    /// Of its bytes.
    pub sha256: Digest,
}

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// `20260223`, or `20260223-2`.
    pub name: String,
    /// When it was made.
    pub taken: Time,
    /// What is in it.
    pub files: Vec<Kept>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    version: u8,
    service: String,
    taken: String,
    files: Vec<RawFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    path: String,
    file: String,
    length: u64,
    sha256: String,
}

impl Backup {
    pub(super) fn to_bytes(&self, service: &ServiceName) -> Result<Vec<u8>, RecoveryError> {
        let raw = Raw {
            version: 1,
            service: service.as_str().to_owned(),
            taken: self.taken.to_string(),
            files: self
                .files
                .iter()
                .map(|kept| RawFile {
                    path: kept.path.as_str().to_owned(),
                    file: kept.file.clone(),
                    length: kept.length,
                    sha256: kept.sha256.to_string(),
                })
                .collect(),
        };
        serde_json::to_vec_pretty(&raw).map_err(|_| RecoveryError::Inconsistent)
    }

    fn parse(bytes: &[u8], service: &ServiceName, name: &str) -> Option<Self> {
        let raw: Raw = serde_json::from_slice(bytes).ok()?;
        if raw.version != 1 || raw.service != service.as_str() || raw.files.len() > MAX_FILES {
            return None;
        }
        let files: Option<Vec<Kept>> = raw
            .files
            .into_iter()
            .map(|file| {
                Some(Kept {
                    path: RelPath::new(&file.path).ok()?,
                    file: Some(file.file).filter(|file| crate::names::is_step(file))?,
                    length: file.length,
                    sha256: Digest::parse(&file.sha256)?,
                })
            })
            .collect();
        Some(Self {
            name: name.to_owned(),
            taken: Time::parse(&raw.taken)?,
            files: files?,
        })
    }

    /// Its files, if every one is what it was.
    pub(super) fn contents(&self, folder: &Folder) -> Option<Vec<(&Kept, Vec<u8>)>> {
        self.files
            .iter()
            .map(|kept| {
                let bytes = folder.read(&kept.file, MAX_FILE).ok()?;
                let same = bytes.len() as u64 == kept.length && Digest::of(&bytes) == kept.sha256;
                same.then_some((kept, bytes))
            })
            .collect()
    }
}

/// The folder of a service's backups, if it has any.
pub(super) fn folder(home: &Home, service: &ServiceName) -> Result<Option<Folder>, RecoveryError> {
    match home.backups.child(service.as_str()) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Every backup with a readable manifest, oldest first.
pub(super) fn all(folder: &Folder, service: &ServiceName) -> Result<Vec<Backup>, RecoveryError> {
    let (names, _) = folder.names(100_000)?;
    let mut found: Vec<Backup> = names
        .iter()
        .filter_map(|name| {
            let name = name.to_str().ok()?;
            let stamp = name.strip_prefix(MANIFEST)?.strip_suffix(".json")?;
            let bytes = folder.read(name, MAX_MANIFEST).ok()?;
            Backup::parse(&bytes, service, stamp)
        })
        .collect();
    found.sort_by(|a, b| (a.taken, &a.name).cmp(&(b.taken, &b.name)));
    Ok(found)
}

/// One backup by its name.
pub(crate) fn open(
    home: &Home,
    service: &ServiceName,
    name: &str,
) -> Result<Option<Backup>, RecoveryError> {
    let Some(folder) = folder(home, service)? else {
        return Ok(None);
    };
    Ok(all(&folder, service)?
        .into_iter()
        .find(|backup| backup.name == name))
}

/// One backup by its name, if every file of it is what it was.
pub(crate) fn good(
    home: &Home,
    service: &ServiceName,
    name: &str,
) -> Result<Option<Backup>, RecoveryError> {
    let (Some(folder), Some(backup)) = (folder(home, service)?, open(home, service, name)?) else {
        return Ok(None);
    };
    Ok(Some(backup).filter(|backup| backup.contents(&folder).is_some()))
}

/// The newest backup made before a moment whose every file is what it was.
pub(crate) fn latest_good(
    home: &Home,
    service: &ServiceName,
    before: Time,
) -> Result<Option<Backup>, RecoveryError> {
    let Some(folder) = folder(home, service)? else {
        return Ok(None);
    };
    Ok(all(&folder, service)?
        .into_iter()
        .rev()
        .filter(|backup| backup.taken < before)
        .find(|backup| backup.contents(&folder).is_some()))
}

/// Puts the files of a backup into a workspace. They are checked again as they are copied.
pub(crate) fn restore(
    home: &Home,
    service: &ServiceName,
    backup: &Backup,
    workspace: &Workspace,
) -> Result<(), RecoveryError> {
    let folder = folder(home, service)?.ok_or(RecoveryError::Inconsistent)?;
    let contents = backup
        .contents(&folder)
        .ok_or(RecoveryError::Inconsistent)?;
    for (kept, bytes) in contents {
        if let (Some(above), _) = kept.path.split() {
            let mut place = workspace.folder().child(".")?;
            for step in above.split('/') {
                place = place.make(step)?;
            }
        }
        workspace.write(&kept.path, &bytes)?;
    }
    Ok(())
}
