//! What ends a request for good: the audit log after a decision, and time without one.

use crate::{Approvals, Request, State, Unrecorded};
use blastshield_audit::{Answer, Category, Event, Severity};
use blastshield_store::{ApprovalRecord, StoreError};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// How long another process may take between deciding and recording before this one records.
const RECORD_GRACE_MS: i64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettleError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("not recorded")]
    Unrecorded,
}

impl From<Unrecorded> for SettleError {
    fn from(_: Unrecorded) -> Self {
        Self::Unrecorded
    }
}

impl Approvals {
    /// Puts a decision into the audit log, which makes it count.
    pub(crate) async fn settle(&self, mut record: ApprovalRecord) -> Result<Request, SettleError> {
        let answer = match State::parse(&record.state) {
            State::Approved => Answer::Approved,
            State::Expired => Answer::Timeout,
            State::Denied | State::Pending => Answer::Denied,
        };
        self.note(&Event::ApprovalDecided {
            id: &record.id,
            action: &record.action,
            answer,
            channel: &record.decided_by,
        })?;
        if answer == Answer::Approved && record.scope != "once" {
            let details = json!({"approval": record.id, "host": record.host, "action": record.action, "scope": record.scope});
            self.note(&Event::Note {
                severity: Severity::Warn,
                category: Category::Config,
                name: "allowlist_extended",
                message: "The owner allowed a host for longer than one request",
                details: details.as_object().cloned().unwrap_or_default(),
            })?;
        }
        self.store().approval_recorded(&record.id).await?;
        record.recorded = true;
        Request::of(record).ok_or(SettleError::Store(StoreError::Corrupt))
    }

    /// Ends what is overdue, and records what was decided and not recorded.
    ///
    /// # Errors
    /// When the store fails; what was done until then stays done.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        let store = self.store();
        let now_ms = self.now_ms();
        let mut news = false;
        for mut record in store.due_approvals(now_ms).await? {
            if !store.expire_approval(&record.id, now_ms).await? {
                continue;
            }
            news = true;
            State::Expired.as_str().clone_into(&mut record.state);
            "timeout".clone_into(&mut record.decided_by);
            record.decided_ms = now_ms;
            if let Err(SettleError::Store(error)) = self.settle(record).await {
                return Err(error);
            }
        }
        for record in store
            .unrecorded_approvals(now_ms.saturating_sub(RECORD_GRACE_MS))
            .await?
        {
            match self.settle(record).await {
                Ok(_) => news = true,
                Err(SettleError::Store(error)) => return Err(error),
                Err(SettleError::Unrecorded) => break,
            }
        }
        if news {
            self.wake();
        }
        Ok(())
    }

    /// Sweeps once a second, for ever. To be run as a task.
    pub async fn keep_sweeping(self) {
        loop {
            if let Err(error) = self.sweep().await {
                tracing::warn!(target: "security", %error, "approvals could not be swept");
            }
            sleep(Duration::from_secs(1)).await;
        }
    }
}
