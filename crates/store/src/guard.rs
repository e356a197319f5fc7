//! What the guard must not forget: held sessions and canaries.

use crate::{
    Store, StoreError,
    backend::{Arg, Row},
    writer::Work,
};
use std::fmt;

/// Canaries kept at most; a scan looks for all of them.
pub const MAX_CANARIES: usize = 10_000;

const MAX_KEY: usize = 256;
const MAX_REASON: usize = 512;

/// A session that has to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHold {
    /// The session.
    pub session_key: String,
    /// `cooldown` or `block`.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// Since when, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Until when.
    pub until_ms: i64,
}

/// A canary that was placed.
#[derive(Clone, PartialEq, Eq)]
pub struct CanaryRecord {
    /// The text to look for.
    pub value: String,
    /// Where it was placed.
    pub location: String,
    /// `warn` or `critical`.
    pub severity: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

impl fmt::Debug for CanaryRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CanaryRecord")
            .field("location", &self.location)
            .field("severity", &self.severity)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Keeps a hold; a hold of the same session that ends later stays. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds.
    pub async fn hold_session(&self, hold: SessionHold) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO session_holds (session_key, kind, reason, at_ms, until_ms) \
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session_key) DO UPDATE SET \
            kind = excluded.kind, reason = excluded.reason, at_ms = excluded.at_ms, \
            until_ms = excluded.until_ms WHERE session_holds.until_ms <= excluded.until_ms";
        within("session_key", &hold.session_key, MAX_KEY)?;
        within("kind", &hold.kind, 32)?;
        within("reason", &hold.reason, MAX_REASON)?;
        let args = vec![
            Arg::Text(hold.session_key.into()),
            Arg::Text(hold.kind.into()),
            Arg::Text(hold.reason.into()),
            Arg::Int(hold.at_ms),
            Arg::Int(hold.until_ms),
        ];
        self.submit(Work::Statement(SQL, args), 1024)
            .await
            .map(drop)
    }

    /// Forgets the hold of a session; whether there was one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn pardon_session(&self, session_key: &str) -> Result<bool, StoreError> {
        const SQL: &str = "DELETE FROM session_holds WHERE session_key = $1";
        let args = vec![Arg::Text(session_key.to_owned().into())];
        let deleted = self.submit(Work::Statement(SQL, args), 512).await?;
        Ok(deleted > 0)
    }

    /// The holds that still count at `now_ms`, those that end last first; as many as `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn session_holds(
        &self,
        now_ms: i64,
        limit: u32,
    ) -> Result<Vec<SessionHold>, StoreError> {
        const SQL: &str = "SELECT session_key, kind, reason, at_ms, until_ms FROM session_holds \
            WHERE until_ms > $1 ORDER BY until_ms DESC, session_key LIMIT $2";
        let rows = self
            .read(SQL, vec![Arg::Int(now_ms), Arg::Int(limit.into())])
            .await?;
        rows.iter().map(hold).collect()
    }

    /// Keeps a canary. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds, or `count` when there are too many.
    pub async fn add_canary(&self, canary: CanaryRecord) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO canaries (value, location, severity, at_ms) \
            SELECT $1, $2, $3, $4 WHERE (SELECT COUNT(*) FROM canaries) < $5";
        within("value", &canary.value, 512)?;
        within("location", &canary.location, 128)?;
        within("severity", &canary.severity, 32)?;
        let args = vec![
            Arg::Text(canary.value.into()),
            Arg::Text(canary.location.into()),
            Arg::Text(canary.severity.into()),
            Arg::Int(canary.at_ms),
            Arg::Int(MAX_CANARIES as i64),
        ];
        match self.submit(Work::Statement(SQL, args), 1024).await? {
            0 => Err(StoreError::Invalid("count")),
            _ => Ok(()),
        }
    }

    /// How many canaries there are; they are never deleted, so that more means new ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn canary_count(&self) -> Result<u64, StoreError> {
        let rows = self.read("SELECT COUNT(*) FROM canaries", vec![]).await?;
        rows.first().ok_or(StoreError::Corrupt)?.size(0)
    }

    /// Every canary, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn canaries(&self) -> Result<Vec<CanaryRecord>, StoreError> {
        const SQL: &str =
            "SELECT value, location, severity, at_ms FROM canaries ORDER BY at_ms, value LIMIT $1";
        let rows = self.read(SQL, vec![Arg::Int(MAX_CANARIES as i64)]).await?;
        rows.iter().map(canary).collect()
    }
}

fn within(field: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    if text.is_empty() || text.len() > limit {
        return Err(StoreError::Invalid(field));
    }
    Ok(())
}

fn hold(row: &Row) -> Result<SessionHold, StoreError> {
    Ok(SessionHold {
        session_key: row.text(0)?,
        kind: row.text(1)?,
        reason: row.text(2)?,
        at_ms: row.int(3)?,
        until_ms: row.int(4)?,
    })
}

fn canary(row: &Row) -> Result<CanaryRecord, StoreError> {
    Ok(CanaryRecord {
        value: row.text(0)?,
        location: row.text(1)?,
        severity: row.text(2)?,
        at_ms: row.int(3)?,
    })
}
