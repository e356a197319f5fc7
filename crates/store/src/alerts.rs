//! Alerts on their way to the owner, one row for each channel that has yet to carry one. What is too much goes, the
//! ordinary before the grave and the old before the new, and is counted.

use crate::{
    Store, StoreError,
    backend::{Arg, Row},
    bounds::is_id,
    owner::{text, within},
    writer::Work,
};

const MAX_CHANNEL: usize = 64;
const MAX_TEXT: usize = 32 << 10;
/// Somebody else was faster so many times: there is time to look again later.
const TRIES: usize = 4;

/// An alert that waits for a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingAlert {
    /// Unique.
    pub id: String,
    /// When it was raised, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Whether it is about an attack.
    pub grave: bool,
    /// As people read it.
    pub text: String,
    /// As programs read it.
    pub body: String,
}

impl Store {
    /// Keeps an alert for a channel, and at most `most` of them: how many had to go for that. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds; [`StoreError::Duplicate`] when it is kept already.
    pub async fn keep_alert(
        &self,
        channel: &str,
        alert: WaitingAlert,
        most: u32,
    ) -> Result<u64, StoreError> {
        const SQL: &str = "INSERT INTO owner_alerts (channel, id, at_ms, grave, shown, body, taken_ms) \
            VALUES ($1, $2, $3, $4, $5, $6, 0)";
        const TRIM: &str = "DELETE FROM owner_alerts WHERE channel = $1 AND id IN (SELECT id FROM owner_alerts \
            WHERE channel = $1 ORDER BY grave DESC, at_ms DESC, id DESC LIMIT 100 OFFSET $2)";
        within("channel", channel, MAX_CHANNEL)?;
        if !is_id(&alert.id) {
            return Err(StoreError::Invalid("id"));
        }
        within("text", &alert.text, MAX_TEXT)?;
        within("body", &alert.body, MAX_TEXT)?;
        let weight = 512 + alert.text.len() + alert.body.len();
        let channel = || text(channel.to_owned());
        let args = vec![
            channel(),
            text(alert.id),
            Arg::Int(alert.at_ms),
            Arg::Int(alert.grave.into()),
            text(alert.text),
            text(alert.body),
        ];
        self.submit(Work::Statement(SQL, args), weight).await?;
        let args = vec![channel(), Arg::Int(most.into())];
        self.submit(Work::Statement(TRIM, args), 512).await
    }

    /// The oldest alert of a channel that nobody carries at `now_ms`, for whoever takes it; others may take it again
    /// `for_ms` later.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub async fn take_alert(
        &self,
        channel: &str,
        now_ms: i64,
        for_ms: i64,
    ) -> Result<Option<WaitingAlert>, StoreError> {
        const FIND: &str = "SELECT id, at_ms, grave, shown, body, taken_ms FROM owner_alerts WHERE channel = $1 \
            AND taken_ms <= $2 ORDER BY at_ms, id LIMIT 1";
        const TAKE: &str = "UPDATE owner_alerts SET taken_ms = $3 WHERE channel = $1 AND id = $2 AND taken_ms = $4";
        let free_ms = now_ms.saturating_sub(for_ms).max(0);
        for _ in 0..TRIES {
            let args = vec![Arg::text(channel), Arg::Int(free_ms)];
            let rows = self.read(FIND, args).await?;
            let Some(row) = rows.first() else {
                return Ok(None);
            };
            let alert = waiting(row)?;
            let args = vec![
                text(channel.to_owned()),
                text(alert.id.clone()),
                Arg::Int(now_ms.max(1)),
                Arg::Int(row.int(5)?),
            ];
            if self.change(TAKE, args).await? {
                return Ok(Some(alert));
            }
        }
        Ok(None)
    }

    /// Gives an alert back that was taken and could not be carried.
    ///
    /// # Errors
    /// When the database cannot be written; then it is free again when its time is over.
    pub async fn give_back_alert(&self, channel: &str, id: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE owner_alerts SET taken_ms = 0 WHERE channel = $1 AND id = $2";
        let args = vec![text(channel.to_owned()), text(id.to_owned())];
        self.change(SQL, args).await.map(drop)
    }

    /// Forgets an alert that was carried, or never will be.
    ///
    /// # Errors
    /// When the database cannot be written; then it may be carried again.
    pub async fn forget_alert(&self, channel: &str, id: &str) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM owner_alerts WHERE channel = $1 AND id = $2";
        let args = vec![text(channel.to_owned()), text(id.to_owned())];
        self.change(SQL, args).await.map(drop)
    }

    /// How many alerts wait for a channel.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn waiting_alerts(&self, channel: &str) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM owner_alerts WHERE channel = $1";
        let rows = self.read(SQL, vec![Arg::text(channel)]).await?;
        rows.first().ok_or(StoreError::Corrupt)?.size(0)
    }
}

fn waiting(row: &Row) -> Result<WaitingAlert, StoreError> {
    Ok(WaitingAlert {
        id: row.text(0)?,
        at_ms: row.int(1)?,
        grave: row.int(2)? != 0,
        text: row.text(3)?,
        body: row.text(4)?,
    })
}
