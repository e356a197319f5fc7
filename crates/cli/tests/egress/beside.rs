//! Two processes on one data folder: the second asks and tells through the first, which writes the log.

use crate::serving::{approval, gateway, owner};
use crate::{command, get, origin, serve, until};
use std::path::Path;
use std::time::Duration;

fn pending(served: &crate::Served, folder: &Path) -> Option<String> {
    let list = owner(served, folder, "GET", "/v1/approvals?state=pending", "");
    let (_, rest) = list.split_once("\"id\":\"")?;
    Some(rest.split('"').next().unwrap().to_owned())
}

fn decide(served: &crate::Served, folder: &Path, id: &str, decision: &str) {
    let path = format!("/v1/approvals/{id}/decision");
    let answer = owner(served, folder, "POST", &path, decision);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("data/logs/security-supervisor-audit.log")).unwrap()
}

#[test]
fn a_proxy_beside_the_gateway_asks_and_tells_through_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (origin, first) = (origin(), gateway(folder));
    let mut beside = command(folder, &["egress", "--address", "127.0.0.1:0"]);
    beside
        .env("BLASTSHIELD_EGRESS_ASK_WAIT_SECONDS", "60")
        .env("BLASTSHIELD_EGRESS_PRIVATE_HOSTS", "localhost");
    let beside = serve(beside);
    let port = origin.split(':').nth(1).unwrap().to_owned();
    let ask = || {
        let (proxy, url) = (beside.proxy.clone(), format!("http://localhost:{port}/"));
        std::thread::spawn(move || get(&proxy, &url))
    };
    let waiting = ask();
    let mut id = None;
    until("the gateway shows the question", || {
        id = pending(&first, folder);
        id.is_some()
    });
    let id = id.unwrap();
    decide(&first, folder, &id, "{\"decision\":\"approve\"}");
    let answer = waiting.join().unwrap();
    assert!(answer.ends_with("bread"), "{answer}");
    until("asked and used are in the log", || {
        let log = log(folder);
        log.contains("approval_requested") && log.contains("approval_used") && log.contains(&id)
    });
    // What it refuses is in the log too.
    assert!(get(&beside.proxy, "http://10.0.0.1/").contains("address_not_public"));
    until("the refusal is in the log", || {
        log(folder).contains("address_not_public")
    });
    // The gateway is killed while somebody waits, and comes back: the question is still there.
    let waiting = ask();
    let mut again = None;
    until("asked again", || {
        again = pending(&first, folder);
        again.is_some()
    });
    drop(first);
    let second = gateway(folder);
    assert_eq!(pending(&second, folder), again);
    decide(
        &second,
        folder,
        &again.unwrap(),
        "{\"decision\":\"approve\",\"scope\":\"1h\"}",
    );
    assert!(waiting.join().unwrap().ends_with("bread"));
    // A grant counts in both, for the same agent.
    let both = [&beside.proxy, &second.proxy];
    for proxy in both {
        let answer = get(proxy, &format!("http://localhost:{port}/"));
        assert!(answer.ends_with("bread"), "{answer}");
    }
    // One switch closes both.
    let on = owner(&second, folder, "POST", "/v1/lockdown", "{\"on\":true}");
    assert!(on.contains("{\"on\":true}"), "{on}");
    until("closed there too", || {
        get(&beside.proxy, &format!("http://{origin}/")).contains("\"lockdown\"")
    });
}

#[test]
fn a_no_in_the_gateway_is_a_no_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = gateway(folder);
    let mut beside = command(folder, &["egress", "--address", "127.0.0.1:0"]);
    beside
        .env("BLASTSHIELD_EGRESS_ASK_WAIT_SECONDS", "1")
        .env("BLASTSHIELD_EGRESS_PRIVATE_HOSTS", "localhost");
    let beside = serve(beside);
    let asked = get(&beside.proxy, "http://localhost:9/");
    assert!(asked.contains("approval_pending"), "{asked}");
    let id = approval(&asked);
    decide(&first, folder, &id, "{\"decision\":\"deny\"}");
    until("the no counts", || {
        std::thread::sleep(Duration::from_millis(50));
        get(&beside.proxy, "http://localhost:9/").contains("approval_denied")
    });
}

#[test]
fn a_gateway_that_could_record_nothing_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _first = serve(command(folder, &["egress", "--address", "127.0.0.1:0"]));
    let refused = command(folder, &["serve", "--port", "0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("writes the audit log"), "{why}");
}
