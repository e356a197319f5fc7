//! Accepts clients, finds out who they are and where they want to go, and lets them or does not.

use crate::agents::Agents;
use crate::ca::{Ca, CaError};
use crate::decide::Policy;
use crate::desk::Desk;
use crate::dial::Dialer;
use crate::held::Held;
use crate::inspect::Inspector;
use crate::journal::{Entry, Journal, Scanners};
use crate::lockdown::Lockdown;
use crate::metrics::Metrics;
use crate::options::{Limits, TlsRules};
use crate::refusal::Refusal;
use crate::wire::Wire;
use blastshield_detect::{Detector, Profile};
use blastshield_owner::{Approvals, Recorder};
use blastshield_policy::DomainList;
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a proxy is made of.
pub struct Parts {
    /// Who may reach what.
    pub policy: Policy,
    /// Who is known.
    pub agents: Agents,
    /// Bounds.
    pub limits: Limits,
    /// What tunnels must look like.
    pub tls: TlsRules,
    /// Names, addresses, ports.
    pub dialer: Dialer,
    /// Whom to ask; nobody means no.
    pub approvals: Option<Approvals>,
    /// Where events go.
    pub recorder: Arc<dyn Recorder>,
    /// Finds what must not leave.
    pub scanners: Scanners,
    /// Finds what attacks its reader.
    pub detector: Arc<Detector>,
    /// Where the lines lie.
    pub profile: Profile,
    /// The kill switch.
    pub lockdown: Lockdown,
    /// Counts.
    pub metrics: Arc<Metrics>,
    /// Hosts whose TLS is opened,
    pub intercept: DomainList,
    /// with this authority.
    pub ca: Option<Arc<Ca>>,
    /// Further authorities for origins of opened TLS, as PEM.
    pub extra_roots_pem: Vec<u8>,
    /// Hosts to which clients may say who they are, where that can be seen.
    pub credential_hosts: DomainList,
}

/// A proxy cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// Hosts to open without an authority.
    #[error("TLS cannot be opened without a local certificate authority")]
    NoCa,
    /// The authority.
    #[error(transparent)]
    Ca(#[from] CaError),
    /// The extra roots.
    #[error("the extra root certificates are not valid PEM certificates")]
    Roots,
}

/// The proxy; clones share it.
#[derive(Clone)]
pub struct Egress(Arc<Inner>);

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Egress")
    }
}

pub(crate) struct Inner {
    pub(crate) policy: Policy,
    pub(crate) agents: Agents,
    pub(crate) limits: Limits,
    pub(crate) tls: TlsRules,
    pub(crate) dialer: Dialer,
    pub(crate) desk: Desk,
    pub(crate) journal: Journal,
    pub(crate) inspector: Inspector,
    pub(crate) lockdown: Lockdown,
    turns: Arc<Semaphore>,
    pub(crate) intercept: DomainList,
    pub(crate) ca: Option<Arc<Ca>>,
    pub(crate) origin_tls: Arc<ClientConfig>,
}

impl Egress {
    /// Puts the parts together.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn new(parts: Parts) -> Result<Self, SetupError> {
        if !parts.intercept.is_empty() && parts.ca.is_none() {
            return Err(SetupError::NoCa);
        }
        let limits = parts.limits;
        Ok(Self(Arc::new(Inner {
            desk: Desk::new(parts.approvals, limits.ask, limits.waiting),
            journal: Journal::new(
                parts.recorder,
                Arc::clone(&parts.scanners),
                parts.metrics,
                parts.policy.mode,
            ),
            inspector: Inspector {
                scanners: parts.scanners,
                detector: parts.detector,
                profile: parts.profile,
                credential_hosts: parts.credential_hosts,
                held: Arc::new(Held::new(limits.held_bytes)),
            },
            policy: parts.policy,
            agents: parts.agents,
            limits,
            tls: parts.tls,
            dialer: parts.dialer,
            lockdown: parts.lockdown,
            turns: Arc::new(Semaphore::new(limits.connections)),
            intercept: parts.intercept,
            ca: parts.ca,
            origin_tls: crate::intercept::client_config(&parts.extra_roots_pem)
                .ok_or(SetupError::Roots)?,
        })))
    }

    /// Serves a listener until `shutdown` is ready; connections that are open then are closed. With an `identity`,
    /// whoever connects is that agent.
    pub async fn serve(
        &self,
        listener: TcpListener,
        identity: Option<String>,
        shutdown: impl Future<Output = ()>,
    ) {
        let identity: Option<Arc<str>> = identity.map(Into::into);
        // Dropped at the end, which every connection notices.
        let (alive, _) = tokio::sync::watch::channel(());
        tokio::pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => return,
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, most likely: breathe, then go on.
                    tracing::warn!(target: "upstream", kind = %error.kind(), "cannot accept");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let inner = Arc::clone(&self.0);
            let identity = identity.clone();
            let mut closing = alive.subscribe();
            let locked = inner.lockdown.turned_on();
            tokio::spawn(async move {
                let Ok(turn) = Arc::clone(&inner.turns).try_acquire_owned() else {
                    let refusal = Refusal::Busy("too many connections are open; try again later");
                    let mut wire = Wire::new(stream);
                    let _ = wire.send(&refusal.answer(), Duration::from_secs(1)).await;
                    return;
                };
                let tunnel = tokio::select! {
                    tunnel = inner.connection(stream, identity.as_deref()) => tunnel,
                    () = locked => None,
                    _ = closing.changed() => None,
                };
                if let Some(tunnel) = tunnel {
                    // A task of its own is small, and most tunnels only wait.
                    let locked = inner.lockdown.turned_on();
                    if inner.lockdown.is_on() {
                        inner.journal.cut(&tunnel.entry);
                    } else {
                        tokio::spawn(carry_tunnel(inner, tunnel, turn, locked, closing));
                    }
                }
            });
        }
    }
}

/// A tunnel that is about to be carried.
pub(crate) struct Tunnel {
    pub(crate) client: TcpStream,
    pub(crate) server: TcpStream,
    pub(crate) entry: Entry,
}

async fn carry_tunnel(
    inner: Arc<Inner>,
    tunnel: Tunnel,
    turn: OwnedSemaphorePermit,
    locked: impl Future<Output = ()>,
    mut closing: tokio::sync::watch::Receiver<()>,
) {
    let Tunnel {
        mut client,
        mut server,
        mut entry,
    } = tunnel;
    let metrics = Arc::clone(&inner.journal.metrics);
    let _open = metrics.tunnel();
    let carried = crate::tunnel::Carried::default();
    let cut = tokio::select! {
        () = crate::tunnel::relay(&mut client, &mut server, &inner.limits, &carried) => false,
        () = locked => true,
        _ = closing.changed() => true,
    };
    if cut {
        // What waits in the kernel must not leave any more.
        let _ = client.set_zero_linger();
        let _ = server.set_zero_linger();
    }
    drop((client, server, turn));
    entry.up += carried.up.into_inner();
    entry.down += carried.down.into_inner();
    inner.journal.carried(&entry);
}
