//! From task to answer, measured: run it by name with `--run-ignored all --release --nocapture`.

use crate::core::*;
use crate::service::*;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

const TIMES: usize = 40;

fn told(name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let (half, most) = (times[times.len() / 2], times[times.len() * 9 / 10]);
    let least = times[0];
    println!("{name}: median {half:.1} ms, nine of ten within {most:.1} ms, least {least:.1} ms");
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1000.0
}

/// What the service itself takes, without anybody in between.
fn direct(service: &Service) {
    let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
    write!(
        stream,
        "GET /api/threads/1 HTTP/1.1\r\nhost: localhost\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("Bread"));
}

#[test]
#[ignore = "a measurement"]
fn from_task_to_answer() {
    let service = Service::always(json!({"posts": [{"id": "1", "text": "Bread needs time."}]}));
    let times = (0..TIMES).map(|_| timed(|| direct(&service)));
    told("direct", times.collect());
    for (name, ready) in [
        ("forked for the task", "0"),
        ("with a worker ready", "1"),
        ("one after the other", "1"),
    ] {
        let core = Core::with(
            &service,
            GENEROUS,
            "",
            &[("BLASTSHIELD_PROXY_READY", ready)],
        );
        let task = || assert_eq!(core.task("read", json!({"id": "1"}))["state"], "done");
        let first = timed(task);
        let wait = name == "with a worker ready";
        let times = (0..TIMES).map(|_| {
            if wait {
                eventually(|| {
                    let (_, all) = core.owner("GET", "/v1/proxies", &json!(null));
                    (all["proxies"][0]["ready"].as_u64()? > 0).then_some(())
                });
            }
            timed(task)
        });
        told(name, times.collect());
        println!("{name}: the first of core's life {first:.1} ms");
    }
}
