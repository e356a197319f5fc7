//! Tasks and what became of them. Results are kept in memory, the newest thousand; a restart forgets them, while what
//! they did is in the audit log, the workspace and the store.

use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Finished tasks that are remembered.
pub const KEPT: usize = 1000;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PersonView {
    /// As the service has it.
    pub name: String,
    /// `Acquaintance`, `Friend` or `Ally`.
    pub tier: &'static str,
    /// `ask` or `reply`.
    pub engagement: &'static str,
}

/// A task as its caller sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Who wrote what is in the data, as far as the definition says where that stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
