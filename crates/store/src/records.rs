//! What is kept. Page content and addresses show in no `Debug`: length and hash stand for them.

use crate::StoreError;
use std::fmt;

/// One search and the results whose ids were handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRecord {
    /// Id of the search.
    pub request_id: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Hash of the query; the query itself is not kept.
    pub query_sha256: String,
    /// Length of the query.
    pub query_len: u64,
    /// Who answered.
    pub provider: String,
    /// The results, at most 100.
    pub results: Vec<CachedResult>,
}

/// What a `result_id` stands for.
#[derive(Clone, PartialEq, Eq)]
pub struct CachedResult {
    /// The opaque id that the agent holds.
    pub result_id: String,
    /// Where it leads.
    pub url: String,
    /// Title, as returned.
    pub title: String,
    /// Snippet, as returned.
    pub snippet: String,
    /// Site, as returned.
    pub source: String,
    /// Place in the list.
    pub rank: u32,
    /// Date, as the provider gave it.
    pub published: Option<String>,
    /// What the domain policy said.
    pub standing: String,
    /// How suspicious title and snippet were.
    pub risk_hint: Option<String>,
    /// From when on the id is unknown.
    pub expires_at_ms: i64,
}

/// Which endpoint fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchKind {
    /// By `result_id`.
    Fetch,
    /// By address.
    WebFetch,
}

/// How a fetch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchDecision {
    /// Content went out.
    Allow,
    /// Content was held back.
    Block,
    /// There was no content: see the error code.
    Error,
}

/// One fetch and its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchEvent {
    /// Id of the fetch.
    pub fetch_id: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Which endpoint.
    pub kind: FetchKind,
    /// The result that was asked for.
    pub result_id: Option<String>,
    /// First host.
    pub host: String,
    /// Hash of the address asked for.
    pub url_sha256: String,
    /// Last host, after redirects.
    pub final_host: Option<String>,
    /// The verdict.
    pub decision: FetchDecision,
    /// The detector's score.
    pub score: f64,
    /// What was found.
    pub flags: Vec<String>,
    /// Why it was blocked.
    pub reason: Option<String>,
    /// Whether an allowlisted domain waived the block.
    pub bypassed: bool,
    /// Time taken.
    pub duration_ms: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Hash of the content.
    pub content_sha256: Option<String>,
    /// Length of the content.
    pub content_len: u64,
    /// What fetched it: plain HTTP or a renderer.
    pub backend: String,
    /// Why there was no content.
    pub error_code: Option<String>,
}

/// Content that was held back, for the owner's eyes.
#[derive(Clone, PartialEq)]
pub struct FlaggedPayload {
    /// The fetch that it came from.
    pub fetch_id: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Hash of the whole content.
    pub sha256: String,
    /// Length of the whole content; more than `content` holds when it was cut.
    pub len: u64,
    /// The content, or its beginning.
    pub content: Vec<u8>,
    /// The detector's score.
    pub score: f64,
    /// What was found.
    pub flags: Vec<String>,
    /// From when on it is deleted.
    pub expires_at_ms: i64,
}

/// A flagged payload without its content.
#[derive(Debug, Clone, PartialEq)]
pub struct FlaggedSummary {
    /// The fetch that it came from.
    pub fetch_id: String,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Hash of the whole content.
    pub sha256: String,
    /// Length of the whole content.
    pub len: u64,
    /// The detector's score.
    pub score: f64,
    /// What was found.
    pub flags: Vec<String>,
    /// From when on it is deleted.
    pub expires_at_ms: i64,
}

/// A place in the list of flagged payloads, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// `at_ms` of the last entry seen.
    pub at_ms: i64,
    /// `fetch_id` of the last entry seen.
    pub fetch_id: String,
}

impl FlaggedSummary {
    /// The place after this entry.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        Cursor {
            at_ms: self.at_ms,
            fetch_id: self.fetch_id.clone(),
        }
    }
}

impl fmt::Debug for CachedResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedResult")
            .field("result_id", &self.result_id)
            .field("rank", &self.rank)
            .field("standing", &self.standing)
            .field("url_len", &self.url.len())
            .field("expires_at_ms", &self.expires_at_ms)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FlaggedPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlaggedPayload")
            .field("fetch_id", &self.fetch_id)
            .field("at_ms", &self.at_ms)
            .field("sha256", &self.sha256)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl FetchKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::WebFetch => "web_fetch",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        match text {
            "fetch" => Ok(Self::Fetch),
            "web_fetch" => Ok(Self::WebFetch),
            _ => Err(StoreError::Corrupt),
        }
    }
}

impl FetchDecision {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Error => "error",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        match text {
            "allow" => Ok(Self::Allow),
            "block" => Ok(Self::Block),
            "error" => Ok(Self::Error),
            _ => Err(StoreError::Corrupt),
        }
    }
}
