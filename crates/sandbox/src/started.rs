//! The process that was started to confine another one: ours to collect, or a template's.

use crate::spawn::{END, readable};
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Instant;

/// The launcher of a confined process.
#[derive(Debug)]
pub(crate) enum Started {
    /// A child of ours.
    Own(Child),
    /// A child of a template, which the kernel collects.
    Forked { pid: u32, handle: OwnedFd },
}

impl Started {
    pub(crate) fn id(&self) -> u32 {
        match self {
            Self::Own(child) => child.id(),
            Self::Forked { pid, .. } => *pid,
        }
    }

    pub(crate) fn kill(&mut self) {
        let _ = match self {
            Self::Own(child) => child.kill(),
            Self::Forked { handle, .. } => {
                rustix::process::pidfd_send_signal(handle, rustix::process::Signal::KILL)
                    .map_err(std::io::Error::from)
            }
        };
    }

    /// Returns when it is gone.
    pub(crate) fn wait(&mut self) {
        match self {
            Self::Own(child) => drop(child.wait()),
            Self::Forked { handle, .. } => {
                let _ = readable(handle, Instant::now() + END);
            }
        }
    }
}
