//! Web search through a configured provider: at most `count` bounded hits, or an error that says whose fault it is.

mod brave;
mod hit;
mod loose;
mod pace;
mod query;
mod searxng;

pub use brave::{Brave, BraveOptions};
pub use hit::Hit;
pub use pace::RateClass;
pub use query::{QueryError, SafeSearch, SearchQuery};
pub use searxng::{Searxng, SearxngOptions};

use crate::error::{CallError, Fault};
use serde::Serialize;

/// No search result, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The query is outside its bounds.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// No provider is configured.
    #[error("search is disabled")]
    Disabled,
    /// Too many searches are waiting already.
    #[error("too many searches are waiting; try again shortly")]
    QueueFull,
    /// The exchange with the provider failed.
    #[error("search provider: {0}")]
    Call(#[from] CallError),
    /// The provider answered with something that is not a list of results.
    #[error("the search provider's answer is not a list of results")]
    BadAnswer,
}

impl SearchError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(self) -> Fault {
        match self {
            Self::Query(_) | Self::Call(CallError::Rejected { status: 400 | 422 }) => Fault::Caller,
            Self::Disabled => Fault::Operator,
            Self::QueueFull => Fault::Us,
            Self::Call(call) => call.fault(),
            Self::BadAnswer => Fault::Service,
        }
    }
}

/// A provider by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderName {
    /// Brave Search.
    Brave,
    /// A SearXNG instance.
    Searxng,
}

impl ProviderName {
    /// The name as configuration and answers spell it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Searxng => "searxng",
        }
    }
}

/// A configured provider.
#[derive(Debug)]
pub enum Provider {
    /// Brave Search, with a key.
    Brave(Brave),
    /// SearXNG, self-hosted, without one.
    Searxng(Searxng),
}

impl Provider {
    /// Which one it is.
    #[must_use]
    pub fn name(&self) -> ProviderName {
        match self {
            Self::Brave(_) => ProviderName::Brave,
            Self::Searxng(_) => ProviderName::Searxng,
        }
    }

    /// Whether its address answers; asks no search and spends no quota.
    ///
    /// # Errors
    /// When there is no HTTP answer in time.
    pub async fn reach(&self) -> Result<(), CallError> {
        match self {
            Self::Brave(brave) => brave.reach().await,
            Self::Searxng(searxng) => searxng.reach().await,
        }
    }

    async fn hits(&self, query: &SearchQuery) -> Result<Vec<Hit>, SearchError> {
        let found = match self {
            Self::Brave(brave) => brave.hits(query).await,
            Self::Searxng(searxng) => searxng.hits(query).await,
        };
        if let Err(error) = &found {
            tracing::warn!(provider = self.name().as_str(), %error, "search failed");
        }
        found
    }
}

/// Which providers are asked, and in which order.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one per process")]
pub enum SearchStrategy {
    /// This one only.
    Single(Provider),
    /// The first, and where it fails the second.
    Fallback(Provider, Provider),
    /// None.
    Disabled,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchAnswer {
    /// Who answered.
    pub provider: ProviderName,
    /// Whether the first provider failed.
    pub fallback_used: bool,
    /// At most as many as asked for, best first. Their texts are an outsider's words: not sanitised, not scored.
    pub results: Vec<Hit>,
}

/// Search as configured.
#[derive(Debug)]
pub struct Search(SearchStrategy);

impl Search {
    /// A search that follows the strategy.
    #[must_use]
    pub fn new(strategy: SearchStrategy) -> Self {
        Self(strategy)
    }

    /// The configured providers, first choice first.
    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        let (first, second) = match &self.0 {
            SearchStrategy::Single(only) => (Some(only), None),
            SearchStrategy::Fallback(first, second) => (Some(first), Some(second)),
            SearchStrategy::Disabled => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Asks the providers in order. Where all fail, the error is the first one's.
    ///
    /// # Errors
    /// A query outside its bounds, a disabled search, a full queue, or a provider that failed.
    pub async fn search(&self, query: &SearchQuery) -> Result<SearchAnswer, SearchError> {
        query.check()?;
        let mut first_error = None;
        for provider in self.providers() {
            match provider.hits(query).await {
                Ok(results) => {
                    return Ok(SearchAnswer {
                        provider: provider.name(),
                        fallback_used: first_error.is_some(),
                        results,
                    });
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or(SearchError::Disabled))
    }
}
