//! The guarded way out of a sandbox: named domains, through our own proxy.

use crate::egress;
use blastshield_config::{EgressMode, Settings};
use blastshield_policy::DomainList;
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

/// A proxy that serves the listener of one sandbox.
pub(super) struct WayOut(Mutex<egress::WayOut>);

/// Prepares a proxy for exactly these domains; for the allowlist of the settings when there are none. A plugin is no agent:
/// nobody is asked about other hosts, and no mode lets them pass.
pub(super) fn open(domains: &[String], mut settings: Settings) -> anyhow::Result<WayOut> {
    if !domains.is_empty() {
        settings.egress.allowed_domains = DomainList::default();
    }
    settings.egress.mode = EgressMode::Enforce;
    settings.egress.ask = false;
    let way_out = egress::WayOut::open("sandbox", domains, settings)?;
    Ok(WayOut(Mutex::new(way_out)))
}

impl WayOut {
    /// Serves from now on, elsewhere.
    pub(super) fn serve(&self, listener: TcpListener) {
        let mut way_out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = way_out.serve(listener) {
            crate::said::error(&error);
        }
    }

    /// Ends it.
    pub(super) fn close(self) {
        self.0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .close();
    }
}
