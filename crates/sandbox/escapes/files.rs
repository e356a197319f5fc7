//! Reading and writing what was not given.

use crate::facts::Facts;
use crate::{Attempt, Outcome, raw, stopped};
use std::fs;
use std::os::unix::fs::symlink;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("read_accounts", |_| read("/etc/passwd")),
    ("read_password_hashes", |_| read("/etc/shadow")),
    ("read_ssh_key", |facts| secret(facts.secret_file())),
    ("read_host_name", |_| read("/etc/hostname")),
    ("list_homes", |_| list("/root").or(|| list("/home"))),
    ("list_root", |_| list("/")),
    ("list_outside", |facts| list(&facts.outside)),
    ("write_outside", |facts| write(facts.outside.join("new"))),
    ("write_read_only", |facts| write(facts.read.join("new"))),
    ("change_read_only", |facts| write(facts.read.join("given"))),
    ("remove_read_only", remove_read_only),
    ("write_system", write_system),
    ("dot_dot", |facts| {
        secret(facts.write.join("../outside/.ssh/id_ed25519"))
    }),
    ("link_out", link_out),
    ("hard_link_out", hard_link_out),
    ("rename_in", rename_in),
    ("rename_out", rename_out),
    ("truncate_outside", truncate_outside),
    ("change_mode_outside", change_mode_outside),
    ("make_device", make_device),
    ("make_setuid", make_setuid),
    ("make_setuid_at_once", |facts| {
        made_setuid(facts, libc::SYS_openat)
    }),
    ("make_setuid_newly", |facts| {
        made_setuid(facts, libc::SYS_openat2)
    }),
    ("open_memory", |_| read("/dev/mem")),
    ("open_kernel_log", |_| read("/dev/kmsg")),
    ("open_disk", |_| {
        ["/dev/vda", "/dev/sda", "/dev/nvme0n1"]
            .map(read)
            .into_iter()
            .reduce(|first, then| first.or(|| then))
            .unwrap()
    }),
    ("open_terminal", |_| read("/dev/tty")),
    ("open_kernel_core", |_| read("/proc/kcore")),
    ("kernel_settings", |_| {
        write_open("/proc/sys/kernel/core_pattern")
    }),
    ("sysfs", |_| {
        read("/sys/kernel/notes").or(|| list("/sys/class"))
    }),
    ("control_groups", |_| list("/sys/fs/cgroup")),
    ("root_of_first_process", |_| read("/proc/1/root/etc/passwd")),
    ("folder_of_first_process", |_| {
        read("/proc/1/cwd/etc/passwd")
    }),
    ("root_of_own_process", |_| {
        read("/proc/self/root/etc/passwd")
    }),
    ("own_folder_upward", |facts| {
        let up = format!(
            "/proc/self/cwd/../../../../../../../{}",
            facts.secret_file().display()
        );
        secret(up)
    }),
    ("own_program", |_| write_open("/proc/self/exe")),
    ("handle_of_root", handle_of_root),
    ("docker_socket", |_| {
        stopped(
            fs::metadata("/var/run/docker.sock")
                .or_else(|_| fs::metadata("/run/dbus/system_bus_socket")),
            |_| "a socket of the system is there".to_owned(),
        )
    }),
];

impl Outcome {
    /// The other attempt, when this one was stopped.
    fn or(self, other: impl FnOnce() -> Outcome) -> Outcome {
        match self {
            Self::Stopped(_) => other(),
            done => done,
        }
    }
}

fn read(path: &str) -> Outcome {
    use std::io::Read;
    let some = fs::File::open(path).and_then(|mut file| file.read(&mut [0; 16]));
    stopped(some, |_| "read".to_owned())
}

fn secret(path: impl AsRef<std::path::Path>) -> Outcome {
    stopped(fs::read_to_string(path), |_| "read the secret".to_owned())
}

fn list(path: impl AsRef<std::path::Path>) -> Outcome {
    stopped(fs::read_dir(path), |list| {
        format!("{} entries", list.count())
    })
}

fn write(path: impl AsRef<std::path::Path>) -> Outcome {
    stopped(fs::write(path, "x"), |()| "written".to_owned())
}

/// Opens for writing and writes nothing.
fn write_open(path: &str) -> Outcome {
    let open = fs::OpenOptions::new().write(true).open(path);
    stopped(open, |_| "open for writing".to_owned())
}

fn remove_read_only(facts: &Facts) -> Outcome {
    stopped(fs::remove_file(facts.read.join("given")), |()| {
        "removed".to_owned()
    })
}

/// A name that nobody uses, taken away again at once.
fn write_system(facts: &Facts) -> Outcome {
    if facts.control {
        return Outcome::Untried("outside it would write there".to_owned());
    }
    let path = "/usr/lib/blastshield-escape";
    let made = fs::write(path, "x");
    let _ = fs::remove_file(path);
    stopped(made, |()| "written".to_owned())
}

fn link_out(facts: &Facts) -> Outcome {
    let link = facts.write.join("link");
    if let Err(error) = symlink(facts.secret_file(), &link) {
        return Outcome::Stopped(error.to_string());
    }
    secret(link)
}

fn hard_link_out(facts: &Facts) -> Outcome {
    let link = facts.write.join("hard");
    if let Err(error) = fs::hard_link(facts.secret_file(), &link) {
        return Outcome::Stopped(error.to_string());
    }
    secret(link)
}

fn rename_in(facts: &Facts) -> Outcome {
    let moved = facts.write.join("moved");
    stopped(fs::rename(facts.outside.join("movable"), &moved), |()| {
        "moved".to_owned()
    })
}

fn rename_out(facts: &Facts) -> Outcome {
    let own = facts.write.join("own");
    fs::write(&own, "x").unwrap();
    stopped(fs::rename(own, facts.outside.join("planted")), |()| {
        "moved".to_owned()
    })
}

fn truncate_outside(facts: &Facts) -> Outcome {
    let path = std::ffi::CString::new(facts.outside.join("movable").to_str().unwrap()).unwrap();
    let cut = raw::call(libc::SYS_truncate, &[path.as_ptr() as usize, 1]);
    stopped(cut, |_| "truncated".to_owned())
}

fn change_mode_outside(facts: &Facts) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let open = fs::Permissions::from_mode(0o777);
    stopped(fs::set_permissions(&facts.outside, open), |()| {
        "changed".to_owned()
    })
}

/// The null device, so that nothing comes of it.
fn make_device(facts: &Facts) -> Outcome {
    let path = std::ffi::CString::new(facts.write.join("device").to_str().unwrap()).unwrap();
    let mode = (libc::S_IFCHR | 0o600) as usize;
    let at = libc::AT_FDCWD as usize;
    let made = raw::call(
        libc::SYS_mknodat,
        &[at, path.as_ptr() as usize, mode, 0x103],
    );
    stopped(made, |_| "made a device".to_owned())
}

/// A file by its number, past every path.
fn handle_of_root(_: &Facts) -> Outcome {
    let handle = [8u32, 1, 2, 0];
    let answer = raw::call(
        libc::SYS_open_by_handle_at,
        &[libc::AT_FDCWD as usize, handle.as_ptr() as usize, 0],
    );
    match answer {
        Ok(_) => Outcome::Escaped("opened".to_owned()),
        // The kernel looked at the handle: nothing stopped the question.
        Err(error) if error.raw_os_error() == Some(libc::ESTALE) => {
            Outcome::Escaped("the kernel looked".to_owned())
        }
        Err(error) => Outcome::Stopped(error.to_string()),
    }
}

/// A program that gives its owner's rights to whoever executes it, left behind for others.
fn make_setuid(facts: &Facts) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let path = facts.write.join("setuid");
    fs::write(&path, "x").unwrap();
    let mode = fs::Permissions::from_mode(0o4755);
    stopped(fs::set_permissions(path, mode), |()| "made".to_owned())
}

fn made_setuid(facts: &Facts, call: i64) -> Outcome {
    let path = std::ffi::CString::new(facts.write.join("at-once").to_str().unwrap()).unwrap();
    let (at, flags, mode) = (libc::AT_FDCWD as usize, libc::O_CREAT as usize, 0o4755);
    let how = [flags as u64, mode as u64, 0];
    let opened = if call == libc::SYS_openat2 {
        raw::call(
            call,
            &[at, path.as_ptr() as usize, how.as_ptr() as usize, 24],
        )
    } else {
        raw::call(call, &[at, path.as_ptr() as usize, flags, mode])
    };
    stopped(opened, |_| "made".to_owned())
}
