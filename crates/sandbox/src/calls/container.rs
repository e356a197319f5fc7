//! The plugin's list as a profile for containers (Docker, Podman, any OCI runtime).

use super::conditions::NAMESPACES;
use super::table::{self, Call, name};
use serde_json::{Value, json};

/// What a runtime itself does between applying the profile and starting the program, and what programs that drop their
/// own rights do. A container has other walls for these: its capabilities.
const RUNTIME: [&str; 12] = [
    "capset",
    "setuid",
    "setgid",
    "setgroups",
    "setresuid",
    "setresgid",
    "setreuid",
    "setregid",
    "setfsuid",
    "setfsgid",
    "setrlimit",
    "sched_setparam",
];

/// Calls whose arguments only we look at.
const CONDITIONAL: [&str; 13] = [
    "mmap",
    "prctl",
    "prlimit64",
    "socketpair",
    "open",
    "openat",
    "creat",
    "mknod",
    "mknodat",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
];

/// Calls that are denied by name, though everything that is not allowed is denied: so that a reader finds them, and a
/// runtime that merges profiles keeps them out.
const DENIED: [&str; 37] = [
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "memfd_secret",
    "landlock_add_rule",
    "landlock_create_ruleset",
    "landlock_restrict_self",
    "add_key",
    "bpf",
    "delete_module",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "mount",
    "mount_setattr",
    "move_mount",
    "open_tree",
    "perf_event_open",
    "personality",
    "pidfd_getfd",
    "pivot_root",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "request_key",
    "setns",
    "umount2",
    "unshare",
    "userfaultfd",
    "open_by_handle_at",
    "reboot",
];

/// The profile: everything is denied but a list.
pub fn container_profile() -> Value {
    let mut allowed: Vec<&str> = [
        table::COMMON,
        table::COMMON_X86,
        table::PLUGIN,
        table::PLUGIN_X86,
        table::METADATA,
        table::METADATA_X86,
        table::GROUPS,
        table::SIGNALS,
    ]
    .into_iter()
    .flatten()
    .map(|call: &Call| name(call))
    .chain(CONDITIONAL)
    .chain(RUNTIME)
    .collect();
    allowed.sort_unstable();
    allowed.dedup();
    let not = |request: u64| json!({ "index": 1, "value": request, "op": "SCMP_CMP_NE" });
    let family = |number: i32| {
        json!({
            "names": ["socket"],
            "action": "SCMP_ACT_ALLOW",
            "args": [{ "index": 0, "value": number, "op": "SCMP_CMP_EQ" }],
        })
    };
    json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": libc::EPERM,
        "archMap": [
            { "architecture": "SCMP_ARCH_X86_64", "subArchitectures": [] },
            { "architecture": "SCMP_ARCH_AARCH64", "subArchitectures": [] },
        ],
        "syscalls": [
            { "names": allowed, "action": "SCMP_ACT_ALLOW" },
            {
                "names": ["clone"],
                "action": "SCMP_ACT_ALLOW",
                "args": [{ "index": 0, "value": NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ" }],
                "comment": "no new namespaces",
            },
            {
                "names": ["clone3", "openat2"],
                "action": "SCMP_ACT_ERRNO",
                "errnoRet": libc::ENOSYS,
                "comment": "their flags cannot be seen: programs fall back to clone and openat",
            },
            {
                "names": ["ioctl"],
                "action": "SCMP_ACT_ALLOW",
                "args": [not(libc::TIOCSTI), not(libc::TIOCLINUX)],
                "comment": "nothing is typed into a terminal",
            },
            family(libc::AF_UNIX),
            family(libc::AF_INET),
            family(libc::AF_INET6),
            {
                "names": DENIED.as_slice(),
                "action": "SCMP_ACT_ERRNO",
                "errnoRet": libc::EPERM,
                "comment": "escapes, hidden memory, other processes, keys, modules, mounts",
            },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_allowed_and_denied() {
        let profile = container_profile();
        let allowed = profile["syscalls"][0]["names"].as_array().unwrap();
        for name in DENIED {
            assert!(!allowed.contains(&json!(name)), "{name}");
        }
        for name in ["read", "execve", "openat", "futex", "mmap"] {
            assert!(allowed.contains(&json!(name)), "{name}");
        }
    }

    #[test]
    fn what_the_tables_deny_is_denied_but_for_what_a_runtime_needs() {
        let profile = container_profile();
        let allowed = profile["syscalls"][0]["names"].as_array().unwrap();
        for call in table::DENIED {
            let name = name(call);
            assert!(
                RUNTIME.contains(&name) || !allowed.contains(&json!(name)),
                "{name}"
            );
        }
    }
}
