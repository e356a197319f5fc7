//! Relationships: what a tier changes and what it does not, and that poison does not stay.

use crate::core::*;
use crate::service::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

fn know(folder: &Path, people: &[(&str, &str)]) {
    let workspace = folder.join("data/proxies/workspaces/board");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&workspace)
        .unwrap();
    let all: serde_json::Map<String, Value> = people
        .iter()
        .map(|(name, tier)| {
            (
                (*name).to_owned(),
                json!({"tier": tier, "status": "ACTIVE", "interactions": []}),
            )
        })
        .collect();
    fs::write(
        workspace.join("relationships.json"),
        json!({"version": 1, "relationships": all}).to_string(),
    )
    .unwrap();
}

fn relationships(workspace: &Path) -> Value {
    let text = fs::read_to_string(workspace.join("relationships.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["relationships"].clone()
}

#[test]
fn a_tier_changes_who_is_asked_and_how_strict_a_schema_is_and_never_stage_4() {
    let service = Service::start(|came, _| {
        if came.line.contains("/threads/evil") {
            Says::json(&json!({"posts": [{"id": "1", "text": attack()}]}))
        } else {
            Says::json(&json!({"posts": [{"id": "1", "text": "fine"}], "id": "5", "undeclared": 1}))
        }
    });
    let folder = folder(&service, &format!("{GENEROUS}\ncbBaseMs = 1"), "");
    know(folder.path(), &[("ally", "Ally"), ("friend", "Friend")]);
    let core = Core::start_in(folder, &[("REQUIRE_POST_APPROVAL", "false")]);
    // An ally is answered at once, a stranger after the owner's yes.
    let done = core.task_with("reply", json!({"id": "1", "text": "Hi."}), Some("ally"));
    assert_eq!(done["state"], "done", "{done}");
    let request =
        json!({"operation": "reply", "params": {"id": "1", "text": "Hi."}, "with": "stranger"});
    let (_, task) = core.agent("POST", "/v1/proxies/board/tasks", &request);
    core.until(task["task_id"].as_str().unwrap(), "waiting_for_owner");
    // A friend's answers are read strictly here, an ally's leniently.
    let read = |with, id| core.task_with("read", json!({"id": id}), Some(with));
    assert_eq!(read("ally", "1")["state"], "done");
    let strict = read("friend", "1");
    assert_eq!(strict["error"]["code"], "exception", "{strict}");
    // Stage 4 is the same for everybody.
    let evil = eventually(|| {
        let task = read("ally", "evil");
        (task["error"]["code"] != "held" || core.holds()[0]["kind"] != "fix").then_some(task)
    });
    assert_eq!(evil["error"]["code"], "injection_detected", "{evil}");
}

#[test]
fn a_tier_is_the_owners_to_give() {
    let service = Service::always(json!({"posts": [{"id": "1", "text": "fine", "author": "ann"}]}));
    let core = Core::start(&service);
    let path = "/v1/proxies/board/relationships";
    let ally = json!({"name": "ann", "tier": "Ally"});
    // There is no workspace before the first task.
    assert_eq!(core.owner("POST", path, &ally).0, 400);
    assert_eq!(
        core.task("read", json!({"id": "1"}))["people"][0]["tier"],
        "Acquaintance"
    );
    assert_eq!(core.agent("POST", path, &ally).0, 403);
    let (status, now) = core.owner("POST", path, &ally);
    assert_eq!(
        (status, &now["relationships"]["ann"]["tier"]),
        (200, &json!("Ally")),
        "{now}"
    );
    let done = core.task("read", json!({"id": "1"}));
    assert_eq!(
        done["people"],
        json!([{"name": "ann", "tier": "Ally", "engagement": "reply"}])
    );
    let port = core.address.rsplit(':').next().unwrap();
    let set = format!("server.port={port}");
    let said = command(
        core.folder.path(),
        &[],
        &["proxy", "tier", "board", "ann", "friend", "--set", &set],
    )
    .output()
    .unwrap();
    assert!(
        said.status.success(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    assert_eq!(
        core.task("read", json!({"id": "1"}))["people"][0]["tier"],
        "Friend"
    );
    let wrong = json!({"name": "a b", "tier": "Ally"});
    assert_eq!(core.owner("POST", path, &wrong).0, 400);
}

#[test]
fn poisoned_relationships_are_put_aside_and_the_good_ones_restored() {
    let service = Service::always(json!({"id": "1"}));
    let folder = folder(&service, GENEROUS, "");
    know(folder.path(), &[("ann", "Friend"), ("bob", "Ally")]);
    // The worker changes the relationships and dies before it can report.
    let core = Core::start_in(folder, &[("PROXY_TEST_FAULT", "worker:before-report")]);
    eventually(|| {
        let backups = core.data().join("proxies/backups/board");
        fs::read_dir(backups).ok()?.flatten().next()
    });
    let failed = core.task_with("say", json!({"id": "1", "text": "Hello."}), Some("ann"));
    assert_eq!(failed["error"]["code"], "missing_report", "{failed}");
    let hold = core.holds().pop().unwrap();
    let quarantine = &hold["quarantine"];
    assert_eq!(quarantine["step"], "placed", "{hold}");
    assert!(quarantine["restored"].is_string(), "{hold}");
    assert_eq!(quarantine["review"], json!(["ann"]), "{hold}");
    let aside = core
        .data()
        .join("proxies/workspaces")
        .join(quarantine["folder"].as_str().unwrap());
    assert_eq!(
        relationships(&aside)["ann"]["interactions"][0]["kind"],
        "say"
    );
    let restored = relationships(&core.workspace());
    assert_eq!(restored["ann"]["interactions"], json!([]));
    assert_eq!(restored["ann"]["status"], "REVIEW_REQUIRED");
    assert_eq!(
        restored["bob"],
        json!({"tier": "Ally", "status": "ACTIVE", "interactions": []})
    );
    core.clear(hold["id"].as_str().unwrap());
    assert_eq!(relationships(&core.workspace())["ann"]["status"], "ACTIVE");
    let core = Core::start_in(core.stop(), &[]);
    let done = core.task_with("say", json!({"id": "1", "text": "Hello."}), Some("ann"));
    assert_eq!(done["state"], "done", "{done}");
    invariants(core.stop().path());
}
