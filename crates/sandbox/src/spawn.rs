//! Starting a confined process, and ending it with everything it started.

use crate::cgroup;
use crate::confinement::Confinement;
use crate::ends::Ends;
use crate::error::SandboxError;
use crate::launch;
use crate::layers::Layers;
use crate::paths;
use crate::started::Started;
use crate::starter;
use crate::wire::{self, Argument, Job, Order, Word};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest time until a process is confined. Usually it takes some milliseconds.
const SET_UP: Duration = Duration::from_secs(30);
/// Longest time for the launcher to end what it keeps, before it is ended itself.
pub(crate) const END: Duration = Duration::from_secs(5);

/// Starts confined processes by running a program that calls [`crate::enter_if_asked`] first thing in `main`.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal; SIGSYS (31) is a system call that it may not make.
    Signal(i32),
}

/// A confined process. Dropping it ends the process and everything it started.
#[derive(Debug)]
pub struct Sandboxed {
    /// Writes to its standard input.
    pub stdin: Option<PipeWriter>,
    /// Its standard output.
    pub stdout: Option<PipeReader>,
    /// Its standard error.
    pub stderr: Option<PipeReader>,
    /// The other end of a worker's [`crate::Inside::line`].
    pub line: Option<UnixStream>,
    /// With [`crate::Network::Proxied`]: where it connects to. Accept and serve, or it reaches nothing.
    pub listener: Option<TcpListener>,
    pub(crate) control: OwnedFd,
    launcher: Started,
    layers: Layers,
    ended: Option<Result<Exit, SandboxError>>,
}

/// Ends a confined process from elsewhere, such as another thread.
#[derive(Debug)]
pub struct Killer {
    control: OwnedFd,
}

impl Launcher {
    /// Runs this very program again.
    pub fn this_program() -> Self {
        Self::at("/proc/self/exe")
    }

    /// Runs the program at this path.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// Starts a function of the program: its [`crate::enter_if_asked`] returns with this job. Blocks until the process
    /// is confined (some milliseconds): call it where blocking is allowed. Any thread will do, and may end afterwards.
    pub fn worker(&self, job: &str, confinement: &Confinement) -> Result<Sandboxed, SandboxError> {
        self.start_own(Job::Worker(job.to_owned()), confinement)
    }

    /// Starts a command, found in the confinement's PATH. Blocks as [`Self::worker`] does.
    pub fn command(
        &self,
        command: &[OsString],
        confinement: &Confinement,
    ) -> Result<Sandboxed, SandboxError> {
        let command = command.iter().map(Argument::from).collect();
        self.start_own(Job::Command(command), confinement)
    }

    /// Which layers this machine holds: each one is tried in a process that is thrown away.
    pub fn probe(&self) -> Result<Layers, SandboxError> {
        let confinement = Confinement::plugin().missing(crate::Missing::Degrade);
        let mut tried = self.start_own(Job::Probe, &confinement)?;
        tried.wait()?;
        Ok(tried.layers.clone())
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    fn start_own(&self, job: Job, confinement: &Confinement) -> Result<Sandboxed, SandboxError> {
        self.start(job, confinement, std::process::id(), |theirs| {
            starter::start(&self.program, launch::MARK, theirs)
                .map(Started::Own)
                .map_err(|e| SandboxError::step("start the launcher", e))
        })
    }

    /// Starts by `begin`, which gets the launcher's end of the control line; its parent is this process.
    pub(crate) fn start(
        &self,
        job: Job,
        confinement: &Confinement,
        parent: u32,
        begin: impl FnOnce(OwnedFd) -> Result<Started, SandboxError>,
    ) -> Result<Sandboxed, SandboxError> {
        if !launch::fits(confinement.role, &job) {
            return Err(SandboxError::Invalid(
                "the role does not fit what is to be started".to_owned(),
            ));
        }
        let failed = |e: std::io::Error| SandboxError::step("connect to the launcher", e);
        let (control, theirs) = wire::pair().map_err(failed)?;
        let worker = matches!(job, Job::Worker(_));
        let mut ends = Ends::new(confinement.streams, worker).map_err(failed)?;
        let order = Order {
            confinement: paths::resolved(confinement)?,
            job,
            parent: i32::try_from(parent).unwrap_or(0),
        };
        let theirs_of_streams: Vec<BorrowedFd<'_>> = ends.theirs.iter().map(AsFd::as_fd).collect();
        wire::send(&control, &order, &theirs_of_streams)
            .map_err(|e| SandboxError::step("give the order, which may be too large", e))?;
        drop(theirs_of_streams);
        ends.theirs.clear();
        let launcher = begin(theirs)?;
        let mut child = Sandboxed {
            stdin: ends.stdin,
            stdout: ends.stdout,
            stderr: ends.stderr,
            line: ends.line,
            listener: None,
            control,
            launcher,
            layers: Layers::default(),
            ended: None,
        };
        child.settle()?;
        Ok(child)
    }
}

impl Sandboxed {
    /// The process to us: the launcher, which ends with what it confines.
    pub fn pid(&self) -> u32 {
        self.launcher.id()
    }

    /// Which layers hold for it.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> Result<Exit, SandboxError> {
        loop {
            if let Some(exit) = self.wait_for(Duration::from_secs(3600))? {
                return Ok(exit);
            }
        }
    }

    /// Waits for its end, but not longer than this.
    pub fn wait_for(&mut self, most: Duration) -> Result<Option<Exit>, SandboxError> {
        let until = Instant::now() + most;
        loop {
            if let Some(ended) = &self.ended {
                return ended.clone().map(Some);
            }
            if !readable(&self.control, until) {
                return Ok(None);
            }
            self.listen();
        }
    }

    /// Ends it and everything it started; returns when all of it is gone.
    pub fn kill(&mut self) -> Result<Exit, SandboxError> {
        self.let_go();
        match self.wait_for(END)? {
            Some(exit) => Ok(exit),
            None => {
                // Its end is tied to the launcher's.
                self.launcher.kill();
                self.wait()
            }
        }
    }

    /// Something that can end it from elsewhere.
    pub fn killer(&self) -> Result<Killer, SandboxError> {
        let control = self
            .control
            .try_clone()
            .map_err(|e| SandboxError::step("make a handle", e))?;
        Ok(Killer { control })
    }

    /// Says that nobody wants it any more; what it still has to tell can be read.
    fn let_go(&self) {
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Write);
    }

    /// Reads until the process is confined.
    fn settle(&mut self) -> Result<(), SandboxError> {
        let until = Instant::now() + SET_UP;
        while self.layers == Layers::default() {
            if let Some(Err(error)) = &self.ended {
                return Err(error.clone());
            }
            if self.ended.is_some() {
                return Err(SandboxError::Launcher("ended without a word".to_owned()));
            }
            if !readable(&self.control, until) {
                return Err(SandboxError::Launcher("took too long".to_owned()));
            }
            self.listen();
        }
        Ok(())
    }

    /// Takes in one message; the last one is how it ended.
    pub(crate) fn listen(&mut self) {
        match wire::receive::<Word>(&self.control) {
            Ok(Some((Word::Listening, descriptors))) => {
                self.listener = descriptors.into_iter().next().map(TcpListener::from);
            }
            Ok(Some((Word::Ready(layers), _))) => self.layers = layers,
            Ok(Some((Word::Failed(error), _))) => self.end(Err(error)),
            Ok(Some((Word::Ended(exit), _))) => self.end(Ok(exit)),
            // It was ended before it could say how.
            Ok(None) => self.end(Ok(Exit::Signal(libc::SIGKILL))),
            Err(error) => self.end(Err(SandboxError::step("hear the launcher", error))),
        }
    }

    /// The first thing that was said counts: a failure is followed by the end that it causes.
    fn end(&mut self, how: Result<Exit, SandboxError>) {
        if self.ended.is_none() {
            self.ended = Some(how);
        }
        self.let_go();
        self.launcher.wait();
        cgroup::remove(self.launcher.id());
    }

    pub(crate) fn ended(&self) -> Option<Result<Exit, SandboxError>> {
        self.ended.clone()
    }
}

impl Drop for Sandboxed {
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = self.kill();
        }
    }
}

impl Killer {
    /// Ends the process and everything it started. Returns at once; whoever waits learns of the end.
    pub fn kill(&self) {
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Write);
    }
}

/// Waits until something can be read, or the other side is gone. False when the time is over.
pub(crate) fn readable(line: &OwnedFd, until: Instant) -> bool {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut waiting = [PollFd::new(line, PollFlags::IN)];
        match rustix::event::poll(&mut waiting, Some(&time(left))) {
            Ok(0) if left.is_zero() => return false,
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // An error shows when it is read.
            Ok(_) | Err(_) => return true,
        }
    }
}

pub(crate) fn time(left: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    }
}
