//! `blastshield backup restore`, beside a gateway and without one.

use crate::core::*;
use crate::service::*;
use serde_json::{Value, json};
use std::process::Output;

fn backup(core: &Core, arguments: &[&str]) -> Output {
    let port = core.address.rsplit(':').next().unwrap();
    let set = format!("server.port={port}");
    let mut all = vec!["backup"];
    all.extend(arguments);
    all.extend(["--set", &set]);
    command(core.folder.path(), &[], &all).output().unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn knows(core: &Core) -> Vec<String> {
    let (_, all) = core.owner("GET", "/v1/proxies/board/relationships", &json!(null));
    let known = all["relationships"].as_object().unwrap();
    known.keys().cloned().collect()
}

#[test]
fn a_backup_is_put_back_and_what_was_there_stays_aside() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |came, _| {
        if came.line.contains("/wait") {
            waiting.pass();
        }
        Says::json(&json!({"posts": []}))
    });
    let core = Core::start(&service);
    let met = |name| core.task_with("read", json!({"id": "1"}), Some(name))["state"].clone();
    assert_eq!(met("ann"), "done");
    let made = backup(&core, &["now", "board"]);
    assert!(made.status.success(), "{}", said(&made));
    assert_eq!(met("bob"), "done");
    assert_eq!(knows(&core), ["ann", "bob"]);
    // Not while a task is on, and not for an agent.
    let task = core.begin("read", json!({"id": "wait"}));
    gate.reached();
    let refused = backup(&core, &["restore", "board"]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("a task of this service is on"));
    let agents = core.agent("POST", "/v1/proxies/board/restore", &json!({}));
    assert_eq!(agents.0, 403);
    gate.open();
    assert_eq!(core.end_of(&task)["state"], "done");
    for from in ["20200101", "yesterday"] {
        let refused = backup(&core, &["restore", "board", "--from", from]);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    }
    let restored = backup(&core, &["restore", "board", "--json"]);
    assert!(restored.status.success(), "{}", said(&restored));
    let restored: Value = serde_json::from_slice(&restored.stdout).unwrap();
    assert_eq!(knows(&core), ["ann"]);
    let aside = core
        .data()
        .join("proxies/workspaces")
        .join(restored["put_aside"].as_str().unwrap());
    let kept = std::fs::read_to_string(aside.join("relationships.json")).unwrap();
    assert!(kept.contains("bob"));
    assert!(core.holds().is_empty());
    assert_eq!(met("cyd"), "done");
    // Without a gateway the command does it itself.
    let folder = core.stop();
    let again = command(folder.path(), &[], &["backup", "restore", "board"])
        .output()
        .unwrap();
    assert!(again.status.success(), "{}", said(&again));
    let core = Core::start_in(folder, &[]);
    assert_eq!(knows(&core), ["ann"]);
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    invariants(core.stop().path());
}
