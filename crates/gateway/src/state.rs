//! Everything that requests share, built once from the settings.

use crate::egress::{EgressError, Exits};
use crate::front::PerMinute;
use crate::guard::{Guard, GuardError};
use crate::owner::{Owner, OwnerError};
use crate::probe::Probe;
use crate::proxies::{Proxies, ProxiesError};
use crate::rendering;
use crate::tokens::{TokenError, Tokens};
use crate::wallet::{Purse, WalletError};
use blastshield_config::{
    JudgeProvider, OpenAiApi, RateClass, Renderer, SearchProvider, SearchStrategy, Secret,
    Settings, WaitUntil,
};
use blastshield_detect::{Detector, DetectorError};
use blastshield_leak::Scanner;
use blastshield_policy::{AddressGuard, HopPolicy, UrlRules};
use blastshield_render::{
    Chromium, ChromiumOptions, LaunchError, RenderOptions, WaitUntil as RenderWait,
};
use blastshield_store::{Store, StoreError, StoreOptions};
use blastshield_upstream as upstream;
use blastshield_web::{
    FetchLimits, Fetcher, FetcherOptions, Resolver, SetupError, UpstreamProxy, fixed_policy,
};
use std::num::NonZeroU32;
use std::sync::Arc;
use tokio::sync::Semaphore;
use url::Url;

/// What requests share.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) tokens: Tokens,
    pub(crate) detector: Arc<Detector>,
    pub(crate) store: Store,
    pub(crate) policy: HopPolicy,
    pub(crate) fetcher: Fetcher,
    pub(crate) resolver: Resolver,
    pub(crate) limits: FetchLimits,
    pub(crate) search: upstream::Search,
    pub(crate) judge: Option<upstream::Judge>,
    pub(crate) renderer: Option<rendering::Renderer>,
    pub(crate) probe: Probe,
    pub(crate) guard: Guard,
    pub(crate) owner: Owner,
    pub(crate) purse: Purse,
    pub(crate) proxies: Proxies,
    pub(crate) exits: Exits,
    /// Requests that may be answered at once.
    pub(crate) turns: Arc<Semaphore>,
    /// Requests of the owner that may be answered at once: busy agents do not keep the owner out.
    pub(crate) owner_turns: Semaphore,
    /// Callers without the right to what they asked for.
    pub(crate) denials: PerMinute,
}

/// Requests of the owner at once.
const OWNER_TURNS: usize = 16;

/// The gateway cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Tokens.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// The detector.
    #[error("the detector cannot be built: {0}")]
    Detector(#[from] DetectorError),
    /// The store.
    #[error("the store cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// Retrieval.
    #[error("{0}")]
    Web(#[from] SetupError),
    /// A configured service.
    #[error("{0}")]
    Upstream(#[from] upstream::ConfigError),
    /// The browser.
    #[error("the renderer cannot be used: {0}")]
    Browser(#[from] LaunchError),
    /// A file that the settings name.
    #[error("the file that web.ca_file names cannot be read: {0}")]
    CaFile(std::io::ErrorKind),
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {kind}")]
    Listen {
        /// Where.
        address: std::net::SocketAddr,
        /// Why not.
        kind: std::io::ErrorKind,
    },
    /// The guard.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The owner's side.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    /// The wallet.
    #[error(transparent)]
    Wallet(#[from] WalletError),
    /// The security proxies.
    #[error(transparent)]
    Proxies(#[from] ProxiesError),
    /// The forward proxy.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// The log files.
    #[error("the log files cannot be written: {0}")]
    Logs(std::io::ErrorKind),
    /// A gateway whose events would be on no record is none.
    #[error(
        "another process writes the audit log of this data folder: end it, start the gateway, and then start it again beside the gateway"
    )]
    Beside,
}

impl App {
    pub(crate) async fn new(settings: Settings) -> Result<Self, StartError> {
        let tokens = Tokens::set_up(&settings)?;
        let mut options = match &settings.store.url {
            Some(url) => StoreOptions::parse(url.reveal())?,
            None => StoreOptions::sqlite(&settings.store.path),
        };
        options.sync_every_record = settings.store.sync_every_record;
        let make = if settings.security.enhanced_injection_detection {
            Detector::shipped
        } else {
            Detector::rules_only
        };
        // What a guard scans with is built meanwhile too; it lasts as long as the program.
        let (store, detector, _) = tokio::join!(
            Store::open(options),
            tokio::task::spawn_blocking(make),
            tokio::task::spawn_blocking(Scanner::shipped)
        );
        let detector = detector.map_err(|_| StartError::Listen {
            address: settings.server.address,
            kind: std::io::ErrorKind::Other,
        })??;
        let (store, detector) = (store?, Arc::new(detector));
        let guard = Guard::new(&settings, &tokens, &store, Arc::clone(&detector)).await?;
        let owner = Owner::open(&settings, &guard, &store).await?;
        let exits = Exits::open(&guard, &store).await?;
        Self::assemble(settings, tokens, detector, store, guard, owner, exits)
    }

    /// Ends what was started, the store last.
    pub(crate) async fn close(&self) {
        if let Some(renderer) = &self.renderer {
            renderer.close().await;
        }
        self.exits.close();
        self.proxies.close().await;
        self.purse.close().await;
        self.owner.close().await;
        self.guard.close();
        self.store.close().await;
    }

    fn assemble(
        settings: Settings,
        tokens: Tokens,
        detector: Arc<Detector>,
        store: Store,
        guard: Guard,
        owner: Owner,
        exits: Exits,
    ) -> Result<Self, StartError> {
        let policy = hop_policy(&settings);
        let purse = Purse::open(&settings, &guard, &owner, &store)?;
        let resolver = resolver(&settings)?;
        let renderer = renderer(&settings, &policy, &resolver)?;
        Ok(Self {
            tokens,
            detector,
            store,
            fetcher: fetcher(&settings, &policy, resolver.clone())?,
            resolver,
            policy,
            limits: limits(&settings),
            search: search(&settings)?,
            judge: judge(&settings)?,
            renderer,
            probe: Probe::default(),
            proxies: Proxies::default(),
            exits,
            guard,
            owner,
            purse,
            owner_turns: Semaphore::new(OWNER_TURNS),
            denials: PerMinute::default(),
            turns: Arc::new(Semaphore::new(settings.server.max_requests)),
            settings,
        })
    }
}

/// What may be reached, by these settings.
#[must_use]
pub fn hop_policy(settings: &Settings) -> HopPolicy {
    let own = if settings.server.address.port() == 0 {
        Vec::new()
    } else {
        vec![settings.server.address]
    };
    HopPolicy {
        domains: Arc::new(settings.policy.domains.clone()),
        rules: UrlRules {
            allow_http: settings.web.allow_http,
            ports: settings.web.allowed_ports.clone(),
        },
        guard: AddressGuard {
            ranges: settings.web.allowed_ranges.clone(),
            hosts: settings.web.allowed_hosts.clone(),
            own,
        },
    }
}

fn resolver(settings: &Settings) -> Result<Resolver, SetupError> {
    settings
        .web
        .dns
        .map_or_else(|| Ok(Resolver::system()), Resolver::server)
}

fn fetcher(
    settings: &Settings,
    policy: &HopPolicy,
    resolver: Resolver,
) -> Result<Fetcher, StartError> {
    let web = &settings.web;
    let mut options = FetcherOptions::new(fixed_policy(policy.clone()));
    options.resolver = resolver;
    if let Some(proxy) = &web.proxy {
        options.proxy = Some(proxy.as_str().parse::<UpstreamProxy>()?);
    }
    if let Some(file) = &web.ca_file {
        options.extra_roots_pem =
            std::fs::read(file).map_err(|error| StartError::CaFile(error.kind()))?;
    }
    options.user_agent = Some(web.user_agent.clone());
    Ok(Fetcher::new(options)?)
}

fn limits(settings: &Settings) -> FetchLimits {
    let bytes = u64::try_from(settings.web.max_bytes).unwrap_or(u64::MAX);
    let total = settings.web.timeout;
    FetchLimits {
        redirects: settings.web.max_redirects,
        wire_bytes: bytes,
        decoded_bytes: bytes,
        connect: total / 2,
        first_byte: total,
        total,
        ..FetchLimits::default()
    }
}

fn base(url: &Url) -> Result<upstream::BaseUrl, upstream::ConfigError> {
    url.as_str().parse()
}

fn secret(secret: &Secret) -> upstream::Secret {
    upstream::Secret::new(secret.reveal())
}

fn search(settings: &Settings) -> Result<upstream::Search, StartError> {
    let options = &settings.search;
    let brave = || -> Result<Option<upstream::Provider>, StartError> {
        let Some(key) = &options.brave_api_key else {
            return Ok(None);
        };
        let mut brave = upstream::BraveOptions::new(secret(key))?;
        brave.base = base(&options.brave_base_url)?;
        brave.rate = rate(options.brave_rate);
        brave.queue_max = options.brave_queue_max;
        brave.max_retries = options.brave_retries;
        brave.timeout = options.timeout;
        Ok(Some(upstream::Provider::Brave(upstream::Brave::new(
            brave,
        )?)))
    };
    let searxng = || -> Result<Option<upstream::Provider>, StartError> {
        let Some(url) = &options.searxng_base_url else {
            return Ok(None);
        };
        let mut searxng = upstream::SearxngOptions::new(base(url)?);
        searxng.timeout = options.timeout;
        Ok(Some(upstream::Provider::Searxng(upstream::Searxng::new(
            searxng,
        )?)))
    };
    let (first, second) = match options.primary {
        SearchProvider::Brave => (brave()?, searxng()?),
        SearchProvider::Searxng => (searxng()?, brave()?),
    };
    let strategy = match (options.strategy, first, second) {
        (SearchStrategy::Single, Some(one), _) => upstream::SearchStrategy::Single(one),
        (SearchStrategy::Fallback, Some(one), Some(two)) => {
            upstream::SearchStrategy::Fallback(one, two)
        }
        (SearchStrategy::Fallback, Some(one), None)
        | (SearchStrategy::Fallback, None, Some(one)) => upstream::SearchStrategy::Single(one),
        _ => upstream::SearchStrategy::Disabled,
    };
    Ok(upstream::Search::new(strategy))
}

fn rate(RateClass(number): RateClass) -> upstream::RateClass {
    NonZeroU32::new(number).map_or(upstream::RateClass::Free, upstream::RateClass::PerSecond)
}

fn judge(settings: &Settings) -> Result<Option<upstream::Judge>, StartError> {
    let options = &settings.judge;
    if !options.enabled {
        return Ok(None);
    }
    let provider = match options.provider {
        JudgeProvider::OpenAi => upstream::JudgeProvider::OpenAi {
            base: base(&options.openai_base_url)?,
            key: options
                .openai_api_key
                .as_ref()
                .map_or_else(|| upstream::Secret::new(""), secret),
            api: match options.openai_api {
                OpenAiApi::Responses => upstream::OpenAiApi::Responses,
                OpenAiApi::Chat => upstream::OpenAiApi::ChatCompletions,
            },
        },
        JudgeProvider::Ollama => upstream::JudgeProvider::Ollama {
            base: base(&options.ollama_base_url)?,
        },
    };
    let mut judge = upstream::JudgeOptions::new(provider, &options.model);
    judge.timeout = options.timeout;
    Ok(Some(upstream::Judge::new(judge)?))
}

fn renderer(
    settings: &Settings,
    policy: &HopPolicy,
    resolver: &Resolver,
) -> Result<Option<rendering::Renderer>, StartError> {
    let options = &settings.renderer;
    match options.backend {
        Renderer::None => Ok(None),
        Renderer::Browserless => {
            let mut browserless =
                upstream::BrowserlessOptions::new(base(&options.browserless_url)?);
            browserless.token = options.browserless_token.as_ref().map(secret);
            browserless.timeout = options.timeout;
            browserless.wait_until = match options.wait_until {
                WaitUntil::DomContentLoaded => upstream::WaitUntil::DomContentLoaded,
                WaitUntil::Load => upstream::WaitUntil::Load,
                WaitUntil::NetworkIdle => upstream::WaitUntil::NetworkIdle,
            };
            browserless
                .wait_for_selector
                .clone_from(&options.wait_for_selector);
            browserless.max_html_bytes = options.max_html_bytes;
            browserless.block_ads = options.block_ads;
            let service = upstream::Browserless::new(browserless)?;
            Ok(Some(rendering::Renderer::Browserless(service)))
        }
        Renderer::Chromium => {
            let mut chromium = ChromiumOptions::new(fixed_policy(policy.clone()));
            chromium.binary.clone_from(&options.chromium_path);
            chromium.no_sandbox = options.chromium_no_sandbox;
            chromium.resolver = resolver.clone();
            if let Some(proxy) = &settings.web.proxy {
                chromium.upstream_proxy = Some(proxy.as_str().parse::<UpstreamProxy>()?);
            }
            Ok(Some(rendering::Renderer::Chromium {
                browser: Chromium::new(chromium)?,
                options: RenderOptions {
                    wait_until: match options.wait_until {
                        WaitUntil::DomContentLoaded => RenderWait::DomContentLoaded,
                        WaitUntil::Load => RenderWait::Load,
                        WaitUntil::NetworkIdle => RenderWait::NetworkIdle,
                    },
                    wait_for_selector: options.wait_for_selector.clone(),
                    timeout: options.timeout,
                    max_html_bytes: options.max_html_bytes,
                    best_attempt: true,
                },
            }))
        }
    }
}
