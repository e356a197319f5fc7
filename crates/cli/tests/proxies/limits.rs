//! How often: windows, the circuit breaker, and that a restart forgets nothing.

use crate::core::*;
use crate::service::*;
use serde_json::json;

#[test]
fn the_minute_is_limited_and_a_restart_does_not_help() {
    let service = Service::always(json!({"posts": []}));
    let core = Core::with(
        &service,
        "maxPerMinute = 2\nmaxPerHour = 100\nburnLimit = 200",
        "",
        &[],
    );
    for _ in 0..2 {
        assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    }
    let limited = core.task("read", json!({"id": "1"}));
    assert_eq!(limited["error"]["code"], "rate_limited", "{limited}");
    assert!(
        limited["error"]["retry_after_ms"].as_u64().unwrap() > 1000,
        "{limited}"
    );
    let core = Core::start_in(core.kill(), &[]);
    let limited = core.task("read", json!({"id": "1"}));
    assert_eq!(limited["error"]["code"], "rate_limited", "{limited}");
    assert_eq!(service.came().len(), 2);
    assert!(core.holds().is_empty());
}

#[test]
fn three_answers_429_open_the_circuit_and_tell_the_owner() {
    let service = Service::start(|_, number| match number {
        0..=2 => Says::status(429, ""),
        _ => Says::json(&json!({"posts": []})),
    });
    let limits = format!("{GENEROUS}\ncbThreshold = 3\ncbBaseMs = 1500\ncbMaxMs = 900000");
    let core = Core::with(&service, &limits, "", &[]);
    for _ in 0..3 {
        let failed = core.task("read", json!({"id": "1"}));
        assert_eq!(failed["error"]["code"], "rate_limited", "{failed}");
    }
    assert_eq!(service.came().len(), 3);
    // The circuit is open: nothing goes out.
    let paused = core.task("read", json!({"id": "1"}));
    assert_eq!(paused["error"]["code"], "rate_limited", "{paused}");
    assert_eq!(service.came().len(), 3);
    let alerts = core.alerts();
    assert!(
        alerts.iter().any(|alert| alert.to_string().contains("429")),
        "{alerts:?}"
    );
    // After the pause a probe goes out, and it closes the circuit.
    let done = eventually(|| {
        let task = core.task("read", json!({"id": "1"}));
        (task["state"] == "done").then_some(task)
    });
    assert_eq!(done["summary"], "0 posts of 1");
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    assert!(core.holds().is_empty());
}

#[test]
fn an_old_credential_is_told_once_for_each_period() {
    use sha2::{Digest as _, Sha256};
    let service = Service::always(json!({"posts": []}));
    let folder = folder(&service, GENEROUS, "");
    let state = folder.path().join("data/proxies/state");
    std::fs::create_dir_all(&state).unwrap();
    let print: String = Sha256::digest(format!("salt:{}", token()))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        .chars()
        .take(16)
        .collect();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let kept = json!({
        "limits": {"sent": [], "total": 0, "burned": false, "latest": 0,
            "breaker": {"times": 0, "circuit": {"closed": {"in_a_row": 0}}}},
        "credential": {"salt": "salt", "print": print, "since_ms": now - 8 * 86_400_000, "reminded_ms": 0},
    });
    std::fs::write(state.join("board.json"), kept.to_string()).unwrap();
    let due = |core: &Core| {
        let alerts = core.alerts();
        alerts
            .iter()
            .filter(|alert| alert.to_string().contains("BOARD_API_TOKEN"))
            .count()
    };
    let core = Core::start_in(folder, &[]);
    eventually(|| (due(&core) == 1).then_some(()));
    let core = Core::start_in(core.stop(), &[]);
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    assert_eq!(due(&core), 0);
    invariants(core.stop().path());
}
