//! Letting a service go on: the owner's word, or core's own for a cause that it mended itself.

use crate::decision::Hold;
use crate::error::{ClearError, RecoveryError};
use crate::names::ServiceName;
use crate::quarantine::Step;
use crate::recovery::Recovery;
use crate::relationships::{Relationships, Status};
use crate::workspace::Workspace;
use blastshield_audit::Event;
use blastshield_store::{ProxyHold, ProxyQuarantine};

/// A hold that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleared {
    /// Which.
    pub id: String,
    /// The service.
    pub service: String,
    /// Relationships that are in use again.
    pub reviewed: Vec<String>,
    /// Further holds of the service that are still on.
    pub still_held: usize,
}

impl Recovery {
    /// Ends a hold because a person says so. Relationships that were under review because of it are in use again, unless
    /// they are to stay under review. `Ok` means in the audit log and on disk.
    ///
    /// # Errors
    /// When it does not count; then the hold is on.
    pub async fn clear(
        &self,
        id: &str,
        who: &str,
        keep_review: bool,
    ) -> Result<Cleared, ClearError> {
        let named = !who.trim().is_empty()
            && who.chars().count() <= 64
            && !who.chars().any(char::is_control);
        if !named {
            return Err(ClearError::Who);
        }
        self.release(id, who, keep_review, false).await
    }

    /// Ends a hold that waits for a fix or an investigation because core itself did that; `what` it did. A hold that needs
    /// the owner stays, and what led here still counts towards a pattern.
    ///
    /// # Errors
    /// [`ClearError::OwnerOnly`] for such a hold.
    pub async fn settle(&self, id: &str, what: &str) -> Result<Cleared, ClearError> {
        let what = crate::report::clean(what, &self.redact, 48);
        self.release(id, &format!("core: {what}"), true, true).await
    }

    async fn release(
        &self,
        id: &str,
        who: &str,
        keep_review: bool,
        by_core: bool,
    ) -> Result<Cleared, ClearError> {
        let hold = self.open_hold(id).await?;
        let kind = Hold::parse(&hold.kind);
        if by_core && kind.needs_owner() {
            return Err(ClearError::OwnerOnly);
        }
        let service = ServiceName::new(&hold.service).map_err(|_| RecoveryError::Inconsistent)?;
        let _lock = self.home.lock(&service)?;
        self.settle_past(&service).await?;
        let hold = self.open_hold(id).await?;
        let quarantine = self.store.proxy_quarantine(&hold.id).await?;
        if quarantine
            .as_ref()
            .is_some_and(|one| one.step < Step::Placed.number())
        {
            // Its folders are on another machine.
            return Err(RecoveryError::Inconsistent.into());
        }
        self.record(&Event::ProxyCleared {
            proxy: &hold.service,
            id: &hold.id,
            kind: kind.as_str(),
            by: who,
        })?;
        self.point("clear-recorded");
        let reviewed = match quarantine {
            Some(one) if !keep_review && one.home == self.home.id => {
                self.reviewed(&service, &one)?
            }
            _ => Vec::new(),
        };
        self.point("clear-reviewed");
        let now_ms = self.now_ms();
        if !self
            .store
            // What core mended by itself may still be a pattern.
            .clear_proxy_hold(&hold.id, who, !by_core, Step::Placed.number(), now_ms)
            .await?
        {
            return Err(ClearError::Already);
        }
        let still_held = self.holds(&service).await?.len();
        Ok(Cleared {
            id: hold.id,
            service: hold.service,
            reviewed,
            still_held,
        })
    }

    async fn open_hold(&self, id: &str) -> Result<ProxyHold, ClearError> {
        let hold = self
            .store
            .proxy_hold(id)
            .await?
            .ok_or(ClearError::Unknown)?;
        if hold.cleared_ms != 0 {
            return Err(ClearError::Already);
        }
        Ok(hold)
    }

    /// Takes relationships that the quarantine put under review into use again.
    fn reviewed(
        &self,
        service: &ServiceName,
        one: &ProxyQuarantine,
    ) -> Result<Vec<String>, RecoveryError> {
        self.disk(|home| {
            let workspace = Workspace::lay_out(home.workspaces.make(service.as_str())?)?;
            let mut all = Relationships::read(&workspace)?;
            let names: Vec<String> = one
                .review
                .iter()
                .filter(|name| {
                    all.get(name)
                        .is_some_and(|found| found.status == Status::ReviewRequired)
                })
                .cloned()
                .collect();
            for name in &names {
                all.set_status(name, Status::Active);
            }
            if !names.is_empty() {
                all.write(&workspace)?;
            }
            Ok(names)
        })
    }
}
