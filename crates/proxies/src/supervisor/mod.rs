//! Core's side: takes tasks, runs each in a worker of its own, judges how the worker ended, and returns only what passed
//! every check twice.
//!
//! Sessions of one service come one after the other, because they share a workspace and what changed in it must be
//! attributable; services run beside each other. A task that needs the owner's yes has two sessions, one that drafts and
//! one that sends, and nothing runs while the owner thinks.

mod accept;
mod config;
mod cuts;
mod error;
mod hands;
mod people;
mod run;
mod service;
mod session;
mod talk;
mod tasks;
mod upkeep;
mod view;

pub use config::{Config, CredentialSource, ScannerSource};
pub use error::{OpenError, SubmitError};
pub use people::PeopleError;
pub use service::{Definitions, definitions};
pub use tasks::{KEPT, PersonView, TaskError, TaskState, TaskView};
pub use view::{OperationView, ServiceView};

use crate::aside::aside;
use crate::broker::wall_ms;
use crate::capability::random_hex;
use crate::definition::Input;
use crate::protocol::Phase;
use crate::state::OneCore;
use crate::worker::JOB;
use blastshield_audit::Event;
use blastshield_leak::Scanner;
use blastshield_owner::Ask;
use blastshield_recovery::{Recovery, RecoveryError, RestoreError, Restored};
use blastshield_sandbox::Template;
use blastshield_store::StoreError;
use serde_json::{Map, Value};
use service::Service;
use session::{Brought, error};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tasks::Tasks;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use view::operation_view;

/// A handle on the proxies; clones share them.
#[derive(Clone)]
pub struct Supervisor(Arc<Inner>);

pub(crate) struct Inner {
    config: Config,
    services: BTreeMap<String, Service>,
    recovery: Recovery,
    tasks: Tasks,
    closing: watch::Sender<bool>,
    upkeep: std::sync::Mutex<Option<JoinHandle<()>>>,
    opened_ms: u64,
    _alone: OneCore,
}

/// What one session is for.
pub(crate) struct Plan<'a> {
    task: &'a str,
    draft: &'a str,
    operation: &'a str,
    input: &'a Input,
    phase: Phase,
    with: Option<&'a str>,
    approval: Option<(&'a str, &'a Ask)>,
}

/// A task that was taken.
struct Taken {
    id: String,
    service: String,
    operation: String,
    input: Input,
    with: Option<String>,
}

impl Supervisor {
    /// Opens the services and finishes what a crash of core interrupted.
    ///
    /// # Errors
    /// When something is not as it should be; then nothing is run.
    pub async fn open(mut config: Config, recovery: Recovery) -> Result<Self, OpenError> {
        #[cfg(debug_assertions)]
        crate::fault::arm(crate::fault::from_environment());
        let alone = OneCore::take(&config.data)
            .map_err(|error| OpenError::State(error.kind()))?
            .ok_or(OpenError::Busy)?;
        recovery.resume().await?;
        let now_ms = i64::try_from(wall_ms()).unwrap_or(i64::MAX);
        config
            .store
            .interrupt_proxy_tasks(recovery.installation(), now_ms)
            .await
            .map_err(|error| OpenError::Recovery(error.into()))?;
        let mut services = BTreeMap::new();
        let how = serde_json::to_string(&config.how()).unwrap_or_default();
        let template = Arc::new(Template::new(&config.launcher, JOB, &how));
        for (name, (definition, _)) in std::mem::take(&mut config.definitions) {
            services.insert(name, Service::new(definition, &config, &template)?);
        }
        let inner = Inner {
            tasks: Tasks::new(config.max_tasks),
            services,
            recovery,
            closing: watch::Sender::new(false),
            upkeep: std::sync::Mutex::default(),
            opened_ms: wall_ms(),
            _alone: alone,
            config,
        };
        inner.give_up_orphans();
        Ok(Self(Arc::new(inner)))
    }

    /// Starts what has to be done again and again. For the one process that serves.
    pub fn start(&self) {
        // The first task is not to wait for what takes long to build; where nothing can run nothing is built.
        if let Some(service) = self.0.services.values().find(|one| one.is_usable()) {
            service.recipe.prepare();
        }
        let task = tokio::spawn(Arc::clone(&self.0).keep());
        let mut upkeep = self
            .0
            .upkeep
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *upkeep = Some(task);
    }

    /// Takes a task: a service, an operation, parameters, and perhaps with whom. It runs from here on, and is on disk.
    ///
    /// # Errors
    /// When it is refused; nothing was started.
    pub async fn submit(
        &self,
        service: &str,
        operation: &str,
        params: &Map<String, Value>,
        with: Option<&str>,
    ) -> Result<TaskView, SubmitError> {
        let inner = &self.0;
        if *inner.closing.borrow() {
            return Err(SubmitError::Closing);
        }
        let known = inner.services.get(service).ok_or(SubmitError::Service)?;
        let definition = &known.definition;
        let asked = definition
            .operations
            .get(operation)
            .ok_or(SubmitError::Operation)?;
        let input = asked.input(params, definition.bounds.request_bytes)?;
        let visible = |name: &str| {
            (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !with.is_none_or(visible) {
            return Err(SubmitError::With);
        }
        if let Some(credential) = &definition.credential
            && known.token.is_none()
        {
            return Err(SubmitError::Credential(credential.variable.clone()));
        }
        let id = random_hex::<12>().map_err(|_| SubmitError::NoRandom)?;
        let taken = Taken {
            id: format!("task-{id}"),
            service: service.to_owned(),
            operation: operation.to_owned(),
            input,
            with: with.map(str::to_owned),
        };
        let view = TaskView::taken(&taken.id, service, operation);
        if !inner.tasks.add(view.clone()) {
            return Err(SubmitError::Busy);
        }
        if let Err(error) = inner.take(&view).await {
            tracing::error!(target: "security", %error, "a task could not be kept, so it is not taken");
            inner.tasks.remove(&view.id);
            return Err(SubmitError::Unkept);
        }
        crate::fault::point("core:taken");
        let inner = Arc::clone(inner);
        tokio::spawn(async move {
            let ended = inner.run(&taken).await;
            inner.over(&taken.id, |view| finish(view, ended)).await;
        });
        Ok(view)
    }

    /// The task once it is over, or as it stands after this time; also one that was over before core started.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn wait(&self, id: &str, wait: Duration) -> Result<Option<TaskView>, StoreError> {
        let shown = match timeout(wait, self.0.tasks.over(id)).await {
            Ok(view) => view,
            Err(_) => self.0.tasks.get(id),
        };
        match shown {
            Some(view) => Ok(Some(view)),
            None => self.0.remembered(id).await,
        }
    }

    /// The services.
    ///
    /// # Errors
    /// When the holds cannot be read.
    pub async fn services(&self) -> Result<Vec<ServiceView>, RecoveryError> {
        let holds = self.0.recovery.list(false).await?;
        let view = |service: &Service| {
            let definition = &service.definition;
            let of = |hold: &&blastshield_recovery::HoldView| hold.service == definition.name;
            ServiceView {
                name: definition.name.clone(),
                purpose: definition.purpose.clone(),
                host: definition.host(),
                operations: definition.operations.values().map(operation_view).collect(),
                credential: definition
                    .credential
                    .as_ref()
                    .map(|_| service.token.is_some()),
                tasks: self.0.tasks.on(&definition.name),
                ready: service.ready.len(),
                limited: service.limiter.would_decline().map(|d| d.to_string()),
                holds: holds
                    .iter()
                    .filter(of)
                    .map(|hold| serde_json::to_value(hold).unwrap_or_default())
                    .collect(),
            }
        };
        Ok(self.0.services.values().map(view).collect())
    }

    /// Whether there is a service of this name.
    #[must_use]
    pub fn has(&self, service: &str) -> bool {
        self.0.services.contains_key(service)
    }

    /// The keeper of the workspaces.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.0.recovery
    }

    /// Puts a backup of a service back, unless a task of it is on. What is in its workspace is put aside.
    ///
    /// # Errors
    /// When it was not done.
    pub async fn restore(
        &self,
        service: &str,
        from: Option<&str>,
        who: &str,
    ) -> Result<Restored, RestoreError> {
        let known = self.0.services.get(service).ok_or(RestoreError::Unknown)?;
        let busy = RestoreError::Recovery(RecoveryError::Busy);
        let Ok(_turn) = known.turn.try_lock() else {
            return Err(busy);
        };
        if self.0.tasks.on(service) > 0 {
            return Err(busy);
        }
        let restored = self.0.recovery.restore(&known.name, from, who).await?;
        // Workers that wait are confined to a folder that is no longer the workspace.
        known.ready.drop_older(Duration::ZERO);
        Ok(restored)
    }

    /// Takes no more tasks, ends workers with a report, and waits for that, but not longer than this.
    pub async fn close(&self, grace: Duration) {
        let inner = &self.0;
        let upkeep = inner
            .upkeep
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(upkeep) = upkeep {
            upkeep.abort();
        }
        inner.closing.send_replace(true);
        let _ = timeout(grace, async {
            for service in inner.services.values() {
                let _turn = service.turn.lock().await;
                service.ready.drop_older(Duration::ZERO);
            }
            inner.tasks.idle().await;
        })
        .await;
    }
}

impl std::fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Supervisor")
    }
}

fn finish(view: &mut TaskView, ended: Result<Brought, TaskError>) {
    view.finished_ms = Some(wall_ms());
    match ended {
        Ok(Brought::Data {
            data,
            summary,
            flags,
            people,
            context,
        }) => {
            view.state = TaskState::Done;
            view.data = Some(data);
            view.summary = Some(summary);
            view.flags = flags;
            view.people = people;
            view.recent_context = context;
        }
        Ok(Brought::Drafted) => {
            view.state = TaskState::Failed;
            view.error = Some(error("drafted", "the draft was not sent"));
        }
        Ok(Brought::Nothing { error, .. }) | Err(error) => {
            view.state = TaskState::Failed;
            view.error = Some(error);
        }
    }
}

impl Inner {
    fn scanner(&self) -> Scanner {
        (self.config.scanner)()
    }

    fn record(&self, event: &Event<'_>) {
        if aside(|| self.config.recorder.record(event)).is_err() {
            tracing::error!(target: "security", "an event about a proxy could not be recorded");
        }
    }
}
