//! A DNS server that says something else each time.

use crate::origin::{Origin, reply};
use crate::world::{Plan, World};
use blastshield_web::Resolver;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::UdpSocket;

/// Answers questions about IPv4 addresses, each with the next answer; the last one stays.
async fn server(answers: Vec<Vec<Ipv4Addr>>) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    tokio::spawn(async move {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let question = &buffer[12..length];
            let end = question.iter().position(|b| *b == 0).unwrap() + 5;
            let question = &question[..end];
            let is_v4 = question[end - 3] == 1;
            let found: &[Ipv4Addr] = if is_v4 {
                let n = counter.fetch_add(1, Ordering::SeqCst);
                &answers[n.min(answers.len() - 1)]
            } else {
                &[]
            };
            let mut out = buffer[..2].to_vec();
            out.extend([
                0x81,
                0x80,
                0,
                1,
                0,
                u8::try_from(found.len()).unwrap(),
                0,
                0,
                0,
                0,
            ]);
            out.extend(question);
            for ip in found {
                out.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                out.extend(ip.octets());
            }
            socket.send_to(&out, from).await.unwrap();
        }
    });
    (address, asked)
}

const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 14);
const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const ALSO_HERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

#[tokio::test]
async fn what_was_checked_is_what_is_dialled() {
    // Good for the check, bad for whoever looked again.
    let (dns, asked) = server(vec![vec![ALSO_HERE], vec![HERE]]).await;
    let origin = Origin::new(|_| reply("text/plain", "inside")).await;
    let resolver = Resolver::server(dns).unwrap();
    let world = World::with(Plan {
        resolver,
        except: "127.0.0.2/32",
        ..Plan::default()
    })
    .await;
    // Nothing listens on the address that was checked, and no other is tried.
    let first = world.get(&origin.url("allowed.test", "/")).await;
    assert_eq!(first.code(), "connect_failed");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "resolved once");
    let second = world.get(&origin.url("allowed.test", "/")).await;
    assert_eq!(
        (second.status, second.code().as_str()),
        (403, "address_not_public")
    );
    assert_eq!(origin.count(), 0);
}

#[tokio::test]
async fn one_inner_address_among_outer_ones_spoils_them_all() {
    for inner in [
        HERE,
        Ipv4Addr::new(10, 0, 0, 1),
        Ipv4Addr::new(169, 254, 169, 254),
    ] {
        let (dns, _) = server(vec![vec![PUBLIC, inner]]).await;
        let resolver = Resolver::server(dns).unwrap();
        let world = World::with(Plan {
            resolver,
            except: "",
            ..Plan::default()
        })
        .await;
        let answer = world.tunnel("allowed.test:443").await.unwrap_err();
        assert_eq!(answer.code(), "address_not_public", "{inner}");
    }
}

#[tokio::test]
async fn no_name_is_looked_up_before_it_is_allowed() {
    let (dns, asked) = server(vec![vec![PUBLIC]]).await;
    let mut plan = Plan {
        resolver: Resolver::server(dns).unwrap(),
        except: "",
        ..Plan::default()
    };
    plan.limits.ask = std::time::Duration::from_millis(100);
    let world = World::with(plan).await;
    assert_eq!(
        world
            .tunnel("c2VjcmV0.other.test:443")
            .await
            .unwrap_err()
            .code(),
        "approval_pending"
    );
    assert_eq!(
        world.tunnel("bad.test:443").await.unwrap_err().code(),
        "host_blocked"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}
