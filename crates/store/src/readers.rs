//! A few connections for reading, lent one query at a time.
//!
//! A connection comes back only after a complete answer: one that failed, timed out or whose caller went away is
//! dropped, and the next reader makes its own. So a database that was restarted needs no one to notice.

use crate::{
    StoreError,
    backend::{Arg, Backend, Conn, Row},
};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::Semaphore, time::timeout};

pub(crate) struct Readers {
    backend: Backend,
    idle: Mutex<Vec<Conn>>,
    turns: Semaphore,
    wait: Duration,
}

impl Readers {
    pub(crate) fn new(backend: Backend, count: usize, wait: Duration) -> Self {
        Self {
            backend,
            idle: Mutex::default(),
            turns: Semaphore::new(count.clamp(1, 64)),
            wait,
        }
    }

    pub(crate) async fn fetch(
        &self,
        sql: &'static str,
        args: Vec<Arg<'_>>,
    ) -> Result<Vec<Row>, StoreError> {
        timeout(self.wait, self.turn(sql, args))
            .await
            .unwrap_or(Err(StoreError::Busy))
    }

    async fn turn(&self, sql: &'static str, args: Vec<Arg<'_>>) -> Result<Vec<Row>, StoreError> {
        let _turn = self.turns.acquire().await.map_err(|_| StoreError::Closed)?;
        // An idle connection may be long dead; a fresh one gets a second try.
        while let Some(mut conn) = self.take() {
            match conn.fetch(sql, args.clone()).await {
                Ok(rows) => {
                    self.put(conn);
                    return Ok(rows);
                }
                Err(StoreError::Unavailable) => {}
                Err(error) => return Err(error),
            }
        }
        let mut conn = self.backend.connect().await?;
        let rows = conn.fetch(sql, args).await?;
        self.put(conn);
        Ok(rows)
    }

    pub(crate) async fn close(&self) {
        self.turns.close();
        while let Some(conn) = self.take() {
            let _ = timeout(self.wait, conn.close()).await;
        }
    }

    fn take(&self) -> Option<Conn> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    fn put(&self, conn: Conn) {
        if !self.turns.is_closed() {
            self.idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(conn);
        }
    }
}
