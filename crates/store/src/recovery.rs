//! What core must not forget of security proxies: who was running, how they ended, and why some may not run.

mod rows;

use crate::{Store, StoreError, backend::Arg, bounds::is_id, writer::Work};
use rows::{
    MAX_LABEL, check_id, crash, hold, insert_crash, insert_hold, insert_quarantine, json, label,
    quarantine, text,
};

/// Sixty-four characters of any script.
const MAX_BY: usize = 256;
const MAX_LIST: u32 = 500;

/// A session that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxySession {
    /// Unique.
    pub spawn_id: String,
    /// Of which service.
    pub service: String,
    /// In which installation.
    pub home: String,
    /// When, in milliseconds since the epoch.
    pub started_ms: i64,
}

/// The end of a session other than by finishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyCrash {
    /// Unique.
    pub id: String,
    /// Of which service.
    pub service: String,
    /// As what it counts.
    pub kind: String,
    /// When.
    pub at_ms: i64,
    /// Whether an attack is assumed.
    pub adversarial: bool,
    /// In a few words.
    pub detail: String,
    /// The last tool call.
    pub last_action: String,
    /// Requests of the session.
    pub requests: u64,
    /// Files that were changed; not necessarily all.
    pub files: Vec<String>,
    /// How many.
    pub files_count: u64,
    /// Name of the report; empty without one.
    pub report: String,
}

/// Why a service may not be spawned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyHold {
    /// Unique.
    pub id: String,
    /// Which service.
    pub service: String,
    /// The end that caused it.
    pub crash_id: String,
    /// What sort of hold.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// Since when.
    pub at_ms: i64,
    /// When it was cleared; 0 while it is on.
    pub cleared_ms: i64,
    /// By whom; empty while it is on.
    pub cleared_by: String,
}

/// A workspace that is moved aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyQuarantine {
    /// The id of its hold.
    pub id: String,
    /// Which service.
    pub service: String,
    /// In which installation.
    pub home: String,
    /// Name of the folder aside.
    pub folder: String,
    /// The step that was done last.
    pub step: i64,
    /// Only what was backed up before this moment is known good.
    pub before_ms: i64,
    /// The backup that was restored; empty before, `none` without one.
    pub backup: String,
    /// Names to be reviewed.
    pub review: Vec<String>,
}

/// How a session ended: all of it is kept, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyEnd {
    /// Which session.
    pub spawn_id: String,
    /// How, unless it finished.
    pub crash: Option<ProxyCrash>,
    /// The hold that begins.
    pub hold: Option<ProxyHold>,
    /// The quarantine that begins.
    pub quarantine: Option<ProxyQuarantine>,
}

macro_rules! holds {
    ($rest:literal) => {
        concat!(
            "SELECT id, service, crash_id, kind, reason, at_ms, cleared_ms, cleared_by FROM proxy_holds ",
            $rest
        )
    };
}

macro_rules! quarantines {
    ($rest:literal) => {
        concat!(
            "SELECT id, service, home, folder, step, before_ms, backup, review FROM proxy_quarantines ",
            $rest
        )
    };
}

impl Store {
    /// Notes that a session begins, unless a hold is on: whether it may. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when the id is taken; [`StoreError::Invalid`] names a field out of bounds.
    pub async fn begin_proxy_session(&self, session: ProxySession) -> Result<bool, StoreError> {
        const SQL: &str = "INSERT INTO proxy_sessions (spawn_id, service, home, started_ms) SELECT $1, $2, $3, $4 \
            WHERE NOT EXISTS (SELECT 1 FROM proxy_holds WHERE service = $2 AND cleared_ms = 0)";
        check_id("spawn_id", &session.spawn_id)?;
        label("service", &session.service)?;
        label("home", &session.home)?;
        let args = vec![
            text(session.spawn_id),
            text(session.service),
            text(session.home),
            Arg::Int(session.started_ms),
        ];
        let begun = self.submit(Work::Statement(SQL, args), 512).await?;
        Ok(begun > 0)
    }

    /// Sessions of an installation that have not been judged, oldest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn proxy_sessions(&self, home: &str) -> Result<Vec<ProxySession>, StoreError> {
        const SQL: &str = "SELECT spawn_id, service, home, started_ms FROM proxy_sessions WHERE home = $1 \
            ORDER BY started_ms, spawn_id LIMIT 500";
        let rows = self.read(SQL, vec![Arg::text(home)]).await?;
        rows.iter()
            .map(|row| {
                Ok(ProxySession {
                    spawn_id: row.text(0)?,
                    service: row.text(1)?,
                    home: row.text(2)?,
                    started_ms: row.int(3)?,
                })
            })
            .collect()
    }

    /// Ends a session with all that follows from it: all or nothing. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds.
    pub async fn end_proxy_session(&self, end: ProxyEnd) -> Result<(), StoreError> {
        const SESSION: &str = "DELETE FROM proxy_sessions WHERE spawn_id = $1";
        let mut weight = 512;
        let mut list = vec![(SESSION, vec![text(end.spawn_id)])];
        if let Some(crash) = end.crash {
            weight += 2048 + crash.files.len() * MAX_LABEL;
            list.push(insert_crash(crash)?);
        }
        if let Some(hold) = end.hold {
            weight += 1024;
            list.push(insert_hold(hold)?);
        }
        if let Some(quarantine) = end.quarantine {
            weight += 1024;
            list.push(insert_quarantine(quarantine)?);
        }
        self.submit(Work::Statements(list), weight).await.map(drop)
    }

    /// One end.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn proxy_crash(&self, id: &str) -> Result<Option<ProxyCrash>, StoreError> {
        const SQL: &str = "SELECT id, service, kind, at_ms, adversarial, detail, last_action, requests, files, \
            files_count, report FROM proxy_crashes WHERE id = $1";
        let rows = self.read(SQL, vec![Arg::text(id)]).await?;
        rows.first().map(crash).transpose()
    }

    /// How many ends of this kind since `since_ms` nobody settled. What seems to lie in the future counts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn count_proxy_crashes(
        &self,
        service: &str,
        kind: &str,
        since_ms: i64,
    ) -> Result<u64, StoreError> {
        const SQL: &str = "SELECT COUNT(*) FROM proxy_crashes WHERE service = $1 AND kind = $2 AND at_ms > $3 AND settled = 0";
        let args = vec![Arg::text(service), Arg::text(kind), Arg::Int(since_ms)];
        let rows = self.read(SQL, args).await?;
        rows.first().ok_or(StoreError::Corrupt)?.size(0)
    }

    /// Holds that are on, of one service or of all, oldest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn open_proxy_holds(
        &self,
        service: Option<&str>,
    ) -> Result<Vec<ProxyHold>, StoreError> {
        let rows = match service {
            Some(service) => {
                let sql =
                    holds!("WHERE cleared_ms = 0 AND service = $1 ORDER BY at_ms, id LIMIT 500");
                self.read(sql, vec![Arg::text(service)]).await?
            }
            None => {
                let sql = holds!("WHERE cleared_ms = 0 ORDER BY at_ms, id LIMIT 500");
                self.read(sql, vec![]).await?
            }
        };
        rows.iter().map(hold).collect()
    }

    /// Holds that are on and that were, newest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn proxy_holds(&self, limit: u32) -> Result<Vec<ProxyHold>, StoreError> {
        let sql = holds!("ORDER BY at_ms DESC, id LIMIT $1");
        let rows = self
            .read(sql, vec![Arg::Int(limit.min(MAX_LIST).into())])
            .await?;
        rows.iter().map(hold).collect()
    }

    /// One hold.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn proxy_hold(&self, id: &str) -> Result<Option<ProxyHold>, StoreError> {
        if !is_id(id) {
            return Ok(None);
        }
        let rows = self
            .read(holds!("WHERE id = $1"), vec![Arg::text(id)])
            .await?;
        rows.first().map(hold).transpose()
    }

    /// Ends a hold whose quarantine, if it has one, got as far as `step`. With `settle`, what led to it no longer counts
    /// towards a pattern. Whether this call ended it.
    ///
    /// # Errors
    /// When the database cannot be written; then the hold is on.
    pub async fn clear_proxy_hold(
        &self,
        id: &str,
        by: &str,
        settle: bool,
        step: i64,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        const CLEAR: &str = "UPDATE proxy_holds SET cleared_ms = $2, cleared_by = $3 WHERE id = $1 AND cleared_ms = 0 \
            AND NOT EXISTS (SELECT 1 FROM proxy_quarantines AS q WHERE q.id = $1 AND q.step < $4)";
        // Only the call that ended it finds its own marks in the row.
        const SETTLE: &str = "UPDATE proxy_crashes SET settled = 1 WHERE settled = 0 AND service = (SELECT service \
            FROM proxy_holds WHERE id = $1 AND cleared_ms = $2 AND cleared_by = $3)";
        if by.is_empty() || by.len() > MAX_BY {
            return Err(StoreError::Invalid("by"));
        }
        let args = vec![
            text(id.to_owned()),
            // A moment of 0 would mean that it is on.
            Arg::Int(now_ms.max(1)),
            text(by.to_owned()),
        ];
        let mut clear = args.clone();
        clear.push(Arg::Int(step));
        let mut list = vec![(CLEAR, clear)];
        if settle {
            list.push((SETTLE, args));
        }
        let cleared = self.submit(Work::Statements(list), 1024).await?;
        Ok(cleared > 0)
    }

    /// One quarantine.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn proxy_quarantine(&self, id: &str) -> Result<Option<ProxyQuarantine>, StoreError> {
        if !is_id(id) {
            return Ok(None);
        }
        let rows = self
            .read(quarantines!("WHERE id = $1"), vec![Arg::text(id)])
            .await?;
        rows.first().map(quarantine).transpose()
    }

    /// Quarantines of an installation that have not got as far as `step`; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn unfinished_proxy_quarantines(
        &self,
        home: &str,
        step: i64,
    ) -> Result<Vec<ProxyQuarantine>, StoreError> {
        let sql = quarantines!("WHERE home = $1 AND step < $2 ORDER BY id LIMIT 500");
        let rows = self
            .read(sql, vec![Arg::text(home), Arg::Int(step)])
            .await?;
        rows.iter().map(quarantine).collect()
    }

    /// Notes how far a quarantine has got, if it stands at `from`: whether it did. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds.
    pub async fn advance_proxy_quarantine(
        &self,
        next: &ProxyQuarantine,
        from: i64,
    ) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE proxy_quarantines SET folder = $3, step = $4, backup = $5, review = $6 \
            WHERE id = $1 AND step = $2";
        label("folder", &next.folder)?;
        label("backup", &next.backup)?;
        let args = vec![
            text(next.id.clone()),
            Arg::Int(from),
            text(next.folder.clone()),
            Arg::Int(next.step),
            text(next.backup.clone()),
            text(json("review", &next.review)?),
        ];
        let changed = self.submit(Work::Statement(SQL, args), 1024).await?;
        Ok(changed > 0)
    }
}
