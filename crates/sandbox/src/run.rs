//! A command from start to end: bounded in time and in what it says.

use crate::confinement::{Confinement, Streams};
use crate::error::SandboxError;
use crate::layers::Layers;
use crate::spawn::{Exit, Launcher, Sandboxed, time};
use rustix::event::{PollFd, PollFlags};
use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Longest time; then everything is ended.
    pub time: Duration,
    /// Most bytes of each of its two streams; then everything is ended.
    pub output: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            output: 1024 * 1024,
        }
    }
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended; by a signal also when we ended it.
    pub exit: Exit,
    /// Its output, up to the bound.
    pub stdout: Vec<u8>,
    /// Its errors, up to the bound.
    pub stderr: Vec<u8>,
    /// We ended it for taking too long.
    pub timed_out: bool,
    /// We ended it for saying too much.
    pub too_much: bool,
    /// Which layers held.
    pub layers: Layers,
}

/// Which of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Its standard output.
    Output,
    /// Its standard error.
    Errors,
}

impl Launcher {
    /// Runs a command to its end with this input. `serve` gets the listener of [`crate::Network::Proxied`], and must
    /// return at once (serve it from a thread or a task).
    pub fn run(
        &self,
        command: &[OsString],
        confinement: &Confinement,
        bounds: Bounds,
        input: &[u8],
        serve: impl FnOnce(TcpListener),
    ) -> Result<Finished, SandboxError> {
        self.run_and_show(command, confinement, bounds, input, serve, &mut |_, _| {})
    }

    /// As [`Self::run`], and shows each piece of what it says as it comes.
    pub fn run_and_show(
        &self,
        command: &[OsString],
        confinement: &Confinement,
        bounds: Bounds,
        input: &[u8],
        serve: impl FnOnce(TcpListener),
        show: &mut dyn FnMut(Source, &[u8]),
    ) -> Result<Finished, SandboxError> {
        let until = Instant::now() + bounds.time;
        let confinement = confinement.clone().streams(Streams::Pipes);
        let mut child = self.command(command, &confinement)?;
        if let Some(listener) = child.listener.take() {
            serve(listener);
        }
        let mut run = Run::new(&mut child, input, bounds.output, show)?;
        let timed_out = !run.until_end(&mut child, until)?;
        let too_much = run.too_much();
        let exit = child.kill()?;
        Ok(Finished {
            exit,
            stdout: run.output.taken,
            stderr: run.errors.taken,
            timed_out,
            too_much,
            layers: child.layers().clone(),
        })
    }
}

/// One of its streams.
struct Stream {
    source: Source,
    from: Option<PipeReader>,
    taken: Vec<u8>,
    most: usize,
    over: bool,
}

struct Run<'a> {
    stdin: Option<PipeWriter>,
    input: &'a [u8],
    output: Stream,
    errors: Stream,
    show: &'a mut dyn FnMut(Source, &[u8]),
}

impl<'a> Run<'a> {
    fn new(
        child: &mut Sandboxed,
        input: &'a [u8],
        most: usize,
        show: &'a mut dyn FnMut(Source, &[u8]),
    ) -> Result<Self, SandboxError> {
        let stream = |source, from| Stream {
            source,
            from,
            taken: Vec::new(),
            most,
            over: false,
        };
        let run = Self {
            stdin: child.stdin.take().filter(|_| !input.is_empty()),
            input,
            output: stream(Source::Output, child.stdout.take()),
            errors: stream(Source::Errors, child.stderr.take()),
            show,
        };
        // A command that does not read must not stop us.
        if let Some(stdin) = &run.stdin {
            rustix::io::ioctl_fionbio(stdin, true)
                .map_err(|e| SandboxError::step("prepare its input", e))?;
        }
        Ok(run)
    }

    fn too_much(&self) -> bool {
        self.output.over || self.errors.over
    }

    /// Until it has ended, said too much (true), or the time is over (false).
    fn until_end(&mut self, child: &mut Sandboxed, until: Instant) -> Result<bool, SandboxError> {
        while !self.too_much() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let ready = {
                let watched = self.watched(child);
                let mut waiting: Vec<PollFd<'_>> = watched
                    .iter()
                    .map(|(_, line, flags)| PollFd::from_borrowed_fd(*line, *flags))
                    .collect();
                match rustix::event::poll(&mut waiting, Some(&time(left))) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(e) => return Err(SandboxError::step("wait", e)),
                }
                let ready = waiting.iter().map(|waited| !waited.revents().is_empty());
                let names = watched.iter().map(|(name, _, _)| *name);
                names
                    .zip(ready)
                    .filter(|(_, ready)| *ready)
                    .map(|(name, _)| name)
                    .collect::<Vec<_>>()
            };
            for name in ready {
                match name {
                    Watched::Control => child.listen(),
                    Watched::Output => self.output.take_some(self.show),
                    Watched::Errors => self.errors.take_some(self.show),
                    Watched::Input => self.give_some(),
                }
            }
            if let Some(ended) = child.ended() {
                ended?;
                // Everything that could write is gone: what is left in the pipes is all there will be.
                self.output.take_rest(self.show);
                self.errors.take_rest(self.show);
                return Ok(true);
            }
        }
        Ok(true)
    }

    fn watched<'w>(&'w self, child: &'w Sandboxed) -> Vec<(Watched, BorrowedFd<'w>, PollFlags)> {
        let mut all = vec![(Watched::Control, child.control.as_fd(), PollFlags::IN)];
        if let Some(from) = &self.output.from {
            all.push((Watched::Output, from.as_fd(), PollFlags::IN));
        }
        if let Some(from) = &self.errors.from {
            all.push((Watched::Errors, from.as_fd(), PollFlags::IN));
        }
        if let Some(stdin) = &self.stdin {
            all.push((Watched::Input, stdin.as_fd(), PollFlags::OUT));
        }
        all
    }

    fn give_some(&mut self) {
        let Some(stdin) = &mut self.stdin else {
            return;
        };
        match stdin.write(self.input) {
            Ok(given) => self.input = self.input.get(given..).unwrap_or_default(),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            // It does not want more.
            Err(_) => self.input = &[],
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
    }
}

#[derive(Clone, Copy)]
enum Watched {
    Control,
    Output,
    Errors,
    Input,
}

impl Stream {
    /// Takes what is there without waiting for more than poll promised.
    fn take_some(&mut self, show: &mut dyn FnMut(Source, &[u8])) {
        let Some(from) = &mut self.from else {
            return;
        };
        let mut piece = [0; 16 * 1024];
        match from.read(&mut piece) {
            Ok(0) | Err(_) => self.from = None,
            Ok(read) => {
                let room = self.most.saturating_sub(self.taken.len());
                self.over |= read > room;
                let kept = piece.get(..read.min(room)).unwrap_or_default();
                show(self.source, kept);
                self.taken.extend_from_slice(kept);
            }
        }
    }

    fn take_rest(&mut self, show: &mut dyn FnMut(Source, &[u8])) {
        while self.from.is_some() && !self.over {
            self.take_some(show);
        }
    }
}
