//! A process that prepares once what many workers need, and of which they are forked. It is not confined and handles
//! nothing from outside: it hears its starter alone, and each process that leaves it confines itself like any other.

use super::die_with_parent;
use crate::sys::{self, Forked};
use crate::wire::{self, Fork, Setup, Told};
use rustix::process::PidfdFlags;
use std::os::fd::{AsFd, OwnedFd};

/// Prepares and then forks whenever it is asked to. Returns in each process that was forked, with what was prepared and
/// its own control line; nothing when there is nothing to do here. The template itself does not return.
pub(super) fn serve<T>(
    line: OwnedFd,
    prepare: impl FnOnce(&str, &str) -> T,
) -> Option<(T, OwnedFd)> {
    let (setup, _) = wire::receive::<Setup>(&line).ok().flatten()?;
    rustix::process::setsid().ok()?;
    die_with_parent().ok()?;
    if rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(setup.parent) {
        return None;
    }
    let prepared = prepare(&setup.job, &setup.how);
    sys::forget_children(true);
    wire::send(&line, &Told::Prepared, &[]).ok()?;
    loop {
        let Ok(Some((Fork, descriptors))) = wire::receive::<Fork>(&line) else {
            // Nobody wants any more of them.
            sys::leave(0);
        };
        let Some(control) = descriptors.into_iter().next() else {
            sys::leave(0);
        };
        match sys::fork() {
            Ok(Forked::Child) => {
                sys::forget_children(false);
                // As in a launcher of its own: the control line is its standard input, and nothing else is open.
                rustix::stdio::dup2_stdin(control.as_fd()).ok()?;
                drop(line);
                return Some((prepared, control));
            }
            Ok(Forked::Parent(pid)) => {
                let told = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
                    Ok(handle) => {
                        let number = pid.as_raw_nonzero().get().unsigned_abs();
                        wire::send(&line, &Told::Forked(number), &[handle.as_fd()])
                    }
                    Err(_) => wire::send(&line, &Told::NotForked, &[]),
                };
                if told.is_err() {
                    sys::leave(0);
                }
            }
            Err(_) => wire::send(&line, &Told::NotForked, &[]).ok()?,
        }
    }
}
