//! A workspace put aside whole, and a fresh one in its place: step by step, each noted in the store once it is done, so that
//! a process that dies anywhere is followed by one that goes on.
//!
//! | step | then holds |
//! |---|---|
//! | `Decided` | the hold is on; the workspace is where it was, or already aside |
//! | `Moved` | the workspace is aside; nothing, or a half-made successor, is being prepared |
//! | `Staged` | the successor is complete: layout, last known-good files, touched relationships under review |
//! | `Placed` | the successor is in place |

use crate::backups::{self, Backup};
use crate::error::RecoveryError;
use crate::folder::Folder;
use crate::home::Home;
use crate::names::{ASIDE, ServiceName};
use crate::recovery::Recovery;
use crate::relationships::{self, Relationships, Status};
use crate::workspace::{RELATIONSHIPS, Workspace};
use blastshield_audit::{Event, Time};
use blastshield_store::ProxyQuarantine;
use rustix::fs::RenameFlags;

/// What stands for a backup when there is none.
pub(crate) const NO_BACKUP: &str = "none";
/// Names to be reviewed that are kept in the store.
const MAX_REVIEW: usize = 2000;

/// How far a quarantine has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It is decided.
    Decided,
    /// The workspace is aside.
    Moved,
    /// Its successor is ready.
    Staged,
    /// Its successor is in place.
    Placed,
}

impl Step {
    /// The number in the store.
    #[must_use]
    pub const fn number(self) -> i64 {
        match self {
            Self::Decided => 0,
            Self::Moved => 1,
            Self::Staged => 2,
            Self::Placed => 3,
        }
    }

    /// Reads the number.
    #[must_use]
    pub const fn from_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Decided,
            1 => Self::Moved,
            2 => Self::Staged,
            3 => Self::Placed,
            _ => return None,
        })
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Moved => "moved",
            Self::Staged => "staged",
            Self::Placed => "placed",
        }
    }
}

/// `moltbook-quarantine-20260223T143201`.
pub(crate) fn folder(service: &str, now: Time) -> String {
    let stamp: String = now
        .to_string()
        .chars()
        .take(19)
        .filter(|c| c.is_ascii_digit() || *c == 'T')
        .collect();
    format!("{service}{ASIDE}{stamp}")
}

/// Where a successor is prepared; no service has such a name.
fn staging(service: &ServiceName) -> String {
    format!("{service}.staging")
}

impl Recovery {
    pub(crate) async fn unfinished(&self) -> Result<Vec<ProxyQuarantine>, RecoveryError> {
        Ok(self
            .store
            .unfinished_proxy_quarantines(&self.home.id, Step::Placed.number())
            .await?)
    }

    /// With the lock held: takes a quarantine from where it stands to its end.
    pub(crate) async fn carry_out(
        &self,
        service: &ServiceName,
        mut one: ProxyQuarantine,
    ) -> Result<(), RecoveryError> {
        self.point("decided");
        loop {
            let step = Step::from_number(one.step).ok_or(RecoveryError::Inconsistent)?;
            let mut next = one.clone();
            let done = match step {
                Step::Decided => {
                    next.folder = self.disk(|home| move_aside(home, service, &one.folder))?;
                    self.point("renamed");
                    Step::Moved
                }
                Step::Moved => {
                    let staged = self.disk(|home| self.stage(home, service, &one))?;
                    next.backup = staged.backup.unwrap_or_else(|| NO_BACKUP.to_owned());
                    next.review = staged.review;
                    self.point("prepared");
                    Step::Staged
                }
                Step::Staged => {
                    self.disk(|home| place(home, service))?;
                    self.point("put");
                    self.tell_quarantined(service, &one)?;
                    Step::Placed
                }
                Step::Placed => return Ok(()),
            };
            next.step = done.number();
            if !self.store.advance_proxy_quarantine(&next, one.step).await? {
                return Err(RecoveryError::Inconsistent);
            }
            self.point(done.as_str());
            one = next;
        }
    }

    fn tell_quarantined(
        &self,
        service: &ServiceName,
        one: &ProxyQuarantine,
    ) -> Result<(), RecoveryError> {
        let backup = Some(one.backup.as_str()).filter(|name| *name != NO_BACKUP);
        self.record(&Event::ProxyQuarantined {
            proxy: service.as_str(),
            id: &one.id,
            folder: &one.folder,
            review: one.review.len() as u64,
        })?;
        let files = self.disk(|home| {
            let Some(backup) = backup else {
                return Ok(0);
            };
            Ok(backups::open(home, service, backup)?.map_or(0, |found| found.files.len() as u64))
        })?;
        self.record(&Event::ProxyRestored {
            proxy: service.as_str(),
            backup,
            files,
        })
    }

    /// Prepares the successor anew: what a crash left of an earlier try is removed.
    fn stage(
        &self,
        home: &Home,
        service: &ServiceName,
        one: &ProxyQuarantine,
    ) -> Result<Staged, RecoveryError> {
        let name = staging(service);
        home.workspaces.remove_tree(&name, 4)?;
        self.point("cleared-staging");
        let workspace = Workspace::lay_out(home.workspaces.make(&name)?)?;
        self.point("laid-out");
        // One that a person chose, and that is still what it was: what is in it is what they want, so that nothing of it
        // is put under review.
        if let Some(chosen) = backups::good(home, service, &one.backup)? {
            backups::restore(home, service, &chosen, &workspace)?;
            self.point("restored");
            sync_tree(workspace.folder())?;
            home.workspaces.sync()?;
            return Ok(Staged {
                backup: Some(chosen.name),
                review: Vec::new(),
            });
        }
        let before = Time::from_millis(u64::try_from(one.before_ms).unwrap_or(0));
        let Some(backup) = backups::latest_good(home, service, before)? else {
            let lost = aside(home, &one.folder).unwrap_or_default();
            return Ok(Staged {
                backup: None,
                review: names(&lost),
            });
        };
        backups::restore(home, service, &backup, &workspace)?;
        self.point("restored");
        let review = flag(home, &one.folder, &backup, &workspace)?;
        self.point("flagged");
        sync_tree(workspace.folder())?;
        home.workspaces.sync()?;
        Ok(Staged {
            backup: Some(backup.name),
            review,
        })
    }
}

struct Staged {
    backup: Option<String>,
    review: Vec<String>,
}

/// Moves the workspace aside; the name of the folder. Done before, it stays done.
fn move_aside(home: &Home, service: &ServiceName, wanted: &str) -> Result<String, RecoveryError> {
    let here = home.workspaces.stat(service.as_str())?.is_some();
    if !here {
        // Moved by a process that died before it could say so, or removed by hand: nothing is left to be trusted.
        return Ok(wanted.to_owned());
    }
    for attempt in 1..100 {
        let name = if attempt == 1 {
            wanted.to_owned()
        } else {
            format!("{wanted}-{attempt}")
        };
        match home
            .workspaces
            .rename(service.as_str(), &name, RenameFlags::NOREPLACE)
        {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            other => {
                other?;
                return Ok(name);
            }
        }
    }
    Err(RecoveryError::Inconsistent)
}

/// Sets relationships that differ from the backup to `REVIEW_REQUIRED`, and all when what the session left cannot be
/// read. Names that are not in the backup do not come back, but are named.
fn flag(
    home: &Home,
    aside_name: &str,
    backup: &Backup,
    workspace: &Workspace,
) -> Result<Vec<String>, RecoveryError> {
    if !backup
        .files
        .iter()
        .any(|file| file.path.as_str() == RELATIONSHIPS)
    {
        return Ok(Vec::new());
    }
    let mut restored = Relationships::read(workspace)?;
    let review = match aside(home, aside_name) {
        Some(left) => restored.differences(&left),
        None => names(&restored),
    };
    for name in &review {
        restored.set_status(name, Status::ReviewRequired);
    }
    restored.write(workspace)?;
    Ok(review.into_iter().take(MAX_REVIEW).collect())
}

/// The relationships as the session left them, if they can be read.
fn aside(home: &Home, name: &str) -> Option<Relationships> {
    let folder = home.workspaces.child(name).ok()?;
    let bytes = folder.read(RELATIONSHIPS, relationships::MAX_BYTES).ok()?;
    Relationships::parse(&bytes).ok()
}

fn names(all: &Relationships) -> Vec<String> {
    all.iter()
        .map(|(name, _)| name.to_owned())
        .take(MAX_REVIEW)
        .collect()
}

fn sync_tree(root: &Folder) -> Result<(), RecoveryError> {
    for name in ["posts", "drafts", "logs"] {
        root.child(name)?.sync()?;
    }
    Ok(root.sync()?)
}

/// Puts the successor in place. Done before, it stays done.
fn place(home: &Home, service: &ServiceName) -> Result<(), RecoveryError> {
    let name = staging(service);
    let ready = home.workspaces.stat(&name)?.is_some();
    let placed = home.workspaces.stat(service.as_str())?.is_some();
    match (ready, placed) {
        (true, false) => {
            Ok(home
                .workspaces
                .rename(&name, service.as_str(), RenameFlags::NOREPLACE)?)
        }
        (false, true) => Ok(()),
        _ => Err(RecoveryError::Inconsistent),
    }
}
