//! Calls that are allowed with some arguments only.

use super::{Circumstances, Rules};
use crate::confinement::{Network, Role};
use rustix::process::Pid;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

type Condition = Result<SeccompCondition, BackendError>;

/// Flags of clone that make namespaces.
pub(super) const NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32 as u64;
const THREAD: u64 = libc::CLONE_THREAD as u64;
const EXECUTE: u64 = libc::PROT_EXEC as u64;
const WRITE: u64 = libc::PROT_WRITE as u64;
const SHARED: u64 = libc::MAP_SHARED as u64;
const ANONYMOUS: u64 = libc::MAP_ANONYMOUS as u64;

/// Requests to a terminal or a device that write into it or change what it is.
const REQUESTS_DENIED: [u64; 4] = [
    libc::TIOCSTI,
    libc::TIOCLINUX,
    libc::TIOCSETD,
    libc::TIOCCONS,
];
/// Requests that only tell or concern the descriptor.
const REQUESTS_OF_WORKERS: [u64; 5] = [
    libc::FIONBIO,
    libc::FIONREAD,
    libc::FIOCLEX,
    libc::FIONCLEX,
    libc::TCGETS,
];

/// Names, and nothing that concerns its confinement.
const PRCTL_OF_WORKERS: [i32; 3] = [libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA];
/// Names, questions, and giving up more.
const PRCTL_OF_PLUGINS: [i32; 13] = [
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_VMA,
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_DUMPABLE,
    libc::PR_GET_KEEPCAPS,
    libc::PR_CAPBSET_READ,
    libc::PR_GET_SECCOMP,
    libc::PR_GET_SECUREBITS,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_GET_TID_ADDRESS,
];

/// A worker: threads but no processes, memory but no code, its own pid only.
pub(super) fn worker(pid: Pid) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    rules.insert(
        libc::SYS_clone,
        vec![rule([masked(0, THREAD | NAMESPACES, THREAD)])?],
    );
    rules.insert(
        libc::SYS_mmap,
        vec![
            rule([masked(2, EXECUTE, 0), masked(3, SHARED, 0)])?,
            rule([masked(2, EXECUTE | WRITE, 0)])?,
        ],
    );
    rules.insert(libc::SYS_mprotect, vec![rule([masked(2, EXECUTE, 0)])?]);
    rules.insert(libc::SYS_ioctl, any_of(1, REQUESTS_OF_WORKERS)?);
    rules.insert(libc::SYS_prctl, any_of(0, PRCTL_OF_WORKERS.map(small))?);
    rules.insert(libc::SYS_tgkill, own(pid)?);
    rules.insert(libc::SYS_prlimit64, vec![rule([whole(2, 0)])?]);
    rules.insert(libc::SYS_socketpair, any_of(0, [small(libc::AF_UNIX)])?);
    Ok(rules)
}

/// A plugin: no namespaces, no hidden memory, no sockets but those that its network is made of.
pub(super) fn plugin(at: Circumstances) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    rules.insert(libc::SYS_clone, vec![rule([masked(0, NAMESPACES, 0)])?]);
    // Memory that is shared and of no file is counted by no limit.
    rules.insert(
        libc::SYS_mmap,
        vec![
            rule([masked(3, SHARED, 0)])?,
            rule([masked(3, ANONYMOUS, 0)])?,
        ],
    );
    rules.insert(
        libc::SYS_ioctl,
        vec![rule(REQUESTS_DENIED.map(|request| differs(1, request)))?],
    );
    rules.insert(libc::SYS_prctl, any_of(0, PRCTL_OF_PLUGINS.map(small))?);
    // Its own limits only; the kernel sees to it that they only fall.
    rules.insert(libc::SYS_prlimit64, vec![rule([whole(0, 0)])?]);
    rules.insert(libc::SYS_socketpair, any_of(0, [small(libc::AF_UNIX)])?);
    rules.insert(libc::SYS_socket, sockets(at)?);
    // Overruled by the plain entry where signals cannot reach others.
    rules.insert(libc::SYS_kill, own(at.pid)?);
    rules.insert(libc::SYS_tgkill, own(at.pid)?);
    Ok(rules)
}

/// Opening, making and changing files, but none that would give its owner's rights to whoever executes it: outside, the
/// owner is the one who runs us.
pub(super) fn files(role: Role, own_view: bool) -> Result<Rules, BackendError> {
    const MAKES: u64 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u64;
    let opens = |flags: u8| -> Result<Vec<SeccompRule>, BackendError> {
        Ok(vec![
            rule([masked(flags, MAKES, 0)])?,
            rule([plain(flags + 1)])?,
        ])
    };
    let makes =
        |mode: u8| -> Result<Vec<SeccompRule>, BackendError> { Ok(vec![rule([plain(mode)])?]) };
    let mut rules = Rules::new();
    rules.insert(libc::SYS_openat, opens(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, opens(1)?);
    if role == Role::Worker {
        return Ok(rules);
    }
    rules.insert(libc::SYS_mknodat, makes(2)?);
    #[cfg(target_arch = "x86_64")]
    {
        rules.insert(libc::SYS_creat, makes(1)?);
        rules.insert(libc::SYS_mknod, makes(1)?);
    }
    // As with owners and times, Landlock does not ask.
    if own_view {
        rules.insert(libc::SYS_fchmod, makes(1)?);
        rules.insert(libc::SYS_fchmodat, makes(2)?);
        #[cfg(target_arch = "x86_64")]
        {
            rules.insert(libc::SYS_chmod, makes(1)?);
            rules.insert(libc::SYS_fchmodat2, makes(2)?);
        }
    }
    Ok(rules)
}

/// A mode without setuid and setgid.
fn plain(argument: u8) -> Condition {
    const SET_ID: u64 = (libc::S_ISUID | libc::S_ISGID) as u64;
    masked(argument, SET_ID, 0)
}

fn sockets(at: Circumstances) -> Result<Vec<SeccompRule>, BackendError> {
    const NO_FAMILY: u64 = u32::MAX as u64;
    /// The kind without its flags.
    const KIND: u64 = 0xf;
    let stream = small(libc::SOCK_STREAM);
    let datagram = small(libc::SOCK_DGRAM);
    let mut rules = Vec::new();
    // Landlock does not ask about sockets in files, so only where others' cannot be named.
    if at.own_view {
        rules.push(rule([equals(0, small(libc::AF_UNIX))])?);
    }
    let kinds: &[u64] = match at.network {
        Network::None => &[],
        // There is one thing to reach, and it speaks TCP.
        Network::Proxied => &[stream],
        Network::Full => &[stream, datagram],
    };
    for family in [libc::AF_INET, libc::AF_INET6] {
        for kind in kinds {
            rules.push(rule([equals(0, small(family)), masked(1, KIND, *kind)])?);
        }
    }
    // A call without a condition would be allowed: this one never holds.
    if rules.is_empty() {
        rules.push(rule([equals(0, NO_FAMILY)])?);
    }
    Ok(rules)
}

fn own(pid: Pid) -> Result<Vec<SeccompRule>, BackendError> {
    any_of(0, [small(pid.as_raw_nonzero().get())])
}

fn any_of<const N: usize>(
    argument: u8,
    values: [u64; N],
) -> Result<Vec<SeccompRule>, BackendError> {
    values
        .into_iter()
        .map(|value| rule([equals(argument, value)]))
        .collect()
}

fn rule<const N: usize>(conditions: [Condition; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// As the kernel does, the upper half of these arguments is ignored: an odd one could not hide a value.
fn equals(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn differs(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Condition {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(mask),
        value,
    )
}

/// A pointer or a number that the kernel reads whole.
fn whole(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, value)
}

fn small(value: i32) -> u64 {
    u64::from(value.unsigned_abs())
}
