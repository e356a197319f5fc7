//! What the owner was asked and decided. Exactly one decision of a request takes effect, whoever sends it.

mod records;

pub use records::{ApprovalLimits, ApprovalPage, ApprovalRecord, Ruling};

use crate::{Store, StoreError, backend::Arg, bounds::is_id, writer::Work};
use records::approval;

const MAX_LABEL: usize = 256;
const MAX_SHOWN: usize = 32 << 10;
const MAX_LIST: u32 = 500;
const HOUR_MS: i64 = 3_600_000;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, action, requester, session, host, confirm, shown, shown_sha256, subject_sha256, created_ms, \
             expires_ms, state, scope, decided_by, decided_ms, recorded, used_ms FROM approvals ",
            $rest
        )
    };
}

impl Store {
    /// Keeps a pending request, unless there are as many already as the limits say: whether it was kept. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when the id is taken; [`StoreError::Invalid`] names a field out of bounds.
    pub async fn add_approval(
        &self,
        record: ApprovalRecord,
        limits: ApprovalLimits,
    ) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO approvals (id, action, requester, session, host, confirm, shown, shown_sha256, \
            subject_sha256, created_ms, expires_ms, state, scope, decided_by, decided_ms, recorded, used_ms) \
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending', '', '', 0, 0, 0 \
            WHERE (SELECT COUNT(*) FROM approvals WHERE state = 'pending' AND expires_ms > $10) < $12 \
            AND (SELECT COUNT(*) FROM approvals WHERE state = 'pending' AND expires_ms > $10 AND requester = $3) < $13 \
            AND (SELECT COUNT(*) FROM approvals WHERE created_ms > $14 AND requester = $3) < $15";
        if !is_id(&record.id) {
            return Err(StoreError::Invalid("id"));
        }
        within("action", &record.action, MAX_LABEL)?;
        within("requester", &record.requester, MAX_LABEL)?;
        for (field, text) in [
            ("session", &record.session),
            ("host", &record.host),
            ("confirm", &record.confirm),
        ] {
            if let Some(text) = text {
                within(field, text, MAX_LABEL)?;
            }
        }
        within("shown", &record.shown, MAX_SHOWN)?;
        within("shown_sha256", &record.shown_sha256, MAX_LABEL)?;
        within("subject_sha256", &record.subject_sha256, MAX_LABEL)?;
        let weight = 1024 + record.shown.len();
        let args = vec![
            text(record.id),
            text(record.action),
            text(record.requester),
            maybe(record.session),
            maybe(record.host),
            maybe(record.confirm),
            text(record.shown),
            text(record.shown_sha256),
            text(record.subject_sha256),
            Arg::Int(record.created_ms),
            Arg::Int(record.expires_ms),
            Arg::Int(limits.pending.into()),
            Arg::Int(limits.per_requester.into()),
            Arg::Int(record.created_ms.saturating_sub(HOUR_MS)),
            Arg::Int(limits.per_hour.into()),
        ];
        let kept = self.submit(Work::Statement(SQL, args), weight).await?;
        Ok(kept > 0)
    }

    /// One request.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn approval(&self, id: &str) -> Result<Option<ApprovalRecord>, StoreError> {
        if !is_id(id) {
            return Ok(None);
        }
        let rows = self
            .read(select!("WHERE id = $1"), vec![Arg::text(id)])
            .await?;
        rows.first().map(approval).transpose()
    }

    /// Requests, newest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn approvals(&self, limit: u32) -> Result<Vec<ApprovalRecord>, StoreError> {
        let sql = select!("ORDER BY created_ms DESC, id LIMIT $1");
        self.list(sql, vec![Arg::Int(limit.min(MAX_LIST).into())])
            .await
    }

    /// A page of requests, newest first; 500 at most. A decision that is not in the audit log yet counts as pending.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn approvals_page(
        &self,
        page: &ApprovalPage,
    ) -> Result<Vec<ApprovalRecord>, StoreError> {
        let sql = select!(
            "WHERE ($1 = '' OR CASE WHEN recorded = 0 THEN 'pending' ELSE state END = $1) \
             AND ($2 = '' OR action = $2) AND (created_ms < $3 OR (created_ms = $3 AND id > $4)) \
             ORDER BY created_ms DESC, id LIMIT $5"
        );
        let (before_ms, after_id) = page.after.clone().unwrap_or((i64::MAX, String::new()));
        let args = vec![
            text(page.state.unwrap_or_default().to_owned()),
            text(page.action.unwrap_or_default().to_owned()),
            Arg::Int(before_ms),
            text(after_id),
            Arg::Int(page.limit.min(MAX_LIST).into()),
        ];
        self.list(sql, args).await
    }

    /// Requests that may still be decided at `now_ms`, oldest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn pending_approvals(&self, now_ms: i64) -> Result<Vec<ApprovalRecord>, StoreError> {
        let sql = select!(
            "WHERE state = 'pending' AND expires_ms > $1 ORDER BY created_ms, id LIMIT 500"
        );
        self.list(sql, vec![Arg::Int(now_ms)]).await
    }

    /// Requests whose time is up and that are still pending; 100 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn due_approvals(&self, now_ms: i64) -> Result<Vec<ApprovalRecord>, StoreError> {
        let sql =
            select!("WHERE state = 'pending' AND expires_ms <= $1 ORDER BY expires_ms LIMIT 100");
        self.list(sql, vec![Arg::Int(now_ms)]).await
    }

    /// Requests that were decided up to `until_ms` and are not in the audit log yet; 100 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn unrecorded_approvals(
        &self,
        until_ms: i64,
    ) -> Result<Vec<ApprovalRecord>, StoreError> {
        let sql = select!(
            "WHERE state <> 'pending' AND recorded = 0 AND decided_ms <= $1 ORDER BY decided_ms LIMIT 100"
        );
        self.list(sql, vec![Arg::Int(until_ms)]).await
    }

    /// How many requests of everybody, and of this requester, are pending.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn count_pending(
        &self,
        requester: &str,
        now_ms: i64,
    ) -> Result<(u64, u64), StoreError> {
        const SQL: &str = "SELECT COUNT(*), COUNT(CASE WHEN requester = $2 THEN 1 END) FROM approvals \
            WHERE state = 'pending' AND expires_ms > $1";
        let rows = self
            .read(SQL, vec![Arg::Int(now_ms), Arg::text(requester)])
            .await?;
        let row = rows.first().ok_or(StoreError::Corrupt)?;
        Ok((row.size(0)?, row.size(1)?))
    }

    /// The latest moment of which the requests speak; 0 when there are none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn latest_approval_ms(&self) -> Result<i64, StoreError> {
        const SQL: &str =
            "SELECT COALESCE(MAX(created_ms), 0), COALESCE(MAX(decided_ms), 0) FROM approvals";
        let rows = self.read(SQL, vec![]).await?;
        let row = rows.first().ok_or(StoreError::Corrupt)?;
        Ok(row.int(0)?.max(row.int(1)?))
    }

    /// Decides a request if it is pending and in time, and allows its host if the ruling says so: all or nothing.
    /// Whether this ruling is the one that counts.
    ///
    /// # Errors
    /// When the database cannot be written; whether it was is then to be read.
    pub async fn rule_approval(&self, ruling: Ruling) -> Result<bool, StoreError> {
        const DECIDE: &str = "UPDATE approvals SET state = $2, scope = $3, decided_by = $4, decided_ms = $5 \
            WHERE id = $1 AND state = 'pending' AND expires_ms > $5";
        // Only the ruling that counts finds its own marks in the row.
        const GRANT: &str = "INSERT INTO grants (approval_id, action, host, at_ms, until_ms, revoked_ms) \
            SELECT id, action, host, $5, $6, 0 FROM approvals WHERE id = $1 AND state = $2 AND scope = $3 \
            AND decided_by = $4 AND decided_ms = $5 AND host IS NOT NULL ON CONFLICT (approval_id) DO NOTHING";
        within("by", &ruling.by, MAX_LABEL)?;
        let mut args = vec![
            text(ruling.id),
            text(ruling.state.to_owned()),
            text(ruling.scope),
            text(ruling.by),
            Arg::Int(ruling.now_ms),
        ];
        let mut list = vec![(DECIDE, args.clone())];
        if let Some(until_ms) = ruling.grant_until_ms {
            args.push(Arg::Int(until_ms));
            list.push((GRANT, args));
        }
        let changed = self.submit(Work::Statements(list), 1024).await?;
        Ok(changed > 0)
    }

    /// Ends a request whose time is up: whether this call ended it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn expire_approval(&self, id: &str, now_ms: i64) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE approvals SET state = 'expired', decided_by = 'timeout', decided_ms = $2 \
            WHERE id = $1 AND state = 'pending' AND expires_ms <= $2";
        self.change(SQL, vec![text(id.to_owned()), Arg::Int(now_ms)])
            .await
    }

    /// Notes that a decision is in the audit log.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn approval_recorded(&self, id: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE approvals SET recorded = 1 WHERE id = $1 AND state <> 'pending' AND recorded = 0";
        self.change(SQL, vec![text(id.to_owned())]).await.map(drop)
    }

    /// Uses an approval up, once: whether this call is the one that may go on.
    ///
    /// # Errors
    /// When the database cannot be written; then nobody may go on.
    pub async fn use_approval(
        &self,
        id: &str,
        subject_sha256: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE approvals SET used_ms = $3 WHERE id = $1 AND subject_sha256 = $2 \
            AND state = 'approved' AND recorded = 1 AND used_ms = 0";
        let args = vec![
            text(id.to_owned()),
            text(subject_sha256.to_owned()),
            Arg::Int(now_ms.max(1)),
        ];
        self.change(SQL, args).await
    }

    /// Requests that are pending at `now_ms` and that this channel has not shown, oldest first; 100 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn unshown_approvals(
        &self,
        channel: &str,
        now_ms: i64,
    ) -> Result<Vec<ApprovalRecord>, StoreError> {
        let sql = select!(
            "WHERE state = 'pending' AND expires_ms > $2 AND NOT EXISTS (SELECT 1 FROM owner_notices AS n \
             WHERE n.approval_id = approvals.id AND n.channel = $1) ORDER BY created_ms, id LIMIT 100"
        );
        self.list(sql, vec![Arg::text(channel), Arg::Int(now_ms)])
            .await
    }

    async fn list(
        &self,
        sql: &'static str,
        args: Vec<Arg<'_>>,
    ) -> Result<Vec<ApprovalRecord>, StoreError> {
        self.read(sql, args).await?.iter().map(approval).collect()
    }

    pub(crate) async fn change(
        &self,
        sql: &'static str,
        args: Vec<Arg<'static>>,
    ) -> Result<bool, StoreError> {
        let changed = self.submit(Work::Statement(sql, args), 512).await?;
        Ok(changed > 0)
    }
}

pub(crate) fn within(field: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    if text.is_empty() || text.len() > limit || text.contains('\0') {
        return Err(StoreError::Invalid(field));
    }
    Ok(())
}

pub(crate) fn text(text: String) -> Arg<'static> {
    Arg::Text(text.into())
}

fn maybe(text: Option<String>) -> Arg<'static> {
    Arg::MaybeText(text.map(Into::into))
}
