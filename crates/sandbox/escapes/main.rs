//! A program that tries to get out: each attempt by name, one JSON line each. For the tests of the sandbox only.
//!
//! Every attempt is harmless where nothing stops it: it asks with arguments that the kernel refuses, reads what the test
//! made for it, or takes a bounded amount and only where a limit is on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::exit,
    reason = "a test program may fail loudly"
)]

mod facts;
mod files;
mod hogs;
mod kernel;
mod network;
mod processes;
mod raw;

use facts::Facts;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// How an attempt went.
pub(crate) enum Outcome {
    /// Something stopped it and said this.
    Stopped(String),
    /// Nothing did.
    Escaped(String),
    /// It would do harm here.
    Untried(String),
}

pub(crate) type Attempt = (&'static str, fn(&Facts) -> Outcome);

/// An error is what stops an attempt.
pub(crate) fn stopped<T, E: std::fmt::Display>(
    result: Result<T, E>,
    what: impl FnOnce(T) -> String,
) -> Outcome {
    match result {
        Ok(got) => Outcome::Escaped(what(got)),
        Err(error) => Outcome::Stopped(error.to_string()),
    }
}

fn attempts() -> impl Iterator<Item = Attempt> {
    [
        files::ATTEMPTS,
        processes::ATTEMPTS,
        network::ATTEMPTS,
        kernel::ATTEMPTS,
        hogs::ATTEMPTS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

fn main() {
    let prepare = |job: &str, how: &str| format!("{} {job} {how}", std::process::id());
    if let Some((inside, prepared)) = blastshield_sandbox::enter_or_prepare(prepare) {
        return worker(&inside.job, inside.line, prepared.as_deref());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            for (name, _) in attempts() {
                println!("{name}");
            }
        }
        ["attempt", name, facts] => attempt(name, &Facts::parse(facts)),
        // A process that others may try to reach; it lives as long as its standard input.
        ["victim"] => {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        ["outer", ref rest @ ..] => outer(rest),
        _ => std::process::exit(64),
    }
}

fn attempt(name: &str, facts: &Facts) {
    let (_, run) = attempts().find(|(known, _)| *known == name).unwrap();
    let (how, detail) = match run(facts) {
        Outcome::Stopped(detail) => ("stopped", detail),
        Outcome::Escaped(detail) => ("escaped", detail),
        Outcome::Untried(detail) => ("untried", detail),
    };
    let line = serde_json::json!({ "name": name, "how": how, "detail": detail });
    println!("{line}");
}

/// What a confined worker of the tests does.
fn worker(job: &str, mut line: UnixStream, prepared: Option<&str>) {
    match job.split_once(' ').unwrap_or((job, "")) {
        ("attempt", rest) => {
            let (name, facts) = rest.split_once(' ').unwrap();
            attempt(name, &Facts::parse(facts));
        }
        // Says back what it hears.
        ("echo", _) => {
            let mut heard = [0; 64];
            while let Ok(read @ 1..) = line.read(&mut heard) {
                line.write_all(&heard[..read]).unwrap();
            }
        }
        ("threads", _) => {
            let sum: u32 = (0..4)
                .map(|n| std::thread::spawn(move || n))
                .map(|thread| thread.join().unwrap())
                .sum();
            println!("{sum}");
        }
        ("write", path) => std::fs::write(path, "written").unwrap(),
        ("execute", _) => {
            let _ = raw::call(libc::SYS_execve, &[8, 8, 8]);
        }
        ("code", _) => {
            let _ = raw::call(libc::SYS_mmap, &[0, 4096, 7, 0x22, usize::MAX, 0]);
        }
        // Says what it began with.
        ("prepared", _) => {
            line.read_exact(&mut [0]).unwrap();
            line.write_all(prepared.unwrap_or("nothing").as_bytes())
                .unwrap();
        }
        // More than any pipe holds.
        ("chatter", _) => {
            let much = [b'x'; 4096];
            for _ in 0..1024 {
                std::io::stdout().write_all(&much).unwrap();
                std::io::stderr().write_all(&much).unwrap();
            }
            assert_eq!(std::io::stdin().read(&mut [0]).unwrap(), 0);
        }
        ("panic", _) => panic!("as asked"),
        ("abort", _) => std::process::abort(),
        ("wait", _) => {
            let _ = line.read(&mut [0]);
        }
        _ => std::process::exit(64),
    }
}

/// Starts a confined process itself, so that a test can end this one, or deprive it of layers.
fn outer(arguments: &[&str]) {
    use blastshield_sandbox::{Bounds, Confinement, Launcher};
    let launcher = Launcher::this_program();
    match *arguments {
        // Says who it started, and waits to be killed.
        ["keep"] => {
            let child = launcher.worker("wait", &Confinement::worker()).unwrap();
            println!("{}", child.pid());
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        ["run", confinement, ref command @ ..] => {
            let confinement: Confinement = serde_json::from_str(confinement).unwrap();
            let command: Vec<_> = command.iter().map(Into::into).collect();
            match launcher.run(&command, &confinement, Bounds::default(), b"", |_| {}) {
                Ok(finished) => {
                    let answer = serde_json::json!({
                        "exit": finished.exit,
                        "stdout": String::from_utf8_lossy(&finished.stdout),
                        "layers": finished.layers,
                    });
                    println!("{answer}");
                }
                Err(error) => println!("{}", serde_json::json!({ "error": error.to_string() })),
            }
        }
        _ => std::process::exit(64),
    }
}
