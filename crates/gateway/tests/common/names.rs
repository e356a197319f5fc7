//! A name server on loopback: every name is 127.0.0.1, unless a test says otherwise.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::net::UdpSocket;

/// A server for which every name has the address that `address` gives it.
pub(crate) async fn name_server(address: impl Fn(&str) -> Ipv4Addr + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut packet = [0; 1500];
        while let Ok((length, peer)) = socket.recv_from(&mut packet).await {
            let query = &packet[..length];
            let (name, kind, end) = question(query);
            // Only type A (1) has an answer.
            let answers = u8::from(kind == 1);
            let mut reply = vec![query[0], query[1], 0x81, 0x80, 0, 1, 0, answers, 0, 0, 0, 0];
            reply.extend(&query[12..end]);
            if kind == 1 {
                reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                reply.extend(address(&name).octets());
            }
            let _ = socket.send_to(&reply, peer).await;
        }
    });
    at
}

/// A server for which every name is 127.0.0.1.
pub(crate) async fn all_here() -> String {
    name_server(|_| Ipv4Addr::LOCALHOST).await.to_string()
}

/// The name and type asked for, and where the question ends.
fn question(query: &[u8]) -> (String, u16, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while query[at] != 0 {
        let length = usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..=at + length]).to_lowercase());
        at += length + 1;
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    (labels.join("."), kind, at + 5)
}

/// The addresses of the loopback network that tests use beside 127.0.0.1.
pub(crate) const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
