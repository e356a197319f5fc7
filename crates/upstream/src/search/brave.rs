//! Brave Search: a key, a rate class, a bounded queue, and a back-off that listens to the provider.

use super::hit::{Candidate, Hit, hits};
use super::loose::{Entries, Text, parse};
use super::pace::{Pace, RateClass};
use super::{SearchError, SearchQuery};
use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError};
use crate::secret::Secret;
use crate::transport::{Limits, Transport};
use reqwest::Request;
use reqwest::header::{ACCEPT, HeaderValue};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;

const DEFAULT_BASE: &str = "https://api.search.brave.com/res/v1";
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// How Brave Search is reached.
#[derive(Clone, Debug)]
pub struct BraveOptions {
    /// The API's address.
    pub base: BaseUrl,
    /// The subscription token.
    pub key: Secret,
    /// The plan's rate.
    pub rate: RateClass,
    /// How many searches may wait or be under way.
    pub queue_max: usize,
    /// How long a search may wait for its turns, retries included.
    pub queue_wait: Duration,
    /// How often a search is repeated after "too many requests".
    pub max_retries: u32,
    /// The longest pause that is still worth waiting for.
    pub max_backoff: Duration,
    /// How long one request may take.
    pub timeout: Duration,
    /// How large an answer may be.
    pub max_bytes: usize,
}

impl BraveOptions {
    /// The defaults for this key.
    ///
    /// # Errors
    /// Never in practice: only if the built-in address did not parse.
    pub fn new(key: Secret) -> Result<Self, ConfigError> {
        Ok(Self {
            base: DEFAULT_BASE.parse()?,
            key,
            rate: RateClass::Free,
            queue_max: 100,
            queue_wait: Duration::from_secs(10),
            max_retries: 2,
            max_backoff: Duration::from_secs(5),
            timeout: Duration::from_secs(8),
            max_bytes: 2 << 20,
        })
    }
}

/// A client of Brave Search.
#[derive(Debug)]
pub struct Brave {
    options: BraveOptions,
    key: HeaderValue,
    pace: Pace,
    transport: Transport,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default, rename = "type")]
    kind: Text,
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    results: Entries<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    url: Text,
    #[serde(default)]
    title: Text,
    #[serde(default)]
    description: Text,
    #[serde(default)]
    page_age: Text,
    #[serde(default)]
    age: Text,
}

impl Brave {
    /// A client with these options.
    ///
    /// # Errors
    /// A key that is empty or cannot stand in a header.
    pub fn new(options: BraveOptions) -> Result<Self, ConfigError> {
        Ok(Self {
            key: options.key.header("", "the Brave API key")?,
            pace: Pace::new(options.queue_max, options.rate.interval()),
            transport: Transport::new()?,
            options,
        })
    }

    pub(crate) async fn reach(&self) -> Result<(), CallError> {
        self.transport
            .reach(self.options.base.join(&[]), self.options.timeout)
            .await
    }

    /// One search; "too many requests" stops everybody for the time the provider names, then it is tried again.
    pub(crate) async fn hits(&self, query: &SearchQuery) -> Result<Vec<Hit>, SearchError> {
        let _place = self.pace.enter()?;
        let give_up = Instant::now() + self.options.queue_wait;
        let mut retries = 0;
        loop {
            self.pace.turn(give_up).await?;
            let error = match self.ask(query).await {
                Err(error @ SearchError::Call(CallError::RateLimited { .. })) => error,
                settled => return settled,
            };
            let wait = backoff(error, retries);
            self.pace.hold(wait.min(self.options.max_backoff));
            if retries >= self.options.max_retries || wait > self.options.max_backoff {
                return Err(error);
            }
            retries += 1;
        }
    }

    async fn ask(&self, query: &SearchQuery) -> Result<Vec<Hit>, SearchError> {
        let limits = Limits {
            deadline: self.options.timeout,
            max_bytes: self.options.max_bytes,
        };
        let reply = self.transport.call(self.request(query), limits).await?;
        read(reply.body, query.count).ok_or(SearchError::BadAnswer)
    }

    fn request(&self, query: &SearchQuery) -> Request {
        let mut url = self.options.base.join(&["web", "search"]);
        {
            let mut pairs = url.query_pairs_mut();
            pairs
                .append_pair("q", &query.query)
                .append_pair("count", &query.count.to_string())
                .append_pair("safesearch", query.safesearch.word());
            for (name, value) in [
                ("country", &query.country),
                ("search_lang", &query.search_lang),
                ("freshness", &query.freshness),
            ] {
                if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
                    pairs.append_pair(name, value);
                }
            }
        }
        let mut request = Request::new(reqwest::Method::GET, url);
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert("x-subscription-token", self.key.clone());
        request
    }
}

fn backoff(error: SearchError, retries: u32) -> Duration {
    match error {
        SearchError::Call(CallError::RateLimited {
            retry_after: Some(wait),
        }) => wait,
        _ => FIRST_BACKOFF * 2_u32.saturating_pow(retries.min(8)),
    }
}

/// Brave leaves `web` out where nothing was found.
fn read(body: Vec<u8>, count: u32) -> Option<Vec<Hit>> {
    let answer: Answer = parse(body)?;
    let entries = match answer.web {
        Some(web) => web.results.0,
        None if answer.kind.0.as_deref() == Some("search") => Vec::new(),
        None => return None,
    };
    let candidates = entries.into_iter().map(|entry| {
        let entry = entry?;
        Some(Candidate {
            url: entry.url,
            title: entry.title,
            snippet: entry.description,
            published: Text(entry.page_age.0.or(entry.age.0)),
        })
    });
    hits(candidates, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_web_is_empty_only_if_it_is_a_search_answer() {
        assert_eq!(read(br#"{"type":"search"}"#.to_vec(), 5), Some(vec![]));
        assert_eq!(
            read(br#"{"type":"search","web":{"results":[]}}"#.to_vec(), 5),
            Some(vec![])
        );
        for body in [
            r#"{}"#,
            r#"[]"#,
            r#"{"type":"ErrorResponse"}"#,
            r#"{"type":"search","web":[]}"#,
            r#"{"type":"search","web":{"results":{}}}"#,
            r#"{"type":"search","web":{"results":[1,2]}}"#,
            r#"{"type":"search","web":{}}"#,
        ] {
            assert_eq!(read(body.as_bytes().to_vec(), 5), None, "{body}");
        }
    }

    #[test]
    fn the_pause_grows_where_the_provider_names_none() {
        let silent = SearchError::Call(CallError::RateLimited { retry_after: None });
        assert_eq!(
            [0, 1, 2].map(|retries| backoff(silent, retries).as_secs()),
            [1, 2, 4]
        );
        assert!(backoff(silent, u32::MAX) < Duration::from_secs(1_000));
    }
}
