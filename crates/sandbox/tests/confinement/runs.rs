//! Ordinary programs run as usual, within bounds.

use crate::{bounds, launcher, plugin, sh, words};
use blastshield_sandbox::{Bounds, Exit};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

#[test]
fn ordinary_programs_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let confinement = plugin().write(&path);
    let script = "set -e; echo hello > a; cp a b; mv b c; mkdir d; ln -s a l; cat l | tr a-z A-Z; \
                  ls | sort | tr '\\n' ' '; echo x > /tmp/x; cat /tmp/x; date > /dev/null; pwd; id -u";
    let done = sh(script, &confinement, bounds());
    let said = String::from_utf8(done.stdout).unwrap();
    let errors = String::from_utf8(done.stderr).unwrap();
    assert_eq!(
        said,
        format!("HELLO\na c d l x\n{}\n1000\n", path.display()),
        "{errors}"
    );
    assert_eq!(done.exit, Exit::Code(0));
    assert_eq!(std::fs::read(path.join("c")).unwrap(), b"hello\n");
}

#[test]
fn it_gets_its_input() {
    let input = vec![b'x'; 300_000];
    let done = launcher()
        .run(&words(["wc", "-c"]), &plugin(), bounds(), &input, |_| {})
        .unwrap();
    assert_eq!(done.stdout, b"300000\n");
    // One that does not read it does not stop us.
    let done = launcher()
        .run(&words(["true"]), &plugin(), bounds(), &input, |_| {})
        .unwrap();
    assert_eq!(done.exit, Exit::Code(0));
}

#[test]
fn time_is_bounded() {
    let bounds = Bounds {
        time: Duration::from_millis(300),
        ..bounds()
    };
    let done = sh(
        "echo started; trap '' TERM INT; sleep 300",
        &plugin(),
        bounds,
    );
    assert!(done.timed_out);
    assert!(!done.too_much);
    assert_eq!(done.exit, Exit::Signal(9));
}

#[test]
fn output_is_bounded() {
    let bounds = Bounds {
        output: 1000,
        ..bounds()
    };
    let done = sh("yes", &plugin(), bounds);
    assert!(done.too_much);
    assert!(!done.timed_out);
    assert_eq!(done.stdout.len(), 1000);
    let done = sh("yes >&2", &plugin(), bounds);
    assert!(done.too_much);
    assert_eq!(done.stderr.len(), 1000);
    let exact = sh("head -c 1000 /dev/zero", &plugin(), bounds);
    assert!(!exact.too_much);
    assert_eq!(exact.stdout.len(), 1000);
}

#[test]
fn its_environment_is_what_was_given() {
    let confinement = plugin().env("GIVEN", "yes").env("LANG", "C");
    let done = launcher()
        .run(&words(["env"]), &confinement, bounds(), b"", |_| {})
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let mut lines: Vec<_> = said.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "GIVEN=yes",
            "HOME=/tmp",
            "LANG=C",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "TMPDIR=/tmp"
        ]
    );
}

#[test]
fn a_writable_folder_within_a_readable_one_is_writable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::create_dir(path.join("inner")).unwrap();
    let confinement = plugin().read(&path).write(path.join("inner"));
    let script = format!("echo x > {0}/inner/a && echo x > {0}/b", path.display());
    let done = sh(&script, &confinement, bounds());
    assert_ne!(done.exit, Exit::Code(0));
    assert!(path.join("inner/a").exists());
    assert!(!path.join("b").exists());
}

#[test]
fn long_arguments_arrive_whole() {
    let long = "x".repeat(100_000);
    let done = launcher()
        .run(&words(["echo", &long]), &plugin(), bounds(), b"", |_| {})
        .unwrap();
    assert_eq!(done.stdout.len(), 100_001);
    let bytes = OsString::from_vec(vec![b'a', 0xff]);
    let odd = [OsString::from("printf"), OsString::from("%s"), bytes];
    let done = launcher()
        .run(&odd, &plugin(), bounds(), b"", |_| {})
        .unwrap();
    assert_eq!(done.stdout, [b'a', 0xff]);
    let longer = "x".repeat(300_000);
    let refused = launcher().run(&words(["echo", &longer]), &plugin(), bounds(), b"", |_| {});
    assert!(refused.is_err());
}

#[test]
fn modes_of_files_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "set -e; printf '#!/bin/sh\necho ran\n' > a; chmod 755 a; touch b; mkfifo c; cp -p a d; ./d";
    let done = sh(script, &plugin().write(folder.path()), bounds());
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.exit, Exit::Code(0), "{errors}");
    assert_eq!(done.stdout, b"ran\n");
}
