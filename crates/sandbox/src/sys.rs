//! The system calls that nobody wraps safely. All unsafe code of this program is in this file.

#![allow(
    unsafe_code,
    reason = "fork, unshare, close_range, mount_setattr and signal dispositions have no safe wrapper"
)]

use rustix::process::Pid;
use rustix::thread::UnshareFlags;
use std::ffi::CStr;
use std::io;

/// Which process this is, after a fork.
pub(crate) enum Forked {
    Parent(Pid),
    Child,
}

/// Forks. Only for a process with one thread: the launcher before it enters anything.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the launcher has one thread, so no lock can be held by a thread that the child lacks.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid)
            .filter(|_| pid > 0)
            .map(Forked::Parent)
            .ok_or_else(io::Error::last_os_error),
    }
}

/// Enters new namespaces.
pub(crate) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    let namespaces = namespaces.difference(UnshareFlags::FILES);
    // SAFETY: the one hazard is an unshared table of descriptors, and that flag was taken out above.
    unsafe { rustix::thread::unshare_unsafe(namespaces) }.map_err(io::Error::from)
}

/// Closes every descriptor from this one on. Only before anything owns one.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: takes numbers only. The launcher calls it before it has opened anything, so nobody owns what is closed.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    done(answer)
}

/// Sets these attributes on a mount and on all below it.
pub(crate) fn mount_attributes(path: &CStr, set: u64, recursive: bool) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path ends with NUL, and the structure lives until the call returns and has the size that is passed.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    done(answer)
}

/// Signals that a terminal sends: the launcher outlives them, the command decides for itself.
const OF_TERMINALS: [libc::c_int; 5] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

pub(crate) fn ignore_terminal() {
    for signal in OF_TERMINALS {
        // SAFETY: SIG_IGN is not a function of ours that would have to be safe in a handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

pub(crate) fn heed_terminal() {
    for signal in OF_TERMINALS {
        // SAFETY: SIG_DFL is not a function of ours that would have to be safe in a handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Whether children that end are collected by the kernel, and nobody may ask how they ended.
pub(crate) fn forget_children(forget: bool) {
    let how = if forget { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: neither is a function of ours that would have to be safe in a handler.
    unsafe { libc::signal(libc::SIGCHLD, how) };
}

/// Asks for the execution domain, which no confined process may do.
pub(crate) fn personality() -> io::Result<()> {
    // SAFETY: the value asks and changes nothing.
    done(libc::c_long::from(unsafe {
        libc::personality(0xffff_ffff)
    }))
}

/// Ends this process at once, without the handlers of the process that it was forked from.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: always valid; does not return.
    unsafe { libc::_exit(code) }
}

fn done(answer: libc::c_long) -> io::Result<()> {
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
