//! The operator's upstream proxy: it is given the checked address, and nothing that goes wrong there goes around it.

use std::sync::{Arc, Mutex};

use blastshield_web::{FetchError, Fetched, Fetcher, FetcherOptions, UpstreamProxy};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::limits;
use crate::origin::{Origin, PAGE, Step, page, perform, read_head, send};
use crate::secure::{identity, listen, trusting};

/// A proxy that opens every tunnel and remembers what it was asked.
async fn tunnels() -> (UpstreamProxy, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://user:pass@{}", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let head = read_head(&mut client).await;
            let to = head.split(' ').nth(1).unwrap().to_owned();
            log.lock().unwrap().push(head);
            tokio::spawn(async move {
                let mut server = TcpStream::connect(to).await.unwrap();
                client
                    .write_all(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
                    .await
                    .unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (proxy, asked)
}

async fn through(
    proxy: UpstreamProxy,
    authority_pem: &str,
    url: &str,
) -> Result<Fetched, FetchError> {
    let options = FetcherOptions {
        proxy: Some(proxy),
        ..trusting(authority_pem)
    };
    Fetcher::new(options).unwrap().fetch(url, &limits()).await
}

#[tokio::test]
async fn the_proxy_is_told_the_checked_address_and_the_origin_its_name() {
    let (proxy, asked) = tunnels().await;
    let identity = identity("origin.test", &["http/1.1"]);
    let (addr, names) = listen(identity.config, |mut stream| async move {
        read_head(&mut stream).await;
        for step in page(PAGE, &[]) {
            perform(&mut stream, step).await;
        }
        let _ = stream.shutdown().await;
    })
    .await;
    let options = FetcherOptions {
        proxy: Some(proxy),
        ..trusting(&identity.authority_pem)
    };
    let url = format!("https://origin.test:{}/", addr.port());
    let fetched = Fetcher::new(options)
        .unwrap()
        .fetch(&url, &limits())
        .await
        .unwrap();
    assert_eq!(fetched.body, PAGE);
    assert_eq!(*names.lock().unwrap(), ["origin.test"]);
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with(&format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n", addr.port())));
    assert!(asked[0].contains("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"));
    assert!(!asked[0].contains("origin.test"));
}

#[tokio::test]
async fn a_proxy_does_not_widen_the_policy() {
    let (proxy, asked) = tunnels().await;
    let got = through(proxy, "", "https://10.0.0.1/").await;
    assert_eq!(got.unwrap_err().code(), "address_not_public");
    assert!(asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_proxy_that_fails_is_not_gone_around() {
    let origin = Origin::saying(|| page(PAGE, &[])).await;
    let url = format!("https://origin.test:{}/", origin.addr.port());
    for answer in [
        "HTTP/1.1 407 Who are you\r\n\r\n",
        "HTTP/1.1 503 Later\r\n\r\n",
        "hello\r\n\r\n",
        "",
        "HTTP/1.1 200",
    ] {
        let proxy = Origin::saying(move || vec![send(answer)]).await;
        let got = through(proxy.url("").parse().unwrap(), "", &url).await;
        assert_eq!(got.map(|_| ()), Err(FetchError::Proxy), "{answer:?}");
    }
    let endless = Origin::saying(|| {
        vec![Step::Forever(
            b"HTTP/1.1 200 OK\r\nX: y\r\n".to_vec(),
            std::time::Duration::ZERO,
        )]
    })
    .await;
    let got = through(endless.url("").parse().unwrap(), "", &url).await;
    assert_eq!(got.map(|_| ()), Err(FetchError::Proxy));
    assert_eq!(origin.hits(), 0);
}
