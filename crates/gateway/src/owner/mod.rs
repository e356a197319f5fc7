//! The owner's side of the gateway: requests, the channels that carry them, what the environment holds, and the status
//! that tells of all three.

mod channels;
mod environment;
mod status;

use crate::guard::Guard;
use crate::state::App;
use crate::tokens::Role;
use blastshield_audit::{Recorder, SystemClock};
use blastshield_config::Settings;
use blastshield_owner::{Approvals, Options, Request, Running, Timeouts};
use blastshield_requirements::Report;
use blastshield_store::{Store, StoreError};
use channels::Clients;
use environment::Environment;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub use environment::EnvironmentError;

/// Time that alerts have to leave at shutdown.
const GRACE: Duration = Duration::from_secs(2);
/// Whose requests an agent may look at; see [`Owner::requester`].
const AGENT: &str = "agent";

/// The owner's requests and everything that tells the owner.
pub(crate) struct Owner {
    approvals: Approvals,
    environment: Environment,
    clients: Mutex<Option<Clients>>,
    channels: Mutex<Vec<Running>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    again: Arc<Notify>,
}

/// The owner's side cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// The store.
    #[error("the owner's requests cannot be read: {0}")]
    Store(#[from] StoreError),
    /// A channel.
    #[error("{0}")]
    Channel(#[from] blastshield_upstream::ConfigError),
    /// What the environment must hold.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

impl Owner {
    /// Opens the requests and looks at the environment. Nothing runs before [`Owner::start`].
    pub(crate) async fn open(
        settings: &Settings,
        guard: &Guard,
        store: &Store,
    ) -> Result<Self, OwnerError> {
        Ok(Self {
            approvals: requests(settings, guard, store, guard.recorder()).await?,
            environment: Environment::read(settings)?,
            clients: Mutex::new(Some(Clients::new(settings)?)),
            channels: Mutex::default(),
            tasks: Mutex::default(),
            again: Arc::default(),
        })
    }

    /// Starts the channels and whatever has to be done again and again. For the one process that serves.
    pub(crate) fn start(&self, app: &Arc<App>) {
        let clients = lock(&self.clients).take();
        let running = clients.map_or_else(Vec::new, |clients| clients.start(&self.approvals));
        app.guard
            .connect(running.iter().map(Running::alerts).collect());
        *lock(&self.channels) = running;
        // Before the status of an earlier run is written over.
        environment::first(app);
        *lock(&self.tasks) = vec![
            tokio::spawn(self.approvals.clone().keep_sweeping()),
            tokio::spawn(environment::keep_checking(Arc::clone(app))),
            tokio::spawn(status::keep_writing(Arc::clone(app))),
        ];
    }

    /// Stops what was started; alerts have a moment to leave.
    pub(crate) async fn close(&self) {
        for task in std::mem::take(&mut *lock(&self.tasks)) {
            task.abort();
        }
        let running = std::mem::take(&mut *lock(&self.channels));
        let deadline = tokio::time::Instant::now() + GRACE;
        while running.iter().any(|channel| !channel.is_quiet())
            && tokio::time::Instant::now() < deadline
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The owner's requests.
    pub(crate) fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// What the environment held when it was last looked at, and which modes follow.
    pub(crate) fn requirements(&self) -> Arc<Report> {
        self.environment.report()
    }

    /// The status as it is now, as the file would have it.
    pub(crate) async fn status(&self, app: &App) -> Map<String, Value> {
        let status = status::compose(app).await;
        blastshield_audit::status::redacted(app.guard.redactor().as_ref(), &status)
    }

    /// Wakes whoever looks at the environment: for a signal.
    pub(crate) fn again(&self) -> Arc<Notify> {
        self.environment.again()
    }

    /// In whose name a caller asks. An agent may look at requests of `agent` and of `agent/…`, which are for parts that
    /// ask on its behalf and have a number of open requests of their own.
    pub(crate) const fn requester(role: Role) -> &'static str {
        match role {
            Role::Agent => AGENT,
            Role::Owner => "owner",
        }
    }

    /// Whether a caller may look at a request.
    pub(crate) fn may_see(role: Role, request: &Request) -> bool {
        let rest = request.requester.strip_prefix(AGENT);
        role == Role::Owner || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The owner's requests, with this way into the audit log.
pub(crate) async fn requests(
    settings: &Settings,
    guard: &Guard,
    store: &Store,
    recorder: Arc<dyn Recorder>,
) -> Result<Approvals, StoreError> {
    let clock = Arc::new(SystemClock);
    let redactor = guard.redactor();
    Approvals::open(store.clone(), recorder, redactor, clock, options(settings)).await
}

fn options(settings: &Settings) -> Options {
    let approvals = &settings.approvals;
    Options {
        timeouts: Timeouts {
            payment: approvals.payment_timeout,
            post: approvals.post_timeout,
            skill_install: approvals.skill_timeout,
            http: approvals.http_timeout,
            custom: approvals.custom_timeout,
        },
        max_pending: approvals.max_pending,
        max_per_requester: approvals.max_per_requester,
        max_per_hour: approvals.max_per_hour,
        use_within: approvals.use_within,
        ..Options::default()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
