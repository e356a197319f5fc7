//! What was acknowledged is answered for after core went and came back.

use crate::core::*;
use crate::service::*;
use serde_json::json;

#[test]
fn a_result_outlives_core() {
    let service = Service::always(json!({"posts": [{"id": "1", "text": "fine", "author": "ann"}]}));
    let core = Core::start(&service);
    let done = core.task("read", json!({"id": "1"}));
    let id = done["task_id"].as_str().unwrap().to_owned();
    let core = Core::start_in(core.kill(), &[]);
    assert_eq!(core.end_of(&id), done);
    let core = Core::start_in(core.stop(), &[]);
    assert_eq!(core.end_of(&id), done);
}

#[test]
fn a_task_that_core_did_not_survive_was_interrupted() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, number| {
        if number == 0 {
            waiting.pass();
        }
        Says::json(&json!({"id": "1", "posts": []}))
    });
    let core = Core::start(&service);
    let running = core.begin("say", json!({"id": "1", "text": "Hello."}));
    gate.reached();
    let queued = core.begin("read", json!({"id": "1"}));
    let core = Core::start_in(core.kill(), &[]);
    gate.open();
    for task in [&running, &queued] {
        let told = core.end_of(task);
        assert_eq!(told["state"], "failed", "{told}");
        assert_eq!(told["error"]["code"], "interrupted", "{told}");
        assert!(!told.to_string().contains("Hello."));
    }
    // Nothing is done again by itself: it was sent once, or not at all.
    assert_eq!(service.came().len(), 1);
    let unknown = core.agent("GET", "/v1/proxies/board/tasks/task-0", &json!(null));
    assert_eq!(unknown.0, 404);
    // Of another service's tasks nobody learns by guessing.
    let elsewhere = format!("/v1/proxies/moltbook/tasks/{running}");
    assert_eq!(core.agent("GET", &elsewhere, &json!(null)).0, 404);
    invariants(core.stop().path());
}

/// The end of a task is on disk before anybody sees it, and the task before anybody is told that it was taken.
#[test]
fn core_may_die_around_the_acknowledgement() {
    let service = Service::always(json!({"posts": []}));
    for point in ["core:taken", "core:over"] {
        let core = Core::with(&service, GENEROUS, "", &[("PROXY_TEST_FAULT", point)]);
        let request = json!({"operation": "read", "params": {"id": "1"}, "wait": 40});
        let answer = core.try_ask(None, "POST", "/v1/proxies/board/tasks", &request);
        assert!(answer.is_none(), "{point}: {answer:?}");
        let core = Core::start_in(core.gone(), &[]);
        assert!(core.holds().is_empty(), "{point}");
        assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
        invariants(core.stop().path());
    }
}
