//! The forward proxy, made of what the gateway is made of: its settings, scanner, detector, store and owner.

use crate::beside::{Voice, take_in};
use crate::state::{App, StartError};
use blastshield_audit::SystemClock;
use blastshield_config::{EgressAgent, EgressMode, Settings};
use blastshield_egress::{
    Agent, AgentPolicy, Agents, Ca, CaError, Dialer, Egress, Limits, Lockdown, Metrics, Mode,
    Parts, Policy, SetupError, TlsRules, Unlisted, raise_descriptor_limit,
};
use blastshield_policy::{AddressGuard, DomainList};
use blastshield_store::{Store, StoreError};
use blastshield_web::{Connector, UpstreamProxy};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The forward proxy cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// Anybody on the network could use it.
    #[error(
        "egress.address is not a loopback address: set egress.agents and egress.require_credentials first"
    )]
    Open,
    /// The kill switch.
    #[error("the lockdown cannot be read: {0}")]
    Store(#[from] StoreError),
    /// The local authority.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// Parts that do not fit.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// The ways out of this process: the kill switch, counts, and what runs.
pub(crate) struct Exits {
    pub(crate) lockdown: Lockdown,
    pub(crate) metrics: Arc<Metrics>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Exits {
    pub(crate) async fn open(
        guard: &crate::guard::Guard,
        store: &Store,
    ) -> Result<Self, EgressError> {
        let clock = Arc::new(SystemClock);
        let recorder = guard.records().then(|| guard.recorder());
        let lockdown = Lockdown::open(store.clone(), recorder, clock).await?;
        Ok(Self {
            lockdown,
            metrics: Arc::default(),
            tasks: Mutex::default(),
        })
    }

    fn keep(&self, task: JoinHandle<()>) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.push(task);
    }

    /// Watches the kill switch and what processes beside this one lay down for its log, and serves the proxy if there is
    /// one.
    pub(crate) fn start(&self, app: &App, door: Option<Door>) {
        self.keep(tokio::spawn(self.lockdown.clone().keep_looking()));
        if app.guard.records() {
            let logs = app.settings.logs.dir.clone();
            let approvals = app.owner.approvals().clone();
            self.keep(tokio::spawn(take_in(logs, app.guard.recorder(), approvals)));
        }
        if let Some(Door { egress, listener }) = door {
            let serve = async move { egress.serve(listener, None, std::future::pending()).await };
            self.keep(tokio::spawn(serve));
        }
    }

    /// Closes every tunnel.
    pub(crate) fn close(&self) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        for task in tasks.drain(..) {
            task.abort();
        }
    }
}

/// The proxy, about to serve.
pub(crate) struct Door {
    egress: Egress,
    listener: TcpListener,
}

impl Door {
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }
}

/// Listens where the settings say, if they do.
pub(crate) async fn bind(app: &App) -> Result<Option<Door>, StartError> {
    match app.settings.egress.address {
        Some(address) => bind_at(app, address).await.map(Some),
        None => Ok(None),
    }
}

async fn bind_at(app: &App, address: SocketAddr) -> Result<Door, StartError> {
    let settings = &app.settings.egress;
    if !address.ip().is_loopback() && !settings.require_credentials {
        return Err(EgressError::Open.into());
    }
    let cannot = |error: std::io::Error| StartError::Listen {
        address,
        kind: error.kind(),
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let own = listener.local_addr().map_err(cannot)?;
    let _ = raise_descriptor_limit();
    Ok(Door {
        egress: build(app, Voice::of(app).await?, Some(own), None)?,
        listener,
    })
}

/// An agent that is known by the listener it connects to, and what it may reach beside the allowlist.
pub(crate) struct Guest {
    name: String,
    allow: DomainList,
}

fn build(
    app: &App,
    voice: Voice,
    own: Option<SocketAddr>,
    guest: Option<Guest>,
) -> Result<Egress, StartError> {
    let settings = &app.settings;
    let egress = &settings.egress;
    let extra_roots_pem = match &settings.web.ca_file {
        Some(file) => std::fs::read(file).map_err(|error| StartError::CaFile(error.kind()))?,
        None => Vec::new(),
    };
    let proxy = match &settings.web.proxy {
        Some(proxy) => Some(proxy.as_str().parse::<UpstreamProxy>()?),
        None => None,
    };
    let ca = if egress.intercept_hosts.is_empty() {
        None
    } else {
        let ca = Ca::open(&settings.data_dir).map_err(EgressError::Ca)?;
        Some(Arc::new(ca))
    };
    let mut own: Vec<SocketAddr> = own.into_iter().collect();
    if settings.server.address.port() != 0 {
        own.push(settings.server.address);
    }
    let scanners = app.guard.shared_scanner();
    let parts = Parts {
        policy: policy(settings, guest),
        agents: Agents {
            known: egress.agents.iter().map(known).collect(),
            required: egress.require_credentials,
        },
        limits: limits(settings),
        tls: TlsRules {
            allow_hidden: egress.allow_ech,
            allow_nameless: egress.allow_no_sni,
            allow_plain: egress.allow_non_tls,
        },
        dialer: Dialer {
            resolver: app.resolver.clone(),
            connector: Connector::new(&extra_roots_pem, proxy)?,
            guard: AddressGuard {
                ranges: egress.allowed_ranges.clone(),
                hosts: egress.allowed_hosts.clone(),
                own,
            },
            ports: egress.allowed_ports.clone(),
        },
        approvals: Some(voice.approvals),
        recorder: voice.recorder,
        scanners: Arc::new(scanners),
        detector: Arc::clone(&app.detector),
        profile: settings.policy.profile,
        lockdown: app.exits.lockdown.clone(),
        metrics: Arc::clone(&app.exits.metrics),
        intercept: egress.intercept_hosts.clone(),
        ca,
        extra_roots_pem,
        credential_hosts: egress.credential_hosts.clone(),
    };
    Ok(Egress::new(parts).map_err(EgressError::Setup)?)
}

fn policy(settings: &Settings, guest: Option<Guest>) -> Policy {
    let egress = &settings.egress;
    let unlisted = |ask: bool| if ask { Unlisted::Ask } else { Unlisted::Deny };
    let mut agents: std::collections::HashMap<Box<str>, AgentPolicy> = egress
        .agents
        .iter()
        .map(|agent| {
            let policy = AgentPolicy {
                allow: agent.allow.clone(),
                block: agent.block.clone(),
                unlisted: unlisted(agent.ask),
                general: agent.general,
            };
            (agent.name.as_str().into(), policy)
        })
        .collect();
    if let Some(guest) = guest {
        let policy = AgentPolicy {
            allow: guest.allow,
            unlisted: unlisted(egress.ask),
            ..AgentPolicy::default()
        };
        agents.insert(guest.name.into(), policy);
    }
    Policy {
        mode: match egress.mode {
            EgressMode::Enforce => Mode::Enforce,
            EgressMode::Report => Mode::Report,
            EgressMode::Open => Mode::Open,
        },
        allow: egress.allowed_domains.clone(),
        block: vec![
            egress.blocked_domains.clone(),
            settings.policy.domains.block.clone(),
        ],
        unlisted: unlisted(egress.ask),
        agents,
    }
}

fn known(agent: &EgressAgent) -> Agent {
    Agent {
        name: agent.name.as_str().into(),
        token: agent.token.reveal().into(),
    }
}

fn limits(settings: &Settings) -> Limits {
    let egress = &settings.egress;
    Limits {
        connections: egress.max_connections,
        waiting: egress.max_waiting,
        request_bytes: egress.max_request_bytes,
        response_bytes: egress.max_response_bytes,
        idle: egress.idle,
        total: egress.total,
        ask: egress.ask_wait,
        ..Limits::default()
    }
}

/// The forward proxy alone, without the API: for `blastshield egress` and `blastshield run`.
pub struct Exit {
    app: Arc<App>,
    egress: Egress,
    own: Option<TcpListener>,
}

impl Exit {
    /// Listens at this address.
    ///
    /// # Errors
    /// When something cannot be set up.
    pub async fn bind(mut settings: Settings, address: SocketAddr) -> Result<Self, StartError> {
        settings.egress.address = Some(address);
        let app = Arc::new(App::new(settings).await?);
        let Door { egress, listener } = bind_at(&app, address).await?;
        Ok(Self::started(app, egress, Some(listener)))
    }

    /// For a listener that one guest connects to; it may reach these domains too.
    ///
    /// # Errors
    /// When something cannot be set up.
    pub async fn for_guest(
        settings: Settings,
        name: &str,
        allow: DomainList,
    ) -> Result<Self, StartError> {
        let app = Arc::new(App::new(settings).await?);
        let guest = Guest {
            name: name.to_owned(),
            allow,
        };
        let egress = build(&app, Voice::of(&app).await?, None, Some(guest))?;
        Ok(Self::started(app, egress, None))
    }

    fn started(app: Arc<App>, egress: Egress, own: Option<TcpListener>) -> Self {
        app.exits.start(&app, None);
        // Where another process writes the audit log, that one also speaks with the owner.
        if app.guard.records() {
            app.owner.start(&app);
        }
        Self { app, egress, own }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.own.as_ref()?.local_addr().ok()
    }

    /// Serves its own listener until `end` is ready.
    pub async fn serve(mut self, end: impl Future<Output = ()>) {
        if let Some(listener) = self.own.take() {
            self.egress.serve(listener, None, end).await;
        }
        self.close().await;
    }

    /// Serves a listener on which only this guest connects, until `end` is ready.
    pub async fn serve_guest(
        &self,
        listener: TcpListener,
        name: &str,
        end: impl Future<Output = ()>,
    ) {
        self.egress
            .serve(listener, Some(name.to_owned()), end)
            .await;
    }

    /// Ends everything.
    pub async fn close(self) {
        self.app.exits.close();
        self.app.close().await;
    }
}
