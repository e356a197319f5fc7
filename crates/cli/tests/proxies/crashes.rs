//! Workers that are killed from outside.

use crate::core::*;
use crate::service::*;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The worker that has the task: the one whose trail is open.
fn worker(core: &Core) -> Vec<Pid> {
    let at_work = |pid: &u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd"));
        files.is_ok_and(|files| {
            files.flatten().any(|file| {
                std::fs::read_link(file.path())
                    .is_ok_and(|to| to.to_string_lossy().ends_with("audit.jsonl"))
            })
        })
    };
    let pids = core.workers();
    pids.into_iter()
        .filter(at_work)
        .filter_map(|pid| Pid::from_raw(i32::try_from(pid).unwrap()))
        .collect()
}

fn while_it_works(signal: Signal) -> (Core, serde_json::Value) {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, _| {
        waiting.pass();
        Says::json(&json!({"id": "1", "posts": []}))
    });
    let core = Core::start(&service);
    let task = core.begin("say", json!({"id": "1", "text": "Hello."}));
    gate.reached();
    let pids = worker(&core);
    assert_eq!(pids.len(), 1, "which of {:?} has the task?", core.workers());
    kill_process(pids[0], signal).unwrap();
    let failed = core.end_of(&task);
    gate.open();
    (core, failed)
}

/// Core goes down while a worker works: the worker leaves a report, and the cause is known.
#[test]
fn core_may_be_stopped_while_a_worker_works() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, number| {
        if number == 0 {
            waiting.pass();
        }
        Says::json(&json!({"id": "1", "posts": []}))
    });
    let core = Core::start(&service);
    core.begin("say", json!({"id": "1", "text": "Hello."}));
    gate.reached();
    let folder = core.stop();
    gate.open();
    let reports = reports(&folder.path().join("data/proxies/workspaces/board"));
    assert_eq!(reports[0]["trigger_detail"], "core is shutting down");
    invariants(folder.path());
    let core = Core::start_in(folder, &[]);
    assert_eq!(core.holds()[0]["kind"], "fix");
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    assert!(core.holds().is_empty());
}

/// No report: the worst is assumed.
#[test]
fn a_worker_that_is_killed_counts_as_an_attack_with_files_written() {
    let (core, failed) = while_it_works(Signal::KILL);
    assert_eq!(failed["error"]["code"], "missing_report", "{failed}");
    let hold = core.holds().pop().unwrap();
    assert_eq!(hold["kind"], "adversarial");
    assert_eq!(hold["quarantine"]["step"], "placed", "{hold}");
    assert!(
        core.alerts()
            .iter()
            .any(|alert| alert["kind"] == "proxy_crash")
    );
    invariants(core.stop().path());
}

/// A polite end: the checklist is gone through, and the cause is looked into before the next one.
#[test]
fn a_worker_that_is_asked_to_end_leaves_a_report() {
    let (core, failed) = while_it_works(Signal::TERM);
    assert_eq!(failed["error"]["code"], "exception", "{failed}");
    let report = core.reports().pop().unwrap();
    assert_eq!(report["trigger"], "EXCEPTION");
    assert_eq!(report["trigger_detail"], "ended by a signal");
    assert_eq!(
        core.drafts().into_values().collect::<Vec<_>>(),
        ["ABANDONED"]
    );
    assert_eq!(core.holds()[0]["kind"], "investigate");
    invariants(core.stop().path());
}

/// However core ends, nothing that it started is left.
#[test]
fn everything_ends_with_core() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, _| {
        waiting.pass();
        Says::json(&json!({"id": "1", "posts": []}))
    });
    let core = Core::start(&service);
    core.begin("say", json!({"id": "1", "text": "Hello."}));
    gate.reached();
    let started = core.descendants();
    // What workers are forked of, and three for the worker.
    assert!(started.len() >= 4, "{started:?}");
    core.kill();
    gate.open();
    let gone = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        // A process that nobody collected yet is gone all the same.
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    eventually(|| started.iter().all(gone).then_some(()));
}

/// Workers are forked of a process of core's: without it they go on to be started, and it comes back.
#[test]
fn the_process_that_workers_are_forked_of_may_die() {
    let service = Service::always(json!({"posts": []}));
    let core = Core::with(&service, GENEROUS, "", &[("BLASTSHIELD_PROXY_READY", "0")]);
    for _ in 0..2 {
        assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
        let idle = eventually(|| {
            let all = core.descendants();
            (all.len() == 1).then_some(all)
        });
        let pid = Pid::from_raw(i32::try_from(idle[0]).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }
    assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
    assert!(core.holds().is_empty());
}
