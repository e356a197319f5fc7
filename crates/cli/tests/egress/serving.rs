//! Killed, restarted, locked down.

use crate::{Served, command, finish, get, origin, say, serve, text, until};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

pub(crate) fn gateway(folder: &Path) -> Served {
    let mut command = command(folder, &["serve", "--port", "0"]);
    command
        .env("BLASTSHIELD_EGRESS_ADDRESS", "127.0.0.1:0")
        .env("BLASTSHIELD_EGRESS_ASK_WAIT_SECONDS", "1")
        .env("BLASTSHIELD_EGRESS_PRIVATE_HOSTS", "localhost");
    serve(command)
}

pub(crate) fn owner(
    served: &Served,
    folder: &Path,
    method: &str,
    path: &str,
    body: &str,
) -> String {
    let token = std::fs::read_to_string(folder.join("data/owner-token")).unwrap();
    let gateway = served.gateway.as_ref().unwrap();
    let length = body.len();
    say(
        gateway,
        &format!(
            "{method} {path} HTTP/1.1\r\nHost: {gateway}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}",
            token.trim()
        ),
    )
}

pub(crate) fn approval(answer: &str) -> String {
    let (_, rest) = answer
        .split_once("\"approvalId\":\"")
        .unwrap_or_else(|| panic!("{answer}"));
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn a_killed_proxy_comes_back_with_its_questions_and_its_lockdown() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (origin, first) = (origin(), gateway(folder));
    let port = origin.split(':').nth(1).unwrap();
    let unlisted = format!("http://localhost:{port}/");
    assert!(get(&first.proxy, &format!("http://{origin}/")).ends_with("bread"));
    let asked = get(&first.proxy, &unlisted);
    assert!(
        asked.starts_with("HTTP/1.1 403") && asked.contains("approval_pending"),
        "{asked}"
    );
    let id = approval(&asked);
    // SIGKILL, in the middle of everything.
    drop(first);
    let second = gateway(folder);
    assert_eq!(
        approval(&get(&second.proxy, &unlisted)),
        id,
        "not asked twice"
    );
    let decided = owner(
        &second,
        folder,
        "POST",
        &format!("/v1/approvals/{id}/decision"),
        "{\"decision\":\"approve\"}",
    );
    assert!(decided.starts_with("HTTP/1.1 200"), "{decided}");
    until("the yes counts", || {
        get(&second.proxy, &unlisted).ends_with("bread")
    });
    // A tunnel that is open when the switch is thrown.
    let mut tunnel = TcpStream::connect(&second.proxy).unwrap();
    tunnel
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    tunnel
        .write_all(format!("CONNECT {origin} HTTP/1.1\r\n\r\n").as_bytes())
        .unwrap();
    let mut head = [0; 39];
    tunnel.read_exact(&mut head).unwrap();
    tunnel.write_all(b"echo").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    tunnel.write_all(b"x").unwrap();
    let mut byte = [0];
    tunnel.read_exact(&mut byte).unwrap();
    let on = owner(&second, folder, "POST", "/v1/lockdown", "{\"on\":true}");
    assert!(on.contains("{\"on\":true}"), "{on}");
    assert!(
        matches!(tunnel.read(&mut byte), Ok(0) | Err(_)),
        "closed at once"
    );
    assert!(get(&second.proxy, &format!("http://{origin}/")).contains("\"lockdown\""));
    let agent = say(
        second.gateway.as_ref().unwrap(),
        &format!(
            "POST /v1/web-fetch HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}",
            second.gateway.as_ref().unwrap()
        ),
    );
    assert!(agent.starts_with("HTTP/1.1 403"), "{agent}");
    drop(second);
    let third = gateway(folder);
    assert!(
        get(&third.proxy, &format!("http://{origin}/")).contains("\"lockdown\""),
        "it survives"
    );
    let metrics = owner(&third, folder, "GET", "/metrics", "");
    assert!(
        metrics.contains("blastshield_egress_denied_total 1"),
        "{metrics}"
    );
    // The log has one line for each request, and says why.
    let access = std::fs::read_to_string(folder.join("data/logs/access.jsonl")).unwrap();
    let lines: Vec<&str> = access
        .lines()
        .filter(|line| line.contains("\"message\":\"egress\""))
        .collect();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("\"rule\":\"allowlist\"")
                && line.contains("\"verdict\":\"allow\"")),
        "{access}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.contains("\"rule\":\"owner\"") && line.contains(&id)),
        "{access}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.contains("\"rule\":\"lockdown\"")),
        "{access}"
    );
}

#[test]
fn the_proxy_alone_and_the_switch_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let origin = origin();
    let served = serve(command(folder, &["egress", "--address", "127.0.0.1:0"]));
    let url = format!("http://{origin}/");
    assert!(get(&served.proxy, &url).ends_with("bread"));
    let lockdown = |word: &str| {
        finish(&mut command(
            folder,
            &["lockdown", word, "--set", "server.port=1"],
        ))
    };
    let on = lockdown("on");
    // The log of this folder belongs to the running proxy: closing works all the same.
    until("closed", || {
        get(&served.proxy, &url).contains("\"lockdown\"")
    });
    assert!(
        text(&lockdown("status")).contains("lockdown is on"),
        "{}",
        text(&on)
    );
    drop(served);
    let off = lockdown("off");
    assert!(off.status.success(), "{}", text(&off));
    let served = serve(command(folder, &["egress", "--address", "127.0.0.1:0"]));
    assert!(get(&served.proxy, &url).ends_with("bread"));
}

#[test]
fn the_authority_is_shown_and_its_key_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let shown = finish(&mut command(folder, &["egress", "ca"]));
    assert!(
        text(&shown).starts_with("-----BEGIN CERTIFICATE-----"),
        "{}",
        text(&shown)
    );
    assert!(!text(&shown).contains("PRIVATE"));
    let path = finish(&mut command(folder, &["egress", "ca", "--path"]));
    let path = folder.join(String::from_utf8(path.stdout).unwrap().trim());
    assert_eq!(std::fs::read(path).unwrap(), shown.stdout);
}

#[test]
fn an_open_proxy_on_the_network_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut open = command(folder.path(), &["egress", "--address", "0.0.0.0:0"]);
    let output = finish(&mut open);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("egress.require_credentials"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_fetch_that_is_on_ends_with_the_switch() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut command = command(folder, &["serve", "--port", "0"]);
    command
        .env("BLASTSHIELD_EGRESS_ADDRESS", "127.0.0.1:0")
        .env("BLASTSHIELD_ALLOW_HTTP", "true")
        .env("BLASTSHIELD_ALLOWED_PORTS", "*")
        .env("BLASTSHIELD_ALLOWED_RANGES", "127.0.0.0/8");
    let served = serve(command);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gateway = served.gateway.clone().unwrap();
    let body = format!("{{\"url\":\"http://{}/\"}}", listener.local_addr().unwrap());
    let fetching = std::thread::spawn(move || {
        say(
            &gateway,
            &format!(
                "POST /v1/web-fetch HTTP/1.1\r\nHost: {gateway}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            ),
        )
    });
    // The origin has the request, and says nothing.
    let (mut stream, _) = listener.accept().unwrap();
    assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
    let on = owner(&served, folder, "POST", "/v1/lockdown", "{\"on\":true}");
    assert!(on.contains("{\"on\":true}"), "{on}");
    let answer = fetching.join().unwrap();
    assert!(answer.contains("closed all ways out"), "{answer}");
}
