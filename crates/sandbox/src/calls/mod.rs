//! Which system calls each role may make: a list of what is allowed, and nothing else.
//!
//! Two filters. The first answers ENOSYS where programs have an older call to fall back on that can be judged by its
//! arguments. The second is the list: for a worker everything else is death by SIGSYS, for a plugin EPERM. Calls of
//! another architecture kill; calls of the x32 interface are other numbers, and so not on the list.

mod conditions;
mod container;
mod table;

pub use container::container_profile;

use crate::confinement::{Network, Role};
use crate::error::SandboxError;
use rustix::process::Pid;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters, ready to be applied.
pub(crate) struct Filters {
    programs: [BpfProgram; 2],
    allowed: usize,
    role: Role,
}

/// What the list depends on besides the role.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub(crate) network: Network,
    /// It sees only the files that it was given.
    pub(crate) own_view: bool,
    /// It is in a process table of its own: it cannot leave its group in a way that matters.
    pub(crate) own_table: bool,
    /// It reaches no process but its own.
    pub(crate) signals_contained: bool,
    pub(crate) pid: Pid,
}

/// The filters of a role.
pub(crate) fn compile(role: Role, circumstances: Circumstances) -> Result<Filters, SandboxError> {
    let failed = |_| SandboxError::Invalid("the list of system calls does not compile".to_owned());
    let arch: TargetArch = std::env::consts::ARCH
        .try_into()
        .map_err(|_| SandboxError::Invalid("this processor is not supported".to_owned()))?;
    let rules = allowed(role, circumstances).map_err(failed)?;
    let allowed = rules.len();
    let other = match role {
        Role::Worker => SeccompAction::KillProcess,
        Role::Plugin => SeccompAction::Errno(libc::EPERM.unsigned_abs()),
    };
    let unknown: Rules = table::UNKNOWN
        .iter()
        .map(|(_, call)| (*call, Vec::new()))
        .collect();
    let no_such = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let program = |rules, other, matching| {
        SeccompFilter::new(rules, other, matching, arch)
            .and_then(BpfProgram::try_from)
            .map_err(failed)
    };
    Ok(Filters {
        programs: [
            program(unknown, SeccompAction::Allow, no_such)?,
            program(rules, other, SeccompAction::Allow)?,
        ],
        allowed,
        role,
    })
}

fn allowed(role: Role, circumstances: Circumstances) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = match role {
        Role::Worker => conditions::worker(circumstances.pid)?,
        Role::Plugin => conditions::plugin(circumstances)?,
    };
    rules.extend(conditions::files(role, circumstances.own_view)?);
    let mut plain = |calls: &[table::Call]| {
        rules.extend(calls.iter().map(|(_, call)| (*call, Vec::new())));
    };
    plain(table::UNKNOWN);
    plain(table::COMMON);
    plain(table::COMMON_X86);
    if role == Role::Plugin {
        plain(table::PLUGIN);
        plain(table::PLUGIN_X86);
        if circumstances.own_view {
            plain(table::METADATA);
            plain(table::METADATA_X86);
        }
        if circumstances.own_table {
            plain(table::GROUPS);
        }
        if circumstances.own_table || circumstances.signals_contained {
            plain(table::SIGNALS);
        }
    }
    Ok(rules)
}

impl Filters {
    pub(crate) fn detail(&self) -> String {
        let otherwise = match self.role {
            Role::Worker => "kills",
            Role::Plugin => "fails",
        };
        format!("{} calls allowed, any other {otherwise}", self.allowed)
    }

    /// Applies both to this thread and to what it becomes.
    pub(crate) fn apply(&self) -> Result<(), SandboxError> {
        for program in &self.programs {
            seccompiler::apply_filter(program).map_err(|error| {
                let os = match error {
                    seccompiler::Error::Prctl(os) | seccompiler::Error::Seccomp(os) => {
                        crate::error::said(&os)
                    }
                    _ => "refused".to_owned(),
                };
                SandboxError::Step {
                    step: "restrict system calls".to_owned(),
                    os,
                }
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(network: Network) -> Circumstances {
        Circumstances {
            network,
            own_view: true,
            own_table: true,
            signals_contained: true,
            pid: rustix::process::getpid(),
        }
    }

    fn has(role: Role, network: Network, call: i64) -> bool {
        allowed(role, at(network)).unwrap().contains_key(&call)
    }

    #[test]
    fn every_role_compiles_in_every_network() {
        for role in [Role::Worker, Role::Plugin] {
            for network in [Network::None, Network::Proxied, Network::Full] {
                assert!(compile(role, at(network)).is_ok());
            }
        }
    }

    #[test]
    fn what_is_denied_is_on_no_list() {
        for (name, call) in table::DENIED {
            for role in [Role::Worker, Role::Plugin] {
                assert!(!has(role, Network::Full, *call), "{name} is allowed");
            }
        }
    }

    #[test]
    fn a_worker_can_neither_execute_nor_connect() {
        for call in [
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_kill,
            libc::SYS_symlinkat,
            libc::SYS_linkat,
            libc::SYS_memfd_create,
        ] {
            assert!(!has(Role::Worker, Network::Full, call), "{call}");
        }
    }

    #[test]
    fn without_a_table_of_its_own_it_stays_in_its_group() {
        let shared = Circumstances {
            own_view: false,
            own_table: false,
            signals_contained: false,
            ..at(Network::None)
        };
        let rules = allowed(Role::Plugin, shared).unwrap();
        for call in [
            libc::SYS_fchmodat,
            libc::SYS_setsid,
            libc::SYS_setpgid,
            libc::SYS_pidfd_send_signal,
        ] {
            assert!(!rules.contains_key(&call), "{call}");
        }
        // To itself it may.
        assert!(!rules.get(&libc::SYS_kill).unwrap().is_empty());
    }
}
