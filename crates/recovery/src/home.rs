//! Where everything lies: workspaces that a child may write, and beside them what it may not.
//!
//! ```text
//! <data>/proxies/home                                     which installation this is
//! <data>/proxies/locks/<service>                          one core at a time
//! <data>/proxies/workspaces/<service>/                    all that a child sees
//! <data>/proxies/workspaces/<service>-quarantine-<time>/  put aside, whole
//! <data>/proxies/backups/<service>/                       known good, out of a child's reach
//! ```

use crate::error::RecoveryError;
use crate::folder::Folder;
use crate::names::ServiceName;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const HOME: &str = "home";

/// The folders of one installation, held open.
#[derive(Debug)]
pub(crate) struct Home {
    /// Which installation this is; several may share a store.
    pub(crate) id: String,
    pub(crate) workspaces: Folder,
    pub(crate) backups: Folder,
    locks: Folder,
    path: PathBuf,
}

impl Home {
    /// Opens the folders in a data folder; they are made when missing.
    pub(crate) fn open(data: &Path) -> Result<Self, RecoveryError> {
        let path = data.join("proxies");
        let root = Folder::make_all(&path)?;
        let [workspaces, backups, locks] =
            ["workspaces", "backups", "locks"].map(|name| root.make(name));
        Ok(Self {
            id: identity(&root)?,
            workspaces: workspaces?,
            backups: backups?,
            locks: locks?,
            path: std::path::absolute(path)?,
        })
    }

    /// Takes the service for itself until the file is dropped.
    pub(crate) fn lock(&self, service: &ServiceName) -> Result<File, RecoveryError> {
        self.locks
            .lock(service.as_str())?
            .ok_or(RecoveryError::Busy)
    }

    /// Where a workspace lies.
    pub(crate) fn workspace_path(&self, service: &ServiceName) -> PathBuf {
        self.path.join("workspaces").join(service.as_str())
    }
}

fn identity(root: &Folder) -> Result<String, RecoveryError> {
    for _ in 0..2 {
        match root.read(HOME, 64) {
            Ok(bytes) => {
                let text = String::from_utf8(bytes).unwrap_or_default();
                let id = text.trim();
                if id.len() == 16 && id.bytes().all(|b| b.is_ascii_alphanumeric()) {
                    return Ok(id.to_owned());
                }
                return Err(RecoveryError::Inconsistent);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let id = crate::id::random(16).map_err(|_| RecoveryError::NoRandom)?;
                match root.create(HOME, format!("{id}\n").as_bytes()) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                    other => other?,
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(RecoveryError::Inconsistent)
}
