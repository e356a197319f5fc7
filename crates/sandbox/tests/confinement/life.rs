//! How confined processes end: by themselves, by us, with us, and all of them.

use crate::{PROGRAM, bounds, launcher, plugin, sh, words};
use blastshield_sandbox::{Confinement, Exit, SandboxError};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn it_says_how_it_ended() {
    assert_eq!(sh("exit 3", &plugin(), bounds()).exit, Exit::Code(3));
    assert_eq!(
        sh("kill -TERM $$", &plugin(), bounds()).exit,
        Exit::Signal(15)
    );
    let mut abort = launcher().worker("abort", &Confinement::worker()).unwrap();
    assert_eq!(abort.wait().unwrap(), Exit::Signal(6));
    let mut panic = launcher().worker("panic", &Confinement::worker()).unwrap();
    assert_eq!(panic.wait().unwrap(), Exit::Code(101));
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    let done = launcher().run(
        &words(["/no/such/program"]),
        &plugin(),
        bounds(),
        b"",
        |_| {},
    );
    assert!(matches!(done, Err(SandboxError::Exec(_))), "{done:?}");
    let none = launcher().run(&[], &plugin(), bounds(), b"", |_| {});
    assert!(matches!(none, Err(SandboxError::Invalid(_))), "{none:?}");
}

#[test]
fn a_role_does_only_what_it_is_for() {
    assert!(launcher().worker("echo", &plugin()).is_err());
    assert!(
        launcher()
            .command(&words(["true"]), &Confinement::worker())
            .is_err()
    );
}

#[test]
fn killing_ends_the_whole_tree() {
    let script = "(setsid sleep 300 &) ; sleep 300 & echo ready; wait";
    let mut child = launcher()
        .command(&words(["sh", "-c", script]), &plugin())
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert_eq!(child.kill().unwrap(), Exit::Signal(9));
    // Whoever were left would hold the stream open.
    assert_eq!(output.read_line(&mut line).unwrap(), 0);
}

#[test]
fn dropping_ends_it() {
    let mut child = launcher()
        .command(&words(["sleep", "300"]), &plugin())
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    drop(child);
    assert_eq!(output.read(&mut [0]).unwrap(), 0);
}

#[test]
fn it_can_be_ended_from_another_thread() {
    let mut child = launcher()
        .command(&words(["sleep", "300"]), &plugin())
        .unwrap();
    let killer = child.killer().unwrap();
    let other = std::thread::spawn(move || killer.kill());
    assert_eq!(child.wait().unwrap(), Exit::Signal(9));
    other.join().unwrap();
}

#[test]
fn waiting_is_bounded() {
    let mut child = launcher().worker("wait", &Confinement::worker()).unwrap();
    assert_eq!(child.wait_for(Duration::from_millis(20)).unwrap(), None);
    drop(child.line.take());
    assert_eq!(child.wait().unwrap(), Exit::Code(0));
}

#[test]
fn it_outlives_the_thread_that_started_it() {
    let mut child =
        std::thread::spawn(|| launcher().worker("echo", &Confinement::worker()).unwrap())
            .join()
            .unwrap();
    assert_eq!(child.wait_for(Duration::from_millis(100)).unwrap(), None);
    drop(child.line.take());
    assert_eq!(child.wait().unwrap(), Exit::Code(0));
}

#[test]
fn it_does_not_outlive_the_program_that_started_it() {
    let mut outer = Command::new(PROGRAM)
        .args(["outer", "keep"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(outer.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let inner: u32 = line.trim().parse().unwrap();
    assert!(alive(inner));
    outer.kill().unwrap();
    outer.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while alive(inner) {
        assert!(Instant::now() < until, "it lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn whenever_the_program_is_killed_nothing_is_left() {
    // A program of its own, by which what it starts is known.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().canonicalize().unwrap().join("program");
    std::fs::copy(PROGRAM, &program).unwrap();
    for step in 0..24 {
        let mut outer = Command::new(&program)
            .args(["outer", "keep"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // From before it has started anything until after everything is confined.
        std::thread::sleep(Duration::from_micros(500) * step);
        outer.kill().unwrap();
        outer.wait().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while running(&program) > 0 {
            assert!(
                Instant::now() < until,
                "something lives on after step {step}"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// How many processes run this program.
fn running(program: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| {
            std::fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program)
        })
        .count()
}

/// Neither gone nor a zombie.
fn alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status
        .rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn many_at_once() {
    let threads: Vec<_> = (0..16)
        .map(|_| {
            std::thread::spawn(|| {
                let mut child = launcher().worker("echo", &Confinement::worker()).unwrap();
                drop(child.line.take());
                child.wait().unwrap()
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Exit::Code(0));
    }
}
