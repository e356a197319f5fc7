//! A session from core's side: what was there before it, and the lock that keeps everybody else away.

use crate::decision::Hold;
use crate::drafts;
use crate::error::{BeginError, RecoveryError};
use crate::folder::{Folder, is_half};
use crate::home::Home;
use crate::names::ServiceName;
use crate::recovery::{Options, Recovery, millis};
use crate::relationships::Relationships;
use crate::snapshot::Snapshot;
use crate::workspace::{DRAFTS, LOGS, POSTS, Workspace};
use blastshield_audit::Time;
use blastshield_store::{ProxyHold, ProxySession};
use rustix::fs::RenameFlags;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A session that has begun. Give it to [`Recovery::end`] once the child is gone; dropped, it counts as an end that nobody
/// saw.
#[derive(Debug)]
pub struct Session {
    pub(crate) service: ServiceName,
    pub(crate) spawn_id: String,
    pub(crate) started: Time,
    pub(crate) workspace: Workspace,
    pub(crate) before: Snapshot,
    /// Who was under review.
    pub(crate) review: Vec<String>,
    path: PathBuf,
    _lock: File,
}

impl Session {
    /// The service.
    #[must_use]
    pub const fn service(&self) -> &ServiceName {
        &self.service
    }

    /// Unique to this session.
    #[must_use]
    pub fn spawn_id(&self) -> &str {
        &self.spawn_id
    }

    /// When it began.
    #[must_use]
    pub const fn started(&self) -> Time {
        self.started
    }

    /// The only folder that the child may see.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same folder, held open.
    #[must_use]
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

impl Recovery {
    /// Begins a session: nobody else may until it ends. What earlier crashes left undone is done first.
    ///
    /// # Errors
    /// [`BeginError::Held`] while a hold is on, [`BeginError::Busy`] while another session is.
    pub async fn begin(&self, service: &ServiceName) -> Result<Session, BeginError> {
        let lock = match self.home.lock(service) {
            Err(RecoveryError::Busy) => return Err(BeginError::Busy),
            other => other?,
        };
        self.settle_past(service).await?;
        self.refuse_held(service).await?;
        let started = self.now();
        let known = self.known(service);
        let Prepared {
            workspace,
            before,
            review,
        } = self.disk(|home| prepare(home, service, &self.options, known.as_ref(), started))?;
        if before.oddities().next().is_some() {
            return Err(BeginError::Odd);
        }
        if before.is_near(&self.options.bounds) {
            return Err(BeginError::Full);
        }
        let spawn_id = crate::id::random(16).map_err(|_| RecoveryError::NoRandom)?;
        let session = ProxySession {
            spawn_id: spawn_id.clone(),
            service: service.as_str().to_owned(),
            home: self.home.id.clone(),
            started_ms: millis(started),
        };
        self.point("before-begin");
        let begun = self.store.begin_proxy_session(session).await;
        if !begun.map_err(RecoveryError::from)? {
            self.refuse_held(service).await?;
            return Err(BeginError::Busy);
        }
        self.point("begun");
        Ok(Session {
            service: service.clone(),
            spawn_id,
            started,
            workspace,
            before,
            review,
            path: self.home.workspace_path(service),
            _lock: lock,
        })
    }

    async fn refuse_held(&self, service: &ServiceName) -> Result<(), BeginError> {
        match self.holds(service).await?.into_iter().next() {
            Some(ProxyHold {
                id, kind, reason, ..
            }) => Err(BeginError::Held {
                id,
                kind: Hold::parse(&kind).as_str(),
                reason,
            }),
            None => Ok(()),
        }
    }
}

struct Prepared {
    workspace: Workspace,
    before: Snapshot,
    review: Vec<String>,
}

/// Opens the workspace, makes it when missing, and tidies up.
fn prepare(
    home: &Home,
    service: &ServiceName,
    options: &Options,
    known: Option<&Snapshot>,
    now: Time,
) -> Result<Prepared, RecoveryError> {
    let root = home.workspaces.make(service.as_str())?;
    let workspace = Workspace::lay_out(root)?;
    sweep(&workspace)?;
    tidy(&workspace, options, now)?;
    drafts::abandon_in_progress(&workspace, now)?;
    let before = Snapshot::take(workspace.folder(), &options.bounds, known)?;
    // What cannot be read puts nobody under review; a session that leaves it so is found out.
    let review = Relationships::read(&workspace).map_or_else(
        |_| Vec::new(),
        |all| all.under_review().map(str::to_owned).collect(),
    );
    Ok(Prepared {
        workspace,
        before,
        review,
    })
}

/// Removes halves of files that core itself left when it was killed; no session may have left any.
fn sweep(workspace: &Workspace) -> Result<(), RecoveryError> {
    for folder in [".", POSTS, DRAFTS, LOGS] {
        let folder = workspace.folder().child(folder)?;
        let (names, _) = folder.names(100_000)?;
        let halves = names
            .iter()
            .filter_map(|name| name.to_str().ok())
            .filter(|name| is_half(name));
        for half in halves {
            folder.remove(half)?;
        }
    }
    Ok(())
}

/// Begins a new trail when the old one is long, and forgets the oldest reports.
fn tidy(workspace: &Workspace, options: &Options, now: Time) -> Result<(), RecoveryError> {
    let logs = workspace.folder().child(LOGS)?;
    let stat = logs.stat("audit.jsonl")?;
    if stat
        .is_some_and(|stat| u64::try_from(stat.st_size).unwrap_or(u64::MAX) >= options.trail_bytes)
    {
        let aside = format!("audit-{now}.jsonl");
        logs.rename("audit.jsonl", &aside, RenameFlags::NOREPLACE)?;
    }
    forget_oldest(&logs, "crash-", options.keep_reports)?;
    forget_oldest(&logs, "audit-", 4)
}

/// Names carry their moment, so that the oldest come first.
fn forget_oldest(logs: &Folder, prefix: &str, keep: usize) -> Result<(), RecoveryError> {
    let (names, _) = logs.names(10_000)?;
    let mut ours: Vec<&str> = names
        .iter()
        .filter_map(|name| name.to_str().ok())
        .filter(|name| name.starts_with(prefix) && crate::names::is_step(name))
        .collect();
    ours.sort_unstable();
    let over = ours.len().saturating_sub(keep);
    for name in ours.into_iter().take(over) {
        logs.remove(name)?;
    }
    Ok(())
}
