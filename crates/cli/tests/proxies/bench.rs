//! From task to answer, measured: run it by name with `--run-ignored all --release --nocapture`.

use crate::core::*;
use crate::service::*;
use serde_json::json;
use std::time::Instant;

fn median(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 9 / 10])
}

#[test]
#[ignore = "a measurement"]
fn from_task_to_answer() {
    let service = Service::always(json!({"posts": [{"id": "1", "text": "Bread needs time."}]}));
    for (name, ready) in [("cold", "0"), ("warm", "1")] {
        let core = Core::with(
            &service,
            GENEROUS,
            "",
            &[("BLASTSHIELD_PROXY_READY", ready)],
        );
        core.task("read", json!({"id": "1"}));
        let times: Vec<f64> = (0..40)
            .map(|_| {
                if ready == "1" {
                    eventually(|| {
                        let (_, all) = core.owner("GET", "/v1/proxies", &json!(null));
                        (all["proxies"][0]["ready"].as_u64()? > 0).then_some(())
                    });
                }
                let start = Instant::now();
                let done = core.task("read", json!({"id": "1"}));
                assert_eq!(done["state"], "done");
                start.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        let (half, most) = median(times);
        println!("{name}: median {half:.1} ms, nine of ten within {most:.1} ms");
    }
}
