//! `blastshield canary`.

use super::{code, lines, run, run_with, text};
use serde_json::Value;
use std::fs;

#[test]
fn a_canary_is_made_listed_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let made = run(at, &["canary", "new", "system-prompt"]);
    assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    let value = text(&made.stdout).trim().to_owned();
    assert!(value.starts_with("CANARY_"), "{value}");

    let listed = run(at, &["canary", "list", "--json"]);
    let canary: Value = lines(&listed).remove(0);
    assert_eq!(
        canary["location"].as_str().unwrap().to_ascii_lowercase(),
        "system-prompt"
    );
    assert_eq!(canary["severity"], "critical");

    fs::create_dir(at.join("logs")).unwrap();
    // On the border of two windows.
    let long = "x ".repeat((256 << 10) / 2 - 10) + &value + " end\n";
    fs::write(at.join("logs/long.txt"), long).unwrap();
    fs::write(at.join("logs/clean.txt"), "Nothing here.\n").unwrap();
    let checked = run(at, &["canary", "check", "--json", "logs"]);
    assert_eq!(code(&checked), 1, "{}", text(&checked.stderr));
    let answers = lines(&checked);
    let found: Vec<&Value> = answers
        .iter()
        .filter(|line| !line["canaries"].as_array().unwrap().is_empty())
        .collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["path"], "logs/long.txt");
    assert!(
        !text(&checked.stdout).contains(&value),
        "it is never shown whole"
    );

    let checked = run_with(at, &["canary", "check"], "Nothing here either.");
    assert_eq!(code(&checked), 0, "{}", text(&checked.stderr));
    let hidden: String = value.chars().flat_map(|c| [c, '\u{200b}']).collect();
    let checked = run_with(at, &["canary", "check", "-"], &hidden);
    assert_eq!(code(&checked), 1, "{}", text(&checked.stderr));
}

#[test]
fn a_location_that_is_no_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), &["canary", "new", "no name"]);
    assert_eq!(code(&made), 2);
    assert!(
        text(&made.stderr).contains("location"),
        "{}",
        text(&made.stderr)
    );
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let checked = run(folder.path(), &["canary", "check", "missing.txt"]);
    assert_eq!(code(&checked), 2);
}
