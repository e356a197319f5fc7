//! What one decision costs, and whether long lists make it dearer.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a measuring program may fail loudly"
)]

use blastshield_egress::http::{HeadScan, RequestHead, Target};
use blastshield_egress::{Hello, Policy};
use blastshield_policy::{DomainList, Host};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn policy(entries: usize) -> Policy {
    let entries: Vec<String> = (0..entries)
        .map(|n| format!("host{n}.example{n}.org"))
        .collect();
    Policy {
        allow: DomainList::from_entries(entries.iter().map(String::as_str)).unwrap(),
        ..Policy::default()
    }
}

#[divan::bench(args = [10, 100, 1000, 10_000])]
fn listed(bencher: Bencher<'_, '_>, entries: usize) {
    let policy = policy(entries);
    let host = Host::parse("api.host7.example7.org").unwrap();
    bencher.bench(|| black_box(&policy).decide("agent", black_box(&host), false));
}

#[divan::bench(args = [10, 1000])]
fn unlisted(bencher: Bencher<'_, '_>, entries: usize) {
    let policy = policy(entries);
    let host = Host::parse("a.b.c.d.e.elsewhere.net").unwrap();
    bencher.bench(|| black_box(&policy).decide("agent", black_box(&host), false));
}

const HEAD: &[u8] = b"CONNECT api.host7.example7.org:443 HTTP/1.1\r\nHost: api.host7.example7.org:443\r\nUser-Agent: curl/8.5\r\nProxy-Connection: Keep-Alive\r\n\r\n";

/// From the bytes of a head to a verdict.
#[divan::bench]
fn head_to_verdict(bencher: Bencher<'_, '_>) {
    let policy = policy(1000);
    bencher.bench(|| {
        let place = HeadScan::default()
            .advance(black_box(HEAD))
            .unwrap()
            .unwrap();
        let head = RequestHead::parse(HEAD.get(place).unwrap()).unwrap();
        match Target::of(&head.method, &head.target) {
            Some(Target::Connect(authority)) => policy.decide("agent", &authority.host, false),
            _ => unreachable!(),
        }
    });
}

#[divan::bench]
fn not_a_greeting(bencher: Bencher<'_, '_>) {
    bencher.bench(|| Hello::read(black_box(HEAD)));
}
