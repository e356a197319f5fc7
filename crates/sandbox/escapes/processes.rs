//! Reaching other processes, and what they leave behind.

use crate::facts::Facts;
use crate::{Attempt, Outcome, raw, stopped};
use std::fs;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("signal_victim", |facts| signal(facts.victim)),
    ("signal_parent", signal_parent),
    ("signal_everybody", |_| signal(-1)),
    ("signal_first_process", |_| signal(1)),
    ("signal_by_handle", signal_by_handle),
    ("trace_victim", |facts| {
        const SEIZE: usize = 0x4206;
        let seized = raw::call(libc::SYS_ptrace, &[SEIZE, facts.victim as usize, 0, 0]);
        stopped(seized, |_| "traced".to_owned())
    }),
    ("trace_parent", |_| {
        const SEIZE: usize = 0x4206;
        let parent = rustix::process::getppid().map_or(1, |p| p.as_raw_nonzero().get());
        stopped(
            raw::call(libc::SYS_ptrace, &[SEIZE, parent as usize, 0, 0]),
            |_| "traced".to_owned(),
        )
    }),
    ("read_memory_of_victim", read_memory),
    ("memory_file_of_victim", |facts| {
        open(&format!("/proc/{}/mem", facts.victim))
    }),
    ("memory_file_of_parent", |_| {
        let parent = rustix::process::getppid().map_or(1, |p| p.as_raw_nonzero().get());
        open(&format!("/proc/{parent}/mem"))
    }),
    ("environment_of_victim", |facts| {
        open(&format!("/proc/{}/environ", facts.victim))
    }),
    ("environment_of_parent", |_| {
        let parent = rustix::process::getppid().map_or(1, |p| p.as_raw_nonzero().get());
        let read = fs::read(format!("/proc/{parent}/environ"));
        match read {
            Ok(bytes) if bytes.is_empty() => Outcome::Stopped("it is empty".to_owned()),
            other => stopped(other, |_| "read".to_owned()),
        }
    }),
    ("command_line_of_victim", |facts| {
        open(&format!("/proc/{}/cmdline", facts.victim))
    }),
    ("descriptor_of_victim", |facts| {
        let handle = raw::call(libc::SYS_pidfd_open, &[facts.victim as usize, 0]);
        match handle {
            Ok(handle) => stopped(
                raw::call(libc::SYS_pidfd_getfd, &[handle as usize, 0, 0]),
                |_| "taken".to_owned(),
            ),
            Err(error) => Outcome::Stopped(error.to_string()),
        }
    }),
    ("count_processes", count_processes),
    ("inherited_descriptors", inherited_descriptors),
    ("open_descriptors", open_descriptors),
    ("inherited_environment", inherited_environment),
    ("become_root", |_| {
        let euid = || rustix::process::geteuid().is_root();
        if euid() {
            return Outcome::Escaped("is root".to_owned());
        }
        stopped(raw::call(libc::SYS_setuid, &[0]), |_| {
            "became root".to_owned()
        })
    }),
    ("capabilities", capabilities),
    ("execute_setuid", |_| {
        let su = std::process::Command::new("/usr/bin/su")
            .args(["-c", "true"])
            .stdin(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
        match su {
            Ok(status) if status.success() => Outcome::Escaped("su worked".to_owned()),
            Ok(status) => Outcome::Stopped(status.to_string()),
            Err(error) => Outcome::Stopped(error.to_string()),
        }
    }),
    ("forget_the_parent", |_| {
        stopped(
            raw::call(libc::SYS_prctl, &[libc::PR_SET_PDEATHSIG as usize, 0]),
            |_| "it would outlive us".to_owned(),
        )
    }),
    ("type_into_terminal", |_| {
        reached(raw::call(
            libc::SYS_ioctl,
            &[0, libc::TIOCSTI as usize, c"x".as_ptr() as usize],
        ))
    }),
    ("type_into_terminal_oddly", |_| {
        reached(raw::call(
            libc::SYS_ioctl,
            &[0, libc::TIOCSTI as usize | 1 << 40, c"x".as_ptr() as usize],
        ))
    }),
];

/// Anything but EPERM comes from the kernel behind the filter.
pub(crate) fn reached(answer: std::io::Result<i64>) -> Outcome {
    match answer {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            Outcome::Stopped(error.to_string())
        }
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            Outcome::Stopped(error.to_string())
        }
        Err(error) => Outcome::Escaped(format!("the kernel answered: {error}")),
        Ok(_) => Outcome::Escaped("it worked".to_owned()),
    }
}

/// The null signal: asks whether it could.
fn signal(pid: i32) -> Outcome {
    let asked = raw::call(libc::SYS_kill, &[pid as isize as usize, 0]);
    stopped(asked, |_| "could be signalled".to_owned())
}

fn signal_parent(_: &Facts) -> Outcome {
    let parent = rustix::process::getppid().map_or(1, |p| p.as_raw_nonzero().get());
    signal(parent)
}

fn signal_by_handle(facts: &Facts) -> Outcome {
    match raw::call(libc::SYS_pidfd_open, &[facts.victim as usize, 0]) {
        Ok(handle) => stopped(
            raw::call(libc::SYS_pidfd_send_signal, &[handle as usize, 0, 0, 0]),
            |_| "could be signalled".to_owned(),
        ),
        Err(error) => Outcome::Stopped(error.to_string()),
    }
}

fn read_memory(facts: &Facts) -> Outcome {
    let mut buffer = [0u8; 8];
    let local = [buffer.as_mut_ptr() as usize, buffer.len()];
    let remote = [0x1000usize, 8];
    let answer = raw::call(
        libc::SYS_process_vm_readv,
        &[
            facts.victim as usize,
            local.as_ptr() as usize,
            1,
            remote.as_ptr() as usize,
            1,
            0,
        ],
    );
    match answer {
        // It looked, and there was nothing at that address.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
            Outcome::Escaped("the kernel looked".to_owned())
        }
        other => stopped(other, |_| "read".to_owned()),
    }
}

fn open(path: &str) -> Outcome {
    stopped(fs::File::open(path), |_| "opened".to_owned())
}

/// Processes that are not its own: of its own there are this one and what started it.
fn count_processes(_: &Facts) -> Outcome {
    let list = match fs::read_dir("/proc") {
        Ok(list) => list,
        Err(error) => return Outcome::Stopped(error.to_string()),
    };
    let seen = list
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .count();
    if seen > 2 {
        Outcome::Escaped(format!("{seen} are seen"))
    } else {
        Outcome::Stopped(format!("{seen} are seen"))
    }
}

/// Looks into every descriptor for the secret.
fn inherited_descriptors(facts: &Facts) -> Outcome {
    let mut buffer = [0u8; 256];
    for descriptor in 3..1024 {
        let read = raw::call(
            libc::SYS_pread64,
            &[descriptor, buffer.as_mut_ptr() as usize, buffer.len(), 0],
        );
        if let Ok(read) = read {
            let text = String::from_utf8_lossy(&buffer[..read as usize]);
            if text.contains(&facts.secret) {
                return Outcome::Escaped(format!("descriptor {descriptor} holds the secret"));
            }
        }
    }
    Outcome::Stopped("none holds anything".to_owned())
}

/// Besides its streams a worker has its line, and a command nothing.
fn open_descriptors(_: &Facts) -> Outcome {
    let open =
        (3..1024).filter(|fd| raw::call(libc::SYS_fcntl, &[*fd, libc::F_GETFD as usize]).is_ok());
    match open.count() {
        few @ 0..=1 => Outcome::Stopped(format!("{few} are open")),
        more => Outcome::Escaped(format!("{more} are open")),
    }
}

fn inherited_environment(_: &Facts) -> Outcome {
    const GIVEN: [&str; 4] = ["PATH", "HOME", "TMPDIR", "LANG"];
    let other = std::env::vars_os().filter(|(name, _)| !GIVEN.iter().any(|given| name == *given));
    match other.count() {
        0 => Outcome::Stopped("it is clear".to_owned()),
        more => Outcome::Escaped(format!("{more} variables")),
    }
}

fn capabilities(_: &Facts) -> Outcome {
    let (mut header, mut data) = ([0x2008_0522u32, 0], [0u32; 6]);
    let asked = raw::call(
        libc::SYS_capget,
        &[header.as_mut_ptr() as usize, data.as_mut_ptr() as usize],
    );
    match asked {
        Err(error) => Outcome::Stopped(error.to_string()),
        Ok(_) if data == [0; 6] => Outcome::Stopped("there are none".to_owned()),
        Ok(_) => Outcome::Escaped("some are left".to_owned()),
    }
}
