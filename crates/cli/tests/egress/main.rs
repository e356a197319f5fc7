//! The forward proxy as a person runs it: beside the gateway, alone, and as the only way out of a command.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod beside;
mod crowd;
mod running;
mod serving;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A run in this folder, without variables of ours.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blastshield"));
    command
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null());
    for (name, _) in std::env::vars() {
        let ours = [
            "BLASTSHIELD_",
            "CLAWRUBBER_",
            "TELEGRAM_",
            "LNBITS_",
            "SUPERVISOR_",
        ];
        if ours.iter().any(|start| name.starts_with(start)) {
            command.env_remove(name);
        }
    }
    command
        .env("BLASTSHIELD_EGRESS_RANGES", "127.0.0.0/8")
        .env("BLASTSHIELD_EGRESS_PORTS", "*")
        .env("BLASTSHIELD_EGRESS_NON_TLS", "allow")
        .env("SUPERVISOR_ALLOWED_DOMAINS", "127.0.0.1");
    command
}

pub(crate) fn finish(command: &mut Command) -> Output {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap()
}

pub(crate) fn text(output: &Output) -> String {
    let both = [output.stdout.as_slice(), b"\n--\n", &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// A program that serves, until it is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) proxy: String,
    pub(crate) gateway: Option<String>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts it and waits until it says where its proxy is.
pub(crate) fn serve(mut command: Command) -> Served {
    let mut child = command
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let (mut gateway, mut said) = (None, String::new());
    for line in lines.by_ref() {
        let line = line.unwrap();
        said.push_str(&line);
        said.push('\n');
        if let Some(address) = line.strip_prefix("listening on http://") {
            gateway = Some(address.to_owned());
        }
        if let Some(address) = line.strip_prefix("forward proxy on http://") {
            let proxy = address.to_owned();
            // Somebody has to read on, or the program would wait for it.
            std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
            return Served {
                child,
                proxy,
                gateway,
            };
        }
    }
    let _ = child.wait();
    panic!("no proxy: {said}");
}

/// Sends a request to an address and reads all of the answer.
pub(crate) fn say(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Asks through a proxy.
pub(crate) fn get(proxy: &str, url: &str) -> String {
    say(
        proxy,
        &format!("GET {url} HTTP/1.1\r\nConnection: close\r\n\r\n"),
    )
}

/// An origin on this machine; its address.
pub(crate) fn origin() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                let Ok(1..) = stream.read(&mut buffer) else {
                    return;
                };
                if buffer.starts_with(b"echo") {
                    while let Ok(count @ 1..) = stream.read(&mut buffer) {
                        let _ = stream.write_all(&buffer[..count]);
                    }
                }
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nbread");
            });
        }
    });
    address
}

/// Waits until something holds; fails after a time that no healthy run needs.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("never happened: {what}");
}
