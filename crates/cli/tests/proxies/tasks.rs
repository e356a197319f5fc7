//! A task that goes well, and tasks that are refused before anything is started.

use crate::core::*;
use crate::service::*;
use serde_json::json;
use std::fs;

#[test]
fn data_comes_back_cleaned_and_nothing_else_does() {
    let service = Service::always(json!({
        "posts": [{"id": "1", "text": "Bread needs <b>time</b>.", "author": "ann", "internal": "raw"}],
        "debug": {"trace": "raw"},
    }));
    let core = Core::start(&service);
    let done = core.task("read", json!({"id": "4829"}));
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(done["summary"], "1 posts of 4829");
    let post = json!({"id": "1", "text": "Bread needs time.", "author": "ann"});
    assert_eq!(done["data"], json!({"posts": [post]}));
    assert_eq!(
        done["people"],
        json!([{"name": "ann", "tier": "Acquaintance", "engagement": "ask"}])
    );
    assert!(!done.to_string().contains("raw"));
    // Core built the address and added the credential.
    let came = &service.came()[0];
    assert_eq!(came.line, "GET /api/threads/4829 HTTP/1.1");
    assert!(
        came.head.contains(&format!("Bearer {}", token())),
        "{}",
        came.head
    );
    // The worker kept what it cleaned, and left a report and a trail.
    let kept = fs::read_to_string(core.workspace().join("posts/thread-4829.json")).unwrap();
    assert!(kept.contains("Bread needs time.") && !kept.contains("raw"));
    let report = core.reports().pop().unwrap();
    assert_eq!(report["trigger"], "TASK_COMPLETE");
    assert_eq!(report["adversarial"], false);
    assert_eq!(report["session_request_count"], 1);
    let trail = fs::read_to_string(core.workspace().join("logs/audit.jsonl")).unwrap();
    assert!(trail.contains("\"fetch\"") && trail.contains("\"write\""));
    assert!(core.holds().is_empty());
    let folder = core.stop();
    invariants(folder.path());
    // Every request is in the audit log of core, too.
    let log = files_with(&folder.path().join("data/logs"), b"http_decision");
    assert!(!log.is_empty());
}

#[test]
fn what_goes_out_is_drafted_and_sent_once() {
    let service = Service::always(json!({"id": "77", "more": 1}));
    let core = Core::start(&service);
    let done = core.task_with(
        "say",
        json!({"id": "1", "text": "Nice bread."}),
        Some("ann"),
    );
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(done["data"], json!({"id": "77"}));
    let came = service.came();
    assert_eq!(came.len(), 1);
    assert_eq!(came[0].line, "POST /api/threads/1/comments HTTP/1.1");
    assert_eq!(came[0].body, json!({"text": "Nice bread."}).to_string());
    let states: Vec<String> = core.drafts().into_values().collect();
    assert_eq!(states, ["SENT"]);
    // The next session knows with whom something passed.
    let next = core.task_with("say", json!({"id": "2", "text": "Again."}), Some("ann"));
    let context = next["recent_context"].as_str().unwrap();
    assert!(
        context.contains("ann") && context.contains("Commented on 1"),
        "{context}"
    );
}

#[test]
fn wrong_tasks_start_nothing() {
    let service = Service::always(json!({"posts": []}));
    let core = Core::start(&service);
    for (body, status, says) in [
        (
            json!({"operation": "read", "params": {"id": "../admin"}}),
            400,
            "params",
        ),
        (json!({"operation": "read"}), 400, "params"),
        (
            json!({"operation": "read", "params": {"id": "1", "x": 1}}),
            400,
            "params",
        ),
        (json!({"operation": "erase"}), 400, "operation"),
        (
            json!({"operation": "say", "params": {"id": "1", "text": 7}}),
            400,
            "params",
        ),
        (
            json!({"operation": "say", "params": {"id": "1", "text": "x", "to": "y"}}),
            400,
            "params",
        ),
        (
            json!({"operation": "read", "params": {"id": "1"}, "with": "a b"}),
            400,
            "with",
        ),
        (json!({"operation": "read", "path": "/etc"}), 400, "path"),
    ] {
        let (got, answer) = core.agent("POST", "/v1/proxies/board/tasks", &body);
        assert_eq!(got, status, "{body}: {answer}");
        assert_eq!(
            answer["error"]["details"]["field"], says,
            "{body}: {answer}"
        );
    }
    let one = json!({"operation": "read", "params": {"id": "1"}});
    assert_eq!(
        core.agent("POST", "/v1/proxies/elsewhere/tasks", &one).0,
        404
    );
    // Moltbook ships, but its credential is not set here.
    let feed = json!({"operation": "read_feed"});
    assert_eq!(
        core.agent("POST", "/v1/proxies/moltbook/tasks", &feed).0,
        503
    );
    assert_eq!(
        core.agent("GET", "/v1/proxies/board/tasks/task-unknown", &json!(null))
            .0,
        404
    );
    // States and holds are the owner's.
    assert_eq!(core.agent("GET", "/v1/proxies", &json!(null)).0, 403);
    let (status, all) = core.owner("GET", "/v1/proxies", &json!(null));
    assert_eq!(status, 200);
    assert_eq!(all["proxies"][0]["name"], "board");
    assert_eq!(all["proxies"][0]["credential"], true);
    assert!(service.came().is_empty());
    assert!(core.reports().is_empty());
}

#[test]
fn what_must_not_leave_is_stopped_before_it_does() {
    let service = Service::always(json!({"id": "1"}));
    let core = Core::start(&service);
    let mail = ["jane.doe", "example.org"].join("@");
    // By its form, in the worker; by its value, which only core knows, in the broker.
    for text in [format!("Write to {mail}"), format!("it is {}", token())] {
        let failed = core.task("say", json!({"id": "1", "text": text}));
        assert_eq!(failed["error"]["code"], "leak_blocked", "{failed}");
        assert!(!failed.to_string().contains(&text));
    }
    assert!(service.came().is_empty());
    // A long number in a path is the service's id of something, and no person's.
    let done = core.task("say", json!({"id": "123456789012345678", "text": "Hello."}));
    assert_eq!(done["state"], "done", "{done}");
    let states: Vec<String> = core.drafts().into_values().collect();
    assert_eq!(
        states.iter().filter(|state| *state == "ABANDONED").count(),
        2
    );
    assert!(
        core.alerts()
            .iter()
            .any(|alert| alert["kind"] == "credential_leak")
    );
    assert!(core.holds().is_empty());
}
