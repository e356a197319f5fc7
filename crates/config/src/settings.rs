//! The settings as types: what does not parse is refused here, by name.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::{ConfigError, Values};
use blastshield_detect::Profile;
use blastshield_policy::{DomainList, DomainPolicy, Ports};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Everything that can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder for everything that is written.
    pub data_dir: PathBuf,
    /// Listening, tokens and limits of the server.
    pub server: ServerSettings,
    /// What is allowed, blocked and shown.
    pub policy: PolicySettings,
    /// Retrieval.
    pub web: WebSettings,
    /// Search providers.
    pub search: SearchSettings,
    /// The model that judges the gray zone.
    pub judge: JudgeSettings,
    /// The browser behind retrieval.
    pub renderer: RendererSettings,
    /// Persistence.
    pub store: StoreSettings,
    /// Log files.
    pub logs: LogSettings,
}

/// Listening, tokens and limits of the server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Where to listen.
    pub address: SocketAddr,
    /// The agents' token.
    pub agent_token: Option<Secret>,
    /// The owner's token.
    pub owner_token: Option<Secret>,
    /// Largest request body.
    pub max_body_bytes: usize,
    /// Requests answered at once.
    pub max_requests: usize,
    /// Longest time for one request.
    pub request_timeout: Duration,
    /// Time to finish at shutdown.
    pub shutdown_grace: Duration,
}

/// What is allowed, blocked and shown.
#[derive(Clone, Debug)]
pub struct PolicySettings {
    /// Where the lines lie.
    pub profile: Profile,
    /// Block what nobody could clear.
    pub fail_closed: bool,
    /// Leave URLs out of search results.
    pub redact_urls: bool,
    /// Keep link targets in content that was allowed.
    pub expose_safe_content_urls: bool,
    /// Allowlist and blocklist.
    pub domains: DomainPolicy,
}

/// Retrieval.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// Whether agents may fetch a URL directly.
    pub fetch: bool,
    /// Also `http:`.
    pub allow_http: bool,
    /// Ports that may be reached.
    pub allowed_ports: Ports,
    /// Ranges excepted from the address guard.
    pub allowed_ranges: Vec<IpNet>,
    /// Hosts excepted from the address guard.
    pub allowed_hosts: DomainList,
    /// DNS server.
    pub dns: Option<SocketAddr>,
    /// HTTP proxy.
    pub proxy: Option<Url>,
    /// Further certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// What origins see.
    pub user_agent: String,
    /// Largest page.
    pub max_bytes: usize,
    /// Longest time for a page.
    pub timeout: Duration,
    /// Redirects followed.
    pub max_redirects: usize,
}

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

/// Persistence.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// The SQLite file.
    pub path: PathBuf,
    /// A shared store instead.
    pub url: Option<Secret>,
    /// Days that things are kept.
    pub retention_days: u32,
}

/// Log files.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Their folder.
    pub dir: PathBuf,
    /// Size at which a file is rotated.
    pub max_bytes: u64,
}

impl Settings {
    /// Reads every setting.
    pub fn from_values(values: &Values) -> Result<Self, ConfigError> {
        let read = Reader { values };
        let data_dir = PathBuf::from(read.text("data_dir")?);
        let settings = Self {
            server: server(&read)?,
            policy: policy(&read)?,
            web: web(&read)?,
            search: search(&read)?,
            judge: judge(&read)?,
            renderer: renderer(&read)?,
            store: StoreSettings {
                path: read
                    .optional("store.path")
                    .map_or_else(|| data_dir.join("blastshield.db"), PathBuf::from),
                url: read.secret("store.url"),
                retention_days: read.number("store.retention_days", 1..=3650)?,
            },
            logs: LogSettings {
                dir: read
                    .optional("logs.dir")
                    .map_or_else(|| data_dir.join("logs"), PathBuf::from),
                max_bytes: read.number("logs.max_bytes", 10_000..=10_000_000_000)?,
            },
            data_dir,
        };
        settings.check_together()?;
        Ok(settings)
    }

    fn check_together(&self) -> Result<(), ConfigError> {
        if self.judge.enabled && self.judge.model.is_empty() {
            return Err(ConfigError::Together(
                "judge.enabled needs judge.model: say which model to ask",
            ));
        }
        let wants_key =
            self.judge.provider == JudgeProvider::OpenAi && self.judge.openai_api_key.is_none();
        if self.judge.enabled && wants_key {
            return Err(ConfigError::Together(
                "judge.provider openai needs judge.openai_api_key",
            ));
        }
        Ok(())
    }
}

fn server(read: &Reader<'_>) -> Result<ServerSettings, ConfigError> {
    let host: IpAddr = read.parsed("server.host", "an IP address")?;
    Ok(ServerSettings {
        address: SocketAddr::new(host, read.number("server.port", 0..=65535)?),
        agent_token: read.token("server.agent_token")?,
        owner_token: read.token("server.owner_token")?,
        max_body_bytes: read.number("server.max_body_bytes", 1024..=16_000_000)?,
        max_requests: read.number("server.max_requests", 1..=100_000)?,
        request_timeout: read.millis("server.request_timeout_ms")?,
        shutdown_grace: read.millis("server.shutdown_grace_ms")?,
    })
}

fn policy(read: &Reader<'_>) -> Result<PolicySettings, ConfigError> {
    Ok(PolicySettings {
        profile: read.one_of(
            "policy.profile",
            &[
                ("baseline", Profile::Baseline),
                ("strict", Profile::Strict),
                ("paranoid", Profile::Paranoid),
            ],
        )?,
        fail_closed: read.truth("policy.fail_closed")?,
        redact_urls: read.truth("policy.redact_urls")?,
        expose_safe_content_urls: read.truth("policy.expose_safe_content_urls")?,
        domains: DomainPolicy {
            allow: read.domains("policy.allowlist_domains")?,
            block: read.domains("policy.blocklist_domains")?,
        },
    })
}

/// What a profile allows a page: bytes, milliseconds, redirects.
fn page_limits(profile: Profile) -> (usize, u64, usize) {
    match profile {
        Profile::Baseline => (1_500_000, 8_000, 4),
        Profile::Strict => (1_000_000, 7_000, 3),
        Profile::Paranoid => (750_000, 6_000, 2),
    }
}

fn web(read: &Reader<'_>) -> Result<WebSettings, ConfigError> {
    let (max_bytes, timeout_ms, max_redirects) = page_limits(policy(read)?.profile);
    Ok(WebSettings {
        fetch: read.truth("web.fetch")?,
        allow_http: read.truth("web.allow_http")?,
        allowed_ports: read.parsed(
            "web.allowed_ports",
            "ports from 1 to 65535 separated by commas, or *",
        )?,
        allowed_ranges: read.list("web.allowed_ranges", "address ranges such as 198.18.0.0/15")?,
        allowed_hosts: read.domains("web.allowed_hosts")?,
        dns: read.optional_parsed("web.dns", "an address with a port, such as 127.0.0.1:53")?,
        proxy: read.optional_url("web.proxy")?,
        ca_file: read.optional("web.ca_file").map(PathBuf::from),
        user_agent: read.header("web.user_agent")?,
        max_bytes: read
            .optional_number("web.max_bytes", 1_000..=100_000_000)?
            .unwrap_or(max_bytes),
        timeout: Duration::from_millis(
            read.optional_number("web.timeout_ms", 100..=600_000)?
                .unwrap_or(timeout_ms),
        ),
        max_redirects: read
            .optional_number("web.max_redirects", 0..=20)?
            .unwrap_or(max_redirects),
    })
}

fn search(read: &Reader<'_>) -> Result<SearchSettings, ConfigError> {
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

fn judge(read: &Reader<'_>) -> Result<JudgeSettings, ConfigError> {
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

fn renderer(read: &Reader<'_>) -> Result<RendererSettings, ConfigError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::SETTINGS;
    use crate::values::Origin;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::from_values(&Values::read(None, variables)?)
    }

    #[test]
    fn the_defaults_protect() {
        let settings = settings(&[]).unwrap();
        assert!(settings.server.address.ip().is_loopback());
        assert!(settings.policy.fail_closed && settings.policy.redact_urls);
        assert_eq!(settings.policy.profile, Profile::Strict);
        assert!(!settings.web.allow_http && settings.web.allowed_ranges.is_empty());
        assert_eq!(settings.web.max_bytes, 1_000_000);
        assert!(!settings.judge.enabled);
    }

    #[test]
    fn profiles_bring_their_limits_and_may_be_overruled() {
        let paranoid = settings(&[("CLAWRUBBER_PROFILE", "Paranoid")]).unwrap().web;
        assert_eq!(
            (
                paranoid.max_bytes,
                paranoid.timeout.as_millis(),
                paranoid.max_redirects
            ),
            (750_000, 6_000, 2)
        );
        let large = settings(&[("BLASTSHIELD_MAX_BYTES", "2000000")])
            .unwrap()
            .web;
        assert_eq!((large.max_bytes, large.max_redirects), (2_000_000, 3));
    }

    #[test]
    fn every_bad_value_is_named_and_not_repeated() {
        for setting in SETTINGS {
            let Some(variable) = setting.variables.first() else {
                panic!("{} has no variable", setting.key);
            };
            let free_text = setting.secret && !setting.key.starts_with("server.")
                || matches!(
                    setting.key,
                    "data_dir"
                        | "web.ca_file"
                        | "judge.model"
                        | "store.path"
                        | "logs.dir"
                        | "renderer.wait_for_selector"
                        | "renderer.chromium_path"
                );
            match settings(&[(variable, "\u{7}not//it")]) {
                Ok(_) => assert!(free_text, "{} takes anything", setting.key),
                Err(ConfigError::Value {
                    key,
                    origin,
                    expected,
                }) => {
                    assert_eq!((key, origin), (setting.key, Origin::Variable(variable)));
                    assert!(!expected.contains('\u{7}'), "{key}: {expected}");
                }
                Err(other) => panic!("{}: {other}", setting.key),
            }
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert!(settings(&[("CLAWRUBBER_LLM_JUDGE_ENABLED", "true")]).is_err());
        let ollama = [
            ("CLAWRUBBER_LLM_JUDGE_ENABLED", "true"),
            ("CLAWRUBBER_LLM_PROVIDER", "ollama"),
            ("CLAWRUBBER_LLM_MODEL", "small"),
        ];
        assert!(settings(&ollama).is_ok());
    }

    #[test]
    fn guessable_tokens_are_refused() {
        assert!(settings(&[("BLASTSHIELD_AGENT_TOKEN", "short")]).is_err());
        assert!(settings(&[("BLASTSHIELD_AGENT_TOKEN", "long enough but spaced")]).is_err());
        assert!(settings(&[("BLASTSHIELD_AGENT_TOKEN", "0123456789abcdef")]).is_ok());
    }
}
