//! Fetches one page: walks redirects by hand, each hop through the same gate.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::time::timeout;
use url::Url;

use blastshield_policy::{
    HopPolicy, Host, PublicAddr, Refusal, Standing, Target, check_redirect, check_url,
};

use crate::body;
use crate::connector::Connector;
use crate::encoding::Encoding;
use crate::error::{FetchError, Phase, SetupError};
use crate::exchange::{self, Exchange};
use crate::limits::FetchLimits;
use crate::media::MediaTypes;
use crate::proxy::UpstreamProxy;
use crate::resolver::Resolver;

const DEFAULT_AGENT: &str = concat!(
    "Mozilla/5.0 (compatible; Blastshield/",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// Gives the policy as it is now. Asked once per hop, so that a change holds from the next hop on.
pub type PolicySource = Arc<dyn Fn() -> Arc<HopPolicy> + Send + Sync>;

/// A policy that does not change.
#[must_use]
pub fn fixed_policy(policy: HopPolicy) -> PolicySource {
    let policy = Arc::new(policy);
    Arc::new(move || Arc::clone(&policy))
}

/// How a fetcher behaves.
#[derive(Clone)]
pub struct FetcherOptions {
    /// What may be fetched.
    pub policy: PolicySource,
    /// Where names are looked up.
    pub resolver: Resolver,
    /// What we call ourselves; `None` for the default.
    pub user_agent: Option<String>,
    /// Root certificates beside Mozilla's, as PEM; empty for none.
    pub extra_roots_pem: Vec<u8>,
    /// A proxy to go through.
    pub proxy: Option<UpstreamProxy>,
    /// Which content types are read.
    pub media_types: MediaTypes,
}

impl FetcherOptions {
    /// Defaults, under this policy.
    #[must_use]
    pub fn new(policy: PolicySource) -> Self {
        Self {
            policy,
            resolver: Resolver::system(),
            user_agent: None,
            extra_roots_pem: Vec::new(),
            proxy: None,
            media_types: MediaTypes::default(),
        }
    }
}

/// A page, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// What was asked for, normalised.
    pub url: Url,
    /// Where it was found.
    pub final_url: Url,
    /// Always a success.
    pub status: u16,
    /// As sent, and on the allowlist; it may still be a lie.
    pub content_type: Option<String>,
    /// Decoded.
    pub body: Bytes,
    /// Every host that was asked, in order.
    pub hops: Vec<Hop>,
    /// Size of the body as it came over the wire.
    pub wire_bytes: u64,
}

/// One host on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// Who was asked.
    pub host: Host,
    /// Allowed or unlisted.
    pub standing: Standing,
    /// Whether an operator's exception was needed to reach it.
    pub by_exception: bool,
}

/// Fetches pages. Cheap to clone.
#[derive(Clone)]
pub struct Fetcher(Arc<Parts>);

struct Parts {
    policy: PolicySource,
    resolver: Resolver,
    connector: Connector,
    agent: HeaderValue,
    media_types: MediaTypes,
}

impl Fetcher {
    /// # Errors
    /// When an option cannot be used.
    pub fn new(options: FetcherOptions) -> Result<Self, SetupError> {
        let agent = options.user_agent.as_deref().unwrap_or(DEFAULT_AGENT);
        Ok(Self(Arc::new(Parts {
            agent: HeaderValue::try_from(agent).map_err(|_| SetupError::UserAgent)?,
            connector: Connector::new(&options.extra_roots_pem, options.proxy)?,
            policy: options.policy,
            resolver: options.resolver,
            media_types: options.media_types,
        })))
    }

    /// Fetches a URL, following redirects.
    ///
    /// # Errors
    /// When policy refuses any hop, any limit is reached, or the answer is not a success with a readable body.
    pub async fn fetch(&self, url: &str, limits: &FetchLimits) -> Result<Fetched, FetchError> {
        self.fetch_noting(url, limits, &mut Vec::new()).await
    }

    /// As [`Fetcher::fetch`]. Every host is noted before it is dialled, so that a failure also tells who was asked.
    ///
    /// # Errors
    /// As [`Fetcher::fetch`].
    pub async fn fetch_noting(
        &self,
        url: &str,
        limits: &FetchLimits,
        hops: &mut Vec<Hop>,
    ) -> Result<Fetched, FetchError> {
        hops.clear();
        timeout(limits.total, self.0.walk(url, limits, hops))
            .await
            .map_err(|_| FetchError::Timeout(Phase::Total))?
    }
}

/// What a response's head asks for.
enum Next {
    Read(Exchange),
    Follow(String),
}

impl Parts {
    async fn walk(
        &self,
        url: &str,
        limits: &FetchLimits,
        hops: &mut Vec<Hop>,
    ) -> Result<Fetched, FetchError> {
        let mut policy = (self.policy)();
        let mut target =
            check_url(url, &policy).map_err(|refusal| FetchError::Refused { hop: 0, refusal })?;
        let start = target.url.clone();
        let mut visited = HashSet::from([target.url.clone()]);
        loop {
            let answers = self
                .resolver
                .resolve(&target.host, limits.connect)
                .await
                .map_err(FetchError::Dns)?;
            let addresses = policy.admit(&target, &answers).map_err(refused_at(hops))?;
            hops.push(hop(&target, &addresses));
            let location = match self.ask(&target, &addresses, limits).await? {
                Next::Read(exchange) => {
                    return self
                        .read(exchange, start, target.url, hops.clone(), limits)
                        .await;
                }
                Next::Follow(location) => location,
            };
            if hops.len() > limits.redirects {
                return Err(FetchError::TooManyRedirects);
            }
            policy = (self.policy)();
            target = check_redirect(&target.url, &location, &policy).map_err(refused_at(hops))?;
            if !visited.insert(target.url.clone()) {
                return Err(FetchError::RedirectLoop);
            }
        }
    }

    /// Asks one host and looks at the head of its answer.
    async fn ask(
        &self,
        target: &Target,
        addresses: &[PublicAddr],
        limits: &FetchLimits,
    ) -> Result<Next, FetchError> {
        let connecting = self
            .connector
            .connect(&target.host, target.is_https(), addresses);
        let connection = timeout(limits.connect, connecting)
            .await
            .map_err(|_| FetchError::Timeout(Phase::Connect))??;
        let asking = exchange::get(connection, &target.url, &self.agent, limits);
        let exchange = timeout(limits.first_byte, asking)
            .await
            .map_err(|_| FetchError::Timeout(Phase::FirstByte))??;
        let head = exchange.response.headers();
        if head.len() > limits.header_count {
            return Err(FetchError::HeaderLimit);
        }
        match exchange.response.status().as_u16() {
            301 | 302 | 303 | 307 | 308 => Ok(Next::Follow(location(head)?)),
            200..=205 => Ok(Next::Read(exchange)),
            // Also 206 and 304: nobody asked for a part or for a comparison.
            status => Err(FetchError::Status(status)),
        }
    }

    async fn read(
        &self,
        exchange: Exchange,
        url: Url,
        final_url: Url,
        hops: Vec<Hop>,
        limits: &FetchLimits,
    ) -> Result<Fetched, FetchError> {
        let Exchange { response, mut live } = exchange;
        let (head, body) = response.into_parts();
        let status = head.status;
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT) {
            let body = Bytes::new();
            return Ok(Fetched {
                url,
                final_url,
                status: status.as_u16(),
                content_type: None,
                body,
                hops,
                wire_bytes: 0,
            });
        }
        let content_type = self.media_types.admit(&head.headers)?;
        let encoding = Encoding::of(&head.headers)?;
        let read = live.bring(body::read(body, encoding, limits)).await?;
        drop(live);
        Ok(Fetched {
            url,
            final_url,
            status: status.as_u16(),
            content_type,
            body: read.bytes,
            hops,
            wire_bytes: read.wire_bytes,
        })
    }
}

fn refused_at(hops: &[Hop]) -> impl Fn(Refusal) -> FetchError {
    let hop = hops.len();
    move |refusal| FetchError::Refused { hop, refusal }
}

fn hop(target: &Target, addresses: &[PublicAddr]) -> Hop {
    let by_exception = addresses.iter().any(PublicAddr::by_exception);
    Hop {
        host: target.host.clone(),
        standing: target.standing,
        by_exception,
    }
}

/// The one place that a redirect leads to.
fn location(headers: &HeaderMap) -> Result<String, FetchError> {
    let mut values = headers.get_all(LOCATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(FetchError::BadRedirect);
    };
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| FetchError::BadRedirect)?;
    if text.is_empty() {
        Err(FetchError::BadRedirect)
    } else {
        Ok(text.to_owned())
    }
}
