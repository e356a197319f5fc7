//! Tasks and what became of them. Each is in the store before it is acknowledged, and its end before anybody sees it, so
//! that a restart forgets neither; those that it cut off are answered for as interrupted. The newest thousand are kept.

use super::Inner;
use crate::broker::wall_ms;
use blastshield_store::{MAX_TASK_ANSWER, ProxyTask, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Finished tasks that are remembered.
pub const KEPT: usize = 1000;
/// Bytes of their answers together that the store keeps.
const KEPT_BYTES: i64 = 64 << 20;
/// Says that the data of a finished task was too large to be kept through a restart.
const NOT_KEPT: &str = "data_not_kept";

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It waits for its turn.
    Queued,
    /// A worker has it.
    Running,
    /// The owner is asked.
    WaitingForOwner,
    /// It is done.
    Done,
    /// It came to nothing.
    Failed,
}

/// Why a task came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskError {
    /// For programs.
    pub code: String,
    /// For people; words of ours alone.
    pub message: String,
    /// When it makes sense to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The hold that keeps the service from going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
}

/// Somebody who wrote something, and how far the proxy may go with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonView {
    /// As the service has it.
    pub name: String,
    /// `Acquaintance`, `Friend` or `Ally`.
    pub tier: String,
    /// `ask` or `reply`.
    pub engagement: String,
}

/// A task as its caller sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskView {
    /// Its name.
    pub id: String,
    /// The service.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// Where it stands.
    pub state: TaskState,
    /// Data that passed every stage, cut down to what the definition declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// In a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What the stages remarked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Who wrote what is in the data, as far as the definition says where that stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<PersonView>,
    /// What passed lately between the proxy's identity and those it knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_context: Option<String>,
    /// The request to the owner, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Why it came to nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
    /// When it was taken, in milliseconds since the epoch.
    pub created_ms: u64,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_ms: Option<u64>,
}

impl TaskView {
    /// Whether nothing more will happen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.state, TaskState::Done | TaskState::Failed)
    }
}

impl TaskView {
    pub(super) fn taken(id: &str, service: &str, operation: &str) -> Self {
        Self {
            id: id.to_owned(),
            service: service.to_owned(),
            operation: operation.to_owned(),
            state: TaskState::Queued,
            data: None,
            summary: None,
            flags: Vec::new(),
            people: Vec::new(),
            recent_context: None,
            approval: None,
            error: None,
            created_ms: wall_ms(),
            finished_ms: None,
        }
    }

    /// As the store has it. Without an answer nobody saw it end.
    fn kept(task: &ProxyTask) -> Self {
        if let Ok(view) = serde_json::from_str(&task.answer) {
            return view;
        }
        let moment = |ms: i64| u64::try_from(ms).unwrap_or(0);
        Self {
            state: TaskState::Failed,
            error: Some(super::session::error(
                "interrupted",
                "core ended while the task was on: what was sent is in the audit log",
            )),
            created_ms: moment(task.created_ms),
            finished_ms: Some(moment(task.finished_ms)),
            ..Self::taken(&task.id, &task.service, &task.operation)
        }
    }

    /// For the store: without its data where that is too large.
    fn answer(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        if text.len() <= MAX_TASK_ANSWER {
            return text;
        }
        let mut short = self.clone();
        short.data = None;
        short.flags.push(NOT_KEPT.to_owned());
        serde_json::to_string(&short).unwrap_or_default()
    }
}

impl Inner {
    /// Notes a task that is taken: on return it is on disk.
    pub(super) async fn take(&self, view: &TaskView) -> Result<(), StoreError> {
        let task = ProxyTask {
            id: view.id.clone(),
            service: view.service.clone(),
            operation: view.operation.clone(),
            home: self.recovery.installation().to_owned(),
            created_ms: i64::try_from(view.created_ms).unwrap_or(i64::MAX),
            finished_ms: 0,
            answer: String::new(),
        };
        self.config.store.begin_proxy_task(&task).await
    }

    /// Notes the end of a task, then shows it.
    pub(super) async fn over(&self, id: &str, change: impl FnOnce(&mut TaskView)) {
        let Some(mut view) = self.tasks.get(id) else {
            return;
        };
        change(&mut view);
        let finished_ms = i64::try_from(wall_ms()).unwrap_or(i64::MAX);
        let kept = self
            .config
            .store
            .end_proxy_task(id, view.answer(), finished_ms)
            .await;
        if let Err(error) = kept {
            tracing::error!(target: "security", %error, "the end of a task could not be kept: a restart forgets it");
        }
        crate::fault::point("core:over");
        self.tasks.update(id, |shown| *shown = view);
    }

    /// A task that an earlier run of core took.
    pub(super) async fn remembered(&self, id: &str) -> Result<Option<TaskView>, StoreError> {
        let task = self.config.store.proxy_task(id).await?;
        // One that is on is in memory, or another installation's.
        Ok(task
            .filter(|task| task.finished_ms > 0)
            .map(|task| TaskView::kept(&task)))
    }

    /// Forgets the oldest.
    pub(super) async fn trim(&self) {
        let keep = i64::try_from(KEPT).unwrap_or(i64::MAX);
        let home = self.recovery.installation();
        if let Err(error) = self
            .config
            .store
            .trim_proxy_tasks(home, keep, KEPT_BYTES)
            .await
        {
            tracing::warn!(target: "security", %error, "old tasks could not be forgotten");
        }
    }
}

pub(super) struct Tasks {
    table: Mutex<Table>,
    changed: watch::Sender<u64>,
    most: usize,
}

#[derive(Default)]
struct Table {
    all: BTreeMap<String, TaskView>,
    over: VecDeque<String>,
}

impl Tasks {
    pub(super) fn new(most: usize) -> Self {
        Self {
            table: Mutex::default(),
            changed: watch::Sender::new(0),
            most,
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a task, unless too many are on.
    pub(super) fn add(&self, view: TaskView) -> bool {
        let mut table = self.table();
        if table.all.len() - table.over.len() >= self.most {
            return false;
        }
        table.all.insert(view.id.clone(), view);
        true
    }

    pub(super) fn update(&self, id: &str, change: impl FnOnce(&mut TaskView)) {
        let mut table = self.table();
        if let Some(view) = table.all.get_mut(id) {
            let before = view.is_over();
            change(view);
            if view.is_over() && !before {
                table.over.push_back(id.to_owned());
            }
        }
        while table.over.len() > KEPT {
            if let Some(oldest) = table.over.pop_front() {
                table.all.remove(&oldest);
            }
        }
        drop(table);
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Takes back a task that could not be kept.
    pub(super) fn remove(&self, id: &str) {
        self.table().all.remove(id);
    }

    /// Returns when no task is on.
    pub(super) async fn idle(&self) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            {
                let table = self.table();
                if table.all.len() == table.over.len() {
                    return;
                }
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<TaskView> {
        self.table().all.get(id).cloned()
    }

    /// Tasks of a service that are not over.
    pub(super) fn on(&self, service: &str) -> usize {
        let table = self.table();
        let of = |view: &&TaskView| view.service == service && !view.is_over();
        table.all.values().filter(of).count()
    }

    /// The task once it is over.
    pub(super) async fn over(&self, id: &str) -> Option<TaskView> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            let view = self.get(id)?;
            if view.is_over() {
                return Some(view);
            }
            changed.changed().await.ok()?;
        }
    }
}
