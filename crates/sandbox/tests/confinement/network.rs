//! The one way out.

use crate::{bounds, launcher, plugin, words};
use blastshield_sandbox::{Layer, Network};
use std::io::{Read, Write};
use std::net::TcpListener;

/// Answers the first request on a listener, and returns what was asked.
fn answer(listener: TcpListener) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 512];
        let read = stream.read(&mut asked).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            .unwrap();
        String::from_utf8_lossy(&asked[..read]).into_owned()
    })
}

#[test]
fn the_proxy_is_the_only_thing_it_reaches() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port} && echo out; \
         p=${{HTTP_PROXY##*:}}; exec 4<>/dev/tcp/127.0.0.1/$p; \
         [ \"$http_proxy\" = \"$HTTPS_PROXY\" ] && [ \"$ALL_PROXY\" = \"$all_proxy\" ] && echo same; \
         printf 'GET http://example.org/ HTTP/1.1\\r\\n\\r\\n' >&4; head -c 43 <&4 | tail -c 5"
    );
    let mut proxy = None;
    let done = launcher()
        .run(
            &words(["bash", "-c", &script]),
            &plugin().network(Network::Proxied),
            bounds(),
            b"",
            |listener| proxy = Some(answer(listener)),
        )
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(
        said,
        "same\nhello",
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(
        proxy
            .unwrap()
            .join()
            .unwrap()
            .starts_with("GET http://example.org/")
    );
    assert!(done.layers.holds(Layer::NetworkNamespace));
}

#[test]
fn with_the_whole_network_it_reaches_what_we_reach() {
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = outside.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo out");
    let confinement = plugin().network(Network::Full);
    let done = launcher()
        .run(
            &words(["bash", "-c", &script]),
            &confinement,
            bounds(),
            b"",
            |_| {},
        )
        .unwrap();
    assert_eq!(done.stdout, b"out\n");
    assert!(!done.layers.holds(Layer::NetworkNamespace));
}
