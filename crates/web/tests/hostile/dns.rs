//! A name server on loopback UDP that answers what a test wants, a different thing each time if need be.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::net::UdpSocket;

/// What to say to one question.
pub(crate) enum Say {
    Addresses(Vec<IpAddr>),
    /// An alias, and the addresses of that.
    Alias(&'static str, Vec<IpAddr>),
    NoSuchName,
    Nothing,
    Garbage,
}

pub(crate) const A: u16 = 1;
pub(crate) const AAAA: u16 = 28;

pub(crate) struct NameServer {
    pub addr: SocketAddr,
    asked: Arc<Mutex<Vec<(String, u16)>>>,
}

impl NameServer {
    /// Answers by name, record type, and how often this question came before.
    pub(crate) async fn start(answer: impl Fn(&str, u16, usize) -> Say + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = socket.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((length, peer)) = socket.recv_from(&mut packet).await {
                let query = &packet[..length];
                let (name, kind, end) = question(query);
                let turn = {
                    let mut log = log.lock().unwrap();
                    let before = log
                        .iter()
                        .filter(|asked| **asked == (name.clone(), kind))
                        .count();
                    log.push((name.clone(), kind));
                    before
                };
                if let Some(reply) = reply(query, end, kind, answer(&name, kind, turn)) {
                    let _ = socket.send_to(&reply, peer).await;
                }
            }
        });
        Self { addr, asked }
    }

    /// How often this question came.
    pub(crate) fn asked(&self, name: &str, kind: u16) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|asked| asked.0 == name && asked.1 == kind)
            .count()
    }
}

/// The name and type asked for, and where the question ends.
fn question(query: &[u8]) -> (String, u16, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while query[at] != 0 {
        let length = usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..=at + length]).to_lowercase());
        at += length + 1;
    }
    (
        labels.join("."),
        u16::from_be_bytes([query[at + 1], query[at + 2]]),
        at + 5,
    )
}

fn reply(query: &[u8], end: usize, kind: u16, say: Say) -> Option<Vec<u8>> {
    let (code, alias, addresses) = match say {
        Say::Addresses(addresses) => (0, None, addresses),
        Say::Alias(name, addresses) => (0, Some(name), addresses),
        Say::NoSuchName => (3, None, Vec::new()),
        Say::Garbage => return Some(vec![0xff; 40]),
        Say::Nothing => return None,
    };
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut owner = vec![0xc0, 12];
    if let Some(alias) = alias {
        let target = wire_name(alias);
        records.push(record(&owner, 5, &target));
        owner = target;
    }
    for address in addresses {
        match address {
            IpAddr::V4(ip) if kind == A => records.push(record(&owner, A, &ip.octets())),
            IpAddr::V6(ip) if kind == AAAA => records.push(record(&owner, AAAA, &ip.octets())),
            _ => {}
        }
    }
    let count = u16::try_from(records.len()).unwrap().to_be_bytes();
    let mut reply = vec![
        query[0],
        query[1],
        0x81,
        0x80 | code,
        0,
        1,
        count[0],
        count[1],
        0,
        0,
        0,
        0,
    ];
    reply.extend(&query[12..end]);
    reply.extend(records.concat());
    Some(reply)
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    let mut record = owner.to_vec();
    record.extend(kind.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 0]);
    record.extend(length.to_be_bytes());
    record.extend(data);
    record
}

fn wire_name(name: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    for label in name.split('.') {
        wire.push(u8::try_from(label.len()).unwrap());
        wire.extend(label.as_bytes());
    }
    wire.push(0);
    wire
}
