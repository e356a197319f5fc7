//! Names whose answers change, mix, lead inside, or never come.
//!
//! Two loopback addresses play the parts: 127.0.0.2 is excepted and so stands for a public address, 127.0.0.1 is not and
//! stands for the inside. Both listen on the same port.

use std::net::IpAddr;

use blastshield_policy::{DomainList, HopPolicy};
use blastshield_web::{
    DnsError, FetchError, FetchLimits, Fetched, Fetcher, FetcherOptions, Resolver, fixed_policy,
};
use tokio::net::TcpListener;

use crate::dns::{A, AAAA, NameServer, Say};
use crate::origin::{Origin, PAGE, page, redirect};
use crate::{impatient, limits, policy};

const OUTSIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));
const INSIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// A public origin and, behind the same port, a private one.
async fn twins() -> (Origin, Origin) {
    for _ in 0..50 {
        let outside = TcpListener::bind((OUTSIDE, 0)).await.unwrap();
        let port = outside.local_addr().unwrap().port();
        if let Ok(inside) = TcpListener::bind((INSIDE, port)).await {
            let outside = Origin::listen(outside, |path| match path {
                "/again" => redirect(302, "/next"),
                _ => page(PAGE, &[]),
            });
            return (outside, Origin::listen(inside, |_| page("inside", &[])));
        }
    }
    panic!("no port is free on both addresses");
}

fn fetcher(server: &NameServer) -> Fetcher {
    let options = FetcherOptions {
        resolver: Resolver::server(server.addr).unwrap(),
        ..FetcherOptions::new(fixed_policy(policy(&["127.0.0.2/32"])))
    };
    Fetcher::new(options).unwrap()
}

async fn get(
    server: &NameServer,
    port: u16,
    path: &str,
    limits: &FetchLimits,
) -> Result<Fetched, FetchError> {
    fetcher(server)
        .fetch(&format!("http://rebind.test:{port}{path}"), limits)
        .await
}

/// The test policy with one excepted host instead of ranges.
fn excepting_host(name: &str) -> HopPolicy {
    let mut policy = policy(&[]);
    policy.guard.hosts = DomainList::parse(name).unwrap();
    policy
}

/// Answers the first question for addresses with the outside, every later one with the inside.
fn rebinding(_: &str, kind: u16, turn: usize) -> Say {
    match (kind, turn) {
        (A, 0) => Say::Addresses(vec![OUTSIDE]),
        (A, _) => Say::Addresses(vec![INSIDE]),
        _ => Say::Addresses(vec![]),
    }
}

#[tokio::test]
async fn the_checked_answer_is_the_one_that_is_dialled() {
    let (outside, inside) = twins().await;
    let server = NameServer::start(rebinding).await;
    let fetched = get(&server, outside.addr.port(), "/", &limits())
        .await
        .unwrap();
    assert_eq!(fetched.body, PAGE);
    assert_eq!(server.asked("rebind.test", A), 1);
    assert_eq!((outside.hits(), inside.hits()), (1, 0));

    let second = get(&server, outside.addr.port(), "/", &limits()).await;
    assert_eq!(second.unwrap_err().code(), "address_not_public");
    assert_eq!((outside.hits(), inside.hits()), (1, 0));
}

#[tokio::test]
async fn rebinding_between_two_hops_is_refused() {
    let (outside, inside) = twins().await;
    let server = NameServer::start(rebinding).await;
    let error = get(&server, outside.addr.port(), "/again", &limits())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the host leads to a loopback address (redirect 1)"
    );
    assert_eq!((outside.hits(), inside.hits()), (1, 0));
}

#[tokio::test]
async fn mixed_answers_are_refused_whole() {
    let (outside, inside) = twins().await;
    for answers in [[OUTSIDE, INSIDE], [INSIDE, OUTSIDE]] {
        let server = NameServer::start(move |_, _, _| Say::Addresses(answers.to_vec())).await;
        let got = get(&server, outside.addr.port(), "/", &limits()).await;
        assert_eq!(got.unwrap_err().code(), "address_not_public");
    }
    assert_eq!((outside.hits(), inside.hits()), (0, 0));
}

#[tokio::test]
async fn both_address_families_are_judged() {
    let (outside, inside) = twins().await;
    let server =
        NameServer::start(|_, _, _| Say::Addresses(vec![OUTSIDE, "::1".parse().unwrap()])).await;
    let got = get(&server, outside.addr.port(), "/", &limits()).await;
    assert_eq!(got.unwrap_err().code(), "address_not_public");
    assert_eq!(server.asked("rebind.test", AAAA), 1);
    assert_eq!((outside.hits(), inside.hits()), (0, 0));
}

#[tokio::test]
async fn an_alias_is_judged_by_its_end() {
    let (outside, inside) = twins().await;
    let server = NameServer::start(|_, _, _| Say::Alias("db.corp.internal", vec![INSIDE])).await;
    let got = get(&server, outside.addr.port(), "/", &limits()).await;
    assert_eq!(got.unwrap_err().code(), "address_not_public");
    let server = NameServer::start(|_, _, _| Say::Alias("cdn.example", vec![OUTSIDE])).await;
    assert_eq!(
        get(&server, outside.addr.port(), "/", &limits())
            .await
            .unwrap()
            .body,
        PAGE
    );
    assert_eq!(inside.hits(), 0);
}

#[tokio::test]
async fn a_dead_address_does_not_hide_a_live_one() {
    let (outside, _) = twins().await;
    let dead: IpAddr = "127.0.0.3".parse().unwrap();
    let server = NameServer::start(move |_, _, _| Say::Addresses(vec![dead, OUTSIDE])).await;
    let options = FetcherOptions {
        resolver: Resolver::server(server.addr).unwrap(),
        ..FetcherOptions::new(fixed_policy(policy(&["127.0.0.2/31"])))
    };
    let url = format!("http://rebind.test:{}/", outside.addr.port());
    assert_eq!(
        Fetcher::new(options)
            .unwrap()
            .fetch(&url, &limits())
            .await
            .unwrap()
            .body,
        PAGE
    );
}

#[tokio::test]
async fn answers_are_bounded() {
    let many: Vec<IpAddr> = (0..70).map(|n| IpAddr::from([93, 184, 215, n])).collect();
    let server = NameServer::start(move |_, _, _| Say::Addresses(many.clone())).await;
    let got = get(&server, 80, "/", &limits()).await;
    assert_eq!(got.map(|_| ()), Err(FetchError::Dns(DnsError::TooMany)));
}

#[tokio::test]
async fn no_answer_is_no_page() {
    let gone = NameServer::start(|_, _, _| Say::NoSuchName).await;
    assert_eq!(
        get(&gone, 80, "/", &limits()).await.map(|_| ()),
        Err(FetchError::Dns(DnsError::NotFound))
    );
    let empty = NameServer::start(|_, _, _| Say::Addresses(vec![])).await;
    assert_eq!(
        get(&empty, 80, "/", &limits()).await.map(|_| ()),
        Err(FetchError::Dns(DnsError::NotFound))
    );
    let silent = NameServer::start(|_, _, _| Say::Nothing).await;
    assert_eq!(
        get(&silent, 80, "/", &impatient()).await.map(|_| ()),
        Err(FetchError::Dns(DnsError::Timeout))
    );
    let garbage = NameServer::start(|_, _, _| Say::Garbage).await;
    assert!(matches!(
        get(&garbage, 80, "/", &impatient()).await,
        Err(FetchError::Dns(_))
    ));
}

#[tokio::test]
async fn local_names_are_not_even_asked_for() {
    let server = NameServer::start(|_, _, _| Say::Addresses(vec![OUTSIDE])).await;
    for name in [
        "localhost",
        "printer.local",
        "metadata.google.internal",
        "intranet",
    ] {
        let got = fetcher(&server)
            .fetch(&format!("http://{name}/"), &limits())
            .await;
        assert_eq!(got.unwrap_err().code(), "local_name");
        assert_eq!(server.asked(name, A), 0);
    }
}

#[tokio::test]
async fn the_systems_answers_are_judged_too() {
    let options = FetcherOptions::new(fixed_policy(excepting_host("localhost")));
    let vacant = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let got = Fetcher::new(options)
        .unwrap()
        .fetch(&format!("http://localhost:{vacant}/"), &limits())
        .await;
    assert!(
        matches!(got, Err(FetchError::Connect | FetchError::Dns(_))),
        "{got:?}"
    );
}
