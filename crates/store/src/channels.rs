//! Where requests were shown to the owner, and how far the answers of each channel have been read.

use crate::{
    Store, StoreError,
    backend::{Arg, Row},
    owner::text,
};

/// A message that shows a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The request.
    pub approval_id: String,
    /// The message's id in its channel.
    pub message_id: i64,
}

impl Store {
    /// Notes a message that shows a request.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn add_notice(
        &self,
        channel: &str,
        approval_id: &str,
        message_id: i64,
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO owner_notices (approval_id, channel, message_id, closed) \
            VALUES ($1, $2, $3, 0) ON CONFLICT (approval_id, channel, message_id) DO NOTHING";
        let args = vec![
            text(approval_id.to_owned()),
            text(channel.to_owned()),
            Arg::Int(message_id),
        ];
        self.change(SQL, args).await.map(drop)
    }

    /// Messages of this channel whose request is decided and that do not say so yet; 100 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn stale_notices(&self, channel: &str) -> Result<Vec<Notice>, StoreError> {
        const SQL: &str = "SELECT n.approval_id, n.message_id FROM owner_notices AS n JOIN approvals AS a \
            ON a.id = n.approval_id WHERE n.channel = $1 AND n.closed = 0 AND a.state <> 'pending' \
            ORDER BY a.decided_ms, n.message_id LIMIT 100";
        let rows = self.read(SQL, vec![Arg::text(channel)]).await?;
        let notice = |row: &Row| {
            Ok(Notice {
                approval_id: row.text(0)?,
                message_id: row.int(1)?,
            })
        };
        rows.iter().map(notice).collect()
    }

    /// Notes that a message needs no further attention.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn close_notice(&self, channel: &str, notice: &Notice) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE owner_notices SET closed = 1 WHERE approval_id = $1 AND channel = $2 \
            AND message_id = $3";
        let args = vec![
            text(notice.approval_id.clone()),
            text(channel.to_owned()),
            Arg::Int(notice.message_id),
        ];
        self.change(SQL, args).await.map(drop)
    }

    /// How far a channel's answers were read, and when that was.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn cursor(&self, channel: &str) -> Result<Option<(i64, i64)>, StoreError> {
        const SQL: &str = "SELECT position, at_ms FROM owner_cursors WHERE channel = $1";
        let rows = self.read(SQL, vec![Arg::text(channel)]).await?;
        let cursor = |row: &Row| Ok((row.int(0)?, row.int(1)?));
        rows.first().map(cursor).transpose()
    }

    /// Notes how far a channel's answers were read. `Ok` means on disk.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn set_cursor(
        &self,
        channel: &str,
        position: i64,
        at_ms: i64,
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO owner_cursors (channel, position, at_ms) VALUES ($1, $2, $3) \
            ON CONFLICT (channel) DO UPDATE SET position = excluded.position, at_ms = excluded.at_ms";
        let args = vec![
            text(channel.to_owned()),
            Arg::Int(position),
            Arg::Int(at_ms),
        ];
        self.change(SQL, args).await.map(drop)
    }
}
