//! Workers from outside: started, kept ready, told, ended.
//!
//! Building what a worker needs takes longer than a task may wait. It is built once, in a process of which workers are
//! forked; and a service in use has a worker ready: confined, and never used. It serves one task and is replaced; when
//! nobody needs it for a while it goes.

use crate::definition::Definition;
use crate::protocol::{FromWorker, ServiceText, ToWorker, polled};
use blastshield_sandbox::{
    Confinement, Exit, Killer, Missing, SandboxError, Sandboxed, Streams, Template,
};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a worker may take until it is ready.
const START: Duration = Duration::from_secs(20);

/// A worker that is ready.
pub(super) struct Hand {
    pub(super) line: UnixStream,
    killer: Killer,
    ended: oneshot::Receiver<Result<Exit, SandboxError>>,
    exit: Option<Exit>,
    folder: Option<(u64, u64)>,
    since: Instant,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoHand {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("the worker did not become ready")]
    NotReady,
}

/// How workers of one service are started.
#[derive(Clone)]
pub(super) struct Recipe {
    template: Arc<Template>,
    pub(super) confinement: Confinement,
    pub(super) workspace: PathBuf,
    pub(super) service: Arc<ServiceText>,
}

impl Recipe {
    pub(super) fn new(
        template: &Arc<Template>,
        definition: &Definition,
        workspace: &Path,
        missing: Missing,
        service: ServiceText,
    ) -> Self {
        let mut confinement = Confinement::worker()
            .write(workspace)
            .folder(workspace)
            .memory(definition.bounds.memory_bytes)
            .streams(Streams::Nowhere)
            .missing(missing);
        let task = definition.timeouts.task.as_secs();
        confinement.limits.cpu = task.clamp(10, 600);
        Self {
            template: Arc::clone(template),
            confinement,
            workspace: workspace.to_owned(),
            service: Arc::new(service),
        }
    }

    /// Builds what workers need, aside.
    pub(super) fn prepare(&self) {
        let template = Arc::clone(&self.template);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = template.prepare() {
                tracing::warn!(target: "security", %error, "workers cannot be prepared; each prepares itself");
            }
        });
    }

    /// Starts a worker and waits until it is ready.
    pub(super) async fn start(&self) -> Result<Hand, NoHand> {
        let (template, confinement) = (Arc::clone(&self.template), self.confinement.clone());
        make(&self.workspace).map_err(|_| NoHand::NotReady)?;
        let folder = identity(&self.workspace);
        let started = tokio::task::spawn_blocking(move || template.worker(&confinement)).await;
        let mut child = started.map_err(|_| NoHand::NotReady)??;
        let line = child.line.take().ok_or(NoHand::NotReady)?;
        line.set_nonblocking(true).map_err(|_| NoHand::NotReady)?;
        let mut line = UnixStream::from_std(line).map_err(|_| NoHand::NotReady)?;
        let killer = child.killer()?;
        let (tell, ended) = oneshot::channel();
        wait(child, tell);
        let service = ToWorker::Service((*self.service).clone());
        let ready = timeout(START, async {
            polled::send(&mut line, &service).await.ok()?;
            polled::receive::<FromWorker>(&mut line, 1024).await.ok()
        })
        .await;
        let hand = Hand {
            line,
            killer,
            ended,
            exit: None,
            folder,
            since: Instant::now(),
        };
        match ready {
            Ok(Some(FromWorker::Ready)) => Ok(hand),
            _ => Err(NoHand::NotReady),
        }
    }
}

/// Waits for the end where waiting is allowed.
fn wait(mut child: Sandboxed, tell: oneshot::Sender<Result<Exit, SandboxError>>) {
    let waiting = std::thread::Builder::new()
        .name("proxy-wait".to_owned())
        .spawn(move || {
            let _ = tell.send(child.wait());
        });
    // Without a thread the child is dropped here, which ends it.
    drop(waiting);
}

fn make(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Which folder this is, whatever it is called.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let stat = rustix::fs::stat(path).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

impl Hand {
    /// Whether it is confined to this very folder.
    pub(super) fn is_for(&self, folder: impl AsFd) -> bool {
        let stat = rustix::fs::fstat(folder).ok();
        self.folder.is_some() && stat.map(|stat| (stat.st_dev, stat.st_ino)) == self.folder
    }

    pub(super) fn kill(&self) {
        self.killer.kill();
    }

    /// How it ended; nothing when it does not end in time.
    pub(super) async fn exit(&mut self, within: Duration) -> Option<Exit> {
        let _ = timeout(within, self.gone()).await;
        self.exit
    }

    /// Returns when it is gone.
    pub(super) async fn gone(&mut self) {
        if self.exit.is_none() {
            let exit = match (&mut self.ended).await {
                Ok(Ok(exit)) => exit,
                // Nobody could tell how: as bad as a kill.
                _ => Exit::Signal(9),
            };
            self.exit = Some(exit);
        }
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.killer.kill();
    }
}

/// Workers that wait for a task.
#[derive(Default)]
pub(super) struct Ready {
    hands: Mutex<Vec<Hand>>,
    starting: Mutex<usize>,
}

impl Ready {
    fn hands(&self) -> MutexGuard<'_, Vec<Hand>> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn starting(&self) -> MutexGuard<'_, usize> {
        self.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that waits the longest.
    pub(super) fn take(&self) -> Option<Hand> {
        let mut hands = self.hands();
        (!hands.is_empty()).then(|| hands.remove(0))
    }

    /// Starts so many beside what is there.
    pub(super) fn fill(self: &Arc<Self>, recipe: &Recipe, wanted: usize) {
        let there = self.hands().len();
        let mut starting = self.starting();
        while there + *starting < wanted {
            *starting += 1;
            let (ready, recipe) = (Arc::clone(self), recipe.clone());
            tokio::spawn(async move {
                let hand = recipe.start().await;
                *ready.starting() -= 1;
                match hand {
                    Ok(hand) => ready.hands().push(hand),
                    Err(error) => {
                        tracing::warn!(target: "security", %error, "no worker could be kept ready");
                    }
                }
            });
        }
    }

    /// Ends those that waited longer than this.
    pub(super) fn drop_older(&self, age: Duration) {
        self.hands().retain(|hand| hand.since.elapsed() < age);
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.hands().len()
    }
}
