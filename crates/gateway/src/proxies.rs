//! The security proxies of this gateway, opened once from the settings.

use crate::error::ApiError;
use crate::state::App;
use blastshield_audit::SystemClock;
use blastshield_config::Settings;
use blastshield_detect::Profile;
use blastshield_proxies::{Config, Dialler, OpenError, Supervisor, Token, definitions};
use blastshield_recovery as recovery;
use blastshield_sandbox::{Launcher, Missing};
use blastshield_web::{Connector, SetupError, UpstreamProxy};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

/// Time that workers have for their last words at shutdown.
const GRACE: Duration = Duration::from_secs(8);

/// The proxies cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ProxiesError {
    /// Definitions, workspaces, or what a crash left undone.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The workspaces.
    #[error("the proxies' workspaces cannot be used: {0}")]
    Recovery(#[from] recovery::RecoveryError),
    /// The way out.
    #[error("{0}")]
    Web(#[from] SetupError),
    /// A file that the settings name.
    #[error("the file that web.ca_file names cannot be read: {0}")]
    CaFile(std::io::ErrorKind),
}

/// Opened when they are first needed; the process that serves needs them at once.
#[derive(Default)]
pub(crate) struct Proxies(OnceCell<Supervisor>);

impl Proxies {
    /// Opens them.
    pub(crate) async fn open(&self, app: &App) -> Result<&Supervisor, ProxiesError> {
        self.0.get_or_try_init(|| supervisor(app)).await
    }

    /// Opens them for the process that serves. Beside another one of the same data folder it does without.
    pub(crate) async fn serve(&self, app: &App) -> Result<(), ProxiesError> {
        match self.open(app).await {
            Err(ProxiesError::Open(OpenError::Busy)) => {
                tracing::warn!(target: "security", "another process runs the proxies of this data folder");
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// The proxies, for a request.
    pub(crate) async fn get(&self, app: &App) -> Result<&Supervisor, ApiError> {
        self.open(app).await.map_err(|error| {
            if let ProxiesError::Open(OpenError::Busy) = error {
                return ApiError::Disabled("another process runs the proxies of this data folder");
            }
            tracing::error!(target: "security", %error, "the proxies cannot be used");
            ApiError::Disabled("the proxies cannot be used; the log says more")
        })
    }

    /// Starts what has to be done again and again. For the one process that serves.
    pub(crate) fn start(&self) {
        if let Some(supervisor) = self.0.get() {
            supervisor.start();
        }
    }

    pub(crate) async fn close(&self) {
        if let Some(supervisor) = self.0.get() {
            supervisor.close(GRACE).await;
        }
    }
}

async fn supervisor(app: &App) -> Result<Supervisor, ProxiesError> {
    let settings = &app.settings;
    let options = &settings.proxies;
    let recorder = app.guard.recorder();
    let keeper = recovery::Recovery::open(
        recovery_options(settings),
        app.store.clone(),
        Arc::clone(&recorder),
        Arc::new(app.guard.scanner()),
        Arc::new(SystemClock),
    )?;
    let shared = app.guard.shared_scanner();
    let moltbook = options.moltbook_token.clone();
    let config = Config {
        data: settings.data_dir.clone(),
        definitions: definitions(&options.dir, options.allow_loopback)?,
        loopback: options.allow_loopback,
        enhanced: settings.security.enhanced_injection_detection,
        profile: match settings.policy.profile {
            Profile::Baseline => "baseline",
            Profile::Strict => "strict",
            Profile::Paranoid => "paranoid",
        },
        posts_need_approval: settings.approvals.posts,
        ready: options.ready,
        ready_idle: options.ready_idle,
        max_tasks: options.max_tasks,
        missing: if options.degrade {
            Missing::Degrade
        } else {
            Missing::Refuse
        },
        internal_paths: settings.leaks.internal_paths.clone(),
        internal_terms: settings.leaks.internal_terms.clone(),
        launcher: Launcher::this_program(),
        detector: Arc::clone(&app.detector),
        scanner: Arc::new(shared),
        credential: Arc::new(move |variable| match (variable, &moltbook) {
            ("MOLTBOOK_API_TOKEN", Some(token)) => Some(Token::new(token.reveal())),
            _ => std::env::var(variable)
                .ok()
                .filter(|text| !text.trim().is_empty())
                .map(|text| Token::new(text.trim())),
        }),
        dialler: dialler(app)?,
        approvals: app.owner.approvals().clone(),
        stop: app.exits.lockdown.watch(),
        store: app.store.clone(),
        recorder,
        clock: Arc::new(SystemClock),
    };
    Ok(Supervisor::open(config, keeper).await?)
}

fn recovery_options(settings: &Settings) -> recovery::Options {
    let mut options = recovery::Options::new(&settings.data_dir);
    options.probe = blastshield_proxies::probe();
    options
}

fn dialler(app: &App) -> Result<Dialler, ProxiesError> {
    let web = &app.settings.web;
    let proxy = match &web.proxy {
        Some(proxy) => Some(proxy.as_str().parse::<UpstreamProxy>()?),
        None => None,
    };
    let roots = match &web.ca_file {
        Some(file) => std::fs::read(file).map_err(|error| ProxiesError::CaFile(error.kind()))?,
        None => Vec::new(),
    };
    let connector = Connector::new(&roots, proxy)?;
    Ok(Dialler::new(
        connector,
        app.resolver.clone(),
        app.policy.clone(),
    ))
}
