//! `blastshield run` and `blastshield sandbox run --network allowlist`: a command whose only way out is the proxy.

use crate::{command, finish, origin, text};
use std::process::Output;

/// Whether this machine cannot confine at all; then that is what must be said.
fn refused(output: &Output) -> bool {
    let said = text(output);
    let cannot = said.contains("this machine cannot hold") || said.contains("could not");
    if cannot {
        eprintln!("SKIPPED: {said}");
    }
    cannot
}

const CURL: &str = "/usr/bin/curl";

#[test]
fn a_command_reaches_what_is_allowed_and_nothing_else() {
    if !std::path::Path::new(CURL).exists() {
        eprintln!("SKIPPED: no curl here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let url = format!("http://{origin}/");
    let run = |arguments: &[&str]| {
        let mut all = vec!["run"];
        all.extend(arguments);
        finish(command(folder.path(), &all).env("BLASTSHIELD_EGRESS_UNLISTED", "deny"))
    };
    let through = run(&["--", CURL, "-sS", "--max-time", "20", &url]);
    if refused(&through) {
        return;
    }
    assert!(text(&through).starts_with("bread"), "{}", text(&through));
    // Past the proxy there is nothing: the same address on its own loopback is another one.
    let past = run(&["--", CURL, "-sS", "--max-time", "5", "--noproxy", "*", &url]);
    assert!(
        !past.status.success() && !text(&past).contains("bread"),
        "{}",
        text(&past)
    );
    let dns = run(&[
        "--",
        CURL,
        "-sS",
        "--max-time",
        "5",
        "--noproxy",
        "*",
        "http://example.org/",
    ]);
    assert!(!dns.status.success(), "{}", text(&dns));
    let other = run(&[
        "--",
        CURL,
        "-sS",
        "--max-time",
        "20",
        "http://other.invalid-name.test/",
    ]);
    assert!(
        text(&other).contains("host_not_allowed"),
        "{}",
        text(&other)
    );
    // Its own code comes through.
    assert_eq!(run(&["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
}

#[test]
fn domains_are_allowed_for_one_command() {
    if !std::path::Path::new(CURL).exists() {
        eprintln!("SKIPPED: no curl here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let url = format!("http://{origin}/");
    for way in [&["run"][..], &["sandbox", "run", "--network", "allowlist"]] {
        let with = |more: &[&str]| {
            let all = [way, more, &["--", CURL, "-sS", "--max-time", "20", &url]].concat();
            finish(
                command(folder.path(), &all)
                    .env("SUPERVISOR_ALLOWED_DOMAINS", "nothing.test")
                    .env("BLASTSHIELD_EGRESS_UNLISTED", "deny"),
            )
        };
        let without = with(&[]);
        if refused(&without) {
            return;
        }
        assert!(
            text(&without).contains("host_not_allowed"),
            "{}",
            text(&without)
        );
        let allowed = with(&["--allow-domain", "127.0.0.1"]);
        assert!(text(&allowed).starts_with("bread"), "{}", text(&allowed));
    }
}

#[test]
fn the_owners_token_is_not_given_away() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let output = finish(&mut command(
        folder.path(),
        &["run", "--write", ".", "--", "true"],
    ));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("data folder"), "{}", text(&output));
}
