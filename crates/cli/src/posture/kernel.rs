//! What the kernel can do to confine, and what it lets neighbours do.

use super::check::{Check, Outcome, found, found_if, info, warn};
use super::scene::Scene;
use blastshield_config::Renderer;

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("kernel.root", "This runs as root: whatever breaks out of it owns the machine", "run blastshield as a user of its own (User= in a unit, USER in an image)", |s| found_if(s.root, || "user 0".to_owned())),
    warn("kernel.no_seccomp", "The kernel cannot filter system calls", "use a kernel with CONFIG_SECCOMP_FILTER", |s| match s.machine_file("proc/self/status") {
        None => Outcome::NotHere,
        Some(status) => found_if(!status.lines().any(|line| line.starts_with("Seccomp:")), || "no Seccomp line in /proc/self/status".to_owned()),
    }),
    info("kernel.no_landlock", "The kernel cannot confine file access by Landlock", "boot with landlock in lsm=, on Linux 5.13 or later", |s| match s.machine_file("sys/kernel/security/lsm") {
        None => Outcome::NotHere,
        Some(list) => found_if(!list.split(',').any(|one| one == "landlock"), || "landlock is not in /sys/kernel/security/lsm".to_owned()),
    }),
    warn("kernel.no_user_namespaces", "The browser's sandbox needs user namespaces, which are off", "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000", namespaces),
    warn("kernel.ptrace", "Any process of the same user can read the memory of another", "sysctl -w kernel.yama.ptrace_scope=1", |s| is(s, "proc/sys/kernel/yama/ptrace_scope", "0", "kernel.yama.ptrace_scope")),
    warn("kernel.bpf", "Every user may load BPF programs", "sysctl -w kernel.unprivileged_bpf_disabled=1", |s| is(s, "proc/sys/kernel/unprivileged_bpf_disabled", "0", "kernel.unprivileged_bpf_disabled")),
    info("kernel.core_dumps", "A crash writes memory, with the secrets in it, to a file or program", "ulimit -c 0 (LimitCORE=0 in a unit)", core_dumps),
    warn("kernel.no_aslr", "Addresses are not randomised", "sysctl -w kernel.randomize_va_space=2", |s| match s.machine_file("proc/sys/kernel/randomize_va_space") {
        None => Outcome::NotHere,
        Some(value) => found_if(value != "2", || format!("kernel.randomize_va_space = {}", short(&value))),
    }),
    warn("kernel.open_links", "Links in shared folders are followed for everyone", "sysctl -w fs.protected_symlinks=1 fs.protected_hardlinks=1", |s| is(s, "proc/sys/fs/protected_symlinks", "0", "fs.protected_symlinks")),
];

/// Found when a file of the machine says this.
fn is(scene: &Scene, path: &str, wrong: &str, name: &str) -> Outcome {
    match scene.machine_file(path) {
        None => Outcome::NotHere,
        Some(value) => found_if(value == wrong, || format!("{name} = {wrong}")),
    }
}

fn namespaces(scene: &Scene) -> Outcome {
    if scene.settings.renderer.backend != Renderer::Chromium {
        return Outcome::NotHere;
    }
    for (path, name) in [
        (
            "proc/sys/kernel/unprivileged_userns_clone",
            "kernel.unprivileged_userns_clone",
        ),
        (
            "proc/sys/user/max_user_namespaces",
            "user.max_user_namespaces",
        ),
    ] {
        if scene.machine_file(path).as_deref() == Some("0") {
            return found(format!("{name} = 0"));
        }
    }
    Outcome::Fine
}

fn core_dumps(scene: &Scene) -> Outcome {
    let Some(limits) = scene.machine_file("proc/self/limits") else {
        return Outcome::NotHere;
    };
    let soft = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"))
        .and_then(|rest| rest.split_whitespace().next());
    let pattern = scene
        .machine_file("proc/sys/kernel/core_pattern")
        .unwrap_or_default();
    // A program behind the pattern gets the memory whatever the limit says.
    let piped = pattern.starts_with('|');
    let told = if piped {
        "kernel.core_pattern is a program"
    } else {
        "core files are not limited to 0"
    };
    found_if(
        !pattern.is_empty() && (piped || soft.is_some_and(|soft| soft != "0")),
        || told.to_owned(),
    )
}

fn short(value: &str) -> String {
    value
        .chars()
        .filter(char::is_ascii_graphic)
        .take(20)
        .collect()
}
