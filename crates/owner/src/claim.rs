//! What a yes allows: one use of exactly what was asked, and further requests to a host where the owner said so.

use crate::error::ClaimError;
use crate::seal;
use crate::{Action, Approvals, Ask, Grant, Request, RequestId, State, ascii_host};
use blastshield_audit::{Category, Event, Severity};
use blastshield_store::StoreError;
use serde_json::json;
use std::time::Duration;

impl Approvals {
    /// Uses an approval for exactly what was asked, once. `Ok` is the permission to act.
    ///
    /// # Errors
    /// Why not; then nobody may act.
    pub async fn claim(&self, id: &str, ask: &Ask) -> Result<(), ClaimError> {
        let store = self.store();
        let id = RequestId::parse(id).ok_or(ClaimError::Unknown)?;
        let record = store
            .approval(id.as_str())
            .await?
            .ok_or(ClaimError::Unknown)?;
        let subject = ask.subject(id.as_str()).to_string();
        let decided_ms = record.decided_ms;
        if record.subject_sha256 != subject || !seal::holds(&record) {
            return Err(ClaimError::Changed);
        }
        let used = record.used_ms > 0;
        let request = Request::of(record).ok_or(ClaimError::Store(StoreError::Corrupt))?;
        if request.state != State::Approved {
            return Err(ClaimError::Not(request.state));
        }
        if used {
            return Err(ClaimError::Used);
        }
        let now_ms = self.now_ms();
        let age = Duration::from_millis(now_ms.saturating_sub(decided_ms).max(0).unsigned_abs());
        if age > self.options().use_within {
            return Err(ClaimError::Old);
        }
        if !store.use_approval(id.as_str(), &subject, now_ms).await? {
            return Err(ClaimError::Used);
        }
        let details = json!({"approval": id.as_str(), "action": request.action.as_str()});
        self.note(&Event::Note {
            severity: Severity::Info,
            category: Category::Approval,
            name: "approval_used",
            message: "An approval was used",
            details: details.as_object().cloned().unwrap_or_default(),
        })
        .map_err(|_| ClaimError::Unrecorded)
    }

    /// The owner's standing yes to this requester for this action to this host, if there is one.
    ///
    /// # Errors
    /// When the store cannot say; then there is none.
    pub async fn granted(
        &self,
        action: Action,
        host: &str,
        requester: &str,
    ) -> Result<Option<Grant>, StoreError> {
        let Some(host) = ascii_host(host) else {
            return Ok(None);
        };
        let grant = self
            .store()
            .grant_for(action.as_str(), &host, requester, self.now_ms())
            .await?;
        Ok(grant.map(Grant::of))
    }

    /// What the owner allowed for longer than one request.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        let grants = self.store().grants(self.now_ms()).await?;
        Ok(grants.into_iter().map(Grant::of).collect())
    }

    /// Takes a standing yes back: whether there was one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn revoke(&self, id: &str, by: &str) -> Result<bool, StoreError> {
        let revoked = self.store().revoke_grant(id, self.now_ms()).await?;
        if revoked {
            let _ = self.note(&Event::ConfigChanged {
                key: "runtime allowlist",
                by,
            });
        }
        Ok(revoked)
    }
}
