//! One bounded exchange: no proxy, no redirect, no decompression, a deadline over everything, a byte limit.

use crate::error::{CallError, ConfigError};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Request, Response, StatusCode};
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

const USER_AGENT: &str = concat!("blastshield/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const IDLE_CONNECTIONS: usize = 8;
const PROBE_BYTES: usize = 64 * 1024;

/// What one exchange may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From the first packet of the connection to the last byte of the body.
    pub(crate) deadline: Duration,
    pub(crate) max_bytes: usize,
}

/// A successful answer, whole and within its limit.
pub(crate) struct Reply {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The HTTP client of one service.
#[derive(Clone, Debug)]
pub(crate) struct Transport(Client);

impl Transport {
    pub(crate) fn new() -> Result<Self, ConfigError> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls()?)
            .no_proxy()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .user_agent(USER_AGENT)
            .build()
            .map_err(|_| ConfigError::Tls)?;
        Ok(Self(client))
    }

    /// Sends a request and reads a 2xx answer; every other status is an error without its body.
    pub(crate) async fn call(&self, request: Request, limits: Limits) -> Result<Reply, CallError> {
        tokio::time::timeout(limits.deadline, async {
            let response = self.send(request).await?;
            check_status(&response)?;
            read(response, limits.max_bytes).await
        })
        .await
        .unwrap_or(Err(CallError::Timeout))
    }

    /// Sends a request and reads the answer whatever its status, for services that explain themselves in the body.
    pub(crate) async fn exchange(
        &self,
        request: Request,
        limits: Limits,
    ) -> Result<(StatusCode, Reply), CallError> {
        tokio::time::timeout(limits.deadline, async {
            let response = self.send(request).await?;
            let status = response.status();
            Ok((status, read(response, limits.max_bytes).await?))
        })
        .await
        .unwrap_or(Err(CallError::Timeout))
    }

    /// Whether something speaks HTTP at the address; which status it answers does not matter.
    pub(crate) async fn reach(&self, url: Url, deadline: Duration) -> Result<(), CallError> {
        let request = Request::new(reqwest::Method::GET, url);
        tokio::time::timeout(deadline, async {
            let response = self.send(request).await?;
            match read(response, PROBE_BYTES).await {
                Ok(_) | Err(CallError::TooLarge { .. } | CallError::Encoded) => Ok(()),
                Err(error) => Err(error),
            }
        })
        .await
        .unwrap_or(Err(CallError::Timeout))
    }

    async fn send(&self, mut request: Request) -> Result<Response, CallError> {
        request
            .headers_mut()
            .insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        self.0
            .execute(request)
            .await
            .map_err(|error| classify(&error))
    }
}

fn tls() -> Result<ClientConfig, ConfigError> {
    let roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| ConfigError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

/// The cause without the library's own text, which holds the address and with it a token.
fn classify(error: &reqwest::Error) -> CallError {
    if error.is_timeout() && !error.is_connect() {
        CallError::Timeout
    } else if error.is_connect() {
        CallError::Unreachable
    } else {
        CallError::Broken
    }
}

fn check_status(response: &Response) -> Result<(), CallError> {
    judge_status(response.status(), response.headers())
}

pub(crate) fn judge_status(status: StatusCode, headers: &HeaderMap) -> Result<(), CallError> {
    let code = status.as_u16();
    match status {
        _ if status.is_success() => Ok(()),
        _ if status.is_redirection() => Err(CallError::Redirected { status: code }),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(CallError::Denied { status: code }),
        StatusCode::TOO_MANY_REQUESTS => Err(CallError::RateLimited {
            retry_after: retry_after(headers),
        }),
        _ if status.is_server_error() => Err(CallError::Failed { status: code }),
        _ => Err(CallError::Rejected { status: code }),
    }
}

async fn read(mut response: Response, limit: usize) -> Result<Reply, CallError> {
    let encoded = response
        .headers()
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(CallError::Encoded);
    }
    let announced = response.content_length().unwrap_or(0);
    if usize::try_from(announced).map_or(true, |length| length > limit) {
        return Err(CallError::TooLarge { limit });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| classify(&error))? {
        if chunk.len() > limit.saturating_sub(body.len()) {
            return Err(CallError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    let headers = std::mem::take(response.headers_mut());
    Ok(Reply { headers, body })
}

/// `Retry-After` in seconds, or else the windows of `X-RateLimit-*` that are used up.
///
/// The latter are lists, one entry per window (`X-RateLimit-Remaining: 0, 900`, `X-RateLimit-Reset: 1, 1419704`):
/// the longest reset among exhausted windows counts, or the first where no list of what remains is given.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(seconds) = numbers(headers, RETRY_AFTER.as_str())
        .first()
        .copied()
        .flatten()
    {
        return Some(Duration::from_secs(seconds));
    }
    let resets = numbers(headers, "x-ratelimit-reset");
    let remaining = numbers(headers, "x-ratelimit-remaining");
    let exhausted = resets
        .iter()
        .zip(&remaining)
        .filter(|(_, left)| **left == Some(0))
        .filter_map(|(reset, _)| *reset)
        .max();
    exhausted
        .or_else(|| resets.first().copied().flatten())
        .map(Duration::from_secs)
}

fn numbers(headers: &HeaderMap, name: &str) -> Vec<Option<u64>> {
    let Some(text) = headers.get(name).and_then(|value| value.to_str().ok()) else {
        return Vec::new();
    };
    text.split(',')
        .take(8)
        .map(|part| part.trim().parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderName;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn retry_after_comes_first() {
        let given = headers(&[("retry-after", "7"), ("x-ratelimit-reset", "1, 1419704")]);
        assert_eq!(retry_after(&given), Some(Duration::from_secs(7)));
    }

    #[test]
    fn the_window_that_is_used_up_decides() {
        let second = headers(&[
            ("x-ratelimit-remaining", "0, 1000"),
            ("x-ratelimit-reset", "1, 1419704"),
        ]);
        assert_eq!(retry_after(&second), Some(Duration::from_secs(1)));
        let month = headers(&[
            ("x-ratelimit-remaining", "1, 0"),
            ("x-ratelimit-reset", "1, 1419704"),
        ]);
        assert_eq!(retry_after(&month), Some(Duration::from_secs(1_419_704)));
    }

    #[test]
    fn unreadable_waits_are_no_waits() {
        for value in [
            "soon",
            "-1",
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "99999999999999999999999",
        ] {
            assert_eq!(
                retry_after(&headers(&[("retry-after", value)])),
                None,
                "{value}"
            );
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn the_client_is_built_with_its_own_tls_provider() {
        assert!(Transport::new().is_ok());
    }
}
