//! TLS: whose certificate, which protocol, and what an HTTP/2 peer may do.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use blastshield_web::{FetchError, FetchLimits, Fetched, Fetcher, FetcherOptions, fixed_policy};
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::origin::{Origin, PAGE, Step, page, perform, read_head};
use crate::{impatient, limits, names, policy};

/// An authority and a server certificate of its making.
pub(crate) struct Identity {
    pub authority_pem: String,
    pub config: ServerConfig,
}

pub(crate) fn identity(name: &str, protocols: &[&str]) -> Identity {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()])
        .unwrap()
        .signed_by(&key, &authority)
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Identity {
        authority_pem: authority.pem(),
        config,
    }
}

/// Accepts TLS and hands each connection over; the server names that were asked for are kept.
pub(crate) async fn listen<F>(
    config: ServerConfig,
    handle: impl Fn(TlsStream<TcpStream>) -> F + Send + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                log.lock().unwrap().push(
                    stream
                        .get_ref()
                        .1
                        .server_name()
                        .unwrap_or("none")
                        .to_owned(),
                );
                tokio::spawn(handle(stream));
            }
        }
    });
    (addr, asked)
}

/// Says these steps over HTTP/1.1; ends with a TLS goodbye only if `polite`.
async fn say(mut stream: TlsStream<TcpStream>, steps: Vec<Step>, polite: bool) {
    read_head(&mut stream).await;
    for step in steps {
        perform(&mut stream, step).await;
    }
    stream.flush().await.unwrap();
    if polite {
        let _ = stream.shutdown().await;
    } else {
        let _ = stream.get_mut().0.shutdown().await;
    }
}

pub(crate) fn trusting(authority_pem: &str) -> FetcherOptions {
    let mut policy = policy(&["127.0.0.0/8"]);
    policy.rules.allow_http = false;
    FetcherOptions {
        resolver: names(),
        extra_roots_pem: authority_pem.as_bytes().to_vec(),
        ..FetcherOptions::new(fixed_policy(policy))
    }
}

async fn get(
    authority_pem: &str,
    host: &str,
    addr: SocketAddr,
    limits: &FetchLimits,
) -> Result<Fetched, FetchError> {
    let url = format!("https://{host}:{}/", addr.port());
    Fetcher::new(trusting(authority_pem))
        .unwrap()
        .fetch(&url, limits)
        .await
}

#[tokio::test]
async fn a_valid_certificate_is_accepted() {
    let identity = identity("origin.test", &["http/1.1"]);
    let (addr, asked) = listen(identity.config, |stream| say(stream, page(PAGE, &[]), true)).await;
    let fetched = get(&identity.authority_pem, "origin.test", addr, &limits())
        .await
        .unwrap();
    assert_eq!(fetched.body, PAGE);
    assert_eq!(*asked.lock().unwrap(), ["origin.test"]);
}

#[tokio::test]
async fn an_address_may_have_a_certificate_too() {
    let identity = identity("127.0.0.1", &[]);
    let (addr, _) = listen(identity.config, |stream| say(stream, page(PAGE, &[]), true)).await;
    assert_eq!(
        get(&identity.authority_pem, "127.0.0.1", addr, &limits())
            .await
            .unwrap()
            .body,
        PAGE
    );
}

#[tokio::test]
async fn the_certificate_must_be_the_hosts_and_from_a_trusted_authority() {
    let good = identity("origin.test", &[]);
    let stranger = identity("origin.test", &[]);
    let (addr, _) = listen(good.config, |stream| say(stream, page(PAGE, &[]), true)).await;
    for (authority, host) in [
        (&*good.authority_pem, "other.test"),
        (&good.authority_pem, "127.0.0.1"),
        (&stranger.authority_pem, "origin.test"),
        ("", "origin.test"),
    ] {
        let got = get(authority, host, addr, &limits()).await;
        assert_eq!(got.map(|_| ()), Err(FetchError::Certificate), "{host}");
    }
}

#[tokio::test]
async fn plain_http_on_a_tls_port_is_no_session() {
    let origin = Origin::saying(|| page(PAGE, &[])).await;
    let got = get("", "origin.test", origin.addr, &impatient()).await;
    assert!(
        matches!(got, Err(FetchError::Tls | FetchError::Timeout(_))),
        "{got:?}"
    );
}

#[tokio::test]
async fn a_silent_handshake_ends_at_the_connect_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let got = get(
        "",
        "origin.test",
        listener.local_addr().unwrap(),
        &impatient(),
    )
    .await;
    assert_eq!(got.unwrap_err().code(), "connect_timeout");
}

#[tokio::test]
async fn https_never_falls_to_http() {
    let plain = Origin::saying(|| page(PAGE, &[])).await;
    let to = format!("http://origin.test:{}/", plain.addr.port());
    let identity = identity("origin.test", &[]);
    let (addr, _) = listen(identity.config, move |stream| {
        say(stream, crate::origin::redirect(302, &to), true)
    })
    .await;
    let got = get(&identity.authority_pem, "origin.test", addr, &limits()).await;
    assert_eq!(got.unwrap_err().code(), "http_not_allowed");
    assert_eq!(plain.hits(), 0);
}

#[tokio::test]
async fn a_session_cut_short_is_no_end_of_page() {
    let identity = identity("origin.test", &[]);
    let open_ended = || {
        vec![
            crate::origin::head("200 OK", &["Content-Type: text/html"]),
            crate::origin::send("half a"),
        ]
    };
    let (addr, _) = listen(identity.config, move |stream| {
        say(stream, open_ended(), false)
    })
    .await;
    let got = get(&identity.authority_pem, "origin.test", addr, &limits()).await;
    assert_eq!(got.map(|_| ()), Err(FetchError::Truncated));
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// An HTTP/2 origin.
async fn over_http2(
    answer: impl Fn(&Request<Incoming>) -> Answer + Clone + Send + Sync + 'static,
) -> (String, SocketAddr) {
    let identity = identity("origin.test", &["h2"]);
    let serve = move |stream| {
        let answer = answer.clone();
        async move {
            let service = service_fn(move |request| {
                std::future::ready(Ok::<_, Infallible>(answer(&request)))
            });
            let _ = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        }
    };
    let (addr, _) = listen(identity.config, serve).await;
    (identity.authority_pem, addr)
}

fn answer() -> http::response::Builder {
    Response::builder().header("content-type", "text/html")
}

fn full(body: &'static str) -> BoxBody<Bytes, Infallible> {
    Full::new(Bytes::from(body)).boxed()
}

#[tokio::test]
async fn http2_is_spoken_where_offered() {
    let (authority, addr) = over_http2(|request| {
        let names: Vec<&str> = request
            .headers()
            .keys()
            .map(http::HeaderName::as_str)
            .collect();
        assert_eq!(names.len(), 4, "{names:?}");
        assert_eq!(request.uri().host(), Some("origin.test"));
        answer().body(full(PAGE)).unwrap()
    })
    .await;
    assert_eq!(
        get(&authority, "origin.test", addr, &limits())
            .await
            .unwrap()
            .body,
        PAGE
    );
}

#[tokio::test]
async fn http2_obeys_the_same_limits() {
    let endless = || {
        let frames = stream::unfold((), |()| async {
            Some((Ok(Frame::data(Bytes::from(vec![b'a'; 8192]))), ()))
        });
        BoxBody::new(StreamBody::new(frames))
    };
    let (authority, addr) = over_http2(move |_| answer().body(endless()).unwrap()).await;
    assert_eq!(
        get(&authority, "origin.test", addr, &limits())
            .await
            .map(|_| ()),
        Err(FetchError::WireLimit)
    );

    let (authority, addr) = over_http2(|_| {
        let mut builder = answer();
        for n in 0..200 {
            builder = builder.header(format!("x-{n}"), "a".repeat(200));
        }
        builder.body(full(PAGE)).unwrap()
    })
    .await;
    let got = get(&authority, "origin.test", addr, &impatient()).await;
    assert!(
        matches!(got, Err(FetchError::HeaderLimit | FetchError::Protocol)),
        "{got:?}"
    );

    let (authority, addr) = over_http2(|_| {
        answer()
            .status(302)
            .header("location", "https://10.0.0.1/")
            .body(full(""))
            .unwrap()
    })
    .await;
    assert_eq!(
        get(&authority, "origin.test", addr, &limits())
            .await
            .unwrap_err()
            .code(),
        "address_not_public"
    );
}

#[tokio::test]
async fn http2_control_frames_cannot_go_on_for_ever() {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const PING_ACK: [u8; 17] = [0, 0, 8, 6, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let identity = identity("origin.test", &["h2"]);
    let flood = |mut stream: TlsStream<TcpStream>| async move {
        perform(&mut stream, Step::Send(SETTINGS.to_vec())).await;
        perform(
            &mut stream,
            Step::Forever(PING_ACK.repeat(500), Duration::ZERO),
        )
        .await;
    };
    let (addr, _) = listen(identity.config, flood).await;
    let got = get(&identity.authority_pem, "origin.test", addr, &impatient()).await;
    assert!(
        matches!(
            got,
            Err(FetchError::WireLimit
                | FetchError::Protocol
                | FetchError::Timeout(_)
                | FetchError::Truncated)
        ),
        "{got:?}"
    );
}
