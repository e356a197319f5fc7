//! A secret in every argument of every command. The commands and their arguments come from the help, so that none that is
//! added can be left out.

use super::command;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The part of the planted token that no command may say.
const CORE: &str = "16C7e42F292c6912E7710c838347Ae178B4a";

fn secret() -> String {
    ["ghp", "_", CORE].concat()
}

/// The lines of a section of a help text, such as `Commands:`.
fn section<'h>(help: &'h str, title: &str) -> Vec<&'h str> {
    help.lines()
        .skip_while(|line| *line != title)
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .filter(|line| !line.is_empty())
        .collect()
}

fn help(folder: &Path, path: &[String]) -> String {
    let mut arguments: Vec<&str> = path.iter().map(String::as_str).collect();
    arguments.push("--help");
    let output = command(folder, &arguments).output().unwrap();
    assert!(output.status.success(), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every command that has none below it, and its help.
fn commands(folder: &Path, path: &[String], all: &mut Vec<(Vec<String>, String)>) {
    let help = help(folder, path);
    let below: Vec<String> = section(&help, "Commands:")
        .into_iter()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    if below.is_empty() {
        all.push((path.to_vec(), help));
        return;
    }
    for name in below {
        let path: Vec<String> = path.iter().cloned().chain([name]).collect();
        commands(folder, &path, all);
    }
}

/// The options that take a value.
fn options(help: &str) -> Vec<String> {
    section(help, "Options:")
        .into_iter()
        .filter(|line| line.contains('<'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .map(|name| name.split(['=', '[']).next().unwrap().to_owned())
        .collect()
}

/// What a command says when it may not take long, with the secret on its standard input too.
fn said(folder: &Path, arguments: &[String]) -> String {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut child = command(folder, &arguments)
        .env("BLASTSHIELD_OWNER_TOKEN", secret())
        .env("BLASTSHIELD_PORT", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child
        .stdin
        .take()
        .unwrap()
        .write_all(format!("{}\n", secret()).as_bytes());
    let end = Instant::now() + Duration::from_secs(3);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Commands whose work it is to give back what they were given, or to run what they are told.
const GIVING_BACK: &[&str] = &["convert", "run", "sandbox run"];

#[test]
fn no_command_repeats_a_secret_that_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    commands(folder.path(), &[], &mut all);
    assert!(all.len() > 40, "{}", all.len());
    let mut tries: Vec<Vec<String>> = vec![vec![secret()], vec![format!("--{}", secret())]];
    for (path, help) in all {
        let name = path.join(" ");
        let mut given = vec![vec![secret()], vec!["-".to_owned()]];
        if GIVING_BACK.contains(&name.as_str()) {
            given.clear();
        }
        given.extend(
            options(&help)
                .into_iter()
                .map(|option| vec![option, secret()]),
        );
        let whole = |more: Vec<String>| path.iter().cloned().chain(more).collect();
        tries.extend(given.into_iter().map(whole));
    }
    // Some wait for something that does not come: several at once.
    let next = std::sync::atomic::AtomicUsize::new(0);
    let loud = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(arguments) =
                    tries.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let own = tempfile::tempdir().unwrap();
                    let said = said(own.path(), arguments);
                    if let Some(line) = said.lines().find(|line| line.contains(CORE)) {
                        let line = format!("{}: {line}", arguments.join(" "));
                        loud.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let loud = loud.into_inner().unwrap();
    assert!(loud.is_empty(), "{loud:#?}");
}
