//! Ends at every step of a task, of the worker and of core, and what holds afterwards.

use crate::core::*;
use crate::service::*;
use serde_json::{Value, json};

/// No worker stands ready: each of these cores lives for one task or two.
const COLD: (&str, &str) = ("BLASTSHIELD_PROXY_READY", "0");

fn service() -> Service {
    Service::always(json!({"id": "1", "posts": [{"id": "1", "text": "fine"}]}))
}

/// After a worker died without a word: quarantine, hold, alert, and nothing half.
#[test]
fn a_worker_may_die_at_any_step() {
    for (point, sent) in [
        ("worker:start", 0),
        ("worker:drafted", 0),
        ("worker:asking", 0),
        ("worker:answered", 1),
        ("worker:before-report", 1),
        ("worker:after-report", 1),
    ] {
        let service = service();
        let core = Core::with(&service, GENEROUS, "", &[("PROXY_TEST_FAULT", point), COLD]);
        let failed = core.task("say", json!({"id": "1", "text": "Hello."}));
        let code = failed["error"]["code"].as_str().unwrap();
        // A report and an end that does not fit it is worse than none.
        let expected = if point == "worker:after-report" {
            "contradicted_report"
        } else {
            "missing_report"
        };
        assert_eq!(code, expected, "{point}: {failed}");
        assert_eq!(service.came().len(), sent, "{point}");
        let hold = core.holds().pop().unwrap();
        assert_eq!(
            (&hold["kind"], &hold["quarantine"]["step"]),
            (&json!("adversarial"), &json!("placed")),
            "{point}"
        );
        assert_eq!(
            core.task("read", json!({"id": "1"}))["error"]["code"],
            "held",
            "{point}"
        );
        invariants(core.stop().path());
    }
}

#[test]
fn a_worker_may_die_after_it_wrote_an_answer() {
    let service = service();
    let core = Core::with(
        &service,
        GENEROUS,
        "",
        &[("PROXY_TEST_FAULT", "worker:written"), COLD],
    );
    let failed = core.task("read", json!({"id": "1"}));
    assert_eq!(failed["error"]["code"], "missing_report", "{failed}");
    assert_eq!(core.holds()[0]["quarantine"]["step"], "placed");
    assert!(!core.workspace().join("posts/thread-1.json").exists());
    invariants(core.stop().path());
}

/// Core dies; its workers die with it; what it left is judged at the next start.
#[test]
fn core_may_die_at_any_step() {
    for (point, held) in [
        ("recovery:before-begin", false),
        ("recovery:begun", true),
        ("core:begun", true),
        ("core:told", true),
        ("core:counted", true),
        ("core:claimed", true),
        ("core:answered", true),
        ("core:ended", true),
        ("recovery:ended", true),
        ("core:judged", false),
    ] {
        let service = service();
        let core = Core::with(&service, GENEROUS, "", &[("PROXY_TEST_FAULT", point), COLD]);
        let request =
            json!({"operation": "say", "params": {"id": "1", "text": "Hello."}, "wait": 40});
        let answer = core.try_ask(None, "POST", "/v1/proxies/board/tasks", &request);
        assert!(answer.is_none(), "{point}: {answer:?}");
        let folder = core.gone();
        let core = Core::start_in(folder, &[COLD]);
        let holds = core.holds();
        assert_eq!(!holds.is_empty(), held, "{point}: {holds:?}");
        if let Some(hold) = holds.first() {
            assert_eq!(
                (&hold["kind"], &hold["trigger"]),
                (&json!("adversarial"), &json!("MISSING_REPORT")),
                "{point}"
            );
            assert_eq!(hold["quarantine"]["step"], "placed", "{point}: {hold}");
            assert_eq!(
                core.task("read", json!({"id": "1"}))["error"]["code"],
                "held",
                "{point}"
            );
            core.clear(hold["id"].as_str().unwrap());
        }
        assert!(service.came().len() <= 1, "{point}");
        let done = core.task("read", json!({"id": "1"}));
        assert_eq!(done["state"], "done", "{point}: {done}");
        invariants(core.stop().path());
    }
}

/// An adversarial end whose judgement core does not survive is completed at the next start.
#[test]
fn core_may_die_while_it_puts_a_workspace_aside() {
    for point in [
        "recovery:told",
        "recovery:kept",
        "recovery:decided",
        "recovery:renamed",
        "recovery:moved",
        "recovery:laid-out",
        "recovery:prepared",
        "recovery:staged",
        "recovery:put",
        "recovery:placed",
    ] {
        let service = Service::start(|_, number| match number {
            0 => Says::json(&json!({"id": attack()})),
            _ => Says::json(&json!({"id": "1", "posts": []})),
        });
        let core = Core::with(&service, GENEROUS, "", &[("PROXY_TEST_FAULT", point), COLD]);
        let request =
            json!({"operation": "say", "params": {"id": "1", "text": "Hello."}, "wait": 40});
        let answer = core.try_ask(None, "POST", "/v1/proxies/board/tasks", &request);
        assert!(answer.is_none(), "{point}: {answer:?}");
        let core = Core::start_in(core.gone(), &[COLD]);
        let hold = core.holds().pop().unwrap();
        assert_eq!(
            (&hold["kind"], &hold["quarantine"]["step"]),
            (&json!("adversarial"), &json!("placed")),
            "{point}"
        );
        assert!(core.drafts().is_empty());
        core.clear(hold["id"].as_str().unwrap());
        let done = core.task("read", json!({"id": "1"}));
        assert_eq!(done["state"], "done", "{point}: {done}");
        invariants(core.stop().path());
    }
}

/// A task that waits for the owner has no session: core may go and come back.
#[test]
fn core_may_die_while_the_owner_thinks() {
    let service = service();
    let core = Core::with(
        &service,
        GENEROUS,
        "",
        &[("PROXY_TEST_FAULT", "core:asked"), COLD],
    );
    let request = json!({"operation": "post", "params": {"text": "Hello."}, "wait": 40});
    let answer: Option<(u16, Value)> =
        core.try_ask(None, "POST", "/v1/proxies/board/tasks", &request);
    assert!(answer.is_none(), "{answer:?}");
    let core = Core::start_in(core.gone(), &[COLD]);
    assert!(core.holds().is_empty());
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    assert!(service.came().is_empty());
    invariants(core.stop().path());
}
