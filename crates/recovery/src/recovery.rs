//! Everything that core needs to let a security proxy live, die and live again.

use crate::error::RecoveryError;
use crate::home::Home;
use crate::names::ServiceName;
use crate::record::{blocking, record};
use crate::snapshot::{Bounds, Snapshot};
use blastshield_audit::{Clock, Event, Recorder, Time};
use blastshield_leak::Scanner;
use blastshield_store::{ProxyHold, Store};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Where and how much.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data folder; everything lies in its `proxies`.
    pub data: PathBuf,
    /// How much of a workspace is looked at.
    pub bounds: Bounds,
    /// Days that backups are kept.
    pub keep_days: u64,
    /// Reports that a workspace keeps, the newest.
    pub keep_reports: usize,
    /// Bytes from which on the audit trail begins a new file.
    pub trail_bytes: u64,
    /// Called at named points between two steps; for tests that end the process there.
    #[doc(hidden)]
    pub probe: Option<fn(&'static str)>,
}

impl Options {
    /// The usual, in a data folder.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            bounds: Bounds::default(),
            keep_days: 30,
            keep_reports: 200,
            trail_bytes: 4 << 20,
            probe: None,
        }
    }
}

/// The keeper of all services' workspaces. Clones share it.
#[derive(Clone)]
pub struct Recovery {
    pub(crate) home: Arc<Home>,
    pub(crate) store: Store,
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) redact: Arc<Scanner>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) options: Arc<Options>,
    /// Workspaces as they were left, so that what nobody touched is not read again.
    known: Arc<Mutex<BTreeMap<ServiceName, Snapshot>>>,
}

impl Recovery {
    /// Opens the folders, which are made when missing. Call [`Recovery::resume`] before anything is spawned.
    ///
    /// # Errors
    /// When the folders cannot be used.
    pub fn open(
        options: Options,
        store: Store,
        recorder: Arc<dyn Recorder>,
        redact: Arc<Scanner>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, RecoveryError> {
        Ok(Self {
            home: Arc::new(Home::open(&options.data)?),
            store,
            recorder,
            redact,
            clock,
            options: Arc::new(options),
            known: Arc::default(),
        })
    }

    /// Finishes what a crash of core interrupted: sessions that nobody saw end are judged, quarantines completed. Services
    /// that another process works on are left to it. The services that are on hold because of it.
    ///
    /// # Errors
    /// When the store or the folders cannot be used; then nothing may be spawned.
    pub async fn resume(&self) -> Result<Vec<ServiceName>, RecoveryError> {
        let mut names: Vec<String> = Vec::new();
        for session in self.store.proxy_sessions(&self.home.id).await? {
            names.push(session.service);
        }
        for quarantine in self.unfinished().await? {
            names.push(quarantine.service);
        }
        names.sort();
        names.dedup();
        let mut held = Vec::new();
        for name in names {
            let service = ServiceName::new(&name).map_err(|_| RecoveryError::Inconsistent)?;
            let lock = match self.home.lock(&service) {
                Err(RecoveryError::Busy) => continue,
                other => other?,
            };
            self.settle_past(&service).await?;
            drop(lock);
            held.push(service);
        }
        Ok(held)
    }

    /// Which installation this is; several may share a store.
    #[must_use]
    pub fn installation(&self) -> &str {
        &self.home.id
    }

    /// The holds that keep a service from being spawned.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn holds(&self, service: &ServiceName) -> Result<Vec<ProxyHold>, RecoveryError> {
        Ok(self.store.open_proxy_holds(Some(service.as_str())).await?)
    }

    /// Services that have a workspace here.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn services(&self) -> Result<Vec<ServiceName>, RecoveryError> {
        let (mut names, _) = self.home.workspaces.names(10_000)?;
        names.sort();
        Ok(names
            .iter()
            .filter_map(|name| ServiceName::new(name.to_str().ok()?).ok())
            .collect())
    }

    /// With the lock held: judges sessions that nobody saw end, and completes quarantines.
    pub(crate) async fn settle_past(&self, service: &ServiceName) -> Result<(), RecoveryError> {
        for quarantine in self.unfinished().await? {
            if quarantine.service == service.as_str() {
                self.carry_out(service, quarantine).await?;
            }
        }
        for session in self.store.proxy_sessions(&self.home.id).await? {
            if session.service == service.as_str() {
                self.end_lost(service, session).await?;
            }
        }
        Ok(())
    }

    pub(crate) fn known(&self, service: &ServiceName) -> Option<Snapshot> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(service)
    }

    pub(crate) fn learn(&self, service: &ServiceName, left: Snapshot) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(service.clone(), left);
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        millis(self.now())
    }

    pub(crate) fn record(&self, event: &Event<'_>) -> Result<(), RecoveryError> {
        Ok(record(self.recorder.as_ref(), event)?)
    }

    /// Works with the disk.
    pub(crate) fn disk<T>(
        &self,
        work: impl FnOnce(&Home) -> Result<T, RecoveryError>,
    ) -> Result<T, RecoveryError> {
        blocking(|| work(&self.home))
    }

    pub(crate) fn point(&self, name: &'static str) {
        if let Some(probe) = self.options.probe {
            probe(name);
        }
    }
}

impl std::fmt::Debug for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recovery").finish_non_exhaustive()
    }
}

pub(crate) fn millis(time: Time) -> i64 {
    i64::try_from(time.millis()).unwrap_or(i64::MAX)
}
