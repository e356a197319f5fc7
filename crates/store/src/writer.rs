//! Group commit: one task owns the write connection; whoever waits when it turns around shares the next commit.
//!
//! No timer delays a lone writer, and no writer is told "done" before its commit returned. What [`Syncing`] says must be
//! on the disk is there by then; the rest is with the operating system, which a killed program does not take with it.
//!
//! A batch fails as one, unless the fault lies in one record: then each gets a transaction of its own. What failed before
//! the commit was sent is tried once more on a fresh connection; a commit whose answer was lost is reported as failed,
//! never repeated. A batch of one statement, as most are, needs no BEGIN and COMMIT in SQLite: it is a transaction by
//! itself.

use crate::{
    StoreError,
    backend::{Arg, Backend, Conn},
    insert::Rows,
    options::StoreOptions,
    prune::Slice,
    records::{FetchEvent, FlaggedPayload, SearchRecord},
    syncing::Syncing,
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{timeout, timeout_at},
};

/// Bytes of records that share one commit at most; a larger record goes alone.
const BATCH_BYTES: usize = 8 << 20;

pub(crate) enum Work {
    Search(Box<SearchRecord>),
    Fetch(Box<FetchEvent>),
    Flag(Box<FlaggedPayload>),
    Blocked(Box<(FetchEvent, FlaggedPayload)>),
    Prune(Slice),
    /// A statement by itself; answers with the number of rows that it changed.
    Statement(&'static str, Vec<Arg<'static>>),
    /// Statements of which all or none take effect; answers for the first.
    Statements(Vec<(&'static str, Vec<Arg<'static>>)>),
    Probe,
}

pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) weight: usize,
    /// The number of rows changed, for [`Work::Prune`] and statements.
    pub(crate) done: oneshot::Sender<Result<u64, StoreError>>,
    /// Room in the queue, given back when the job is done.
    pub(crate) room: OwnedSemaphorePermit,
}

/// The outcome of the latest batch, for health checks.
pub(crate) type Health = Arc<Mutex<Option<StoreError>>>;

pub(crate) struct Writer {
    backend: Backend,
    conn: Option<Conn>,
    jobs: mpsc::Receiver<Job>,
    batch_len: usize,
    wait: Duration,
    health: Health,
    syncing: Syncing,
}

impl Writer {
    pub(crate) fn new(
        backend: Backend,
        conn: Conn,
        jobs: mpsc::Receiver<Job>,
        options: &StoreOptions,
        health: Health,
    ) -> Self {
        let batch_len = options.batch_len.clamp(1, 4096);
        Self {
            backend,
            conn: Some(conn),
            jobs,
            batch_len,
            wait: options.write_timeout,
            health,
            syncing: Syncing::new(options.sync_every_record),
        }
    }

    /// Works until every sender is gone and the queue is empty.
    pub(crate) async fn run(mut self) {
        let mut next = None;
        loop {
            let first = match next.take() {
                Some(job) => Some(job),
                None => self.next().await,
            };
            let Some(first) = first else { break };
            let mut weight = first.weight;
            let mut batch = vec![first];
            while batch.len() < self.batch_len {
                let Ok(job) = self.jobs.try_recv() else { break };
                weight += job.weight;
                if weight > BATCH_BYTES {
                    next = Some(job);
                    break;
                }
                batch.push(job);
            }
            // Whoever no longer waits was told that it failed; make that true.
            batch.retain(|job| !job.done.is_closed());
            if !batch.is_empty() {
                self.commit(batch).await;
            }
        }
        // Another program may have the file open; then closing brings nothing to the disk.
        if self.syncing.due().is_some() {
            drop(self.write(&[&Work::Probe]).await);
        }
        if let Some(conn) = self.conn.take() {
            let _ = timeout(self.wait, conn.close()).await;
        }
    }

    /// The next job; while there is none, what is not on the disk yet gets there.
    async fn next(&mut self) -> Option<Job> {
        while let Some(due) = self.syncing.due() {
            match timeout_at(due, self.jobs.recv()).await {
                Ok(job) => return job,
                // A failure is on record as the store's health; the next write tries again.
                Err(_) => drop(self.write(&[&Work::Probe]).await),
            }
        }
        self.jobs.recv().await
    }

    async fn commit(&mut self, batch: Vec<Job>) {
        let work: Vec<&Work> = batch.iter().map(|job| &job.work).collect();
        match self.write(&work).await {
            Err(error) if error.is_about_one_record() && batch.len() > 1 => {
                for job in batch {
                    let outcome = self.write(&[&job.work]).await;
                    answer(
                        job,
                        outcome.map(|deleted| deleted.first().copied().unwrap_or(0)),
                    );
                }
            }
            Err(error) => batch.into_iter().for_each(|job| answer(job, Err(error))),
            Ok(deleted) => {
                for (job, deleted) in batch.into_iter().zip(deleted) {
                    answer(job, Ok(deleted));
                }
            }
        }
    }

    /// One transaction; rows deleted by each piece of work.
    async fn write(&mut self, work: &[&Work]) -> Result<Vec<u64>, StoreError> {
        let outcome = timeout(self.wait, self.attempts(work)).await;
        let outcome = outcome.unwrap_or_else(|_| {
            // The connection may be in the midst of anything.
            self.conn = None;
            Err(StoreError::Busy)
        });
        self.syncing.ended(outcome.is_ok());
        let fault = outcome
            .as_ref()
            .err()
            .filter(|error| !error.is_about_one_record());
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(error), None) = (fault, *health) {
            tracing::warn!(%error, "the store does not take writes");
        } else if health.is_some() && fault.is_none() {
            tracing::info!("the store takes writes again");
        }
        *health = fault.copied();
        drop(health);
        outcome
    }

    async fn attempts(&mut self, work: &[&Work]) -> Result<Vec<u64>, StoreError> {
        if let Some(mut conn) = self.conn.take()
            && self.syncing.prepare(&mut conn, work).await.is_ok()
        {
            if let (Conn::Sqlite(_), Some(rows)) = (&conn, only_rows(work)) {
                return self.insert(conn, rows, work.len()).await;
            }
            match prepare(&mut conn, work).await {
                Ok(deleted) => return self.finish(conn, deleted).await,
                // An idle connection to a restarted database fails here, with nothing committed.
                Err(StoreError::Unavailable) => {}
                Err(error) => return self.undo(conn, error).await,
            }
        }
        let mut conn = self.backend.connect().await?;
        self.syncing.renewed();
        match prepare(&mut conn, work).await {
            Ok(deleted) => self.finish(conn, deleted).await,
            Err(error) => self.undo(conn, error).await,
        }
    }

    /// Writes and commits in one step. It may have failed in its commit, so that it is not tried again.
    async fn insert(
        &mut self,
        mut conn: Conn,
        rows: Rows<'_>,
        count: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let outcome = rows.insert(&mut conn).await;
        if outcome != Err(StoreError::Unavailable) {
            self.conn = Some(conn);
        }
        outcome.map(|()| vec![0; count])
    }

    async fn finish(&mut self, mut conn: Conn, deleted: Vec<u64>) -> Result<Vec<u64>, StoreError> {
        match conn.commit().await {
            Ok(()) => {
                self.conn = Some(conn);
                Ok(deleted)
            }
            Err(error) => self.undo(conn, error).await,
        }
    }

    async fn undo<T>(&mut self, mut conn: Conn, error: StoreError) -> Result<T, StoreError> {
        // SQLite may have rolled back by itself; then this fails, and a new connection starts clean.
        if conn.rollback().await.is_ok() {
            self.conn = Some(conn);
        }
        Err(error)
    }
}

/// The rows of work that is nothing but rows, if one statement writes them all.
fn only_rows<'a>(work: &[&'a Work]) -> Option<Rows<'a>> {
    let mut rows = Rows::default();
    work.iter()
        .all(|work| rows.gather(work))
        .then_some(rows)
        .filter(Rows::fit_one_statement)
}

/// Everything of a transaction but its commit.
async fn prepare(conn: &mut Conn, work: &[&Work]) -> Result<Vec<u64>, StoreError> {
    conn.begin().await?;
    let mut rows = Rows::default();
    let mut deleted = Vec::with_capacity(work.len());
    for work in work {
        let mut count = 0;
        match work {
            Work::Statement(sql, args) => count = conn.execute(sql, args.clone()).await?,
            Work::Statements(list) => {
                for (place, (sql, args)) in list.iter().enumerate() {
                    let changed = conn.execute(sql, args.clone()).await?;
                    if place == 0 {
                        count = changed;
                    }
                }
            }
            Work::Prune(slice) => count = slice.delete(conn).await?,
            Work::Probe => probe(conn).await?,
            Work::Search(_) | Work::Fetch(_) | Work::Flag(_) | Work::Blocked(_) => {
                rows.gather(work);
            }
        }
        deleted.push(count);
    }
    rows.insert(conn).await?;
    Ok(deleted)
}

async fn probe(conn: &mut Conn) -> Result<(), StoreError> {
    const SQL: &str = "INSERT INTO store_probe (id, count) VALUES ($1, 1) \
        ON CONFLICT (id) DO UPDATE SET count = store_probe.count + 1";
    conn.execute(SQL, vec![Arg::Int(1)]).await.map(drop)
}

fn answer(job: Job, outcome: Result<u64, StoreError>) {
    drop(job.room);
    // Nobody waits any more: the outcome stands all the same.
    let _ = job.done.send(outcome);
}
