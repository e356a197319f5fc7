//! Posts JSON to an address of the operator's choice, signed so that the receiver can tell it is ours.

use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError};
use crate::secret::Secret;
use crate::transport::{Limits, Transport};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use std::fmt::Write as _;
use std::time::Duration;
use url::Url;

/// When it was signed, in seconds since the epoch: part of what is signed, so that nothing can be sent again later.
const TIMESTAMP: HeaderName = HeaderName::from_static("x-blastshield-timestamp");
/// `sha256=` and the HMAC-SHA256 of the timestamp, a dot and the body, in hexadecimal.
const SIGNATURE: HeaderName = HeaderName::from_static("x-blastshield-signature");
const ANSWER_BYTES: usize = 64 * 1024;

/// A receiver of posts.
#[derive(Clone, Debug)]
pub struct Webhook {
    transport: Transport,
    url: Url,
    secret: Option<Secret>,
    timeout: Duration,
}

impl Webhook {
    /// A receiver at this address; without a secret, posts are not signed.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn new(url: &Url, secret: Option<Secret>, timeout: Duration) -> Result<Self, ConfigError> {
        // A receiver's address may have a query; all else is as for any service.
        let mut plain = url.clone();
        plain.set_query(None);
        let _: BaseUrl = plain.as_str().parse()?;
        Ok(Self {
            transport: Transport::new()?,
            url: url.clone(),
            secret,
            timeout,
        })
    }

    /// Posts a body once. `at` is the time in seconds since the epoch.
    ///
    /// # Errors
    /// When the receiver did not answer with success.
    pub async fn post(&self, body: String, at: u64) -> Result<(), CallError> {
        let mut request = Request::new(Method::POST, self.url.clone());
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(TIMESTAMP, HeaderValue::from(at));
        if let Some(secret) = &self.secret {
            let value = HeaderValue::try_from(signature(secret, at, &body));
            headers.insert(SIGNATURE, value.map_err(|_| CallError::Broken)?);
        }
        *request.body_mut() = Some(body.into());
        let limits = Limits {
            deadline: self.timeout,
            max_bytes: ANSWER_BYTES,
        };
        self.transport.call(request, limits).await.map(drop)
    }
}

fn signature(secret: &Secret, at: u64, body: &str) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.expose().as_bytes());
    let tag = ring::hmac::sign(&key, format!("{at}.{body}").as_bytes());
    let mut text = String::from("sha256=");
    for byte in tag.as_ref() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_covers_time_and_body() {
        let secret = Secret::new("0123456789abcdef");
        let one = signature(&secret, 1, "{}");
        assert_eq!(one.len(), "sha256=".len() + 64);
        assert_eq!(one, signature(&secret, 1, "{}"));
        assert_ne!(one, signature(&secret, 2, "{}"));
        assert_ne!(one, signature(&secret, 1, "{ }"));
        assert_ne!(one, signature(&Secret::new("another secret!!"), 1, "{}"));
    }

    #[test]
    fn an_address_may_have_a_query_and_no_user() {
        let made = |url: &str| Webhook::new(&url.parse().unwrap(), None, Duration::from_secs(1));
        assert!(made("https://hooks.example/x?channel=1").is_ok());
        assert!(made("https://user:word@hooks.example/x").is_err());
    }
}
