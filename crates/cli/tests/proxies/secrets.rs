//! The credential: with core, on the wire, and nowhere else.

use crate::core::*;
use crate::service::*;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};

/// Every byte of a process that it could have written: what it only maps is the program and its libraries.
fn memory(pid: u32) -> std::io::Result<Vec<u8>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut file = File::open(format!("/proc/{pid}/mem"))?;
    let mut all = Vec::new();
    for line in maps.lines() {
        let mut parts = line.split_whitespace();
        let (Some(range), Some(rights)) = (parts.next(), parts.next()) else {
            continue;
        };
        let Some((from, to)) = range.split_once('-') else {
            continue;
        };
        let of_a_file = line.contains('/') && !rights.contains('w');
        if !rights.starts_with('r') || of_a_file || line.contains("[v") {
            continue;
        }
        let from = u64::from_str_radix(from, 16).unwrap();
        let to = u64::from_str_radix(to, 16).unwrap();
        let length = usize::try_from(to - from).unwrap();
        if length > 1 << 30 || file.seek(SeekFrom::Start(from)).is_err() {
            continue;
        }
        let mut block = vec![0; length];
        if file.read_exact(&mut block).is_ok() {
            all.extend(block);
        }
    }
    Ok(all)
}

fn holds(bytes: &[u8], what: &str) -> bool {
    memchr::memmem::find(bytes, what.as_bytes()).is_some()
}

#[test]
fn the_credential_is_in_no_worker_and_on_no_disk() {
    let gate = Gate::default();
    let waiting = gate.clone();
    let service = Service::start(move |_, _| {
        waiting.pass();
        Says::json(&json!({"id": "1"}))
    });
    let core = Core::with(
        &service,
        GENEROUS,
        "task_ms = 60000\nanswer_ms = 50000",
        &[],
    );
    let marker = "a sentence that only the task holds";
    let task = core.begin("say", json!({"id": "1", "text": marker}));
    // The request is at the service, with the credential; the worker waits for the answer.
    gate.reached();
    assert!(service.came()[0].head.contains(&token()));
    // Stopped, so that nothing passes by unseen. What workers are forked of is looked at too.
    let workers = core.descendants();
    assert!(workers.len() > 3, "{workers:?}");
    let each = |signal| {
        for pid in workers
            .iter()
            .filter_map(|pid| Pid::from_raw(i32::try_from(*pid).unwrap()))
        {
            kill_process(pid, signal).unwrap();
        }
    };
    each(Signal::STOP);
    let mut looked = 0;
    let mut saw_the_task = false;
    for &pid in &workers {
        let environment = fs::read(format!("/proc/{pid}/environ"));
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!holds(&arguments, &token()));
        match (environment, memory(pid)) {
            (Ok(environment), Ok(memory)) => {
                assert!(!holds(&environment, &token()), "in the environment");
                assert!(!holds(&memory, &token()), "in the memory");
                assert!(!holds(&environment, OWNER) && !holds(&memory, OWNER));
                saw_the_task |= holds(&memory, marker);
                looked += 1;
            }
            (environment, memory) => eprintln!(
                "SKIPPED: the memory of worker {pid} cannot be read by this user: {:?} {:?}",
                environment.err(),
                memory.err()
            ),
        }
    }
    if rustix::process::getuid().is_root() {
        assert!(
            looked > 0 && saw_the_task,
            "the worker's memory was not looked at"
        );
    }
    each(Signal::CONT);
    gate.open();
    assert_eq!(core.end_of(&task)["state"], "done");
    assert!(!core.said().contains(&token()));
    let folder = core.stop();
    invariants(folder.path());
}

#[test]
fn a_payload_is_nowhere_in_what_is_said_or_kept() {
    let service = Service::start(|_, _| {
        Says::json(&json!({"posts": [{"id": "1", "text": attack(), MARK: MARK}]}))
    });
    let core = Core::start(&service);
    let failed = core.task("read", json!({"id": "1"}));
    let held = core.task("read", json!({"id": "1"}));
    let (_, proxies) = core.owner("GET", "/v1/proxies", &json!(null));
    let alerts = json!(core.alerts());
    let holds = json!(core.holds());
    for said in [&failed, &held, &proxies, &alerts, &holds] {
        assert!(!said.to_string().contains(MARK), "{said}");
    }
    assert!(!core.said().contains(MARK));
    let folder = core.stop();
    invariants(folder.path());
    assert!(files_with(folder.path(), MARK.as_bytes()).is_empty());
}
