//! The store as the gateway sees it.

use crate::{
    CachedResult, Cursor, FetchEvent, FlaggedPayload, FlaggedSummary, Pruned, SearchRecord,
    StoreError, StoreOptions,
    backend::{Arg, Backend, Conn, Role, Row},
    bounds::{Bounded, is_id},
    files,
    options::Place,
    prune::{MAX_SLICES, SLICE, Slice},
    readers::Readers,
    rows::{cached_result, fetch_event, flagged_payload, flagged_summary},
    schema,
    writer::{Health, Job, Work, Writer},
};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

const MAX_LIST: u32 = 500;
const DAY_MS: i64 = 86_400_000;
/// How long another program that opens the same new file is given.
const TURN: Duration = Duration::from_millis(20);

/// A handle on the database; clones share it. Close it with [`Store::close`].
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    readers: Readers,
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    room: Arc<Semaphore>,
    room_bytes: usize,
    write_timeout: Duration,
    payload_bytes: usize,
    health: Health,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the database, creates it when missing and brings its schema up to date. Needs a Tokio runtime.
    ///
    /// # Errors
    /// [`StoreError::Newer`] when a newer program wrote it, [`StoreError::Config`] when the settings cannot work,
    /// [`StoreError::Corrupt`] when the file is no database, and whatever keeps it from being written.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let founder = Backend::new(&options, Role::Founder)?;
        if let Place::Sqlite(path) = &options.place {
            let path = path.clone();
            let prepared = tokio::task::spawn_blocking(move || files::prepare(&path)).await;
            prepared.map_err(|_| StoreError::Internal)??;
        }
        let patience = Instant::now() + options.busy_timeout;
        let first = async {
            loop {
                match found(&founder).await {
                    // SQLite does not wait for its turn to switch the journal when several open a new file at once.
                    Err(StoreError::Busy) if Instant::now() < patience => sleep(TURN).await,
                    outcome => return outcome,
                }
            }
        };
        let conn = timeout(options.write_timeout * 4, first)
            .await
            .unwrap_or(Err(StoreError::Unavailable))?;
        let (sender, jobs) = mpsc::channel(options.queue_len.clamp(1, 1 << 16));
        let health = Health::default();
        let writer = Writer::new(
            Backend::new(&options, Role::Writer)?,
            conn,
            jobs,
            &options,
            Arc::clone(&health),
        );
        let reader = Backend::new(&options, Role::Reader)?;
        let room_bytes = options.queue_bytes.clamp(1, 1 << 30);
        Ok(Self {
            inner: Arc::new(Inner {
                readers: Readers::new(reader, options.readers, options.read_timeout),
                jobs: Mutex::new(Some(sender)),
                room: Arc::new(Semaphore::new(room_bytes)),
                room_bytes,
                write_timeout: options.write_timeout,
                payload_bytes: options.payload_bytes,
                health,
                writer: Mutex::new(Some(tokio::spawn(writer.run()))),
            }),
        })
    }

    /// Whether the database answers and, if the latest write failed, whether it takes writes again.
    ///
    /// # Errors
    /// What a read or a write would meet now.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.inner
            .readers
            .fetch("SELECT MAX(version) FROM schema_versions", vec![])
            .await?;
        let failed = self
            .inner
            .health
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some();
        if failed {
            self.submit(Work::Probe, 64).await.map(drop)
        } else {
            Ok(())
        }
    }

    /// Takes no more work, finishes what was taken, and closes the database. Every later call is
    /// [`StoreError::Closed`].
    pub async fn close(&self) {
        let jobs = self
            .inner
            .jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // Readers first: the last connection to SQLite folds the log into the file, and they may not write.
        self.inner.readers.close().await;
        drop(jobs);
        let writer = self
            .inner
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(writer) = writer {
            let _ = writer.await;
        }
    }

    /// Keeps a search and its results: all of them or none. `Ok` means kept, whatever becomes of the program: the ids may
    /// go out.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds; [`StoreError::Busy`] when too much waits already.
    pub async fn save_search(&self, search: SearchRecord) -> Result<(), StoreError> {
        let weight = search.check()?;
        self.submit(Work::Search(Box::new(search)), weight)
            .await
            .map(drop)
    }

    /// What a `result_id` stands for; nothing when it is unknown or expired at `now_ms`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn find_result(
        &self,
        result_id: &str,
        now_ms: i64,
    ) -> Result<Option<CachedResult>, StoreError> {
        const SQL: &str = "SELECT result_id, url, title, snippet, source, rank, published, standing, risk_hint, \
            expires_at_ms FROM search_results_cache WHERE result_id = $1 AND expires_at_ms > $2";
        if !is_id(result_id) {
            return Ok(None);
        }
        let rows = self
            .inner
            .readers
            .fetch(SQL, vec![Arg::text(result_id), Arg::Int(now_ms)])
            .await?;
        rows.first().map(cached_result).transpose()
    }

    /// Keeps a fetch. `Ok` means kept, whatever becomes of the program.
    ///
    /// # Errors
    /// As [`Store::save_search`].
    pub async fn record_fetch(&self, event: FetchEvent) -> Result<(), StoreError> {
        let weight = event.check()?;
        self.submit(Work::Fetch(Box::new(event)), weight)
            .await
            .map(drop)
    }

    /// Keeps a payload for the owner, cut to the configured length. `Ok` means on disk.
    ///
    /// # Errors
    /// As [`Store::save_search`].
    pub async fn flag_payload(&self, mut payload: FlaggedPayload) -> Result<(), StoreError> {
        payload.cut(self.inner.payload_bytes);
        let weight = payload.check()?;
        self.submit(Work::Flag(Box::new(payload)), weight)
            .await
            .map(drop)
    }

    /// Keeps a blocked fetch and its payload: both or neither. `Ok` means on disk.
    ///
    /// # Errors
    /// As [`Store::save_search`]; [`StoreError::Invalid`] as well when the two differ in `fetch_id`.
    pub async fn record_blocked(
        &self,
        event: FetchEvent,
        mut payload: FlaggedPayload,
    ) -> Result<(), StoreError> {
        payload.cut(self.inner.payload_bytes);
        let weight = event.check()? + payload.check()?;
        if event.fetch_id != payload.fetch_id {
            return Err(StoreError::Invalid("fetch_id"));
        }
        self.submit(Work::Blocked(Box::new((event, payload))), weight)
            .await
            .map(drop)
    }

    /// The latest fetches, newest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn recent_fetches(&self, limit: u32) -> Result<Vec<FetchEvent>, StoreError> {
        const SQL: &str = "SELECT fetch_id, at_ms, kind, result_id, host, url_sha256, final_host, decision, score, \
            flags, reason, bypassed, duration_ms, bytes, content_sha256, content_len, backend, error_code \
            FROM fetch_events ORDER BY at_ms DESC, fetch_id DESC LIMIT $1";
        let rows = self.inner.readers.fetch(SQL, vec![clamp(limit)]).await?;
        rows.iter().map(fetch_event).collect()
    }

    /// Flagged payloads without their content, newest first, from after `before` on; 500 at most. Owner only.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn list_flagged(
        &self,
        limit: u32,
        before: Option<&Cursor>,
    ) -> Result<Vec<FlaggedSummary>, StoreError> {
        const FIRST: &str = "SELECT fetch_id, at_ms, sha256, len, score, flags, expires_at_ms FROM flagged_payloads \
            ORDER BY at_ms DESC, fetch_id DESC LIMIT $1";
        const LATER: &str = "SELECT fetch_id, at_ms, sha256, len, score, flags, expires_at_ms FROM flagged_payloads \
            WHERE (at_ms, fetch_id) < ($2, $3) ORDER BY at_ms DESC, fetch_id DESC LIMIT $1";
        let rows = match before {
            None => self.inner.readers.fetch(FIRST, vec![clamp(limit)]).await?,
            Some(place) => {
                let args = vec![
                    clamp(limit),
                    Arg::Int(place.at_ms),
                    Arg::text(&place.fetch_id),
                ];
                self.inner.readers.fetch(LATER, args).await?
            }
        };
        rows.iter().map(flagged_summary).collect()
    }

    /// One flagged payload with its content. Owner only.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn get_flagged(&self, fetch_id: &str) -> Result<Option<FlaggedPayload>, StoreError> {
        const SQL: &str = "SELECT fetch_id, at_ms, sha256, len, score, flags, expires_at_ms, content \
            FROM flagged_payloads WHERE fetch_id = $1";
        if !is_id(fetch_id) {
            return Ok(None);
        }
        let rows = self
            .inner
            .readers
            .fetch(SQL, vec![Arg::text(fetch_id)])
            .await?;
        rows.first().map(flagged_payload).transpose()
    }

    /// Deletes what expired by `now_ms` and what is older than `retention_days`, slice by slice among other writes.
    ///
    /// # Errors
    /// When the database cannot be written; slices deleted until then stay deleted.
    pub async fn prune(&self, now_ms: i64, retention_days: u32) -> Result<Pruned, StoreError> {
        let until_ms = now_ms.saturating_sub(i64::from(retention_days).saturating_mul(DAY_MS));
        let mut more = false;
        let results = self.slices(Slice::Results { now_ms }, &mut more).await?;
        let searches = self.slices(Slice::Searches { until_ms }, &mut more).await?;
        let fetches = self.slices(Slice::Fetches { until_ms }, &mut more).await?;
        let payloads = self
            .slices(Slice::OldPayloads { until_ms }, &mut more)
            .await?
            + self
                .slices(Slice::ExpiredPayloads { now_ms }, &mut more)
                .await?;
        for slice in [
            Slice::Holds { now_ms },
            Slice::Approvals { until_ms },
            Slice::Grants { until_ms },
            Slice::Notices,
            Slice::Alerts { until_ms },
            // A calendar day may last longer than a day of retention.
            Slice::Payments {
                until_ms: until_ms.saturating_sub(2 * DAY_MS),
            },
            Slice::ProxyHolds { until_ms },
            Slice::ProxyQuarantines,
            Slice::ProxyCrashes { until_ms },
            Slice::ProxyTasks { until_ms },
        ] {
            self.slices(slice, &mut more).await?;
        }
        if results + searches + fetches + payloads > 0 {
            self.submit(Work::Prune(Slice::Shrink), 64).await?;
        }
        Ok(Pruned {
            searches,
            results,
            fetches,
            payloads,
            more,
        })
    }

    async fn slices(&self, slice: Slice, more: &mut bool) -> Result<u64, StoreError> {
        let mut total = 0;
        for _ in 0..MAX_SLICES {
            let deleted = self.submit(Work::Prune(slice), 64).await?;
            total += deleted;
            if deleted < SLICE.unsigned_abs() {
                return Ok(total);
            }
        }
        *more = true;
        Ok(total)
    }

    pub(crate) async fn read(
        &self,
        sql: &'static str,
        args: Vec<Arg<'_>>,
    ) -> Result<Vec<Row>, StoreError> {
        self.inner.readers.fetch(sql, args).await
    }

    pub(crate) async fn submit(&self, work: Work, weight: usize) -> Result<u64, StoreError> {
        let inner = &self.inner;
        // A record larger than the whole queue would never fit: let it fill the queue alone.
        let weight = weight.clamp(1, inner.room_bytes);
        let permits = u32::try_from(weight).unwrap_or(u32::MAX);
        let room = Arc::clone(&inner.room)
            .try_acquire_many_owned(permits)
            .map_err(|_| StoreError::Busy)?;
        let (done, outcome) = oneshot::channel();
        {
            let jobs = inner.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let sender = jobs.as_ref().ok_or(StoreError::Closed)?;
            sender
                .try_send(Job {
                    work,
                    weight,
                    done,
                    room,
                })
                .map_err(|error| match error {
                    mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                    mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
                })?;
        }
        match timeout(inner.write_timeout, outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(StoreError::Closed),
            Err(_) => Err(StoreError::Busy),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}

/// The first connection, on a database of this program's schema.
async fn found(founder: &Backend) -> Result<Conn, StoreError> {
    let mut conn = founder.connect().await?;
    schema::migrate(&mut conn).await?;
    Ok(conn)
}

fn clamp<'a>(limit: u32) -> Arg<'a> {
    Arg::Int(limit.min(MAX_LIST).into())
}
