//! Clients and origins that are slow, rude or endless.

use crate::origin::{Origin, reply, request};
use crate::world::{Plan, World};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn hurried() -> Plan {
    let mut plan = Plan::default();
    plan.limits.head = Duration::from_millis(300);
    plan.limits.keep_alive = Duration::from_millis(300);
    plan.limits.idle = Duration::from_millis(300);
    plan
}

#[tokio::test]
async fn a_head_that_drips_is_cut_off() {
    let world = World::with(hurried()).await;
    let mut stream = world.connect().await;
    let mut dripped = 0;
    loop {
        if stream.write_all(b"A").await.is_err() {
            break;
        }
        dripped += 1;
        assert!(dripped < 200, "it goes on for ever");
        let mut answer = Vec::new();
        match tokio::time::timeout(Duration::from_millis(50), stream.read_to_end(&mut answer)).await
        {
            Ok(_) => {
                assert!(
                    String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 408"),
                    "{answer:?}"
                );
                break;
            }
            Err(_) => continue,
        }
    }
    // One that says nothing at all is closed without a word.
    let mut silent = world.connect().await;
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(5), silent.read_to_end(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(answer.is_empty());
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let world = World::with(hurried()).await;
    let url = origin.url("allowed.test", "/");
    let mut stream = world.connect().await;
    stream
        .write_all(format!("POST {url} HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc").as_bytes())
        .await
        .unwrap();
    let answer = crate::world::Answer::read(&mut stream).await;
    assert_eq!(answer.code(), "timeout");
    assert_eq!(origin.count(), 0);
}

#[tokio::test]
async fn an_origin_that_is_silent_or_endless_is_left() {
    let endless = Origin::serve(Arc::default(), |mut stream| async move {
        let _ = request(&mut stream).await;
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            .await;
        while stream.write_all(&[b'a'; 4096]).await.is_ok() {}
    })
    .await;
    let silent = Origin::serve(Arc::default(), |mut stream| async move {
        let _ = request(&mut stream).await;
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    })
    .await;
    let heads = Origin::serve(Arc::default(), |mut stream| async move {
        let _ = request(&mut stream).await;
        while stream
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
            .await
            .is_ok()
        {}
    })
    .await;
    let mut plan = hurried();
    plan.limits.response_bytes = 100_000;
    let world = World::with(plan).await;
    assert_eq!(
        world.get(&endless.url("allowed.test", "/")).await.code(),
        "too_large"
    );
    assert_eq!(
        world.get(&silent.url("allowed.test", "/")).await.status,
        504
    );
    assert_eq!(
        world.get(&heads.url("allowed.test", "/")).await.code(),
        "malformed_answer"
    );
}

#[tokio::test]
async fn no_greeting_no_tunnel() {
    let origin = Origin::echo().await;
    let plan = Plan {
        tls: blastshield_egress::TlsRules::default(),
        ..hurried()
    };
    let world = World::with(plan).await;
    let mut stream = world
        .tunnel(&format!("allowed.test:{}", origin.port()))
        .await
        .unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
    assert!(rest.is_empty());
}

#[tokio::test]
async fn random_bytes_break_nothing() {
    let world = World::with(hurried()).await;
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..200 {
        let mut bytes = match next() % 4 {
            0 => b"GET http://allowed.test:1/ HTTP/1.1\r\nHost: allowed.test:1\r\n\r\n".to_vec(),
            1 => b"CONNECT allowed.test:1 HTTP/1.1\r\n\r\n".to_vec(),
            2 => b"POST http://allowed.test:1/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".to_vec(),
            _ => (0..64).map(|_| next() as u8).collect(),
        };
        for _ in 0..next() % 4 {
            let at = (next() as usize) % bytes.len();
            bytes[at] = next() as u8;
        }
        let mut stream = world.connect().await;
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut answer))
            .await
            .expect("answered or closed");
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 "),
            "{answer:?}"
        );
    }
    assert_eq!(
        world.tunnel("bad.test:443").await.unwrap_err().code(),
        "host_blocked"
    );
}
