//! `blastshield proxy`, as a person uses it.

use crate::core::*;
use crate::service::*;
use serde_json::{Value, json};
use std::process::Output;

fn run(folder: &std::path::Path, arguments: &[&str]) -> Output {
    command(folder, &[], arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_new_definition_is_written_checked_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), &["proxy", "new", "weather"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let file = folder.path().join("data/services/weather.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("WEATHER_API_TOKEN") && written.contains("maxPerMinute = 10"));
    assert_eq!(
        run(folder.path(), &["proxy", "new", "weather"])
            .status
            .code(),
        Some(1)
    );
    assert_eq!(
        run(folder.path(), &["proxy", "new", "../x"]).status.code(),
        Some(2)
    );
    let checked = run(folder.path(), &["proxy", "check", "weather"]);
    assert!(checked.status.success() && text(&checked.stdout).contains("good"));
    let listed = run(folder.path(), &["proxy", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let names: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["moltbook", "weather"]);
    std::fs::write(
        &file,
        written.replace("maxPerMinute = 10", "maxPerMinute = 0"),
    )
    .unwrap();
    let wrong = run(folder.path(), &["proxy", "check", "weather"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        text(&wrong.stderr).contains("limits.maxPerMinute must be 1 to 6000"),
        "{}",
        text(&wrong.stderr)
    );
    // A definition that cannot be used stops the start, and is named.
    let serve = run(folder.path(), &["serve", "--port", "0"]);
    assert_eq!(serve.status.code(), Some(2));
    assert!(
        text(&serve.stderr).contains("weather.toml"),
        "{}",
        text(&serve.stderr)
    );
}

#[test]
fn a_task_runs_without_a_gateway() {
    let service = Service::always(json!({"posts": [{"id": "1", "text": "fine"}]}));
    let folder = folder(&service, GENEROUS, "");
    let arguments = [
        "proxy",
        "run",
        "board",
        "read",
        "--param",
        "id=7",
        "--json",
        "--set",
        "server.port=0",
    ];
    let done = run(folder.path(), &arguments);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done["summary"], "1 posts of 7");
    assert_eq!(service.came()[0].line, "GET /api/threads/7 HTTP/1.1");
    let wrong = run(
        folder.path(),
        &["proxy", "run", "board", "read", "--set", "server.port=0"],
    );
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("the parameter id is missing"),
        "{}",
        text(&wrong.stderr)
    );
    invariants(folder.path());
}

#[test]
fn a_task_is_given_to_the_gateway_that_runs() {
    let service = Service::always(json!({"posts": []}));
    let core = Core::start(&service);
    let port = core.address.rsplit(':').next().unwrap();
    let set = format!("server.port={port}");
    let done = run(
        core.folder.path(),
        &[
            "proxy", "run", "board", "read", "--param", "id=7", "--set", &set,
        ],
    );
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("0 posts of 7"));
    // Beside a gateway nobody else works.
    let other = run(
        core.folder.path(),
        &[
            "proxy",
            "run",
            "board",
            "read",
            "--param",
            "id=7",
            "--set",
            "server.port=0",
            "--json",
        ],
    );
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stdout));
    let said = text(&other.stderr);
    assert!(said.contains("another process runs the proxies"), "{said}");
    assert_eq!(service.came().len(), 1);
}
