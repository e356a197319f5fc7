//! Retrieval: what may be reached, and how much of it.

use crate::reader::Reader;
use crate::values::ConfigError;
use blastshield_detect::Profile;
use blastshield_policy::{DomainList, Ports};
use ipnet::IpNet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

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

/// What a profile allows a page: bytes, milliseconds, redirects.
fn page_limits(profile: Profile) -> (usize, u64, usize) {
    match profile {
        Profile::Baseline => (1_500_000, 8_000, 4),
        Profile::Strict => (1_000_000, 7_000, 3),
        Profile::Paranoid => (750_000, 6_000, 2),
    }
}

pub(super) fn web(read: &Reader<'_>, profile: Profile) -> Result<WebSettings, ConfigError> {
    let (max_bytes, timeout_ms, max_redirects) = page_limits(profile);
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
