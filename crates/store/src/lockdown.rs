//! Whether all ways out are closed. A lockdown survives every restart until somebody lifts it.

use crate::{Store, StoreError, backend::Arg, owner::text};

const MAX_BY: usize = 64;

/// The switch as it was last thrown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockdownRecord {
    /// Whether everything is closed.
    pub on: bool,
    /// Through which channel it was said.
    pub by: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

impl Store {
    /// The switch; nothing when it was never thrown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn lockdown(&self) -> Result<Option<LockdownRecord>, StoreError> {
        const SQL: &str = "SELECT locked, said, at_ms FROM lockdown WHERE id = 1";
        let rows = self.read(SQL, vec![]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        Ok(Some(LockdownRecord {
            on: row.int(0)? != 0,
            by: row.text(1)?,
            at_ms: row.int(2)?,
        }))
    }

    /// Throws the switch. `Ok` means on disk.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn set_lockdown(&self, on: bool, by: &str, at_ms: i64) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO lockdown (id, locked, said, at_ms) VALUES (1, $1, $2, $3) \
            ON CONFLICT (id) DO UPDATE SET locked = excluded.locked, said = excluded.said, at_ms = excluded.at_ms";
        let by: String = by.chars().take(MAX_BY).collect();
        let args = vec![Arg::Int(on.into()), text(by), Arg::Int(at_ms)];
        self.change(SQL, args).await.map(drop)
    }
}
