//! Many tasks at once.

use crate::core::*;
use crate::service::*;
use serde_json::json;

#[test]
fn a_hundred_tasks_in_parallel_all_end_well() {
    let service = Service::start(|came, _| {
        let id = came
            .line
            .split('/')
            .nth(3)
            .unwrap_or("")
            .split(' ')
            .next()
            .unwrap_or("")
            .to_owned();
        Says::json(&json!({"posts": [{"id": id, "text": "fine"}]}))
    });
    let core = Core::start(&service);
    let tasks: Vec<(String, String)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..100)
            .map(|number| {
                let core = &core;
                scope.spawn(move || {
                    let id = format!("t{number}");
                    let task = eventually(|| {
                        let request = json!({"operation": "read", "params": {"id": id}});
                        let (status, body) =
                            core.agent("POST", "/v1/proxies/board/tasks", &request);
                        // More connections at once than the gateway takes are told to come again.
                        (status == 202).then(|| body["task_id"].as_str().unwrap().to_owned())
                    });
                    (id, task)
                })
            })
            .collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for (id, task) in &tasks {
        let done = core.until(task, "done");
        // Each got its own answer.
        assert_eq!(done["data"]["posts"][0]["id"], json!(id));
        assert!(
            core.workspace()
                .join(format!("posts/thread-{id}.json"))
                .exists()
        );
    }
    assert_eq!(service.came().len(), 100);
    assert!(core.holds().is_empty());
    assert_eq!(core.reports().len(), 100);
    invariants(core.stop().path());
}
