//! Brings a database up to this program's schema, once, however many gateways start together.

use crate::{
    StoreError,
    backend::{Arg, Conn},
};

/// The statements of each version, in order. A released version never changes; changes are versions of their own.
const MIGRATIONS: [(i64, &str); 8] = [
    (1, include_str!("../migrations/0001_web.sql")),
    (2, include_str!("../migrations/0002_guard.sql")),
    (3, include_str!("../migrations/0003_owner.sql")),
    (4, include_str!("../migrations/0004_wallet.sql")),
    (5, include_str!("../migrations/0005_recovery.sql")),
    (6, include_str!("../migrations/0006_egress.sql")),
    (7, include_str!("../migrations/0007_alerts.sql")),
    (8, include_str!("../migrations/0008_tasks.sql")),
];

/// The schema version that this program writes.
pub const LATEST: i64 = 8;

/// Held by PostgreSQL while one gateway migrates. The number has no meaning but to be ours.
const LOCK: i64 = 0x626c_6173_7473_6864;

/// All or nothing: the versions are applied in one transaction.
pub(crate) async fn migrate(conn: &mut Conn) -> Result<(), StoreError> {
    conn.begin().await?;
    let outcome = steps(conn).await;
    match outcome {
        Ok(()) => conn.commit().await,
        Err(error) => {
            let _ = conn.rollback().await;
            Err(error)
        }
    }
}

async fn steps(conn: &mut Conn) -> Result<(), StoreError> {
    if let Conn::Postgres(_) = conn {
        conn.execute("SELECT pg_advisory_xact_lock($1)", vec![Arg::Int(LOCK)])
            .await?;
    }
    conn.run("CREATE TABLE IF NOT EXISTS schema_versions (version BIGINT PRIMARY KEY NOT NULL)")
        .await?;
    let rows = conn
        .fetch(
            "SELECT COALESCE(MAX(version), 0) FROM schema_versions",
            vec![],
        )
        .await?;
    let found = rows.first().ok_or(StoreError::Corrupt)?.int(0)?;
    if found > LATEST {
        return Err(StoreError::Newer {
            found,
            known: LATEST,
        });
    }
    for (version, sql) in MIGRATIONS
        .into_iter()
        .filter(|(version, _)| *version > found)
    {
        conn.run(sql).await?;
        conn.execute(
            "INSERT INTO schema_versions (version) VALUES ($1)",
            vec![Arg::Int(version)],
        )
        .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_rise_by_one_up_to_the_latest() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|(version, _)| *version).collect();
        assert_eq!(versions, (1..=LATEST).collect::<Vec<_>>());
    }
}
