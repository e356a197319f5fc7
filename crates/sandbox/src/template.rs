//! Workers that begin from something prepared: a process of the program builds it once, and each worker is forked of that
//! process, before it is confined. What takes long to build is so built once and shared until somebody writes to it.
//!
//! A template gets a clear environment and no descriptor, and never anything of a task: what its workers inherit is what
//! [`crate::enter_or_prepare`] made of two strings, and the places of things in memory.

use crate::confinement::Confinement;
use crate::error::SandboxError;
use crate::launch;
use crate::spawn::{Launcher, Sandboxed, readable};
use crate::started::Started;
use crate::starter;
use crate::wire::{self, Fork, Job, Setup, Told};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest time until it is prepared, or has forked.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts workers of one job from a process that was prepared for it.
#[derive(Debug)]
pub struct Template {
    launcher: Launcher,
    job: String,
    how: String,
    live: Mutex<Option<Live>>,
}

/// The process. Its end is the end of every worker that was forked of it.
#[derive(Debug)]
struct Live {
    line: OwnedFd,
    process: Child,
    /// It fell silent: what it might still say belongs to nobody. It is left alone, for the sake of its workers.
    silent: bool,
}

impl Template {
    /// For this job; `how` is handed to what prepares. Nothing is started yet.
    #[must_use]
    pub fn new(launcher: &Launcher, job: &str, how: &str) -> Self {
        Self {
            launcher: launcher.clone(),
            job: job.to_owned(),
            how: how.to_owned(),
            live: Mutex::default(),
        }
    }

    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares, unless that is done. Blocks until it is: call it where blocking is allowed.
    ///
    /// # Errors
    /// When it cannot be started, or does not get ready.
    pub fn prepare(&self) -> Result<(), SandboxError> {
        self.prepared().map(drop)
    }

    /// The process, prepared.
    fn prepared(&self) -> Result<u32, SandboxError> {
        let mut live = self.live();
        if let Some(live) = live.as_mut()
            && matches!(live.process.try_wait(), Ok(None))
        {
            return match live.silent {
                true => Err(SandboxError::Launcher("fell silent".to_owned())),
                false => Ok(live.process.id()),
            };
        }
        *live = None;
        let one = Live::start(&self.launcher, &self.job, &self.how)?;
        let pid = one.process.id();
        *live = Some(one);
        Ok(pid)
    }

    /// As [`Launcher::worker`], from what was prepared. Where that cannot be had it is a worker without.
    ///
    /// # Errors
    /// As [`Launcher::worker`].
    pub fn worker(&self, confinement: &Confinement) -> Result<Sandboxed, SandboxError> {
        let job = || Job::Worker(self.job.clone());
        if let Ok(parent) = self.prepared() {
            let mut forked = true;
            let started = self.launcher.start(job(), confinement, parent, |control| {
                let child = self.fork(&control);
                forked = child.is_ok();
                child
            });
            if forked {
                return started;
            }
        }
        self.launcher.worker(&self.job, confinement)
    }

    fn fork(&self, control: &OwnedFd) -> Result<Started, SandboxError> {
        let gone = || SandboxError::Launcher("could not be forked".to_owned());
        let mut live = self.live();
        let live = live.as_mut().ok_or_else(gone)?;
        wire::send(&live.line, &Fork, &[control.as_fd()]).map_err(|_| gone())?;
        match told(&live.line) {
            Some((Told::Forked(pid), Some(handle))) => Ok(Started::Forked { pid, handle }),
            Some((Told::NotForked, _)) => Err(gone()),
            _ => {
                live.silent = true;
                Err(gone())
            }
        }
    }

    /// Whether it is prepared.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.live().is_some()
    }
}

impl Live {
    fn start(launcher: &Launcher, job: &str, how: &str) -> Result<Self, SandboxError> {
        let failed = |e: std::io::Error| SandboxError::step("start a template", e);
        let (line, theirs) = wire::pair().map_err(failed)?;
        let setup = Setup {
            job: job.to_owned(),
            how: how.to_owned(),
            parent: rustix::process::getpid().as_raw_nonzero().get(),
        };
        wire::send(&line, &setup, &[]).map_err(failed)?;
        let process =
            starter::start(launcher.program(), launch::TEMPLATE, theirs).map_err(failed)?;
        let live = Self {
            line,
            process,
            silent: false,
        };
        match told(&live.line) {
            Some((Told::Prepared, _)) => Ok(live),
            _ => Err(SandboxError::Launcher("was not prepared".to_owned())),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn told(line: &OwnedFd) -> Option<(Told, Option<OwnedFd>)> {
    if !readable(line, Instant::now() + PATIENCE) {
        return None;
    }
    let (told, descriptors) = wire::receive::<Told>(line).ok().flatten()?;
    Some((told, descriptors.into_iter().next()))
}
