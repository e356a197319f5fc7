//! The two processes that outlive the confined one: they wait, tell how it ended, and end the rest.

use crate::error::SandboxError;
use crate::layers::{Layer, Layers};
use crate::spawn::Exit;
use crate::sys;
use crate::wire::{self, Word};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;

/// What the first process keeps.
pub(super) struct Keeper {
    /// How the confined process ended.
    ended: PipeReader,
    tell: PipeWriter,
    /// A byte that says that the first process lives.
    alive: PipeWriter,
    hear: PipeReader,
    /// Where the children of this process are listed, when they are not in a table of their own.
    children: Option<std::fs::File>,
}

/// The second process's ends.
pub(super) struct Reports {
    tell: PipeWriter,
    hear: PipeReader,
}

impl Keeper {
    pub(super) fn prepare(layers: &mut Layers) -> Result<Self, SandboxError> {
        let failed = |e| SandboxError::step("prepare to wait", e);
        let (ended, tell) = std::io::pipe().map_err(failed)?;
        let (hear, alive) = std::io::pipe().map_err(failed)?;
        let mut children = None;
        if !layers.holds(Layer::PidNamespace) {
            // Orphans come to us, so that none is left when the confined process ends.
            let own = Some(rustix::process::getpid());
            rustix::process::set_child_subreaper(own)
                .map_err(|e| SandboxError::step("adopt orphans", e))?;
            let own = rustix::process::getpid().as_raw_nonzero();
            children = std::fs::File::open(format!("/proc/self/task/{own}/children")).ok();
        }
        // Tried on ourselves: the kernel either has it or not.
        match rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty()) {
            Ok(_) => layers.hold(Layer::Pidfd, "used by the launcher"),
            Err(error) => layers.miss(Layer::Pidfd, error.to_string()),
        }
        Ok(Self {
            ended,
            tell,
            alive,
            hear,
            children,
        })
    }

    /// In the child: its ends.
    pub(super) fn child(self) -> Result<Reports, SandboxError> {
        Ok(Reports {
            tell: self.tell,
            hear: self.hear,
        })
    }

    /// Waits until the child ends or nobody wants it any more; tells how it ended; does not return.
    pub(super) fn keep(self, control: &OwnedFd, child: Pid) -> ! {
        let Self {
            mut ended,
            tell,
            mut alive,
            hear,
            children,
        } = self;
        drop((tell, hear));
        let _ = alive.write_all(&[1]);
        let handle = rustix::process::pidfd_open(child, PidfdFlags::empty()).ok();
        if let Some(handle) = &handle {
            wait_or_unwanted(control, handle);
        }
        // Of a child that ended this is nothing; of one that nobody wants it is the end.
        let killed = match &handle {
            Some(handle) => rustix::process::pidfd_send_signal(handle, Signal::KILL),
            None => rustix::process::kill_process(child, Signal::KILL),
        };
        let _ = killed;
        // With a table of its own, everything in it is gone when its first process can be collected.
        let _ = rustix::io::retry_on_intr(|| {
            rustix::process::waitpid(Some(child), WaitOptions::empty())
        });
        if let Some(children) = children {
            end_orphans(children);
        }
        let mut told = [0; 8];
        let exit = match ended.read_exact(&mut told) {
            Ok(()) => exit_from(told),
            Err(_) => Exit::Signal(Signal::KILL.as_raw()),
        };
        let _ = wire::send(control, &Word::Ended(exit), &[]);
        sys::leave(0)
    }
}

impl Reports {
    /// Waits for the sign that the first process lives.
    pub(super) fn heard(&self) -> bool {
        (&self.hear).read_exact(&mut [0]).is_ok()
    }
}

/// Collects whatever ends until the confined process does; tells how it ended; does not return.
pub(super) fn collect(confined: Pid, reports: &Reports) -> ! {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == confined => {
                let _ = (&reports.tell).write_all(&bytes(status));
                sys::leave(0);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => sys::leave(0),
        }
    }
}

/// Returns when the child ended, or when the other side of the control line is closed.
fn wait_or_unwanted(control: &OwnedFd, child: &OwnedFd) {
    loop {
        let mut waiting = [
            PollFd::new(control, PollFlags::IN),
            PollFd::new(child, PollFlags::IN),
        ];
        match rustix::event::poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => return,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Kills and collects children until there are none: orphans become ours.
fn end_orphans(mut list: std::fs::File) {
    use std::io::{Seek, SeekFrom};
    loop {
        let mut text = String::new();
        if list.seek(SeekFrom::Start(0)).is_err() || list.read_to_string(&mut text).is_err() {
            return;
        }
        for pid in text.split_ascii_whitespace() {
            if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// A kind (0 by itself, 1 by a signal) and a number.
fn bytes(status: WaitStatus) -> [u8; 8] {
    let (kind, number): (i32, i32) = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => (0, code),
        (None, signal) => (1, signal.unwrap_or(Signal::KILL.as_raw())),
    };
    let mut told = [0; 8];
    let (first, second) = told.split_at_mut(4);
    first.copy_from_slice(&kind.to_ne_bytes());
    second.copy_from_slice(&number.to_ne_bytes());
    told
}

fn exit_from(told: [u8; 8]) -> Exit {
    let [a, b, c, d, e, f, g, h] = told;
    let number = i32::from_ne_bytes([e, f, g, h]);
    match i32::from_ne_bytes([a, b, c, d]) {
        0 => Exit::Code(number),
        _ => Exit::Signal(number),
    }
}
