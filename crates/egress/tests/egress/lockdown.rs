//! The kill switch.

use crate::intercepting::{handshake, secure};
use crate::origin::{Origin, reply, request};
use crate::world::{Plan, World, list, until};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn it_closes_every_tunnel_at_once_and_lets_none_be_opened() {
    let origin = Origin::echo().await;
    let world = World::new().await;
    let target = format!("allowed.test:{}", origin.port());
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut stream = world.tunnel(&target).await.unwrap();
        stream.write_all(b"x").await.unwrap();
        stream.read_u8().await.unwrap();
        open.push(stream);
    }
    // One that waits for the owner, and one between two requests.
    let mut waiting = world.connect().await;
    waiting
        .write_all(b"CONNECT other.test:443 HTTP/1.1\r\n\r\n")
        .await
        .unwrap();
    world.question().await;
    world.lockdown.set(true, "test").await.unwrap();
    open.push(waiting);
    for mut stream in open {
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest))
            .await
            .expect("closed");
        assert!(rest.is_empty());
    }
    let refused = world.tunnel(&target).await.unwrap_err();
    assert_eq!((refused.status, refused.code().as_str()), (403, "lockdown"));
    assert!(world.log.has(&["Lockdown", "on: true", "test"]));
    world.lockdown.set(false, "test").await.unwrap();
    assert!(world.tunnel(&target).await.is_ok());
}

#[tokio::test]
async fn it_cuts_what_is_being_read() {
    let plain = Origin::serve(Arc::default(), |mut stream| async move {
        let _ = request(&mut stream).await;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let _ = stream
            .write_all(format!("{head}data: fine\n\n").as_bytes())
            .await;
        let _ = request(&mut stream).await;
    })
    .await;
    let tls = secure("open.test").await;
    let world = World::with(Plan {
        intercept: list("open.test"),
        roots: tls.pem.clone().into_bytes(),
        ..Plan::default()
    })
    .await;
    let mut read = world.connect().await;
    let url = plain.url("allowed.test", "/");
    let head = format!("GET {url} HTTP/1.1\r\n\r\n");
    read.write_all(head.as_bytes()).await.unwrap();
    let host = format!("open.test:{}", tls.port);
    let tunnel = world.tunnel(&host).await.unwrap();
    let ca = world.ca.as_ref().unwrap().pem().to_owned();
    let mut opened = handshake(tunnel, "open.test", &ca).await.unwrap();
    let head = format!("GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    opened.write_all(head.as_bytes()).await.unwrap();
    // A request whose body is still on its way.
    let mut sending = world.connect().await;
    let head = format!("POST {url} HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc");
    sending.write_all(head.as_bytes()).await.unwrap();
    until_fine(&mut read).await;
    until_fine(&mut opened).await;
    until("all are there", || world.metrics.connections() == 3).await;
    world.lockdown.set(true, "test").await.unwrap();
    until("all are gone", || world.metrics.connections() == 0).await;
    // Each has its line all the same: three requests, and the tunnel of one of them.
    until("all are told", || world.metrics.denied() == 4).await;
    for stream in [
        &mut read as &mut (dyn tokio::io::AsyncRead + Unpin),
        &mut opened,
        &mut sending,
    ] {
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest))
            .await
            .expect("closed");
        assert!(
            !String::from_utf8_lossy(&rest).contains("0\r\n\r\n"),
            "cut, and visibly so"
        );
    }
}

async fn until_fine(stream: &mut (impl tokio::io::AsyncRead + Unpin)) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("data: fine") {
        assert!(stream.read_buf(&mut seen).await.unwrap() > 0);
    }
}

#[tokio::test]
async fn it_survives_a_restart_and_is_seen_by_other_processes() {
    let origin = Origin::new(|_| reply("text/plain", "x")).await;
    let url = origin.url("allowed.test", "/");
    let world = World::new().await;
    let folder = Arc::clone(&world.folder);
    world.lockdown.set(true, "test").await.unwrap();
    world.store.close().await;
    drop(world);
    let world = World::at(folder, Plan::default()).await;
    assert_eq!(world.get(&url).await.code(), "lockdown");
    // Another process throws the switch in the store.
    let looking = tokio::spawn(world.lockdown.clone().keep_looking());
    world
        .store
        .set_lockdown(false, "elsewhere", 1)
        .await
        .unwrap();
    until("seen", || !world.lockdown.is_on()).await;
    assert_eq!(world.get(&url).await.status, 200);
    // Thrown here while others look, what was said here stands.
    for _ in 0..20 {
        world.lockdown.set(true, "here").await.unwrap();
        tokio::time::sleep(Duration::from_millis(7)).await;
        assert!(world.lockdown.is_on());
        world.lockdown.set(false, "here").await.unwrap();
        assert!(!world.lockdown.is_on());
    }
    world
        .store
        .set_lockdown(true, "elsewhere", 2)
        .await
        .unwrap();
    until("seen", || world.lockdown.is_on()).await;
    assert_eq!(world.get(&url).await.code(), "lockdown");
    assert!(
        world.log.has(&["Lockdown", "on: false", "elsewhere"])
            && world.log.has(&["on: true", "elsewhere"])
    );
    looking.abort();
}

#[tokio::test]
async fn when_the_store_is_gone_it_closes_and_does_not_open() {
    let world = World::new().await;
    world.store.close().await;
    assert!(world.lockdown.set(true, "test").await.is_err());
    assert!(world.lockdown.is_on());
    world.lockdown.look().await;
    assert!(world.lockdown.set(false, "test").await.is_err());
    assert!(world.lockdown.is_on());
}
