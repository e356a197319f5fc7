//! Fetching from origins, name servers and proxies that misbehave. Everything runs on loopback, which the guard admits
//! through an operator's exception, as it would anywhere else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod bodies;
mod compression;
mod dns;
mod foreign;
mod heads;
mod naming;
mod origin;
mod proxy;
mod redirects;
mod secure;

use std::net::IpAddr;
use std::time::Duration;

use blastshield_policy::{AddressGuard, HopPolicy, Host, Ports, UrlRules};
use blastshield_web::{
    FetchError, FetchLimits, Fetched, Fetcher, FetcherOptions, Resolver, fixed_policy,
};

/// Plain http on any port, and these ranges excepted.
pub(crate) fn policy(ranges: &[&str]) -> HopPolicy {
    HopPolicy {
        rules: UrlRules {
            allow_http: true,
            ports: Ports::Any,
        },
        guard: AddressGuard {
            ranges: ranges.iter().map(|range| range.parse().unwrap()).collect(),
            ..AddressGuard::default()
        },
        ..HopPolicy::default()
    }
}

/// Names ending in `.test` that lead to the loopback origin.
pub(crate) fn names() -> Resolver {
    let loopback = vec![IpAddr::from([127, 0, 0, 1])];
    let names = ["origin.test", "other.test", "blocked.test", "allowed.test"];
    Resolver::fixed(names.map(|name| (Host::parse(name).unwrap(), loopback.clone())))
}

pub(crate) fn fetcher(policy: HopPolicy) -> Fetcher {
    let options = FetcherOptions {
        resolver: names(),
        ..FetcherOptions::new(fixed_policy(policy))
    };
    Fetcher::new(options).unwrap()
}

/// Small sizes and short times, so that every limit is reached soon.
pub(crate) fn limits() -> FetchLimits {
    FetchLimits {
        wire_bytes: 200_000,
        decoded_bytes: 300_000,
        header_bytes: 16 * 1024,
        header_count: 64,
        first_byte: Duration::from_secs(5),
        total: Duration::from_secs(10),
        ..FetchLimits::default()
    }
}

/// As [`limits`], for origins that never finish.
pub(crate) fn impatient() -> FetchLimits {
    FetchLimits {
        connect: Duration::from_secs(1),
        first_byte: Duration::from_secs(1),
        total: Duration::from_secs(8),
        grace: Duration::from_millis(300),
        ..limits()
    }
}

/// Fetches from a loopback origin under the ordinary test policy.
pub(crate) async fn fetch(url: &str, limits: &FetchLimits) -> Result<Fetched, FetchError> {
    fetcher(policy(&["127.0.0.0/8"])).fetch(url, limits).await
}
