//! SearXNG: a self-hosted metasearch engine that needs no key.

use super::hit::{Candidate, Hit, hits};
use super::loose::{Entries, Text, parse};
use super::pace::Pace;
use super::{SearchError, SearchQuery};
use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError};
use crate::transport::{Limits, Transport};
use reqwest::Request;
use reqwest::header::{ACCEPT, HeaderValue};
use serde::Deserialize;
use std::time::Duration;

/// How a SearXNG instance is reached. Its settings must list `json` among the formats.
#[derive(Clone, Debug)]
pub struct SearxngOptions {
    /// The instance's address.
    pub base: BaseUrl,
    /// How many searches may be under way.
    pub queue_max: usize,
    /// How long one request may take.
    pub timeout: Duration,
    /// How large an answer may be.
    pub max_bytes: usize,
}

impl SearxngOptions {
    /// The defaults for this instance.
    #[must_use]
    pub fn new(base: BaseUrl) -> Self {
        Self {
            base,
            queue_max: 100,
            timeout: Duration::from_secs(8),
            max_bytes: 2 << 20,
        }
    }
}

/// A client of a SearXNG instance.
#[derive(Debug)]
pub struct Searxng {
    options: SearxngOptions,
    pace: Pace,
    transport: Transport,
}

#[derive(Deserialize)]
struct Answer {
    results: Entries<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    url: Text,
    #[serde(default)]
    title: Text,
    #[serde(default)]
    content: Text,
    #[serde(default, rename = "publishedDate")]
    published: Text,
}

impl Searxng {
    /// A client with these options.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(options: SearxngOptions) -> Result<Self, ConfigError> {
        Ok(Self {
            pace: Pace::new(options.queue_max, Duration::ZERO),
            transport: Transport::new()?,
            options,
        })
    }

    pub(crate) async fn reach(&self) -> Result<(), CallError> {
        self.transport
            .reach(self.options.base.join(&[]), self.options.timeout)
            .await
    }

    pub(crate) async fn hits(&self, query: &SearchQuery) -> Result<Vec<Hit>, SearchError> {
        let _place = self.pace.enter()?;
        let limits = Limits {
            deadline: self.options.timeout,
            max_bytes: self.options.max_bytes,
        };
        let reply = self.transport.call(self.request(query), limits).await?;
        read(reply.body, query.count).ok_or(SearchError::BadAnswer)
    }

    fn request(&self, query: &SearchQuery) -> Request {
        let mut url = self.options.base.join(&["search"]);
        {
            let mut pairs = url.query_pairs_mut();
            pairs
                .append_pair("q", &query.query)
                .append_pair("format", "json")
                .append_pair("safesearch", query.safesearch.level());
            if let Some(language) = language(query) {
                pairs.append_pair("language", &language);
            }
            if let Some(range) = query.freshness.as_deref().and_then(time_range) {
                pairs.append_pair("time_range", range);
            }
        }
        let mut request = Request::new(reqwest::Method::GET, url);
        request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        request
    }
}

/// SearXNG knows languages and, within them, countries (`de`, `de-AT`), but no country alone.
fn language(query: &SearchQuery) -> Option<String> {
    let language = query.search_lang.as_deref()?;
    match query.country.as_deref() {
        Some(country) if country.len() == 2 && language.len() == 2 => Some(format!(
            "{}-{}",
            language.to_ascii_lowercase(),
            country.to_ascii_uppercase()
        )),
        _ => Some(language.to_owned()),
    }
}

/// The nearest of SearXNG's four ranges; it has no dates from-to, so such a wish is left out.
fn time_range(freshness: &str) -> Option<&'static str> {
    match freshness {
        "pd" | "day" => Some("day"),
        "pw" | "week" => Some("week"),
        "pm" | "month" => Some("month"),
        "py" | "year" => Some("year"),
        _ => None,
    }
}

fn read(body: Vec<u8>, count: u32) -> Option<Vec<Hit>> {
    let answer: Answer = parse(body)?;
    let candidates = answer.results.0.into_iter().map(|entry| {
        let entry = entry?;
        Some(Candidate {
            url: entry.url,
            title: entry.title,
            snippet: entry.content,
            published: entry.published,
        })
    });
    hits(candidates, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_and_range_are_spelled_the_instance_s_way() {
        let mut query = SearchQuery::new("q");
        assert_eq!(language(&query), None);
        query.country = Some("at".into());
        assert_eq!(language(&query), None);
        query.search_lang = Some("DE".into());
        assert_eq!(language(&query).as_deref(), Some("de-AT"));
        query.search_lang = Some("zh-hans".into());
        assert_eq!(language(&query).as_deref(), Some("zh-hans"));
        assert_eq!(time_range("pw"), Some("week"));
        assert_eq!(time_range("2026-01-01to2026-02-01"), None);
    }

    #[test]
    fn an_answer_without_results_is_no_answer() {
        assert_eq!(read(br#"{"results":[]}"#.to_vec(), 5), Some(vec![]));
        for body in [
            r#"{}"#,
            r#"{"results":null}"#,
            r#"{"results":["x"]}"#,
            "<html>",
        ] {
            assert_eq!(read(body.as_bytes().to_vec(), 5), None, "{body}");
        }
    }
}
