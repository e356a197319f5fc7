//! Retention, in slices small enough that writers between them do not notice.

use crate::{
    StoreError,
    backend::{Arg, Conn},
};

/// Rows deleted per transaction.
pub(crate) const SLICE: i64 = 500;

/// Slices per table and call. What is left waits for the next call.
pub(crate) const MAX_SLICES: usize = 400;

/// How many rows a call to [`prune`](crate::Store::prune) deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Searches past retention.
    pub searches: u64,
    /// Results whose ids expired.
    pub results: u64,
    /// Fetches past retention.
    pub fetches: u64,
    /// Payloads past retention or their own expiry.
    pub payloads: u64,
    /// Whether more remains than one call deletes.
    pub more: bool,
}

/// At most [`SLICE`] rows of one table that `until_ms` leaves behind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slice {
    Searches {
        until_ms: i64,
    },
    Results {
        now_ms: i64,
    },
    Fetches {
        until_ms: i64,
    },
    OldPayloads {
        until_ms: i64,
    },
    ExpiredPayloads {
        now_ms: i64,
    },
    Holds {
        now_ms: i64,
    },
    /// Requests that are neither open nor unrecorded, and on which no standing grant rests; notices follow theirs.
    Approvals {
        until_ms: i64,
    },
    Grants {
        until_ms: i64,
    },
    Notices,
    /// Alerts that no channel carried in all that time.
    Alerts {
        until_ms: i64,
    },
    /// Payments that are over, once their invoices cannot be paid any more: until then they are remembered as paid.
    Payments {
        until_ms: i64,
    },
    /// Holds of security proxies that were cleared; quarantines follow theirs, and ends unless a hold stands on them.
    ProxyHolds {
        until_ms: i64,
    },
    ProxyQuarantines,
    ProxyCrashes {
        until_ms: i64,
    },
    ProxyTasks {
        until_ms: i64,
    },
    /// Gives a bounded number of free pages back to the file system; SQLite only.
    Shrink,
}

impl Slice {
    pub(crate) async fn delete(self, conn: &mut Conn) -> Result<u64, StoreError> {
        let (sql, bound) = match self {
            Self::Searches { until_ms } => (
                "DELETE FROM search_requests WHERE request_id IN \
                 (SELECT request_id FROM search_requests WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)",
                until_ms,
            ),
            Self::Results { now_ms } => (
                "DELETE FROM search_results_cache WHERE result_id IN \
                 (SELECT result_id FROM search_results_cache WHERE expires_at_ms <= $1 \
                 ORDER BY expires_at_ms LIMIT $2)",
                now_ms,
            ),
            Self::Fetches { until_ms } => (
                "DELETE FROM fetch_events WHERE fetch_id IN \
                 (SELECT fetch_id FROM fetch_events WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)",
                until_ms,
            ),
            Self::OldPayloads { until_ms } => (
                "DELETE FROM flagged_payloads WHERE fetch_id IN \
                 (SELECT fetch_id FROM flagged_payloads WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)",
                until_ms,
            ),
            Self::ExpiredPayloads { now_ms } => (
                "DELETE FROM flagged_payloads WHERE fetch_id IN \
                 (SELECT fetch_id FROM flagged_payloads WHERE expires_at_ms <= $1 \
                 ORDER BY expires_at_ms LIMIT $2)",
                now_ms,
            ),
            Self::Holds { now_ms } => (
                "DELETE FROM session_holds WHERE session_key IN \
                 (SELECT session_key FROM session_holds WHERE until_ms <= $1 \
                 ORDER BY until_ms LIMIT $2)",
                now_ms,
            ),
            Self::Approvals { until_ms } => (
                "DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE created_ms < $1 \
                 AND state <> 'pending' AND recorded = 1 AND NOT EXISTS (SELECT 1 FROM grants AS g \
                 WHERE g.approval_id = approvals.id AND g.revoked_ms = 0 AND g.until_ms >= $1) \
                 ORDER BY created_ms LIMIT $2)",
                until_ms,
            ),
            Self::Grants { until_ms } => (
                "DELETE FROM grants WHERE approval_id IN (SELECT approval_id FROM grants \
                 WHERE until_ms < $1 OR (revoked_ms > 0 AND revoked_ms < $1) LIMIT $2)",
                until_ms,
            ),
            Self::Notices => (
                "DELETE FROM owner_notices WHERE closed >= $1 AND approval_id IN \
                 (SELECT approval_id FROM owner_notices AS n WHERE NOT EXISTS \
                 (SELECT 1 FROM approvals AS a WHERE a.id = n.approval_id) LIMIT $2)",
                0,
            ),
            Self::Alerts { until_ms } => (
                "DELETE FROM owner_alerts WHERE at_ms < $1 AND id IN (SELECT id FROM owner_alerts \
                 WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)",
                until_ms,
            ),
            Self::Payments { until_ms } => (
                "DELETE FROM payments WHERE id IN (SELECT id FROM payments WHERE state IN \
                 ('paid', 'failed', 'denied', 'expired') AND changed_ms < $1 AND invoice_expires_ms < $1 LIMIT $2)",
                until_ms,
            ),
            Self::ProxyHolds { until_ms } => (
                "DELETE FROM proxy_holds WHERE id IN (SELECT id FROM proxy_holds WHERE cleared_ms > 0 \
                 AND cleared_ms < $1 ORDER BY cleared_ms LIMIT $2)",
                until_ms,
            ),
            Self::ProxyQuarantines => (
                "DELETE FROM proxy_quarantines WHERE step >= $1 AND id IN (SELECT id FROM proxy_quarantines AS q \
                 WHERE NOT EXISTS (SELECT 1 FROM proxy_holds AS h WHERE h.id = q.id) LIMIT $2)",
                0,
            ),
            Self::ProxyCrashes { until_ms } => (
                "DELETE FROM proxy_crashes WHERE id IN (SELECT id FROM proxy_crashes AS c WHERE at_ms < $1 \
                 AND NOT EXISTS (SELECT 1 FROM proxy_holds AS h WHERE h.crash_id = c.id) ORDER BY at_ms LIMIT $2)",
                until_ms,
            ),
            Self::ProxyTasks { until_ms } => (
                "DELETE FROM proxy_tasks WHERE id IN (SELECT id FROM proxy_tasks WHERE finished_ms > 0 \
                 AND finished_ms < $1 ORDER BY finished_ms LIMIT $2)",
                until_ms,
            ),
            Self::Shrink => {
                if let Conn::Sqlite(_) = conn {
                    conn.run("PRAGMA incremental_vacuum(4096)").await?;
                }
                return Ok(0);
            }
        };
        conn.execute(sql, vec![Arg::Int(bound), Arg::Int(SLICE)])
            .await
    }
}
