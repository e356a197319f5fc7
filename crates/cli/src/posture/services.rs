//! Services that the gateway asks: is the way to them closed?

use super::check::{Check, Outcome, critical, found, found_if, warn};
use super::scene::Scene;
use blastshield_config::{JudgeProvider, Renderer, SearchProvider, SearchStrategy};
use url::{Host, Url};

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    critical("judge.plain_http", "Pages go to the judge in the clear, and its rulings come back so", "use an https address, or a model on this machine", judge),
    critical("search.brave_plain_http", "The key of the search provider is sent in the clear", "set search.brave_base_url to its https address", |s| {
        if !uses(s, SearchProvider::Brave) || s.settings.search.brave_api_key.is_none() {
            return Outcome::NotHere;
        }
        found_if(is_open(&s.settings.search.brave_base_url), || "search.brave_base_url is a plain http address on another host".to_owned())
    }),
    warn("search.searxng_plain_http", "Searches go to SearXNG in the clear", "use an https address in search.searxng_base_url", |s| match &s.settings.search.searxng_base_url {
        None => Outcome::NotHere,
        Some(url) => found_if(is_open(url), || "search.searxng_base_url is a plain http address on another host".to_owned()),
    }),
    warn("renderer.no_token", "The renderer is used without a token: anyone near it can use it", "set renderer.browserless_token, and TOKEN at Browserless", |s| match s.settings.renderer.backend {
        Renderer::Browserless => found_if(s.settings.renderer.browserless_token.is_none(), || s.said("renderer.browserless_token")),
        _ => Outcome::NotHere,
    }),
    warn("renderer.plain_http", "Pages and the renderer's token go through the network in the clear", "use an https address, or keep the renderer on this machine or in its own container network", |s| match s.settings.renderer.backend {
        Renderer::Browserless => found_if(is_open(&s.settings.renderer.browserless_url) && !is_bare_name(&s.settings.renderer.browserless_url), || "renderer.browserless_url is a plain http address on another host".to_owned()),
        _ => Outcome::NotHere,
    }),
    critical("renderer.no_sandbox", "The browser runs without its sandbox", "set renderer.chromium_no_sandbox = false and do not run as root", |s| match s.settings.renderer.backend {
        Renderer::Chromium => found_if(s.settings.renderer.chromium_no_sandbox, || s.said("renderer.chromium_no_sandbox")),
        _ => Outcome::NotHere,
    }),
    critical("renderer.root", "The browser runs as root", "run blastshield as a user of its own", |s| match s.settings.renderer.backend {
        Renderer::Chromium => found_if(s.root, || "renderer.backend = chromium, and this user is root".to_owned()),
        _ => Outcome::NotHere,
    }),
];

fn uses(scene: &Scene, provider: SearchProvider) -> bool {
    let search = &scene.settings.search;
    match search.strategy {
        SearchStrategy::Disabled => false,
        SearchStrategy::Single => search.primary == provider,
        SearchStrategy::Fallback => true,
    }
}

fn judge(scene: &Scene) -> Outcome {
    let judge = &scene.settings.judge;
    if !judge.enabled {
        return Outcome::NotHere;
    }
    let (key, url) = match judge.provider {
        JudgeProvider::OpenAi => ("judge.openai_base_url", &judge.openai_base_url),
        JudgeProvider::Ollama => ("judge.ollama_base_url", &judge.ollama_base_url),
    };
    if is_open(url) {
        found(format!("{key} is a plain http address on another host"))
    } else {
        Outcome::Fine
    }
}

/// Whether an address is plain HTTP to another machine.
pub(super) fn is_open(url: &Url) -> bool {
    let near = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    !near && matches!(url.scheme(), "http" | "ws")
}

/// A name without a dot, as containers have in their own network.
fn is_bare_name(url: &Url) -> bool {
    matches!(url.host(), Some(Host::Domain(name)) if !name.contains('.'))
}
