//! The only way out of a page: a forward proxy on loopback that lives as long as the page and knows one password.
//!
//! Every request and every tunnel passes the policy as it is at that moment, is resolved once, and only addresses that the
//! guard admitted are dialled. The door itself is never among them.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use blastshield_policy::{HopPolicy, PublicAddr, Refusal, Target, check_url};
use blastshield_web::{Connector, FetchError, Metered, Phase, PolicySource, Resolver};
use bytes::Bytes;
use http::header::{HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::options::TrafficLimits;
use crate::traffic::{Share, Traffic};
use crate::{forward, tunnel};

/// The user name that goes with the password.
pub(crate) const USER: &str = "page";
const HEADERS: usize = 128;
const HEAD_BYTES: usize = 64 * 1024;
const HEAD_TIME: Duration = Duration::from_secs(30);

pub(crate) type Answer = Response<BoxBody<Bytes, hyper::Error>>;

/// What every door of a renderer checks and dials with.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) policy: PolicySource,
    pub(crate) resolver: Resolver,
    pub(crate) connector: Connector,
    pub(crate) limits: TrafficLimits,
}

/// An open door. Dropping it ends all that passes through.
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    pub(crate) password: String,
    pub(crate) traffic: Arc<Traffic>,
    _end: DropGuard,
}

impl Door {
    /// Opens a door with a password of its own; `None` when there is no port or no randomness.
    pub(crate) async fn open(way: Way) -> Option<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.ok()?;
        let address = listener.local_addr().ok()?;
        let password = random_hex()?;
        let traffic = Arc::new(Traffic::new(way.limits.bytes, way.limits.requests));
        let end = CancellationToken::new();
        let keeper = Arc::new(Keeper {
            expected: basic(&password),
            address,
            places: Arc::new(Semaphore::new(way.limits.connections)),
            traffic: Arc::clone(&traffic),
            end: end.clone(),
            way,
        });
        tokio::spawn(keeper.receive(listener));
        Some(Self {
            address,
            password,
            traffic,
            _end: end.drop_guard(),
        })
    }
}

/// Stands at the door.
pub(crate) struct Keeper {
    expected: String,
    address: SocketAddr,
    places: Arc<Semaphore>,
    way: Way,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) end: CancellationToken,
}

/// An admitted target and the connection to it.
pub(crate) struct Passage {
    pub(crate) target: Target,
    pub(crate) stream: Metered<TcpStream, Share>,
    pub(crate) allow_http: bool,
}

impl Keeper {
    async fn receive(self: Arc<Self>, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.end.cancelled() => return,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
                self.traffic.count_refusal();
                continue;
            };
            let keeper = Arc::clone(&self);
            self.spawn(async move {
                keeper.serve(stream).await;
                drop(place);
            });
        }
    }

    /// Runs a task that ends with the door.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let end = self.end.clone();
        tokio::spawn(async move {
            end.run_until_cancelled(task).await;
        });
    }

    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(|request| {
            let keeper = Arc::clone(&self);
            async move { Ok::<_, Infallible>(keeper.answer(request).await) }
        });
        // Whatever goes wrong on this connection is the browser's to notice.
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_headers(HEADERS)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
            .await;
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        if !self.knows(&request) {
            return demand_password();
        }
        if !self.traffic.begin_request() {
            self.traffic.count_refusal();
            return bare(StatusCode::FORBIDDEN);
        }
        let is_tunnel = request.method() == Method::CONNECT;
        let url = if is_tunnel {
            request.uri().authority().map(|to| format!("https://{to}/"))
        } else {
            request.uri().scheme().map(|_| request.uri().to_string())
        };
        let Some(url) = url else {
            self.traffic.count_refusal();
            return bare(StatusCode::BAD_REQUEST);
        };
        match self.pass(&url).await {
            Err(error) => self.decline(error),
            Ok(passage) if is_tunnel => tunnel::open(&self, request, passage),
            Ok(passage) => match forward::send(&self, request, passage).await {
                Ok(answer) => answer,
                Err(error) => self.decline(error),
            },
        }
    }

    fn knows(&self, request: &Request<Incoming>) -> bool {
        let shown = request.headers().get(PROXY_AUTHORIZATION);
        shown.is_some_and(|shown| self.expected.as_bytes().ct_eq(shown.as_bytes()).into())
    }

    /// Checks, resolves once, checks the answers, dials one of them.
    async fn pass(&self, url: &str) -> Result<Passage, FetchError> {
        let mut policy: HopPolicy = (*(self.way.policy)()).clone();
        policy.guard.own.push(self.address);
        let target = check_url(url, &policy).map_err(|refusal| {
            self.note_url(url, refused(refusal));
            refused(refusal)
        })?;
        match self.reach(&target, &policy).await {
            Ok(stream) => Ok(Passage {
                target,
                stream: Metered::new(stream, Share(Arc::clone(&self.traffic))),
                allow_http: policy.rules.allow_http,
            }),
            Err(error) => {
                self.traffic.note(&target.host, target.port, error);
                Err(error)
            }
        }
    }

    async fn reach(&self, target: &Target, policy: &HopPolicy) -> Result<TcpStream, FetchError> {
        let within = self.way.limits.connect;
        let answers = self
            .way
            .resolver
            .resolve(&target.host, within)
            .await
            .map_err(FetchError::Dns)?;
        let addresses: Vec<PublicAddr> = policy.admit(target, &answers).map_err(refused)?;
        timeout(within, self.way.connector.dial(&addresses))
            .await
            .map_err(|_| FetchError::Timeout(Phase::Connect))?
    }

    fn note_url(&self, url: &str, error: FetchError) {
        if let Ok(url) = url::Url::parse(url)
            && let Ok(host) = blastshield_policy::Host::of(&url)
            && let Some(port) = url.port_or_known_default()
        {
            self.traffic.note(&host, port, error);
        }
    }

    fn decline(&self, error: FetchError) -> Answer {
        if matches!(error, FetchError::Refused { .. }) {
            self.traffic.count_refusal();
            bare(StatusCode::FORBIDDEN)
        } else {
            bare(StatusCode::BAD_GATEWAY)
        }
    }
}

pub(crate) fn refused(refusal: Refusal) -> FetchError {
    FetchError::Refused { hop: 0, refusal }
}

/// An answer without a body.
pub(crate) fn bare(status: StatusCode) -> Answer {
    let mut answer = Response::new(Empty::new().map_err(|never| match never {}).boxed());
    *answer.status_mut() = status;
    answer
}

fn demand_password() -> Answer {
    let mut answer = bare(StatusCode::PROXY_AUTHENTICATION_REQUIRED);
    let name: HeaderName = PROXY_AUTHENTICATE;
    answer
        .headers_mut()
        .insert(name, HeaderValue::from_static("Basic realm=\"render\""));
    answer
}

fn random_hex() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// The header that shows the password.
fn basic(password: &str) -> String {
    format!("Basic {}", base64(format!("{USER}:{password}").as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4_usize {
            let index = usize::try_from((bits >> (18 - 6 * at)) & 63).unwrap_or(0);
            let letter = ALPHABET.get(index).filter(|_| at <= chunk.len());
            out.push(letter.map_or('=', |b| char::from(*b)));
        }
    }
    out
}

#[cfg(test)]
mod tests;
