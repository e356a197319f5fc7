//! Every setting, in one table. Help texts, the documentation and the checks come from here.

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key in `blastshield.toml`, dotted.
    pub key: &'static str,
    /// Its names in the environment; the first one set counts.
    pub variables: &'static [&'static str],
    /// What it is when nobody says otherwise; empty for "not set".
    pub default: &'static str,
    /// Whether its value must never be shown.
    pub secret: bool,
    /// What it does, in a line.
    pub help: &'static str,
}

const fn setting(
    key: &'static str,
    variables: &'static [&'static str],
    default: &'static str,
    help: &'static str,
) -> Setting {
    Setting {
        key,
        variables,
        default,
        secret: false,
        help,
    }
}

const fn secret(
    key: &'static str,
    variables: &'static [&'static str],
    help: &'static str,
) -> Setting {
    Setting {
        key,
        variables,
        default: "",
        secret: true,
        help,
    }
}

/// All of them, in the order in which they are shown.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    setting("data_dir", &["BLASTSHIELD_DATA_DIR"], "data", "Folder for everything that is written"),

    setting("server.host", &["BLASTSHIELD_HOST", "CLAWRUBBER_HOST"], "127.0.0.1", "Address to listen on; one that is not loopback needs both tokens"),
    setting("server.port", &["BLASTSHIELD_PORT", "CLAWRUBBER_PORT"], "3000", "Port to listen on; 0 takes a free one"),
    secret("server.agent_token", &["BLASTSHIELD_AGENT_TOKEN"], "Bearer token of agents; without one, loopback clients need none"),
    secret("server.owner_token", &["BLASTSHIELD_OWNER_TOKEN"], "Bearer token of the owner; without one it is made on first start, in the data folder"),
    setting("server.max_body_bytes", &["BLASTSHIELD_MAX_BODY_BYTES"], "65536", "Largest request body"),
    setting("server.max_requests", &["BLASTSHIELD_MAX_REQUESTS"], "64", "Requests answered at once; more get 503 with Retry-After"),
    setting("server.request_timeout_ms", &["BLASTSHIELD_REQUEST_TIMEOUT_MS"], "60000", "Longest time for one request"),
    setting("server.shutdown_grace_ms", &["BLASTSHIELD_SHUTDOWN_GRACE_MS"], "10000", "Time that requests in flight have to finish at shutdown"),

    setting("policy.profile", &["CLAWRUBBER_PROFILE", "BLASTSHIELD_PROFILE"], "strict", "baseline, strict or paranoid"),
    setting("policy.fail_closed", &["CLAWRUBBER_FAIL_CLOSED"], "true", "Answer a block with 422, and block pages in the gray zone when a configured judge gives no ruling; false answers 200 without content and lets such pages pass"),
    setting("policy.redact_urls", &["CLAWRUBBER_REDACT_URLS"], "true", "Leave URLs out of search results"),
    setting("policy.expose_safe_content_urls", &["CLAWRUBBER_EXPOSE_SAFE_CONTENT_URLS"], "true", "Keep link targets in content that was allowed"),
    setting("policy.allowlist_domains", &["CLAWRUBBER_ALLOWLIST_DOMAINS"], "", "Domains whose content is scored but not blocked"),
    setting("policy.blocklist_domains", &["CLAWRUBBER_BLOCKLIST_DOMAINS"], "", "Domains that are never reached"),

    setting("web.fetch", &["BLASTSHIELD_WEB_FETCH"], "true", "Whether agents may fetch a URL directly; false leaves fetching by result id"),
    setting("web.allow_http", &["BLASTSHIELD_ALLOW_HTTP"], "false", "Also fetch http: URLs"),
    setting("web.allowed_ports", &["BLASTSHIELD_ALLOWED_PORTS"], "80,443", "Ports that may be reached; * for any"),
    setting("web.allowed_ranges", &["BLASTSHIELD_ALLOWED_RANGES"], "", "Address ranges that are reached although they are not public, such as 198.18.0.0/15"),
    setting("web.allowed_hosts", &["BLASTSHIELD_ALLOWED_HOSTS"], "", "Hosts that are reached although their addresses are not public"),
    setting("web.dns", &["BLASTSHIELD_DNS"], "", "DNS server to ask instead of the system's, as address:port"),
    setting("web.proxy", &["BLASTSHIELD_UPSTREAM_PROXY"], "", "HTTP proxy that connections go through, as http://host:port"),
    setting("web.ca_file", &["BLASTSHIELD_CA_FILE"], "", "PEM file of further certificate authorities to trust"),
    setting("web.user_agent", &["CLAWRUBBER_USER_AGENT"], "blastshield", "What origins see as the user agent"),
    setting("web.max_bytes", &["BLASTSHIELD_MAX_BYTES"], "", "Largest page, on the wire and decoded; by profile when not set"),
    setting("web.timeout_ms", &["BLASTSHIELD_TIMEOUT_MS"], "", "Longest time for a page; by profile when not set"),
    setting("web.max_redirects", &["BLASTSHIELD_MAX_REDIRECTS"], "", "Redirects followed; by profile when not set"),

    setting("search.strategy", &["CLAWRUBBER_SEARCH_STRATEGY"], "single", "single, fallback or disabled"),
    setting("search.primary", &["CLAWRUBBER_SEARCH_PRIMARY"], "brave", "brave or searxng"),
    setting("search.result_ttl_minutes", &["CLAWRUBBER_RESULT_TTL_MINUTES"], "30", "How long a result id can be fetched"),
    secret("search.brave_api_key", &["CLAWRUBBER_BRAVE_API_KEY"], "Key of Brave's search API"),
    setting("search.brave_base_url", &["CLAWRUBBER_BRAVE_API_BASE_URL"], "https://api.search.brave.com/res/v1", "Where Brave's API is"),
    setting("search.brave_rate_limit", &["CLAWRUBBER_BRAVE_RATE_LIMIT", "CLAWRUBBER_RATE_LIMIT"], "free", "free, base, pro or requests a second"),
    setting("search.brave_queue_max", &["CLAWRUBBER_BRAVE_QUEUE_MAX"], "32", "Searches that may wait for the rate limit"),
    setting("search.brave_retries", &["CLAWRUBBER_BRAVE_MAX_RETRIES"], "1", "Tries again after Brave said 429"),
    setting("search.searxng_base_url", &["CLAWRUBBER_SEARXNG_BASE_URL"], "", "Where a SearXNG instance is"),
    setting("search.timeout_ms", &["BLASTSHIELD_SEARCH_TIMEOUT_MS"], "8000", "Longest time for a search"),

    setting("judge.enabled", &["CLAWRUBBER_LLM_JUDGE_ENABLED"], "false", "Ask a model about pages in the gray zone"),
    setting("judge.provider", &["CLAWRUBBER_LLM_PROVIDER"], "openai", "openai or ollama"),
    setting("judge.model", &["CLAWRUBBER_LLM_MODEL"], "", "The model's name"),
    secret("judge.openai_api_key", &["CLAWRUBBER_OPENAI_API_KEY"], "Key of the OpenAI API"),
    setting("judge.openai_base_url", &["CLAWRUBBER_OPENAI_BASE_URL"], "https://api.openai.com/v1", "Where the OpenAI API is"),
    setting("judge.openai_api", &["BLASTSHIELD_OPENAI_API"], "responses", "responses or chat"),
    setting("judge.ollama_base_url", &["CLAWRUBBER_OLLAMA_BASE_URL"], "http://127.0.0.1:11434", "Where Ollama is"),
    setting("judge.timeout_ms", &["BLASTSHIELD_JUDGE_TIMEOUT_MS"], "10000", "Longest time for one question to the judge"),

    setting("renderer.backend", &["CLAWRUBBER_WEBSITE_RENDERER_BACKEND"], "none", "none, browserless, or chromium: a local browser whose every request passes the address guard"),
    setting("renderer.browserless_url", &["CLAWRUBBER_BROWSERLESS_URL"], "http://browserless:3000", "Where Browserless is"),
    secret("renderer.browserless_token", &["CLAWRUBBER_BROWSERLESS_TOKEN"], "Token of Browserless"),
    setting("renderer.chromium_path", &["BLASTSHIELD_CHROMIUM"], "", "The browser's executable; looked for in PATH when not set"),
    setting("renderer.chromium_no_sandbox", &["BLASTSHIELD_CHROMIUM_NO_SANDBOX"], "false", "Run the browser without its own sandbox: needed as root and in many containers, which must then confine it"),
    setting("renderer.timeout_ms", &["CLAWRUBBER_BROWSERLESS_TIMEOUT_MS"], "12000", "Longest time for rendering a page"),
    setting("renderer.wait_until", &["CLAWRUBBER_BROWSERLESS_WAIT_UNTIL"], "networkidle", "domcontentloaded, load or networkidle"),
    setting("renderer.wait_for_selector", &["CLAWRUBBER_BROWSERLESS_WAIT_FOR_SELECTOR"], "", "Element to wait for"),
    setting("renderer.max_html_bytes", &["CLAWRUBBER_BROWSERLESS_MAX_HTML_BYTES"], "1500000", "Largest rendered page"),
    setting("renderer.fallback_to_http", &["CLAWRUBBER_BROWSERLESS_FALLBACK_TO_HTTP"], "true", "Fetch plainly when the renderer fails"),
    setting("renderer.block_ads", &["CLAWRUBBER_BROWSERLESS_BLOCK_ADS"], "true", "Ask the renderer to leave out advertisements"),

    setting("store.path", &["CLAWRUBBER_DB_PATH"], "", "SQLite file; blastshield.db in the data folder when not set"),
    secret("store.url", &["BLASTSHIELD_DATABASE_URL"], "postgres://… to share one store between gateways"),
    setting("store.retention_days", &["CLAWRUBBER_RETENTION_DAYS"], "30", "How long events, flagged payloads and logs are kept"),

    setting("logs.dir", &["CLAWRUBBER_LOG_DIR"], "", "Folder of the log files; logs in the data folder when not set"),
    setting("logs.max_bytes", &["BLASTSHIELD_LOG_MAX_BYTES"], "16000000", "Size at which a log file is rotated; it is also rotated each day"),
];

/// Variables with our prefixes that are not settings.
pub(crate) const OTHER_VARIABLES: &[&str] = &["BLASTSHIELD_CONFIG", "BLASTSHIELD_BLESS"];

/// The setting of a key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
