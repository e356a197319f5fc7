//! Which commits wait for the disk.
//!
//! SQLite's log is one file, so that a commit that waits brings everything before it to the disk as well.

use crate::{StoreError, backend::Conn, writer::Work};
use std::time::Duration;
use tokio::time::Instant;

/// How long a record may be with the operating system alone.
const LAG: Duration = Duration::from_millis(500);

/// What the next commit waits for, and what the ones before left to do.
pub(crate) struct Syncing {
    every_record: bool,
    /// Commits of the connection do not wait.
    lazy: bool,
    /// Since when there is something that may not be on the disk.
    since: Option<Instant>,
    /// The disk failed, and did not take anything since.
    failing: bool,
}

impl Syncing {
    pub(crate) fn new(every_record: bool) -> Self {
        Self {
            every_record,
            lazy: false,
            since: None,
            failing: false,
        }
    }

    /// When everything must be on the disk, if it is not yet.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + LAG)
    }

    /// Sets the connection up for a commit of this work. PostgreSQL's commits always wait.
    pub(crate) async fn prepare(
        &mut self,
        conn: &mut Conn,
        work: &[&Work],
    ) -> Result<(), StoreError> {
        let lazy = matches!(conn, Conn::Sqlite(_)) && self.may_wait(work, Instant::now());
        if lazy != self.lazy {
            conn.run(if lazy {
                "PRAGMA synchronous = NORMAL"
            } else {
                "PRAGMA synchronous = FULL"
            })
            .await?;
            self.lazy = lazy;
        }
        Ok(())
    }

    /// Whether it is enough that the operating system has this work for now: the record of what was searched and of
    /// pages that were let through. Blocked pages, decisions and money are not among it.
    fn may_wait(&self, work: &[&Work], now: Instant) -> bool {
        let record = |work: &&Work| matches!(work, Work::Search(_) | Work::Fetch(_));
        let trusted = !self.every_record && !self.failing;
        trusted && self.due().is_none_or(|due| now < due) && work.iter().all(record)
    }

    /// A new connection, whose commits wait.
    pub(crate) fn renewed(&mut self) {
        self.lazy = false;
    }

    /// A commit returned. One that waited for the disk in vain makes all later ones wait, until one succeeds.
    pub(crate) fn ended(&mut self, well: bool) {
        let now = Instant::now();
        if self.lazy {
            self.since = self.since.or(Some(now));
        } else {
            self.failing = !well;
            // Later again, and not at once.
            self.since = self.since.filter(|_| !well).map(|_| now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FetchDecision, FetchEvent, FetchKind, StoreOptions,
        backend::{Backend, Role},
    };

    fn fetch() -> Work {
        Work::Fetch(Box::new(FetchEvent {
            fetch_id: "f".to_owned(),
            at_ms: 0,
            kind: FetchKind::WebFetch,
            result_id: None,
            host: "a.example".to_owned(),
            url_sha256: String::new(),
            final_host: None,
            decision: FetchDecision::Allow,
            score: 0.0,
            flags: Vec::new(),
            reason: None,
            bypassed: false,
            duration_ms: 0,
            bytes: 0,
            content_sha256: None,
            content_len: 0,
            backend: "http".to_owned(),
            error_code: None,
        }))
    }

    #[test]
    fn only_records_wait_and_not_beside_other_work() {
        let (fetch, now) = (fetch(), Instant::now());
        let syncing = Syncing::new(false);
        assert!(syncing.may_wait(&[&fetch, &fetch], now));
        assert!(!syncing.may_wait(&[&Work::Probe], now));
        assert!(!syncing.may_wait(&[&fetch, &Work::Statement("", vec![])], now));
        assert!(!Syncing::new(true).may_wait(&[&fetch], now));
    }

    #[tokio::test]
    async fn a_record_waits_no_longer_than_the_lag_however_many_follow() {
        let fetch = fetch();
        let mut syncing = Syncing::new(false);
        syncing.lazy = true;
        syncing.ended(true);
        let first = syncing.due().unwrap();
        syncing.ended(true);
        assert_eq!(syncing.due(), Some(first));
        assert!(syncing.may_wait(&[&fetch], first - LAG / 2));
        assert!(!syncing.may_wait(&[&fetch], first));
        syncing.lazy = false;
        syncing.ended(false);
        assert!(
            syncing.due().unwrap() > first,
            "a disk that fails is not asked without a pause"
        );
        let later = syncing.due().unwrap() - LAG / 2;
        assert!(
            !syncing.may_wait(&[&fetch], later),
            "nothing is left to a disk that fails"
        );
        syncing.ended(true);
        assert_eq!(syncing.due(), None);
        assert!(syncing.may_wait(&[&fetch], later));
    }

    #[tokio::test]
    async fn the_connection_does_what_was_decided() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        std::fs::write(&path, "").unwrap();
        let founder = Backend::new(&StoreOptions::sqlite(&path), Role::Founder).unwrap();
        let mut conn = founder.connect().await.unwrap();
        let mut syncing = Syncing::new(false);
        let fetch = fetch();
        for (work, level) in [
            (&Work::Probe, 2),
            (&fetch, 1),
            (&fetch, 1),
            (&Work::Probe, 2),
        ] {
            syncing.prepare(&mut conn, &[work]).await.unwrap();
            let rows = conn.fetch("PRAGMA synchronous", vec![]).await.unwrap();
            assert_eq!(rows.first().unwrap().int(0).unwrap(), level);
        }
    }
}
