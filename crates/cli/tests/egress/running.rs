//! `blastshield run` and `blastshield sandbox run --network allowlist`: a command whose only way out is the proxy.

use crate::serving::{gateway, owner};
use crate::{command, finish, origin, text, until};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::time::Duration;

/// Whether this machine cannot confine at all; then that is what must be said.
fn refused(output: &Output) -> bool {
    let said = text(output);
    let cannot = said.contains("this machine cannot hold") || said.contains("could not");
    if cannot {
        eprintln!("SKIPPED: {said}");
    }
    cannot
}

const CURL: &str = "/usr/bin/curl";

#[test]
fn a_command_reaches_what_is_allowed_and_nothing_else() {
    if !std::path::Path::new(CURL).exists() {
        eprintln!("SKIPPED: no curl here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let url = format!("http://{origin}/");
    let run = |arguments: &[&str]| {
        let mut all = vec!["run"];
        all.extend(arguments);
        finish(command(folder.path(), &all).env("BLASTSHIELD_EGRESS_UNLISTED", "deny"))
    };
    let through = run(&["--", CURL, "-sS", "--max-time", "20", &url]);
    if refused(&through) {
        return;
    }
    assert!(text(&through).starts_with("bread"), "{}", text(&through));
    // Past the proxy there is nothing: the same address on its own loopback is another one.
    let past = run(&["--", CURL, "-sS", "--max-time", "5", "--noproxy", "*", &url]);
    assert!(
        !past.status.success() && !text(&past).contains("bread"),
        "{}",
        text(&past)
    );
    let dns = run(&[
        "--",
        CURL,
        "-sS",
        "--max-time",
        "5",
        "--noproxy",
        "*",
        "http://example.org/",
    ]);
    assert!(!dns.status.success(), "{}", text(&dns));
    let other = run(&[
        "--",
        CURL,
        "-sS",
        "--max-time",
        "20",
        "http://other.invalid-name.test/",
    ]);
    assert!(
        text(&other).contains("host_not_allowed"),
        "{}",
        text(&other)
    );
    // Its own code comes through.
    assert_eq!(run(&["--", "sh", "-c", "exit 7"]).status.code(), Some(7));
}

#[test]
fn domains_are_allowed_for_one_command() {
    if !std::path::Path::new(CURL).exists() {
        eprintln!("SKIPPED: no curl here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let url = format!("http://{origin}/");
    for way in [&["run"][..], &["sandbox", "run", "--network", "allowlist"]] {
        let with = |more: &[&str]| {
            let all = [way, more, &["--", CURL, "-sS", "--max-time", "20", &url]].concat();
            finish(
                command(folder.path(), &all)
                    .env("SUPERVISOR_ALLOWED_DOMAINS", "nothing.test")
                    .env("BLASTSHIELD_EGRESS_UNLISTED", "deny"),
            )
        };
        let without = with(&[]);
        if refused(&without) {
            return;
        }
        assert!(
            text(&without).contains("host_not_allowed"),
            "{}",
            text(&without)
        );
        let allowed = with(&["--allow-domain", "127.0.0.1"]);
        assert!(text(&allowed).starts_with("bread"), "{}", text(&allowed));
    }
}

#[test]
fn the_owners_token_is_not_given_away() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let output = finish(&mut command(
        folder.path(),
        &["run", "--write", ".", "--", "true"],
    ));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("data folder"), "{}", text(&output));
}

/// An origin that answers with a byte now and then, for ever.
fn dripping() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n";
                let _ = stream.write_all(head);
                let _ = stream.write_all(&[0xff; 2048]);
                while stream.write_all(&[0xff]).is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    address
}

#[test]
fn beside_a_gateway_its_owner_is_asked_and_its_switch_counts() {
    if !std::path::Path::new(CURL).exists() {
        eprintln!("SKIPPED: no curl here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let served = gateway(folder);
    let curl = |url: &str| {
        let mut run = command(
            folder,
            &["run", "--", CURL, "-sS", "-N", "--max-time", "60", url],
        );
        run.env("BLASTSHIELD_EGRESS_ASK_WAIT_SECONDS", "60")
            .env("BLASTSHIELD_EGRESS_PRIVATE_HOSTS", "localhost")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        run
    };
    let origin = origin();
    let port = origin.split(':').nth(1).unwrap();
    let child = curl(&format!("http://localhost:{port}/")).spawn().unwrap();
    let asking = std::thread::spawn(move || child.wait_with_output().unwrap());
    let mut id = None;
    until("the owner is asked, or it cannot be run here", || {
        let list = owner(&served, folder, "GET", "/v1/approvals?state=pending", "");
        let found = list.split_once("\"id\":\"");
        id = found.map(|(_, rest)| rest.split('"').next().unwrap().to_owned());
        id.is_some() || asking.is_finished()
    });
    let Some(id) = id else {
        let output = asking.join().unwrap();
        assert!(refused(&output), "{}", text(&output));
        return;
    };
    let path = format!("/v1/approvals/{id}/decision");
    let decided = owner(&served, folder, "POST", &path, "{\"decision\":\"approve\"}");
    assert!(decided.contains("\"agent/run\""), "{decided}");
    let output = asking.join().unwrap();
    assert!(text(&output).starts_with("bread"), "{}", text(&output));
    // Something is on its way when the switch is thrown.
    let mut child = curl(&format!("http://{}/", dripping())).spawn().unwrap();
    let mut first = [0; 1];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    let on = owner(&served, folder, "POST", "/v1/lockdown", "{\"on\":true}");
    assert!(on.contains("{\"on\":true}"), "{on}");
    let output = child.wait_with_output().unwrap();
    // curl: the transfer ended early, not by its own time limit.
    assert_eq!(output.status.code(), Some(18), "{}", text(&output));
}

/// Fetches its address with Node's own fetch: bare, and over an agent whose connections begin with CONNECT.
const FETCH: &str = "
const http = require('http');
const url = process.argv[1];
(async () => {
  try { console.log('bare', await (await fetch(url)).text()); } catch { console.log('bare failed'); }
  const proxy = new URL(process.env.HTTP_PROXY);
  const Agent = globalThis[Symbol.for('undici.globalDispatcher.1')].constructor;
  const dispatcher = new Agent({ connect({ hostname, port }, done) {
    const ask = http.request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: `${hostname}:${port}` });
    ask.on('connect', (answer, socket) => done(answer.statusCode === 200 ? null : new Error('refused'), socket));
    ask.on('error', done);
    ask.end();
  } });
  if (Agent.name === 'Agent') console.log('through', await (await fetch(url, { dispatcher })).text());
})();
";

#[test]
fn nodes_fetch_has_no_other_way_out() {
    let node = "/usr/bin/node";
    if !std::path::Path::new(node).exists() {
        eprintln!("SKIPPED: no Node here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/", origin());
    let arguments = ["run", "--memory", "64", "--", node, "-e", FETCH, &url];
    let output = finish(&mut command(folder.path(), &arguments));
    if refused(&output) {
        return;
    }
    let said = text(&output);
    // Versions that know the proxy of the environment go through it by themselves; the others get nowhere.
    let bare = said.contains("bare bread") || said.contains("bare failed");
    assert!(bare && output.status.success(), "{said}");
    assert!(
        said.contains("through bread") || said.contains("bare bread"),
        "{said}"
    );
    let access = std::fs::read_to_string(folder.path().join("data/logs/access.jsonl")).unwrap();
    assert!(access.contains("\"agent\":\"run\""), "{access}");
}
