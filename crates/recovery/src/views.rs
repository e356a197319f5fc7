//! Holds and quarantines as a person or a program reads them.

use crate::decision::Hold;
use crate::error::RecoveryError;
use crate::quarantine::{NO_BACKUP, Step};
use crate::recovery::Recovery;
use blastshield_audit::Time;
use blastshield_store::{ProxyCrash, ProxyHold, ProxyQuarantine};
use serde::Serialize;

/// A hold, with what led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldView {
    /// By this it is cleared.
    pub id: String,
    /// The service.
    pub service: String,
    /// `adversarial`, `pattern`, `fix` or `investigate`.
    pub kind: &'static str,
    /// Why.
    pub reason: String,
    /// Since when.
    pub since: String,
    /// When it was cleared.
    pub cleared: Option<String>,
    /// By whom.
    pub cleared_by: Option<String>,
    /// As what the end counts.
    pub trigger: String,
    /// The last tool call of the session.
    pub last_action: String,
    /// Requests of the session.
    pub requests: u64,
    /// How many files changed.
    pub files_written: u64,
    /// Their names; not necessarily all.
    pub files: Vec<String>,
    /// Name of the crash report.
    pub report: Option<String>,
    /// What became of the workspace.
    pub quarantine: Option<QuarantineView>,
}

/// What became of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuarantineView {
    /// The folder aside, in `proxies/workspaces` of the data folder.
    pub folder: String,
    /// `decided`, `moved`, `staged` or `placed`.
    pub step: &'static str,
    /// The backup that was restored; without one the workspace is empty.
    pub restored: Option<String>,
    /// Relationships to be reviewed.
    pub review: Vec<String>,
}

impl HoldView {
    /// The sentence that an approval asks about.
    #[must_use]
    pub fn question(&self) -> String {
        let what = if self.quarantine.is_some() {
            "quarantine"
        } else {
            "hold"
        };
        format!("clear {what} of {} ({})", self.service, self.id)
    }
}

impl Recovery {
    /// Holds that are on; with `all` also those that were, newest first, 500 at most.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, all: bool) -> Result<Vec<HoldView>, RecoveryError> {
        let holds = if all {
            self.store.proxy_holds(500).await?
        } else {
            self.store.open_proxy_holds(None).await?
        };
        let mut views = Vec::with_capacity(holds.len());
        for hold in holds {
            views.push(self.view(hold).await?);
        }
        Ok(views)
    }

    /// One hold, on or cleared.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn show(&self, id: &str) -> Result<Option<HoldView>, RecoveryError> {
        match self.store.proxy_hold(id).await? {
            Some(hold) => self.view(hold).await.map(Some),
            None => Ok(None),
        }
    }

    async fn view(&self, hold: ProxyHold) -> Result<HoldView, RecoveryError> {
        let crash = self.store.proxy_crash(&hold.crash_id).await?;
        let quarantine = self.store.proxy_quarantine(&hold.id).await?;
        Ok(view(hold, crash, quarantine))
    }
}

fn view(
    hold: ProxyHold,
    crash: Option<ProxyCrash>,
    quarantine: Option<ProxyQuarantine>,
) -> HoldView {
    let cleared = hold.cleared_ms != 0;
    let mut view = HoldView {
        kind: Hold::parse(&hold.kind).as_str(),
        since: moment(hold.at_ms),
        cleared: cleared.then(|| moment(hold.cleared_ms)),
        cleared_by: cleared.then_some(hold.cleared_by),
        id: hold.id,
        service: hold.service,
        reason: hold.reason,
        trigger: String::new(),
        last_action: String::new(),
        requests: 0,
        files_written: 0,
        files: Vec::new(),
        report: None,
        quarantine: quarantine.map(|one| QuarantineView {
            folder: one.folder,
            step: Step::from_number(one.step).map_or("unknown", Step::as_str),
            restored: Some(one.backup).filter(|name| !name.is_empty() && name != NO_BACKUP),
            review: one.review,
        }),
    };
    if let Some(crash) = crash {
        view.trigger = crash.kind;
        view.last_action = crash.last_action;
        view.requests = crash.requests;
        view.files_written = crash.files_count;
        view.files = crash.files;
        view.report = Some(crash.report).filter(|name| !name.is_empty());
    }
    view
}

fn moment(ms: i64) -> String {
    Time::from_millis(u64::try_from(ms).unwrap_or(0)).to_string()
}
