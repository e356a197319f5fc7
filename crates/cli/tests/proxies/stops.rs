//! The owner closes all ways out while tasks are on.

use crate::core::*;
use crate::service::*;
use serde_json::json;

fn lockdown(core: &Core, on: bool) {
    let (status, body) = core.owner("POST", "/v1/lockdown", &json!({"on": on}));
    assert_eq!(status, 200, "{body}");
}

/// A service that keeps its first caller waiting until the gate opens.
fn held(gate: &Gate) -> Service {
    let waiting = gate.clone();
    Service::start(move |_, number| {
        if number == 0 {
            waiting.pass();
        }
        Says::json(&json!({"id": "1", "posts": []}))
    })
}

/// The worker goes through its checklist; nothing is held, nobody is accused, and others do not get their turn.
#[test]
fn a_lockdown_ends_the_tasks_that_are_on() {
    let gate = Gate::default();
    let service = held(&gate);
    let core = Core::start(&service);
    let running = core.begin("say", json!({"id": "1", "text": "Hello."}));
    gate.reached();
    let queued = core.begin("read", json!({"id": "1"}));
    lockdown(&core, true);
    let stopped = core.end_of(&running);
    assert_eq!(stopped["error"]["code"], "stopped", "{stopped}");
    let message = stopped["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("may have reached the service"),
        "{message}"
    );
    assert_eq!(core.end_of(&queued)["error"]["code"], "stopped");
    gate.open();
    let report = core.reports().pop().unwrap();
    assert_eq!(
        (
            &report["trigger"],
            &report["trigger_detail"],
            &report["adversarial"]
        ),
        (
            &json!("EXCEPTION"),
            &json!("stopped by the owner"),
            &json!(false)
        )
    );
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    assert!(core.holds().is_empty(), "{:?}", core.holds());
    let accused = |alert: &serde_json::Value| {
        alert["kind"] == "proxy_crash" && alert["details"]["adversarial"] == json!(true)
    };
    assert!(!core.alerts().iter().any(accused), "{:?}", core.alerts());
    // Nothing is taken meanwhile, and no worker waits.
    let request = json!({"operation": "read", "params": {"id": "1"}});
    assert_eq!(
        core.agent("POST", "/v1/proxies/board/tasks", &request).0,
        403
    );
    eventually(|| {
        let (_, all) = core.owner("GET", "/v1/proxies", &json!(null));
        (all["proxies"][0]["ready"] == 0).then_some(())
    });
    assert_eq!(service.came().len(), 1);
    lockdown(&core, false);
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    invariants(core.stop().path());
}

/// It happens as often as the owner likes, and is never a pattern.
#[test]
fn three_stops_are_no_pattern() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, number| {
        if number < 4 {
            waiting.pass();
        }
        Says::json(&json!({"id": "1", "posts": []}))
    });
    let core = Core::start(&service);
    for number in 1..=4 {
        let task = core.begin("read", json!({"id": "1"}));
        eventually(|| (service.came().len() == number).then_some(()));
        lockdown(&core, true);
        assert_eq!(core.end_of(&task)["error"]["code"], "stopped");
        lockdown(&core, false);
    }
    gate.open();
    assert!(core.holds().is_empty(), "{:?}", core.holds());
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
}

/// A draft that waits for the owner is given up with everything else.
#[test]
fn a_lockdown_ends_what_waits_for_the_owner() {
    let service = Service::always(json!({"id": "1"}));
    let core = Core::start(&service);
    let task = core.begin("post", json!({"text": "Hello."}));
    let waiting = core.until(&task, "waiting_for_owner");
    lockdown(&core, true);
    assert_eq!(core.end_of(&task)["error"]["code"], "stopped");
    lockdown(&core, false);
    // A yes that comes later sends nothing.
    let id = waiting["approval_id"].as_str().unwrap();
    let decision = format!("/v1/approvals/{id}/decision");
    let _ = core.owner("POST", &decision, &json!({"decision": "approve"}));
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    assert!(service.came().is_empty());
    invariants(core.stop().path());
}
