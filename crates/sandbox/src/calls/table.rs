//! The lists of system calls, by name.

/// A name and its number on this processor.
pub(super) type Call = (&'static str, i64);

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

/// The name as in the manual.
pub(super) fn name((call, _): &Call) -> &'static str {
    call.strip_prefix("SYS_").unwrap_or(call)
}

/// Computing, its own files and descriptors, waiting, threads: every role.
pub(super) const COMMON: &[Call] = calls![
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev SYS_preadv2
    SYS_pwritev2 SYS_close SYS_close_range SYS_lseek SYS_munmap SYS_mremap SYS_madvise SYS_brk SYS_futex
    SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_set_tid_address SYS_clock_gettime SYS_clock_getres
    SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_getpid SYS_gettid SYS_getppid SYS_getuid
    SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid SYS_sched_yield SYS_sched_getaffinity
    SYS_sched_getparam SYS_sched_getscheduler SYS_getcpu SYS_getrandom SYS_rt_sigaction SYS_rt_sigprocmask
    SYS_rt_sigreturn SYS_sigaltstack SYS_rt_sigtimedwait SYS_restart_syscall SYS_exit SYS_exit_group
    SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_timerfd_create
    SYS_timerfd_settime SYS_timerfd_gettime SYS_ppoll SYS_pselect6 SYS_sendmsg SYS_recvmsg SYS_sendto
    SYS_recvfrom SYS_shutdown SYS_getsockopt SYS_setsockopt SYS_getsockname SYS_getpeername SYS_fcntl
    SYS_dup SYS_dup3 SYS_pipe2 SYS_fstat SYS_newfstatat SYS_statx SYS_faccessat SYS_faccessat2
    SYS_readlinkat SYS_getcwd SYS_chdir SYS_getdents64 SYS_mkdirat SYS_unlinkat SYS_renameat2 SYS_ftruncate
    SYS_fsync SYS_fdatasync SYS_fallocate SYS_flock SYS_umask SYS_sysinfo SYS_uname SYS_getrusage
    SYS_membarrier SYS_times
];

/// The same under names that newer processors no longer have.
#[cfg(target_arch = "x86_64")]
pub(super) const COMMON_X86: &[Call] = calls![
    SYS_stat SYS_lstat SYS_access SYS_readlink SYS_mkdir SYS_rmdir SYS_unlink SYS_rename
    SYS_renameat SYS_dup2 SYS_pipe SYS_poll SYS_select SYS_epoll_wait SYS_epoll_create SYS_eventfd SYS_time
    SYS_getdents SYS_getrlimit
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const COMMON_X86: &[Call] = &[];

/// What ordinary programs need besides: executing, its own children, sockets, links, attributes, timers.
pub(super) const PLUGIN: &[Call] = calls![
    SYS_accept SYS_accept4 SYS_bind SYS_connect SYS_listen SYS_sendmmsg SYS_recvmmsg SYS_execve SYS_execveat
    SYS_wait4 SYS_waitid SYS_capget SYS_fchdir SYS_truncate
    SYS_statfs SYS_fstatfs SYS_sync SYS_syncfs SYS_fadvise64 SYS_readahead SYS_copy_file_range SYS_sendfile
    SYS_splice SYS_tee SYS_vmsplice SYS_linkat SYS_symlinkat SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr SYS_inotify_init1
    SYS_inotify_add_watch SYS_inotify_rm_watch SYS_signalfd4 SYS_timer_create SYS_timer_settime
    SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete SYS_getitimer SYS_setitimer SYS_getpgid
    SYS_getsid SYS_getpriority SYS_getgroups SYS_ioprio_get SYS_sched_get_priority_max
    SYS_sched_get_priority_min SYS_sched_getattr SYS_sched_rr_get_interval SYS_sched_setaffinity
    SYS_mprotect SYS_mincore SYS_msync SYS_mlock SYS_mlock2 SYS_munlock SYS_munlockall SYS_mseal
    SYS_futex_waitv SYS_rt_sigpending SYS_rt_sigsuspend SYS_pidfd_open
];

/// The same under names that newer processors no longer have.
#[cfg(target_arch = "x86_64")]
pub(super) const PLUGIN_X86: &[Call] = calls![
    SYS_fork SYS_vfork SYS_arch_prctl SYS_link SYS_symlink
    SYS_alarm SYS_pause SYS_getpgrp SYS_inotify_init
    SYS_signalfd SYS_setrlimit SYS_sync_file_range
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const PLUGIN_X86: &[Call] = &[];

/// Changing who may use a file, and when it was changed: Landlock does not ask, so only where others' files cannot be named.
pub(super) const METADATA: &[Call] = calls![
    SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
    SYS_removexattr SYS_lremovexattr SYS_fremovexattr
];

/// The same under names that newer processors no longer have.
#[cfg(target_arch = "x86_64")]
pub(super) const METADATA_X86: &[Call] = calls![
    SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat ];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const METADATA_X86: &[Call] = &[];

/// Leaving its process group: only where that does not help to outlive the end.
pub(super) const GROUPS: &[Call] = calls![
    SYS_setsid SYS_setpgid
];

/// Signals: only where they reach nobody else.
pub(super) const SIGNALS: &[Call] = calls![
    SYS_kill SYS_tkill SYS_tgkill SYS_pidfd_send_signal SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo
];

/// Answered as if the kernel were older: their flags are behind a pointer, where no filter sees them.
pub(super) const UNKNOWN: &[Call] = calls![SYS_clone3 SYS_openat2];

/// What must never be on a list. A test compares; nothing else needs it, since what is not on a list is denied.
#[cfg(test)]
pub(super) const DENIED: &[Call] = calls![
    SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_memfd_secret SYS_landlock_add_rule
    SYS_landlock_create_ruleset SYS_landlock_restrict_self SYS_ptrace SYS_process_vm_readv
    SYS_process_vm_writev SYS_process_madvise SYS_pidfd_getfd SYS_kcmp SYS_mount SYS_umount2 SYS_pivot_root
    SYS_chroot SYS_move_mount SYS_open_tree SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr
    SYS_setns SYS_unshare SYS_keyctl SYS_add_key SYS_request_key SYS_bpf SYS_userfaultfd SYS_perf_event_open
    SYS_kexec_load SYS_kexec_file_load SYS_init_module SYS_finit_module SYS_delete_module SYS_reboot
    SYS_swapon SYS_swapoff SYS_acct SYS_quotactl SYS_syslog SYS_personality SYS_settimeofday
    SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname SYS_name_to_handle_at
    SYS_open_by_handle_at SYS_lookup_dcookie SYS_vhangup SYS_seccomp SYS_mbind SYS_set_mempolicy
    SYS_migrate_pages SYS_move_pages SYS_setpriority SYS_sched_setscheduler SYS_sched_setparam
    SYS_sched_setattr SYS_ioprio_set SYS_setuid SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid
    SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_setgroups SYS_capset SYS_memfd_create SYS_shmget SYS_shmat
    SYS_shmctl SYS_msgget SYS_msgctl SYS_semget SYS_semctl SYS_mq_open SYS_mq_unlink SYS_fanotify_init
    SYS_fanotify_mark SYS_process_mrelease
];
