//! What the owner has to say yes to.

use crate::core::*;
use crate::service::*;
use serde_json::json;

#[test]
fn a_post_waits_for_the_owner_and_is_sent_once() {
    let service = Service::always(json!({"id": "9", "posts": []}));
    let core = Core::start(&service);
    let task = core.begin("post", json!({"text": "Hello, world of bread."}));
    let waiting = core.until(&task, "waiting_for_owner");
    let id = waiting["approval_id"].as_str().unwrap();
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["PENDING_APPROVAL"]
    );
    // Nobody is in the way of others meanwhile.
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    assert_eq!(service.came().len(), 1);
    let (_, shown) = core.owner("GET", &format!("/v1/approvals/{id}"), &json!(null));
    assert!(
        shown.to_string().contains("Hello, world of bread."),
        "{shown}"
    );
    // The agent cannot decide.
    let decision = format!("/v1/approvals/{id}/decision");
    assert_eq!(
        core.agent("POST", &decision, &json!({"decision": "approve"}))
            .0,
        403
    );
    let (status, answer) = core.owner("POST", &decision, &json!({"decision": "approve"}));
    assert_eq!(status, 200, "{answer}");
    let done = core.end_of(&task);
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(done["data"], json!({"id": "9"}));
    let posts: Vec<_> = service
        .came()
        .into_iter()
        .filter(|came| came.line.starts_with("POST"))
        .collect();
    assert_eq!(posts.len(), 1);
    assert_eq!(core.drafts().into_values().collect::<Vec<_>>(), ["SENT"]);
    assert_eq!(
        core.owner("POST", &decision, &json!({"decision": "approve"}))
            .0,
        409
    );
    invariants(core.stop().path());
}

#[test]
fn a_no_sends_nothing() {
    let service = Service::always(json!({"id": "9"}));
    let core = Core::start(&service);
    let task = core.begin("post", json!({"text": "Hello."}));
    let waiting = core.until(&task, "waiting_for_owner");
    let id = waiting["approval_id"].as_str().unwrap();
    let decision = format!("/v1/approvals/{id}/decision");
    assert_eq!(
        core.owner("POST", &decision, &json!({"decision": "deny"}))
            .0,
        200
    );
    let denied = core.end_of(&task);
    assert_eq!(denied["error"]["code"], "denied", "{denied}");
    assert!(service.came().is_empty());
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
}

#[test]
fn silence_is_a_no() {
    let service = Service::always(json!({"id": "9"}));
    let core = Core::with(&service, GENEROUS, "approval_ms = 700", &[]);
    let expired = core.task("post", json!({"text": "Hello."}));
    assert_eq!(expired["error"]["code"], "expired", "{expired}");
    assert!(service.came().is_empty());
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
}

#[test]
fn a_draft_that_waits_when_core_ends_is_given_up() {
    let service = Service::always(json!({"id": "9"}));
    let core = Core::start(&service);
    let task = core.begin("post", json!({"text": "Hello."}));
    core.until(&task, "waiting_for_owner");
    let core = Core::start_in(core.kill(), &[]);
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    // No session was on, so that nothing has to be feared.
    assert!(core.holds().is_empty());
    assert!(service.came().is_empty());
}
