//! What the operator decides about the browser, what a caller decides about one page, and what comes back.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use blastshield_web::{PolicySource, Resolver, UpstreamProxy};
use url::Url;

/// How the browser is run.
#[derive(Clone)]
pub struct ChromiumOptions {
    /// The executable; `None` looks for `chromium`, `chromium-browser` and `google-chrome` in `PATH`.
    pub binary: Option<PathBuf>,
    /// What may be reached, by pages and by everything they load. Asked anew for every connection.
    pub policy: PolicySource,
    /// Where names are looked up; the browser itself resolves none.
    pub resolver: Resolver,
    /// A proxy that admitted addresses are dialled through.
    pub upstream_proxy: Option<UpstreamProxy>,
    /// Runs Chromium without its own sandbox. Off by default: the sandbox is what stands between a page that breaks the
    /// browser's engine and this machine. Chromium refuses to start it as root, and many containers forbid the user
    /// namespaces that it needs; switch it off only where something else confines the process as well.
    pub no_sandbox: bool,
    /// Pages rendered at once.
    pub max_concurrent: usize,
    /// Pages after which the browser is replaced by a fresh one.
    pub max_pages: u32,
    /// Data memory of each of its processes, in MiB.
    pub process_memory_mib: u32,
    /// The heap of a page's scripts, in MiB.
    pub script_memory_mib: u32,
    /// What one page may move over the network.
    pub traffic: TrafficLimits,
    /// What the browser calls itself; `None` leaves that to Chromium.
    pub user_agent: Option<String>,
    /// How long a browser may take to start.
    pub start_timeout: Duration,
}

impl ChromiumOptions {
    /// Defaults, under this policy.
    #[must_use]
    pub fn new(policy: PolicySource) -> Self {
        Self {
            binary: None,
            policy,
            resolver: Resolver::system(),
            upstream_proxy: None,
            no_sandbox: false,
            max_concurrent: 2,
            max_pages: 100,
            process_memory_mib: 2048,
            script_memory_mib: 256,
            traffic: TrafficLimits::default(),
            user_agent: None,
            start_timeout: Duration::from_secs(20),
        }
    }
}

/// The bounds of what one page, with all its parts, may move over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrafficLimits {
    /// Bytes in both directions, as on the wire. Beyond them the page fails.
    pub bytes: u64,
    /// Connections at the same time.
    pub connections: usize,
    /// Requests and tunnels in all. Those beyond are refused.
    pub requests: u64,
    /// To resolve a name, and again to connect.
    pub connect: Duration,
}

impl Default for TrafficLimits {
    fn default() -> Self {
        Self {
            bytes: 32 * 1024 * 1024,
            connections: 64,
            requests: 500,
            connect: Duration::from_secs(4),
        }
    }
}

/// When a page counts as loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WaitUntil {
    /// The document is parsed.
    DomContentLoaded,
    /// Its parts are loaded.
    Load,
    /// No request has been open for half a second.
    #[default]
    NetworkIdle,
}

impl WaitUntil {
    /// The protocol's name for it.
    pub(crate) fn event(self) -> &'static str {
        match self {
            Self::DomContentLoaded => "DOMContentLoaded",
            Self::Load => "load",
            Self::NetworkIdle => "networkIdle",
        }
    }
}

/// How one page is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderOptions {
    /// When the page counts as loaded.
    pub wait_until: WaitUntil,
    /// An element that must exist as well.
    pub wait_for_selector: Option<String>,
    /// For everything, waiting for a turn included.
    pub timeout: Duration,
    /// The largest document, in bytes.
    pub max_html_bytes: usize,
    /// Takes the page as it is after four fifths of the time, if it has at least been parsed, instead of failing.
    pub best_attempt: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            wait_until: WaitUntil::default(),
            wait_for_selector: None,
            timeout: Duration::from_secs(12),
            max_html_bytes: 1_500_000,
            best_attempt: false,
        }
    }
}

/// A page as the browser ended up with it. Hostile until it has been through the pipeline.
#[derive(Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The document, serialised.
    pub html: String,
    /// Where the document came from, after all redirects.
    pub final_url: Url,
    /// The document's status, successful or not.
    pub status: u16,
    /// The document's type as the browser understood it, without parameters.
    pub media_type: String,
    /// Whether the page reached what was waited for; `false` only with [`RenderOptions::best_attempt`].
    pub settled: bool,
    /// Connections and requests that policy or guard refused, or that went over a limit.
    pub blocked_requests: u64,
}

impl fmt::Debug for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendered")
            .field("html_bytes", &self.html.len())
            .field("status", &self.status)
            .field("settled", &self.settled)
            .field("blocked_requests", &self.blocked_requests)
            .finish_non_exhaustive()
    }
}
