//! What travels: requests and answers, field by field.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `POST /v1/search`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// The words.
    #[schema(min_length = 1, max_length = 500)]
    pub query: String,
    /// How many results.
    #[schema(minimum = 1, maximum = 20, default = 5)]
    pub count: Option<u32>,
    /// A country code.
    #[schema(min_length = 2, max_length = 5)]
    pub country: Option<String>,
    /// A language code.
    #[schema(min_length = 2, max_length = 10)]
    pub search_lang: Option<String>,
    /// How much the provider should hold back.
    pub safesearch: Option<SafeSearch>,
    /// How recent results should be.
    #[schema(max_length = 50)]
    pub freshness: Option<String>,
}

/// How much a provider should hold back.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SafeSearch {
    /// Nothing.
    Off,
    /// Explicit images.
    Moderate,
    /// All adult content.
    Strict,
}

/// The answer to a search.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchResponse {
    /// This request.
    pub request_id: String,
    /// What was found.
    pub results: Vec<SearchResult>,
    /// About the answer.
    pub meta: SearchMeta,
}

/// One result.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchResult {
    /// What to give to `/v1/fetch`.
    pub result_id: String,
    /// Its title.
    pub title: String,
    /// A few words of it.
    pub snippet: String,
    /// The site.
    pub source: String,
    /// Its place, from 1.
    pub rank: u32,
    /// When it was published, as the provider says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// Whether it can be fetched.
    pub availability: Availability,
    /// How suspicious title and snippet are.
    pub risk_hint: RiskHint,
    /// Where it is, if URLs are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Whether a result can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// It can be tried.
    Allowed,
    /// It never will be.
    Blocked,
}

/// How suspicious a title and a snippet are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RiskHint {
    /// Under the medium line.
    Low,
    /// From the medium line on.
    Medium,
    /// At or over the block line: their words are withheld.
    High,
}

/// About an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchMeta {
    /// How many results.
    pub total_returned: usize,
    /// Whether results carry their URL.
    pub urls_exposed: bool,
    /// Who answered.
    pub provider: String,
    /// Whether the first provider failed.
    pub fallback_used: bool,
}

/// `POST /v1/fetch`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchRequest {
    /// From a search.
    #[schema(min_length = 1, max_length = 128)]
    pub result_id: String,
}

/// `POST /v1/web-fetch`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebFetchRequest {
    /// What to fetch.
    #[schema(min_length = 1, max_length = 8192, format = "uri")]
    pub url: String,
    /// In which form.
    #[serde(default, rename = "extractMode")]
    pub extract_mode: ExtractMode,
    /// How much of it.
    #[serde(rename = "maxChars")]
    #[schema(minimum = 1, maximum = 5_000_000)]
    pub max_chars: Option<usize>,
}

/// In which form content is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExtractMode {
    /// Without any markup.
    Text,
    /// With headings, lists, links and tables.
    #[default]
    Markdown,
}

/// What was decided about content.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Safety {
    /// Allow or block.
    pub decision: DecisionName,
    /// On the detector's scale: 0 is clean, 20 the most.
    pub score: f32,
    /// What was found and changed.
    pub flags: Vec<String>,
    /// Why it was blocked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether only the owner's allowlist let it through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypassed: Option<bool>,
    /// What was changed so that the text could be read safely.
    pub normalization_applied: Vec<String>,
    /// Disguises in which something was found.
    pub obfuscation_signals: Vec<String>,
}

/// Allow or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionName {
    /// The content is in the answer.
    Allow,
    /// It is not.
    Block,
}

impl DecisionName {
    /// The name on the wire and in logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
        }
    }
}

/// Where content came from.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Source {
    /// The final host.
    pub domain: String,
    /// `http`, `browserless` or `chromium`.
    pub fetch_backend: String,
    /// Whether a browser rendered it.
    pub rendered: bool,
    /// Whether the renderer failed and it was fetched plainly.
    pub fallback_used: bool,
    /// As the origin declared it, without parameters, if it is a common type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// The answer of `/v1/fetch`; without content when blocked.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FetchResponse {
    /// What was asked for.
    pub result_id: String,
    /// The page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Its lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_summary: Option<String>,
    /// What was decided.
    pub safety: Safety,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// The answer of `/v1/web-fetch`; without content when blocked.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WebFetchResponse {
    /// This fetch, in the owner's records.
    pub fetch_id: String,
    /// What was asked for.
    pub url: String,
    /// Where it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_url: Option<String>,
    /// In which form.
    pub extract_mode: ExtractMode,
    /// The page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Its lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_summary: Option<String>,
    /// Whether `maxChars` cut it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// What was decided.
    pub safety: Safety,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// How the gateway is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok` when every dependency that is used answers, else `degraded`.
    pub status: String,
    /// Whether requests can be answered.
    pub ready: bool,
    /// The program's version.
    pub version: String,
    /// Each dependency: `ok`, `down` or `off`.
    pub dependencies: Dependencies,
}

/// What the gateway depends on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Dependencies {
    /// The database.
    pub store: String,
    /// The search provider.
    pub search: String,
    /// The browser.
    pub renderer: String,
    /// The model.
    pub judge: String,
}
