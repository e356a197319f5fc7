//! Hosts that the owner allowed for longer than one request. A grant counts once its decision is in the audit log.

use crate::{
    Store, StoreError,
    backend::{Arg, Row},
    owner::text,
};

/// A host that the owner allowed to one requester for longer than one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRecord {
    /// The request from which it comes.
    pub approval_id: String,
    /// For which action.
    pub action: String,
    /// Which host.
    pub host: String,
    /// Whose request it was, and who may go there.
    pub requester: String,
    /// Since when.
    pub at_ms: i64,
    /// Until when.
    pub until_ms: i64,
}

impl Store {
    /// Grants that count at `now_ms`, newest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn grants(&self, now_ms: i64) -> Result<Vec<GrantRecord>, StoreError> {
        const SQL: &str = "SELECT g.approval_id, g.action, g.host, a.requester, g.at_ms, g.until_ms FROM grants AS g \
            JOIN approvals AS a ON a.id = g.approval_id WHERE g.until_ms > $1 AND g.revoked_ms = 0 \
            AND a.recorded = 1 ORDER BY g.at_ms DESC, g.approval_id LIMIT 500";
        let rows = self.read(SQL, vec![Arg::Int(now_ms)]).await?;
        rows.iter().map(grant).collect()
    }

    /// The grant of this requester for this action and host at `now_ms`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn grant_for(
        &self,
        action: &str,
        host: &str,
        requester: &str,
        now_ms: i64,
    ) -> Result<Option<GrantRecord>, StoreError> {
        const SQL: &str = "SELECT g.approval_id, g.action, g.host, a.requester, g.at_ms, g.until_ms FROM grants AS g \
            JOIN approvals AS a ON a.id = g.approval_id WHERE g.action = $1 AND g.host = $2 AND a.requester = $3 \
            AND g.until_ms > $4 AND g.revoked_ms = 0 AND a.recorded = 1 ORDER BY g.until_ms DESC LIMIT 1";
        let args = vec![
            Arg::text(action),
            Arg::text(host),
            Arg::text(requester),
            Arg::Int(now_ms),
        ];
        let rows = self.read(SQL, args).await?;
        rows.first().map(grant).transpose()
    }

    /// Takes a grant back: whether there was one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn revoke_grant(&self, approval_id: &str, now_ms: i64) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE grants SET revoked_ms = $2 WHERE approval_id = $1 AND revoked_ms = 0 AND until_ms > $2";
        self.change(SQL, vec![text(approval_id.to_owned()), Arg::Int(now_ms)])
            .await
    }
}

fn grant(row: &Row) -> Result<GrantRecord, StoreError> {
    Ok(GrantRecord {
        approval_id: row.text(0)?,
        action: row.text(1)?,
        host: row.text(2)?,
        requester: row.text(3)?,
        at_ms: row.int(4)?,
        until_ms: row.int(5)?,
    })
}
