//! Tasks that were taken for security proxies. What was acknowledged is answered for, also after a restart.

use crate::{
    Store, StoreError,
    backend::{Arg, Row},
    bounds::is_id,
    owner::text,
    writer::Work,
};

const MAX_LABEL: usize = 128;
/// Bytes of an answer.
pub const MAX_TASK_ANSWER: usize = 2 << 20;

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyTask {
    /// Unique.
    pub id: String,
    /// For which service.
    pub service: String,
    /// What is asked of it.
    pub operation: String,
    /// In which installation.
    pub home: String,
    /// When it was taken, in milliseconds since the epoch.
    pub created_ms: i64,
    /// When it ended; 0 while it is on.
    pub finished_ms: i64,
    /// What came of it, as JSON; empty while it is on, and when nobody saw it end.
    pub answer: String,
}

impl Store {
    /// Keeps a task that is taken. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Duplicate`] when the id is taken; [`StoreError::Invalid`] names a field out of bounds.
    pub async fn begin_proxy_task(&self, task: &ProxyTask) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO proxy_tasks (id, service, operation, home, created_ms, finished_ms, size, answer) \
            VALUES ($1, $2, $3, $4, $5, 0, 0, '')";
        if !is_id(&task.id) {
            return Err(StoreError::Invalid("id"));
        }
        for (field, value) in [
            ("service", &task.service),
            ("operation", &task.operation),
            ("home", &task.home),
        ] {
            if value.len() > MAX_LABEL {
                return Err(StoreError::Invalid(field));
            }
        }
        let args = vec![
            text(task.id.clone()),
            text(task.service.clone()),
            text(task.operation.clone()),
            text(task.home.clone()),
            Arg::Int(task.created_ms),
        ];
        self.submit(Work::Statement(SQL, args), 512).await.map(drop)
    }

    /// Keeps what came of it. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] when the answer is longer than [`MAX_TASK_ANSWER`].
    pub async fn end_proxy_task(
        &self,
        id: &str,
        answer: String,
        finished_ms: i64,
    ) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE proxy_tasks SET finished_ms = $2, size = $3, answer = $4 WHERE id = $1 AND finished_ms = 0";
        if answer.len() > MAX_TASK_ANSWER {
            return Err(StoreError::Invalid("answer"));
        }
        let weight = 512 + answer.len();
        let size = i64::try_from(answer.len()).unwrap_or(i64::MAX);
        let args = vec![
            text(id.to_owned()),
            Arg::Int(finished_ms.max(1)),
            Arg::Int(size),
            text(answer),
        ];
        self.submit(Work::Statement(SQL, args), weight)
            .await
            .map(drop)
    }

    /// One task.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn proxy_task(&self, id: &str) -> Result<Option<ProxyTask>, StoreError> {
        const SQL: &str = "SELECT id, service, operation, home, created_ms, finished_ms, answer FROM proxy_tasks WHERE id = $1";
        if !is_id(id) {
            return Ok(None);
        }
        let rows = self.read(SQL, vec![Arg::text(id)]).await?;
        rows.first().map(task).transpose()
    }

    /// Tasks of an installation that were on when it ended are over: nobody saw how. How many.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn interrupt_proxy_tasks(&self, home: &str, now_ms: i64) -> Result<u64, StoreError> {
        const SQL: &str =
            "UPDATE proxy_tasks SET finished_ms = $2 WHERE home = $1 AND finished_ms = 0";
        let args = vec![text(home.to_owned()), Arg::Int(now_ms.max(1))];
        self.submit(Work::Statement(SQL, args), 512).await
    }

    /// Forgets finished tasks of an installation but the newest, so many and of so many bytes together. How many went.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn trim_proxy_tasks(
        &self,
        home: &str,
        keep: i64,
        bytes: i64,
    ) -> Result<u64, StoreError> {
        const SQL: &str = "DELETE FROM proxy_tasks WHERE id IN (SELECT id FROM (SELECT id, \
            ROW_NUMBER() OVER (ORDER BY finished_ms DESC, id) AS place, \
            CAST(SUM(size) OVER (ORDER BY finished_ms DESC, id) AS BIGINT) AS total \
            FROM proxy_tasks WHERE home = $1 AND finished_ms > 0) AS t WHERE place > $2 OR total > $3)";
        let args = vec![text(home.to_owned()), Arg::Int(keep), Arg::Int(bytes)];
        self.submit(Work::Statement(SQL, args), 512).await
    }
}

fn task(row: &Row) -> Result<ProxyTask, StoreError> {
    Ok(ProxyTask {
        id: row.text(0)?,
        service: row.text(1)?,
        operation: row.text(2)?,
        home: row.text(3)?,
        created_ms: row.int(4)?,
        finished_ms: row.int(5)?,
        answer: row.text(6)?,
    })
}
