//! Services that the gateway asks: search providers, the judge, the renderer.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::ConfigError;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A search provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchProvider {
    /// Brave's web search.
    Brave,
    /// A SearXNG instance.
    Searxng,
}

/// How providers are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStrategy {
    /// The primary alone.
    Single,
    /// The other one when the primary fails.
    Fallback,
    /// No search.
    Disabled,
}

/// Requests a second that a plan allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateClass(pub u32);

/// Search providers.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// How they are used.
    pub strategy: SearchStrategy,
    /// Who is asked first.
    pub primary: SearchProvider,
    /// How long a result id can be fetched.
    pub result_ttl: Duration,
    /// Brave's key.
    pub brave_api_key: Option<Secret>,
    /// Brave's API.
    pub brave_base_url: Url,
    /// Brave's plan.
    pub brave_rate: RateClass,
    /// Searches that may wait.
    pub brave_queue_max: usize,
    /// Tries again after 429.
    pub brave_retries: u32,
    /// SearXNG.
    pub searxng_base_url: Option<Url>,
    /// Longest time for a search.
    pub timeout: Duration,
}

/// Who runs the judge's model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeProvider {
    /// OpenAI or what speaks like it.
    OpenAi,
    /// Ollama.
    Ollama,
}

/// Which of OpenAI's interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenAiApi {
    /// Responses.
    Responses,
    /// Chat completions.
    Chat,
}

/// The model that judges the gray zone.
#[derive(Clone, Debug)]
pub struct JudgeSettings {
    /// Whether it is asked.
    pub enabled: bool,
    /// Who runs it.
    pub provider: JudgeProvider,
    /// Its name.
    pub model: String,
    /// OpenAI's key.
    pub openai_api_key: Option<Secret>,
    /// OpenAI's API.
    pub openai_base_url: Url,
    /// Which interface.
    pub openai_api: OpenAiApi,
    /// Ollama's API.
    pub ollama_base_url: Url,
    /// Longest time for one question.
    pub timeout: Duration,
}

/// The browser behind retrieval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renderer {
    /// None: pages are taken as they come.
    None,
    /// A Browserless service.
    Browserless,
    /// A local Chromium.
    Chromium,
}

/// When a rendered page is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitUntil {
    /// The document is parsed.
    DomContentLoaded,
    /// Everything is loaded.
    Load,
    /// The network is quiet.
    NetworkIdle,
}

/// The renderer's options.
#[derive(Clone, Debug)]
pub struct RendererSettings {
    /// Which one.
    pub backend: Renderer,
    /// Browserless.
    pub browserless_url: Url,
    /// Its token.
    pub browserless_token: Option<Secret>,
    /// The browser's executable.
    pub chromium_path: Option<PathBuf>,
    /// Without the browser's own sandbox.
    pub chromium_no_sandbox: bool,
    /// Longest time.
    pub timeout: Duration,
    /// When a page is done.
    pub wait_until: WaitUntil,
    /// Element to wait for.
    pub wait_for_selector: Option<String>,
    /// Largest page.
    pub max_html_bytes: usize,
    /// Fetch plainly when it fails.
    pub fallback_to_http: bool,
    /// Leave out advertisements.
    pub block_ads: bool,
}

pub(super) fn search(read: &Reader<'_>) -> Result<SearchSettings, ConfigError> {
    let minutes: u64 = read.number("search.result_ttl_minutes", 1..=10_080)?;
    Ok(SearchSettings {
        strategy: read.one_of(
            "search.strategy",
            &[
                ("single", SearchStrategy::Single),
                ("fallback", SearchStrategy::Fallback),
                ("disabled", SearchStrategy::Disabled),
            ],
        )?,
        primary: read.one_of(
            "search.primary",
            &[
                ("brave", SearchProvider::Brave),
                ("searxng", SearchProvider::Searxng),
            ],
        )?,
        result_ttl: Duration::from_secs(minutes * 60),
        brave_api_key: read.secret("search.brave_api_key"),
        brave_base_url: read.url("search.brave_base_url")?,
        brave_rate: rate(read)?,
        brave_queue_max: read.number("search.brave_queue_max", 1..=10_000)?,
        brave_retries: read.number("search.brave_retries", 0..=10)?,
        searxng_base_url: read.optional_url("search.searxng_base_url")?,
        timeout: read.millis("search.timeout_ms")?,
    })
}

fn rate(read: &Reader<'_>) -> Result<RateClass, ConfigError> {
    let key = "search.brave_rate_limit";
    match read.text(key)? {
        "free" => Ok(RateClass(1)),
        "base" => Ok(RateClass(20)),
        "pro" => Ok(RateClass(50)),
        _ => read
            .number(key, 1..=1_000)
            .map(RateClass)
            .map_err(|_| read.bad(key, "free, base, pro or a number from 1 to 1000".into())),
    }
}

pub(super) fn judge(read: &Reader<'_>) -> Result<JudgeSettings, ConfigError> {
    Ok(JudgeSettings {
        enabled: read.truth("judge.enabled")?,
        provider: read.one_of(
            "judge.provider",
            &[
                ("openai", JudgeProvider::OpenAi),
                ("ollama", JudgeProvider::Ollama),
            ],
        )?,
        model: read.optional("judge.model").unwrap_or_default().to_owned(),
        openai_api_key: read.secret("judge.openai_api_key"),
        openai_base_url: read.url("judge.openai_base_url")?,
        openai_api: read.one_of(
            "judge.openai_api",
            &[
                ("responses", OpenAiApi::Responses),
                ("chat", OpenAiApi::Chat),
            ],
        )?,
        ollama_base_url: read.url("judge.ollama_base_url")?,
        timeout: read.millis("judge.timeout_ms")?,
    })
}

pub(super) fn renderer(read: &Reader<'_>) -> Result<RendererSettings, ConfigError> {
    Ok(RendererSettings {
        backend: read.one_of(
            "renderer.backend",
            &[
                ("none", Renderer::None),
                ("browserless", Renderer::Browserless),
                ("chromium", Renderer::Chromium),
            ],
        )?,
        browserless_url: read.url("renderer.browserless_url")?,
        browserless_token: read.secret("renderer.browserless_token"),
        chromium_path: read.optional("renderer.chromium_path").map(PathBuf::from),
        chromium_no_sandbox: read.truth("renderer.chromium_no_sandbox")?,
        timeout: read.millis("renderer.timeout_ms")?,
        wait_until: read.one_of(
            "renderer.wait_until",
            &[
                ("domcontentloaded", WaitUntil::DomContentLoaded),
                ("load", WaitUntil::Load),
                ("networkidle", WaitUntil::NetworkIdle),
            ],
        )?,
        wait_for_selector: read
            .optional("renderer.wait_for_selector")
            .map(str::to_owned),
        max_html_bytes: read.number("renderer.max_html_bytes", 1_000..=100_000_000)?,
        fallback_to_http: read.truth("renderer.fallback_to_http")?,
        block_ads: read.truth("renderer.block_ads")?,
    })
}
