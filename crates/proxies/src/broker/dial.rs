//! One request to the service over one guarded connection. Redirects are not followed: an operation has one address.

use crate::definition::{Definition, Method};
use blastshield_policy::{AddressGuard, HopPolicy, Target, UrlRules, check_url};
use blastshield_web::{Connection, Connector, FetchError, Phase, Resolver};
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, RETRY_AFTER,
    USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use url::Url;

const MAX_HEADERS: usize = 100;
const HEADER_BYTES: usize = 32 << 10;
const AGENT: &str = concat!("Blastshield/", env!("CARGO_PKG_VERSION"));
/// A service may ask for a long pause; the breaker heeds it up to its own longest.
const LONGEST_ASKED: u64 = 86_400;

/// Dials services.
#[derive(Clone)]
pub struct Dialler {
    connector: Connector,
    resolver: Resolver,
    policy: HopPolicy,
}

impl std::fmt::Debug for Dialler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dialler")
    }
}

/// What is sent.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    /// Path and query below the base.
    pub(crate) target: String,
    pub(crate) body: Option<String>,
    pub(crate) credential: Option<(HeaderName, HeaderValue)>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Incame {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    /// Of a success; other bodies are nobody's business.
    pub(crate) body: Bytes,
}

impl Dialler {
    /// Under this policy: blocked domains and denied addresses hold for services too.
    #[must_use]
    pub fn new(connector: Connector, resolver: Resolver, policy: HopPolicy) -> Self {
        Self {
            connector,
            resolver,
            policy,
        }
    }

    /// The policy for one service: its own scheme and port, and this machine where the definition names it.
    fn policy(&self, definition: &Definition) -> HopPolicy {
        let plain = definition.base.scheme() == "http";
        let mut ranges = self.policy.guard.ranges.clone();
        if plain {
            // Only a loopback literal comes with plain HTTP; see the definition.
            let ip = definition.base.host_str().unwrap_or_default();
            let ip = ip.trim_start_matches('[').trim_end_matches(']');
            ranges.extend(ip.parse::<std::net::IpAddr>().map(ipnet::IpNet::from));
        }
        let port = definition.base.port_or_known_default().unwrap_or(443);
        let ports = port.to_string().parse().unwrap_or_default();
        HopPolicy {
            domains: std::sync::Arc::clone(&self.policy.domains),
            rules: UrlRules {
                allow_http: plain,
                ports,
            },
            guard: AddressGuard {
                ranges,
                hosts: self.policy.guard.hosts.clone(),
                own: self.policy.guard.own.clone(),
            },
        }
    }

    /// Sends a request and reads the answer, within the definition's bounds.
    pub(crate) async fn send(
        &self,
        definition: &Definition,
        outgoing: Outgoing,
    ) -> Result<Incame, FetchError> {
        let within = definition.timeouts.answer;
        timeout(within, self.exchange(definition, outgoing))
            .await
            .map_err(|_| FetchError::Timeout(Phase::Total))?
    }

    async fn exchange(
        &self,
        definition: &Definition,
        outgoing: Outgoing,
    ) -> Result<Incame, FetchError> {
        let policy = self.policy(definition);
        let refused = |refusal| FetchError::Refused { hop: 0, refusal };
        let base = definition.base.as_str().trim_end_matches('/');
        let url = format!("{base}{}", outgoing.target);
        let target = check_url(&url, &policy).map_err(refused)?;
        let connect = definition.timeouts.connect;
        let answers = self
            .resolver
            .resolve(&target.host, connect)
            .await
            .map_err(FetchError::Dns)?;
        let addresses = policy.admit(&target, &answers).map_err(refused)?;
        let connecting = self
            .connector
            .connect(&target.host, target.is_https(), &addresses);
        let connection = timeout(connect, connecting)
            .await
            .map_err(|_| FetchError::Timeout(Phase::Connect))??;
        let request = request(&target, outgoing, connection.http2)?;
        let (response, _task) = speak(connection, request).await?;
        read(response, definition.bounds.response_bytes).await
    }
}

/// Ends the connection when nobody listens any more.
struct Running(AbortHandle);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn speak(
    connection: Connection,
    request: Request<Full<Bytes>>,
) -> Result<(Response<Incoming>, Running), FetchError> {
    let protocol = |error: hyper::Error| {
        if error.is_parse_too_large() {
            FetchError::HeaderLimit
        } else if error.is_incomplete_message() {
            FetchError::Truncated
        } else {
            FetchError::Protocol
        }
    };
    let stream = TokioIo::new(connection.stream);
    if connection.http2 {
        let (mut sender, driver) = http2::Builder::new(TokioExecutor::new())
            .max_header_list_size(u32::try_from(HEADER_BYTES).unwrap_or(u32::MAX))
            .handshake(stream)
            .await
            .map_err(protocol)?;
        let running = Running(tokio::spawn(driver).abort_handle());
        let response = sender.send_request(request).await.map_err(protocol)?;
        return Ok((response, running));
    }
    let (mut sender, driver) = http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_buf_size(HEADER_BYTES)
        .handshake(stream)
        .await
        .map_err(protocol)?;
    let running = Running(tokio::spawn(driver).abort_handle());
    let response = sender.send_request(request).await.map_err(protocol)?;
    Ok((response, running))
}

fn request(
    target: &Target,
    outgoing: Outgoing,
    http2: bool,
) -> Result<Request<Full<Bytes>>, FetchError> {
    let url: &Url = &target.url;
    let whole = match (http2, url.query()) {
        (true, _) => url.as_str().to_owned(),
        (false, Some(query)) => format!("{}?{query}", url.path()),
        (false, None) => url.path().to_owned(),
    };
    let sends = outgoing.body.is_some();
    let mut request = Request::new(Full::new(Bytes::from(outgoing.body.unwrap_or_default())));
    *request.method_mut() = match outgoing.method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    };
    *request.uri_mut() = Uri::try_from(whole).map_err(|_| FetchError::Protocol)?;
    let headers = request.headers_mut();
    if !http2 {
        let host = HeaderValue::try_from(url.authority()).map_err(|_| FetchError::Protocol)?;
        headers.insert(HOST, host);
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if sends {
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json);
    }
    if let Some((name, value)) = outgoing.credential {
        headers.insert(name, value);
    }
    Ok(request)
}

async fn read(response: Response<Incoming>, most: usize) -> Result<Incame, FetchError> {
    let (head, mut body) = response.into_parts();
    let status = head.status.as_u16();
    let mut bytes = Vec::new();
    if head.status.is_success() {
        if head
            .headers
            .get(CONTENT_ENCODING)
            .is_some_and(|encoding| encoding != "identity")
        {
            return Err(FetchError::Encoding);
        }
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| FetchError::Truncated)?;
            if let Some(chunk) = frame.data_ref() {
                if bytes.len() + chunk.len() > most {
                    return Err(FetchError::WireLimit);
                }
                bytes.extend_from_slice(chunk);
            }
        }
    }
    Ok(Incame {
        status,
        content_type: text(&head.headers, &CONTENT_TYPE),
        retry_after: text(&head.headers, &RETRY_AFTER)
            .and_then(|seconds| seconds.trim().parse::<u64>().ok())
            .map(|seconds| Duration::from_secs(seconds.min(LONGEST_ASKED))),
        body: bytes.into(),
    })
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let text = headers.get(name)?.to_str().ok()?;
    (text.len() <= 200).then(|| text.to_owned())
}
