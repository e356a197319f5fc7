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
    setting("store.sync_every_record", &["BLASTSHIELD_SYNC_EVERY_RECORD"], "false", "Have the record of every search and page on the disk before the answer, and not half a second later; it outlives a killed program either way"),
    setting("store.retention_days", &["CLAWRUBBER_RETENTION_DAYS"], "30", "How long events, flagged payloads and logs are kept"),

    setting("logs.dir", &["CLAWRUBBER_LOG_DIR"], "", "Folder of the log files; logs in the data folder when not set"),
    setting("logs.max_bytes", &["BLASTSHIELD_LOG_MAX_BYTES"], "16000000", "Size at which a log file is rotated; it is also rotated each day"),

    setting("security.enhancedInjectionDetection", &["BLASTSHIELD_ENHANCED_DETECTION"], "true", "Let the model score texts too; false leaves the rules alone"),
    setting("security.maxBodyBytes", &["BLASTSHIELD_GUARD_MAX_BODY_BYTES"], "2000000", "Largest body of the guard's endpoints"),
    setting("security.toolResultIsolation.enabled", &["BLASTSHIELD_TOOL_RESULT_FENCES"], "true", "Put a fence around what tools return"),
    setting("security.toolResultIsolation.scanForInjection", &["BLASTSHIELD_TOOL_RESULT_SCAN"], "true", "Score what tools return"),
    setting("security.toolResultIsolation.riskScoreThreshold", &["BLASTSHIELD_TOOL_RESULT_THRESHOLD"], "", "Score from which a tool result is blocked; the profile's block line when not set"),
    setting("security.rateLimiting.enabled", &["BLASTSHIELD_RATE_LIMITING"], "true", "Limit what a session may do in a minute and in an hour"),
    setting("security.rateLimiting.messagesPerMinute", &["BLASTSHIELD_MESSAGES_PER_MINUTE"], "60", "Messages of a session in a minute"),
    setting("security.rateLimiting.toolCallsPerMinute", &["BLASTSHIELD_TOOL_CALLS_PER_MINUTE"], "120", "Tool calls of a session in a minute"),
    setting("security.rateLimiting.tokensPerHour", &["BLASTSHIELD_TOKENS_PER_HOUR"], "1000000", "Tokens of a session in an hour"),
    setting("security.rateLimiting.cooldownMs", &["BLASTSHIELD_COOLDOWN_MS"], "60000", "Pause of a session that hit a limit"),
    setting("security.rateLimiting.exemptSessions", &["BLASTSHIELD_EXEMPT_SESSIONS"], "", "Session keys without limits, separated by commas"),
    setting("security.outputValidation.enabled", &["BLASTSHIELD_OUTPUT_VALIDATION"], "true", "Check what agents say"),
    setting("security.outputValidation.blockCredentialLeaks", &["BLASTSHIELD_BLOCK_CREDENTIAL_LEAKS"], "true", "Block what holds a credential; false warns"),
    setting("security.outputValidation.blockSystemPromptLeaks", &["BLASTSHIELD_BLOCK_PROMPT_LEAKS"], "true", "Block what repeats a registered system prompt; false warns"),
    setting("security.outputValidation.scanForExfiltration", &["BLASTSHIELD_SCAN_FOR_EXFILTRATION"], "true", "Look for links and blobs that carry data away"),
    setting("security.canaryTokens.enabled", &["BLASTSHIELD_CANARIES"], "true", "Look for canaries in everything that is checked"),
    secret("security.canaryTokens.tokens", &["BLASTSHIELD_CANARY_TOKENS"], "Canaries as a list of value, location and severity; in the environment as JSON"),
    setting("security.abuseDetection.enabled", &["BLASTSHIELD_ABUSE_DETECTION"], "true", "Look for patterns of abuse in a session"),
    setting("security.abuseDetection.patterns", &["BLASTSHIELD_ABUSE_PATTERNS"], "repeated_injection_attempts,credential_probing,rapid_tool_exploitation", "Which patterns; a list in the file may also hold your own, see the guard's documentation"),
    setting("security.abuseDetection.action", &["BLASTSHIELD_ABUSE_ACTION"], "", "warn, throttle or block, whatever a pattern says; each pattern's own when not set"),
    setting("security.abuseDetection.blockMinutes", &["BLASTSHIELD_ABUSE_BLOCK_MINUTES"], "60", "How long a blocked session stays blocked"),

    setting("leak.internal_paths", &["BLASTSHIELD_INTERNAL_PATHS"], "/data/.openclaw,memory/owner/", "Paths that must not leave"),
    setting("leak.internal_terms", &["BLASTSHIELD_INTERNAL_TERMS"], "SOUL.md,MEMORY.md,openclaw.json", "Names that must not leave"),
    setting("leak.owner_ids", &["BLASTSHIELD_OWNER_IDS"], "", "Ids of the owner that must not leave, separated by commas"),
    setting("leak.secret_files", &["BLASTSHIELD_SECRET_FILES"], "", "Files whose lines are secrets; they are found by value in any encoding"),
    setting("leak.prompt_files", &["BLASTSHIELD_PROMPT_FILES"], "", "Files that hold system prompts; agents must not repeat them"),

    setting("alerts.webhook_url", &["BLASTSHIELD_ALERT_WEBHOOK_URL"], "", "Where alerts are posted as JSON"),
    secret("alerts.webhook_secret", &["BLASTSHIELD_ALERT_WEBHOOK_SECRET"], "Signs the posted alerts (HMAC-SHA256)"),
    secret("alerts.discord_webhook_url", &["BLASTSHIELD_DISCORD_WEBHOOK_URL"], "Webhook of a Discord channel, for requests and alerts"),
    setting("alerts.injection_attempts_per_hour", &["BLASTSHIELD_ALERT_INJECTION_ATTEMPTS"], "10", "More attempts than this in an hour are an alert"),
    setting("alerts.blocked_responses_per_hour", &["BLASTSHIELD_ALERT_BLOCKED_RESPONSES"], "5", "More blocked responses than this in an hour are an alert"),

    secret("telegram.bot_token", &["TELEGRAM_BOT_TOKEN"], "Token of the bot that asks the owner"),
    setting("telegram.owner_id", &["TELEGRAM_OWNER_ID"], "", "Numeric id of the only Telegram account whose answers count"),
    setting("telegram.base_url", &["BLASTSHIELD_TELEGRAM_BASE_URL"], "https://api.telegram.org", "Where the Bot API is"),
    setting("telegram.timeout_ms", &["BLASTSHIELD_TELEGRAM_TIMEOUT_MS"], "10000", "Longest time for one call of the Bot API"),

    setting("approvals.require_post_approval", &["REQUIRE_POST_APPROVAL"], "true", "Whether the owner approves each post"),
    setting("approvals.link_url", &["BLASTSHIELD_APPROVAL_LINK_URL"], "", "The page on which the owner decides, as Discord and webhook messages link to it: this gateway's /approve as the owner's browser reaches it"),
    setting("approvals.payment_timeout_seconds", &["BLASTSHIELD_PAYMENT_TIMEOUT_SECONDS"], "600", "How long the owner has for a payment; then the answer is no"),
    setting("approvals.post_timeout_seconds", &["BLASTSHIELD_POST_TIMEOUT_SECONDS"], "3600", "How long the owner has for a post"),
    setting("approvals.skill_timeout_seconds", &["BLASTSHIELD_SKILL_TIMEOUT_SECONDS"], "3600", "How long the owner has for a skill"),
    setting("approvals.http_timeout_seconds", &["BLASTSHIELD_HTTP_TIMEOUT_SECONDS"], "300", "How long the owner has for a request to a host"),
    setting("approvals.custom_timeout_seconds", &["BLASTSHIELD_CUSTOM_TIMEOUT_SECONDS"], "900", "How long the owner has for anything else"),
    setting("approvals.use_within_seconds", &["BLASTSHIELD_APPROVAL_USE_SECONDS"], "3600", "How long a yes may be used"),
    setting("approvals.max_pending", &["BLASTSHIELD_MAX_PENDING_APPROVALS"], "100", "Requests that may wait for the owner at once"),
    setting("approvals.max_per_requester", &["BLASTSHIELD_MAX_APPROVALS_PER_REQUESTER"], "10", "Requests of one requester that may wait at once"),
    setting("approvals.max_per_hour", &["BLASTSHIELD_MAX_APPROVALS_PER_HOUR"], "60", "Requests that one requester may make within an hour: asking again and again wears a person down"),

    setting("wallet.lnbits_url", &["LNBITS_URL"], "", "Where LNbits is"),
    secret("wallet.admin_key", &["LNBITS_ADMIN_KEY"], "Admin key of the LNbits wallet: it can spend, and each payment needs the owner's yes"),
    secret("wallet.invoice_key", &["LNBITS_INVOICE_KEY"], "Invoice key of the LNbits wallet: it can receive and look"),
    setting("wallet.daily_limit_sats", &["WALLET_DAILY_LIMIT_SATS"], "", "Most that may be spent on one day, with fees; more is refused without asking"),
    setting("wallet.approval_threshold_sats", &["WALLET_APPROVAL_THRESHOLD_SATS"], "", "Over this amount the owner repeats the amount to approve a payment"),
    setting("wallet.time_zone", &["BLASTSHIELD_WALLET_TIME_ZONE"], "UTC", "Where the day of the daily limit begins, by its IANA name such as Europe/Vienna"),
    setting("wallet.network", &["BLASTSHIELD_WALLET_NETWORK"], "mainnet", "Network of the invoices: mainnet, testnet, signet or regtest"),
    setting("wallet.fee_percent", &["BLASTSHIELD_WALLET_FEE_PERCENT"], "1", "Most that fees may add to a payment, in percent; set aside until the true fee is known"),
    setting("wallet.fee_min_sats", &["BLASTSHIELD_WALLET_FEE_MIN_SATS"], "2", "What fees may add at least, since small payments have fees too"),
    setting("wallet.timeout_ms", &["BLASTSHIELD_WALLET_TIMEOUT_MS"], "10000", "Longest time for a question to LNbits"),
    setting("wallet.pay_timeout_ms", &["BLASTSHIELD_WALLET_PAY_TIMEOUT_MS"], "60000", "Longest time for LNbits' answer to a payment; later it is looked up"),

    setting("egress.address", &["BLASTSHIELD_EGRESS_ADDRESS"], "", "Where the forward proxy listens while the gateway serves, such as 127.0.0.1:3128; nowhere when not set"),
    setting("egress.mode", &["BLASTSHIELD_EGRESS_MODE"], "enforce", "enforce, report (unlisted hosts pass and the log says so) or open (unlisted hosts pass)"),
    setting("egress.allowed_domains", &["SUPERVISOR_ALLOWED_DOMAINS"], "api.openai.com,api.telegram.org,moltbook.com,legend.lnbits.com", "Hosts that agents may reach; in the default list the host of LNBITS_URL takes the place of the public LNbits"),
    setting("egress.blocked_domains", &["BLASTSHIELD_EGRESS_BLOCKED_DOMAINS"], "", "Hosts that agents may never reach, beside those of policy.blocklist_domains"),
    setting("egress.unlisted", &["BLASTSHIELD_EGRESS_UNLISTED"], "ask", "ask or deny: what happens to hosts on no list"),
    setting("egress.ask_wait_seconds", &["BLASTSHIELD_EGRESS_ASK_WAIT_SECONDS"], "30", "How long a connection waits for the owner's answer before it gets 403"),
    setting("egress.max_waiting", &["BLASTSHIELD_EGRESS_MAX_WAITING"], "256", "Connections that may wait for the owner at once"),
    setting("egress.allowed_ports", &["BLASTSHIELD_EGRESS_PORTS"], "80,443", "Ports that agents may reach; * for any"),
    setting("egress.allowed_ranges", &["BLASTSHIELD_EGRESS_RANGES"], "", "Address ranges that agents may reach although they are not public"),
    setting("egress.allowed_hosts", &["BLASTSHIELD_EGRESS_PRIVATE_HOSTS"], "", "Hosts that agents may reach although their addresses are not public"),
    setting("egress.intercept_hosts", &["BLASTSHIELD_EGRESS_INTERCEPT"], "", "Hosts whose TLS is opened with a local authority, so that requests and answers can be looked into"),
    setting("egress.credential_hosts", &["BLASTSHIELD_EGRESS_CREDENTIAL_HOSTS"], "", "Hosts to which Authorization, Cookie and API key headers may carry secrets, where headers can be seen"),
    setting("egress.ech", &["BLASTSHIELD_EGRESS_ECH"], "deny", "allow or deny: TLS greetings that may hide another name"),
    setting("egress.no_sni", &["BLASTSHIELD_EGRESS_NO_SNI"], "deny", "allow or deny: TLS greetings that name no host"),
    setting("egress.non_tls", &["BLASTSHIELD_EGRESS_NON_TLS"], "deny", "allow or deny: tunnels that speak something other than TLS"),
    setting("egress.max_connections", &["BLASTSHIELD_EGRESS_MAX_CONNECTIONS"], "8192", "Connections of agents at once"),
    setting("egress.max_request_bytes", &["BLASTSHIELD_EGRESS_MAX_REQUEST_BYTES"], "10485760", "Largest request body that is looked into"),
    setting("egress.max_response_bytes", &["BLASTSHIELD_EGRESS_MAX_RESPONSE_BYTES"], "52428800", "Largest response body that is looked into"),
    setting("egress.idle_seconds", &["BLASTSHIELD_EGRESS_IDLE_SECONDS"], "600", "Longest silence of a tunnel or an exchange"),
    setting("egress.total_seconds", &["BLASTSHIELD_EGRESS_TOTAL_SECONDS"], "86400", "Longest time for a tunnel or an answer"),
    setting("egress.require_credentials", &["BLASTSHIELD_EGRESS_REQUIRE_CREDENTIALS"], "false", "Turn away clients without a name and token in the proxy address; needed when the address is not loopback"),
    secret("egress.agents", &["BLASTSHIELD_EGRESS_AGENTS"], "Agents with policies of their own: a list of name, token, allow, block, unlisted and general; in the environment as JSON"),

    setting("environment.schema_file", &["BLASTSHIELD_ENV_SCHEMA"], "", "What the environment must hold, instead of what ships; see docs/requirements.md"),
    setting("environment.file", &["BLASTSHIELD_ENV_FILE"], "", "File of KEY=VALUE lines that is checked over the environment of this process; it may change while the gateway runs"),
    setting("environment.check_seconds", &["BLASTSHIELD_ENV_CHECK_SECONDS"], "60", "How often the environment is checked"),

    setting("status.dir", &["BLASTSHIELD_STATUS_DIR"], "", "Folder of security-supervisor-status.json; that of the logs when not set"),
    setting("status.write_seconds", &["BLASTSHIELD_STATUS_SECONDS"], "30", "How often the status is written when nothing changes"),

    setting("proxies.dir", &["BLASTSHIELD_PROXY_DIR"], "", "Folder of service definitions; services in the data folder when not set"),
    secret("proxies.moltbook_token", &["MOLTBOOK_API_TOKEN"], "The token of the Moltbook account; core adds it to requests, workers never see it"),
    setting("proxies.allow_loopback", &["BLASTSHIELD_PROXY_LOOPBACK"], "false", "Let definitions name services on this machine over plain HTTP: for tests"),
    setting("proxies.missing_layers", &["BLASTSHIELD_PROXY_MISSING_LAYERS"], "refuse", "refuse or degrade: what happens when this machine cannot hold a layer of the sandbox"),
    setting("proxies.ready_workers", &["BLASTSHIELD_PROXY_READY"], "1", "Workers that stand ready for each service in use; 0 starts each when it is needed"),
    setting("proxies.ready_idle_ms", &["BLASTSHIELD_PROXY_READY_IDLE_MS"], "300000", "How long such a worker may wait for a task"),
    setting("proxies.max_tasks", &["BLASTSHIELD_PROXY_MAX_TASKS"], "256", "Tasks of all proxies that may be on at once"),
];

/// Variables with our prefixes that are not settings.
pub(crate) const OTHER_VARIABLES: &[&str] = &["BLASTSHIELD_CONFIG", "BLASTSHIELD_BLESS"];

/// The setting of a key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
