//! Calls that change or open the kernel. Arguments are such that the kernel refuses them where the filter does not.

use crate::facts::Facts;
use crate::processes::reached;
use crate::{Attempt, Outcome, raw};

/// An address where nothing is.
const NOWHERE: usize = 8;
/// A descriptor that is not open.
const CLOSED: usize = 9999;

macro_rules! calls {
    ($($name:literal => $call:ident($($argument:expr),*);)*) => {
        &[$(($name, |_| reached(raw::call(libc::$call, &[$($argument as usize),*])))),*]
    };
}

const PLAIN: &[Attempt] = calls! {
    "io_uring_setup" => SYS_io_uring_setup(0, NOWHERE);
    "io_uring_enter" => SYS_io_uring_enter(CLOSED, 0, 0, 0, 0, 0);
    "io_uring_register" => SYS_io_uring_register(CLOSED, 0, 0, 0);
    "memfd_secret" => SYS_memfd_secret(!0);
    "memfd_create" => SYS_memfd_create(c"x".as_ptr(), !0);
    "landlock_create" => SYS_landlock_create_ruleset(0, 0, 1);
    "landlock_add" => SYS_landlock_add_rule(CLOSED, 1, NOWHERE, 0);
    "landlock_restrict" => SYS_landlock_restrict_self(CLOSED, 0);
    "seccomp" => SYS_seccomp(77, 0, 0);
    "prctl_seccomp" => SYS_prctl(libc::PR_SET_SECCOMP, 77, 0, 0, 0);
    "prctl_memory_map" => SYS_prctl(libc::PR_SET_MM, 77, 0, 0, 0);
    "prctl_tracer" => SYS_prctl(libc::PR_SET_PTRACER, 0x7fff_fff0, 0, 0, 0);
    "keyctl" => SYS_keyctl(77, 0, 0, 0, 0);
    "add_key" => SYS_add_key(NOWHERE, NOWHERE, 0, 0, 0);
    "request_key" => SYS_request_key(NOWHERE, NOWHERE, 0, 0);
    "bpf" => SYS_bpf(77, NOWHERE, 4);
    "userfaultfd" => SYS_userfaultfd(!0);
    "perf_event_open" => SYS_perf_event_open(NOWHERE, 0, -1isize, -1isize, 0);
    "kexec_load" => SYS_kexec_load(0, 999, NOWHERE, 0);
    "init_module" => SYS_init_module(NOWHERE, 0, NOWHERE);
    "finit_module" => SYS_finit_module(CLOSED, NOWHERE, 0);
    "delete_module" => SYS_delete_module(NOWHERE, 0);
    "kcmp" => SYS_kcmp(1, 1, 77, 0, 0);
    "process_madvise" => SYS_process_madvise(CLOSED, NOWHERE, 1, 0, 0);
    "mount" => SYS_mount(NOWHERE, NOWHERE, NOWHERE, 0, 0);
    "umount" => SYS_umount2(NOWHERE, 0);
    "open_tree" => SYS_open_tree(CLOSED, NOWHERE, 0);
    "fsopen" => SYS_fsopen(NOWHERE, 0);
    "move_mount" => SYS_move_mount(CLOSED, NOWHERE, CLOSED, NOWHERE, 0);
    "mount_setattr" => SYS_mount_setattr(CLOSED, NOWHERE, 0, NOWHERE, 0);
    "pivot_root" => SYS_pivot_root(NOWHERE, NOWHERE);
    "chroot" => SYS_chroot(NOWHERE);
    "unshare_user" => SYS_unshare(libc::CLONE_NEWUSER);
    "unshare_mounts" => SYS_unshare(libc::CLONE_NEWNS);
    "set_namespace" => SYS_setns(CLOSED, 0);
    "personality" => SYS_personality(0xffff_ffffu32);
    "fanotify" => SYS_fanotify_init(!0, 0);
    "quotas" => SYS_quotactl(!0, NOWHERE, 0, NOWHERE);
    "kernel_log" => SYS_syslog(10, 0, 0);
    "swap" => SYS_swapon(NOWHERE, 0);
    "reboot" => SYS_reboot(0, 0, 0, 0);
    "set_clock" => SYS_clock_settime(999, NOWHERE);
    "set_host_name" => SYS_sethostname(NOWHERE, 1);
    "handle_by_name" => SYS_name_to_handle_at(CLOSED, NOWHERE, NOWHERE, NOWHERE, 0);
    "shared_segment" => SYS_shmget(0x7777, 0, 0);
    "message_queue" => SYS_mq_open(NOWHERE, 0, 0, 0);
    "priority" => SYS_setpriority(77, 0, 0);
    "scheduler" => SYS_sched_setscheduler(0, 77, NOWHERE);
    "io_priority" => SYS_ioprio_set(77, 0, 0);
    "set_groups" => SYS_setgroups(1, NOWHERE);
    "set_capabilities" => SYS_capset(NOWHERE, NOWHERE);
    "move_pages" => SYS_move_pages(1, 1, NOWHERE, 0, NOWHERE, 0);
};

pub(crate) const ATTEMPTS: &[Attempt] = &{
    let mut all: [Attempt; PLAIN.len() + 4] = [("", nothing); PLAIN.len() + 4];
    let mut place = 0;
    while place < PLAIN.len() {
        all[place] = PLAIN[place];
        place += 1;
    }
    all[place] = ("clone_user", clone_user);
    all[place + 1] = ("clone3_user", clone3_user);
    all[place + 2] = ("other_numbers", other_numbers);
    all[place + 3] = ("other_door", other_door);
    all
};

fn nothing(_: &Facts) -> Outcome {
    Outcome::Untried(String::new())
}

/// A contradiction (a thread cannot have its own users), so that nothing is made even where nothing stops it.
fn clone_user(_: &Facts) -> Outcome {
    let flags = libc::CLONE_NEWUSER | libc::CLONE_THREAD;
    reached(raw::call(libc::SYS_clone, &[flags as usize, 0, 0, 0, 0]))
}

fn clone3_user(_: &Facts) -> Outcome {
    reached(raw::call(libc::SYS_clone3, &[NOWHERE, 88]))
}

/// The numbers of the x32 interface.
fn other_numbers(_: &Facts) -> Outcome {
    const X32: i64 = 0x4000_0000;
    reached(raw::call(libc::SYS_getpid | X32, &[]))
}

#[cfg(target_arch = "x86_64")]
fn other_door(_: &Facts) -> Outcome {
    match raw::old_door() {
        answer @ 1.. => Outcome::Escaped(format!("answered {answer}")),
        answer => Outcome::Stopped(std::io::Error::from_raw_os_error(-answer as i32).to_string()),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn other_door(_: &Facts) -> Outcome {
    Outcome::Stopped("this processor has none".to_owned())
}
