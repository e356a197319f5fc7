//! Reaching anything at all.

use crate::facts::Facts;
use crate::{Attempt, Outcome, raw, stopped};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("connect_loopback", |facts| {
        connect(SocketAddr::from(([127, 0, 0, 1], facts.port)))
    }),
    ("connect_loopback_6", |_| {
        connect("[::1]:22".parse().unwrap())
    }),
    ("connect_metadata", |facts| {
        outward(facts, "169.254.169.254:80")
    }),
    ("connect_public", |facts| outward(facts, "1.1.1.1:443")),
    ("connect_private", |facts| outward(facts, "10.0.0.1:80")),
    ("send_datagram", send_datagram),
    ("resolve_name", |facts| {
        if facts.control {
            return Outcome::Untried("outside it would ask somebody".to_owned());
        }
        stopped(("example.com", 80).to_socket_addrs(), |_| {
            "resolved".to_owned()
        })
    }),
    ("listen", |_| {
        stopped(TcpListener::bind("127.0.0.1:0"), |_| "listens".to_owned())
    }),
    ("connect_abstract", |facts| {
        let name = std::os::unix::net::SocketAddr::from_abstract_name(&facts.abstract_name);
        stopped(UnixStream::connect_addr(&name.unwrap()), |_| {
            "connected".to_owned()
        })
    }),
    ("connect_socket_file", |facts| {
        stopped(UnixStream::connect(facts.outside.join("socket")), |_| {
            "connected".to_owned()
        })
    }),
    ("raw_socket", |_| {
        socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
    }),
    ("packet_socket", |_| {
        socket(libc::AF_PACKET, libc::SOCK_RAW, 0)
    }),
    ("netlink_socket", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)
    }),
    ("vsock_socket", |_| {
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
    }),
    ("crypto_socket", |_| {
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
    ("bluetooth_socket", |_| {
        socket(libc::AF_BLUETOOTH, libc::SOCK_RAW, 0)
    }),
    ("key_socket", |_| socket(libc::AF_KEY, libc::SOCK_RAW, 2)),
    ("express_socket", |_| {
        socket(libc::AF_XDP, libc::SOCK_RAW, 0)
    }),
    ("odd_family", |_| {
        // The kernel reads the lower half: a filter that reads more could be fooled.
        let family = libc::AF_INET as usize | 1 << 32;
        stopped(
            raw::call(libc::SYS_socket, &[family, libc::SOCK_STREAM as usize, 0]),
            |_| "a socket".to_owned(),
        )
    }),
];

fn connect(address: SocketAddr) -> Outcome {
    stopped(
        TcpStream::connect_timeout(&address, Duration::from_secs(2)),
        |_| "connected".to_owned(),
    )
}

/// Leaves the machine, so it is tried only inside.
fn outward(facts: &Facts, address: &str) -> Outcome {
    if facts.control {
        return Outcome::Untried("outside it would leave the machine".to_owned());
    }
    connect(address.parse().unwrap())
}

fn send_datagram(facts: &Facts) -> Outcome {
    let sent = UdpSocket::bind("127.0.0.1:0")
        .and_then(|socket| socket.send_to(b"x", ("127.0.0.1", facts.port)));
    stopped(sent, |_| "sent".to_owned())
}

fn socket(family: i32, kind: i32, protocol: i32) -> Outcome {
    let made = raw::call(
        libc::SYS_socket,
        &[family as usize, kind as usize, protocol as usize],
    );
    stopped(made, |_| "a socket".to_owned())
}
