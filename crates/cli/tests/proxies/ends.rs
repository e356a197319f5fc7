//! Each way in which a worker ends, and what core makes of it: the rows of the decision tree and of the re-spawn guide.

use crate::core::*;
use crate::service::*;
use serde_json::{Value, json};

fn posts(text: &str) -> Value {
    json!({"posts": [{"id": "1", "text": text}]})
}

fn code(task: &Value) -> &str {
    task["error"]["code"].as_str().unwrap_or_default()
}

/// Adversarial, nothing written: alert, hold, no quarantine, no re-spawn until cleared.
#[test]
fn an_injection_ends_the_worker_and_holds_the_service() {
    let service = Service::start(|_, number| match number {
        0 => Says::json(&posts(&attack())),
        _ => Says::json(&posts("All is well.")),
    });
    let core = Core::start(&service);
    let failed = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&failed), "injection_detected", "{failed}");
    let hold = failed["error"]["hold"].as_str().unwrap().to_owned();
    let report = core.reports().pop().unwrap();
    assert_eq!(report["trigger"], "INJECTION_DETECTED");
    assert_eq!(report["adversarial"], true);
    assert_eq!(
        report["suspicious_content_hash"].as_str().unwrap().len(),
        16
    );
    assert!(report["suspicious_content_length"].as_u64().unwrap() > 100);
    assert!(!core.workspace().join("posts/thread-1.json").exists());
    let alert = core
        .alerts()
        .into_iter()
        .find(|alert| alert["kind"] == "proxy_crash")
        .unwrap();
    assert_eq!(alert["details"]["quarantined"], false);
    let holds = core.holds();
    assert_eq!(holds[0]["kind"], "adversarial");
    assert_eq!(holds[0]["quarantine"], Value::Null);
    // Nothing is spawned until the owner clears it.
    let held = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&held), "held", "{held}");
    assert_eq!(service.came().len(), 1);
    for answer in [&failed, &held] {
        assert!(!answer.to_string().contains(MARK), "{answer}");
    }
    core.clear(&hold);
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    invariants(core.stop().path());
}

/// Adversarial with files written: quarantine, restore, alert, hold.
#[test]
fn an_injection_after_something_was_written_is_quarantined() {
    let service = Service::start(|_, _| Says::json(&json!({"id": attack()})));
    let core = Core::start(&service);
    let failed = core.task("say", json!({"id": "1", "text": "Hello."}));
    assert_eq!(code(&failed), "injection_detected", "{failed}");
    let hold = core.holds().pop().unwrap();
    assert_eq!(hold["kind"], "adversarial");
    assert_eq!(hold["quarantine"]["step"], "placed", "{hold}");
    let aside = core
        .data()
        .join("proxies/workspaces")
        .join(hold["quarantine"]["folder"].as_str().unwrap());
    assert_eq!(drafts(&aside).into_values().collect::<Vec<_>>(), ["SENT"]);
    assert_eq!(reports(&aside)[0]["trigger"], "INJECTION_DETECTED");
    // A fresh workspace is there, and nothing in it comes from the session.
    assert!(core.workspace().join("drafts").exists());
    assert!(core.drafts().is_empty() && core.reports().is_empty());
    let alert = core
        .alerts()
        .into_iter()
        .find(|alert| alert["kind"] == "proxy_crash")
        .unwrap();
    assert_eq!(alert["details"]["quarantined"], true);
    assert_eq!(code(&core.task("read", json!({"id": "1"}))), "held");
    // Cleared, it lives again, in the new workspace.
    core.clear(hold["id"].as_str().unwrap());
    let again = core.task("say", json!({"id": "1", "text": "Hello."}));
    assert_eq!(code(&again), "injection_detected", "{again}");
    assert_eq!(core.holds().len(), 1);
    invariants(core.stop().path());
}

/// AUTH_FAILURE: logged, re-spawned once with the same task; the third of its kind in a day goes to the owner.
#[test]
fn a_refused_credential_is_tried_once_more_and_then_told() {
    let service = Service::start(|_, _| Says::status(401, "{}"));
    let core = Core::start(&service);
    let failed = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&failed), "auth_failure", "{failed}");
    assert_eq!(service.came().len(), 2);
    let reports = core.reports();
    assert_eq!(reports.len(), 2);
    assert!(
        reports
            .iter()
            .all(|report| report["trigger"] == "AUTH_FAILURE" && report["adversarial"] == false)
    );
    assert!(core.holds().is_empty());
    let third = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&third), "auth_failure", "{third}");
    assert_eq!(core.holds()[0]["kind"], "pattern");
    assert_eq!(code(&core.task("read", json!({"id": "1"}))), "held");
    assert_eq!(service.came().len(), 3);
}

/// BURN_LIMIT: ends with a report, is not tried again; the next session begins anew.
#[test]
fn the_burn_limit_ends_the_session_without_a_retry() {
    let service = Service::always(posts("fine"));
    let limits = "maxPerMinute = 100\nmaxPerHour = 100\nburnLimit = 2";
    let core = Core::with(&service, limits, "", &[]);
    for _ in 0..2 {
        assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    }
    let burned = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&burned), "burn_limit", "{burned}");
    assert_eq!(service.came().len(), 2);
    let report = core.reports().pop().unwrap();
    assert_eq!(report["trigger"], "BURN_LIMIT");
    assert_eq!(report["adversarial"], false);
    assert!(core.holds().is_empty());
}

/// EXCEPTION with a known cause: after the cause is dealt with. Core gives it the first pause.
#[test]
fn an_answer_of_another_shape_is_an_exception_with_a_known_cause() {
    let service = Service::start(|_, number| match number {
        0 => Says::json(&json!({"posts": "none"})),
        _ => Says::json(&posts("fine")),
    });
    let limits = format!("{GENEROUS}\ncbBaseMs = 400");
    let core = Core::with(&service, &limits, "", &[]);
    let failed = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&failed), "exception", "{failed}");
    assert_eq!(core.holds()[0]["kind"], "fix");
    assert_eq!(core.reports().pop().unwrap()["trigger"], "EXCEPTION");
    let done = eventually(|| {
        let task = core.task("read", json!({"id": "1"}));
        (task["state"] == "done").then_some(task)
    });
    assert_eq!(done["summary"], "1 posts of 1");
    assert!(core.holds().is_empty());
}

/// A service that does not answer in time: the worker is told, goes through its checklist, and the cause is known.
#[test]
fn a_time_out_ends_with_a_report() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, _| {
        waiting.pass();
        Says::json(&posts("late"))
    });
    let core = Core::with(&service, GENEROUS, "task_ms = 1500\nanswer_ms = 60000", &[]);
    let failed = core.task("say", json!({"id": "1", "text": "Hello?"}));
    gate.open();
    assert_eq!(code(&failed), "exception", "{failed}");
    let report = core.reports().pop().unwrap();
    assert_eq!(
        (&report["trigger"], &report["trigger_detail"]),
        (&json!("EXCEPTION"), &json!("time-out"))
    );
    assert_eq!(core.holds()[0]["kind"], "fix");
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    invariants(core.stop().path());
}

/// EXCEPTION with an unknown cause: looked into first, then re-spawned.
#[test]
fn a_fault_in_the_worker_is_looked_into_before_the_next_one() {
    let service = Service::always(json!({"id": "1", "posts": []}));
    let limits = format!("{GENEROUS}\ncbBaseMs = 60000");
    let core = Core::with(
        &service,
        &limits,
        "",
        &[("PROXY_TEST_FAULT", "worker:panic")],
    );
    let failed = core.task("say", json!({"id": "1", "text": "Hello."}));
    assert_eq!(code(&failed), "exception", "{failed}");
    let report = core.reports().pop().unwrap();
    assert_eq!(
        (&report["trigger"], &report["trigger_detail"]),
        (&json!("EXCEPTION"), &json!("a fault in the worker"))
    );
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    assert_eq!(core.holds()[0]["kind"], "investigate");
    assert_eq!(code(&core.task("read", json!({"id": "1"}))), "held");
    // Without the fault a worker starts well, which core sees to by itself.
    let core = Core::start_in(core.stop(), &[]);
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    assert!(core.holds().is_empty());
    invariants(core.stop().path());
}

/// POLICY_VIOLATION: what is to be sent is not what the owner approved.
#[test]
fn a_draft_that_was_changed_after_the_yes_is_not_sent() {
    let service = Service::always(json!({"id": "1"}));
    let core = Core::start(&service);
    let task = core.begin("post", json!({"text": "Hello."}));
    let waiting = core.until(&task, "waiting_for_owner");
    let draft = core.workspace().join("drafts").join(format!("{task}.json"));
    let text = std::fs::read_to_string(&draft).unwrap();
    std::fs::write(&draft, text.replace("Hello.", "Goodbye.")).unwrap();
    let id = waiting["approval_id"].as_str().unwrap();
    let decision = format!("/v1/approvals/{id}/decision");
    assert_eq!(
        core.owner("POST", &decision, &json!({"decision": "approve"}))
            .0,
        200
    );
    let failed = core.end_of(&task);
    assert_eq!(code(&failed), "policy_violation", "{failed}");
    assert!(service.came().is_empty());
    assert_eq!(core.reports().pop().unwrap()["trigger"], "POLICY_VIOLATION");
    assert_eq!(core.holds()[0]["kind"], "adversarial");
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    invariants(core.stop().path());
}

/// AUTH_FAILURE: a capability that has expired is no attack.
#[test]
fn an_expired_capability_is_refused() {
    let service = Service::always(json!({"posts": []}));
    let core = Core::with(&service, GENEROUS, "capability_ms = 1", &[]);
    let failed = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&failed), "auth_failure", "{failed}");
    assert!(service.came().is_empty());
}

/// Not a crash: the service says no, or is not there.
#[test]
fn what_the_service_refuses_is_no_crash() {
    let service = Service::start(|_, number| match number {
        0 => Says::status(404, &attack()),
        1 => Says {
            headers: "location: http://127.0.0.1:1/elsewhere\r\n".to_owned(),
            ..Says::status(302, "")
        },
        _ => Says::status(500, "{}"),
    });
    let core = Core::start(&service);
    for status in [404, 302, 500] {
        let failed = core.task("read", json!({"id": "1"}));
        assert_eq!(code(&failed), "service_status", "{failed}");
        assert_eq!(
            failed["error"]["message"],
            format!("the service answered {status}")
        );
        assert!(!failed.to_string().contains(MARK));
    }
    assert!(core.holds().is_empty());
    assert!(
        core.reports()
            .iter()
            .all(|report| report["trigger"] == "TASK_COMPLETE")
    );
    invariants(core.stop().path());
}

/// The same trouble three times in a day is the owner's to look at, whatever it is; core ends no such hold by itself.
#[test]
fn the_third_exception_of_a_day_is_a_pattern() {
    let service = Service::start(|_, _| Says::json(&json!({"posts": "none"})));
    let limits = format!("{GENEROUS}\ncbBaseMs = 1");
    let core = Core::with(&service, &limits, "", &[]);
    for expected in ["fix", "fix", "pattern"] {
        let failed = eventually(|| {
            let task = core.task("read", json!({"id": "1"}));
            (code(&task) != "held").then_some(task)
        });
        assert_eq!(code(&failed), "exception", "{failed}");
        assert_eq!(core.holds()[0]["kind"], expected);
    }
    assert_eq!(service.came().len(), 3);
    // A restart mends no pattern.
    let core = Core::start_in(core.stop(), &[]);
    let held = core.task("read", json!({"id": "1"}));
    assert_eq!(code(&held), "held", "{held}");
    core.clear(held["error"]["hold"].as_str().unwrap());
    // Settled by a person, it counts from the beginning.
    assert_eq!(code(&core.task("read", json!({"id": "1"}))), "exception");
    assert_eq!(core.holds()[0]["kind"], "fix");
    invariants(core.stop().path());
}

#[test]
fn the_third_burned_session_of_a_day_is_a_pattern() {
    let service = Service::always(posts("fine"));
    let limits = "maxPerMinute = 100\nmaxPerHour = 100\nburnLimit = 1";
    let core = Core::with(&service, limits, "", &[]);
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    // What was sent within the hour counts in the next session too.
    for burned in 1..=3 {
        let failed = core.task("read", json!({"id": "1"}));
        assert_eq!(code(&failed), "burn_limit", "{failed}");
        assert_eq!(core.holds().is_empty(), burned < 3);
    }
    assert_eq!(service.came().len(), 1);
    assert_eq!(core.holds()[0]["kind"], "pattern");
    assert_eq!(code(&core.task("read", json!({"id": "1"}))), "held");
}
