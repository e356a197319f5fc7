//! Thousands of tunnels that wait: what one of them costs, and whether all still work.

use crate::{command, serve};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

const COUNT: usize = 5000;
/// Bytes of the proxy for one tunnel, the kernel's own aside; less than one small buffer.
const MOST: u64 = 16 << 10;

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() << 10
}

/// Sends back one byte at a time, on however many connections, from one thread.
fn echo() -> (String, std::sync::mpsc::Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            // The first byte comes with the tunnel.
            let mut byte = [0];
            if stream.read_exact(&mut byte).is_err() || stream.write_all(&byte).is_err() {
                continue;
            }
            if sender.send(stream).is_err() {
                return;
            }
        }
    });
    (address, receiver)
}

#[test]
fn five_thousand_idle_tunnels_cost_a_few_kilobytes_each() {
    // Two descriptors for each, here and in the proxy.
    let room = blastshield_egress::raise_descriptor_limit();
    let room = room.map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    let count = COUNT.min(room.saturating_sub(500) / 2);
    if count < COUNT {
        eprintln!("SKIPPED: only {count} tunnels, for want of descriptors");
    }
    let folder = tempfile::tempdir().unwrap();
    let served = serve(command(
        folder.path(),
        &["egress", "--address", "127.0.0.1:0"],
    ));
    let (origin, ends) = echo();
    let open = || {
        let mut stream = TcpStream::connect(&served.proxy).unwrap();
        stream
            .write_all(format!("CONNECT {origin} HTTP/1.1\r\n\r\n").as_bytes())
            .unwrap();
        let mut head = [0; 39];
        stream.read_exact(&mut head).unwrap();
        assert!(head.starts_with(b"HTTP/1.1 200 "), "{head:?}");
        stream.write_all(b"x").unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        (stream, ends.recv().unwrap())
    };
    let mut all: Vec<(TcpStream, TcpStream)> = (0..100).map(|_| open()).collect();
    let before = resident(served.child.id());
    all.extend((100..count).map(|_| open()));
    let each = resident(served.child.id()).saturating_sub(before) / (count as u64 - 100);
    println!("{each} bytes for each of {count} idle tunnels");
    assert!(each < MOST, "{each} bytes a tunnel");
    for (client, origin) in all.iter_mut().step_by(97) {
        client.write_all(b"?").unwrap();
        let mut byte = [0];
        origin.read_exact(&mut byte).unwrap();
        origin.write_all(b"!").unwrap();
        client.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"!");
    }
}
