//! The door, knocked at by hand. The origin is on 127.0.0.2, which an operator's exception admits.

use super::*;
use blastshield_policy::{AddressGuard, Host, Ports, UrlRules};
use blastshield_web::fixed_policy;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn policy(allow_http: bool) -> HopPolicy {
    HopPolicy {
        rules: UrlRules {
            allow_http,
            ports: Ports::Any,
        },
        guard: AddressGuard {
            ranges: vec!["127.0.0.2/32".parse().unwrap()],
            ..AddressGuard::default()
        },
        ..HopPolicy::default()
    }
}

fn way(policy: HopPolicy) -> Way {
    let loopback = vec![[127, 0, 0, 1].into()];
    Way {
        policy: fixed_policy(policy),
        resolver: Resolver::fixed([(Host::parse("inside.test").unwrap(), loopback)]),
        connector: Connector::new(&[], None).unwrap(),
        limits: TrafficLimits::default(),
    }
}

/// Answers every connection with this and says what it was asked.
async fn origin(
    answer: &'static [u8],
) -> (SocketAddr, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, questions) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = vec![0; 4096];
            let read = stream.read(&mut buffer).await.unwrap_or(0);
            let _ = asked.send(String::from_utf8_lossy(&buffer[..read]).into_owned());
            let _ = stream.write_all(answer).await;
        }
    });
    (address, questions)
}

/// Sends this through the door, with the password if there is a `*`, and reads to the end.
async fn knock(door: &Door, request: &str) -> String {
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let password = format!("Proxy-Authorization: {}\r\n", basic(&door.password));
    let request = request.replace('*', &password);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let reading = timeout(Duration::from_secs(10), stream.read_to_end(&mut answer));
    let _ = reading.await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";

#[tokio::test]
async fn only_who_knows_the_password_gets_anything() {
    let (address, mut questions) = origin(OK).await;
    let door = Door::open(way(policy(true))).await.unwrap();
    let other = Door::open(way(policy(true))).await.unwrap();
    let wrong = format!("Proxy-Authorization: {}\r\n", basic(&other.password));
    for header in ["", &wrong, "Proxy-Authorization: Basic\r\n"] {
        for line in [
            format!("GET http://{address}/"),
            format!("CONNECT {address}"),
        ] {
            let request =
                format!("{line} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n");
            let answer = knock(&door, &request).await;
            assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
        }
    }
    assert!(questions.try_recv().is_err());
    let request = format!(
        "GET http://{address}/a?b HTTP/1.1\r\nHost: liar.test\r\n*Proxy-Connection: keep-alive\r\nConnection: close\r\n\r\n"
    );
    let answer = knock(&door, &request).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hi"),
        "{answer}"
    );
    let asked = questions.recv().await.unwrap().to_ascii_lowercase();
    assert!(asked.starts_with("get /a?b http/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("host: {address}\r\n")), "{asked}");
    assert!(
        !asked.contains("proxy-") && !asked.contains("liar"),
        "{asked}"
    );
}

#[tokio::test]
async fn what_the_guard_refuses_is_neither_dialled_nor_silent() {
    let canary = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = canary.local_addr().unwrap();
    let door = Door::open(way(policy(true))).await.unwrap();
    let own = door.address;
    let port = at.port();
    let lines = [
        format!("GET http://{at}/"),
        format!("CONNECT {at}"),
        format!("CONNECT inside.test:{port}"),
        format!("CONNECT localhost:{port}"),
        format!("GET http://inside.test:{port}/"),
        format!("GET http://user@127.0.0.2:{port}/"),
        format!("GET http://[::ffff:127.0.0.1]:{port}/"),
        "GET http://169.254.169.254/latest/".to_owned(),
        "CONNECT 169.254.169.254:443".to_owned(),
        format!("GET http://{own}/"),
        format!("CONNECT {own}"),
        "GET ftp://127.0.0.2/".to_owned(),
    ];
    for line in &lines {
        let request = format!("{line} HTTP/1.1\r\nHost: x\r\n*Connection: close\r\n\r\n");
        let answer = knock(&door, &request).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{line}: {answer}");
    }
    assert_eq!(door.traffic.refused(), u64::try_from(lines.len()).unwrap());
    let origin_form = knock(
        &door,
        "GET / HTTP/1.1\r\nHost: 127.0.0.2\r\n*Connection: close\r\n\r\n",
    )
    .await;
    assert!(origin_form.starts_with("HTTP/1.1 400 "), "{origin_form}");
    assert!(
        timeout(Duration::from_millis(50), canary.accept())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_door_itself_is_never_dialled_even_by_exception() {
    let mut open = policy(true);
    open.guard.ranges.push("127.0.0.0/8".parse().unwrap());
    let door = Door::open(way(open)).await.unwrap();
    let request = format!(
        "GET http://{}/ HTTP/1.1\r\nHost: x\r\n*Connection: close\r\n\r\n",
        door.address
    );
    assert!(knock(&door, &request).await.starts_with("HTTP/1.1 403 "));
}

#[tokio::test]
async fn tunnels_carry_plain_text_only_where_http_is_allowed() {
    for (allow_http, first, passes) in [
        (true, "GET / HTTP/1.1\r\n\r\n", true),
        (false, "GET / HTTP/1.1\r\n\r\n", false),
        (false, "\u{16}\u{3}\u{1}hello", true),
    ] {
        let (address, mut questions) = origin(OK).await;
        let door = Door::open(way(policy(allow_http))).await.unwrap();
        let request = format!("CONNECT {address} HTTP/1.1\r\nHost: x\r\n*\r\n{first}");
        let answer = knock(&door, &request).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(answer.ends_with("hi"), passes);
        assert_eq!(door.traffic.refused(), u64::from(!passes));
        if !passes {
            assert_eq!(questions.recv().await.as_deref(), Some(""));
        }
    }
}

#[tokio::test]
async fn requests_and_bytes_run_out() {
    let (address, _questions) = origin(OK).await;
    let mut narrow = way(policy(true));
    narrow.limits.requests = 1;
    narrow.limits.bytes = 100;
    let door = Door::open(narrow).await.unwrap();
    let request = format!(
        "GET http://{address}/{} HTTP/1.1\r\nHost: x\r\n*Connection: close\r\n\r\n",
        "a".repeat(100)
    );
    assert!(!knock(&door, &request).await.starts_with("HTTP/1.1 200 "));
    assert!(door.traffic.is_overrun());
    assert!(knock(&door, &request).await.starts_with("HTTP/1.1 403 "));
}

#[tokio::test]
async fn an_origin_cannot_ask_for_the_password() {
    let (address, _questions) = origin(
        b"HTTP/1.1 407 Give\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let door = Door::open(way(policy(true))).await.unwrap();
    let request =
        format!("GET http://{address}/ HTTP/1.1\r\nHost: x\r\n*Connection: close\r\n\r\n");
    assert!(knock(&door, &request).await.starts_with("HTTP/1.1 502 "));
}

#[tokio::test]
async fn a_closed_door_ends_what_passes_through() {
    let (address, mut questions) = origin(b"").await;
    let door = Door::open(way(policy(true))).await.unwrap();
    let mut stream = TcpStream::connect(door.address).await.unwrap();
    let request = format!(
        "CONNECT {address} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: {}\r\n\r\nhello",
        basic(&door.password)
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(questions.recv().await.as_deref(), Some("hello"));
    let address = door.address;
    drop(door);
    let mut rest = Vec::new();
    let _ = timeout(Duration::from_secs(10), stream.read_to_end(&mut rest))
        .await
        .unwrap();
    for _ in 0..100 {
        if TcpStream::connect(address).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the door still takes connections");
}

#[test]
fn the_password_is_shown_as_browsers_show_it() {
    assert_eq!(base64(b"page:x"), "cGFnZTp4");
    assert_eq!(base64(b"f"), "Zg==");
    assert_eq!(base64(b"fo"), "Zm8=");
    let (one, other) = (random_hex().unwrap(), random_hex().unwrap());
    assert_eq!(one.len(), 32);
    assert_ne!(one, other);
}
