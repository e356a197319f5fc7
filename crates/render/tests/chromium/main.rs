//! A real Chromium against pages that misbehave. Everything runs on loopback: origins on 127.0.0.2, which the guard admits
//! through an operator's exception, and on 127.0.0.1 what must never be reached.
//!
//! Needs Debian's package `chromium`; `BLASTSHIELD_TEST_CHROMIUM=off` skips the suite.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod endless;
mod guarded;
mod life;
mod origin;
mod procs;
mod reading;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use blastshield_policy::{
    AddressGuard, DomainList, DomainPolicy, HopPolicy, Host, Ports, UrlRules,
};
use blastshield_render::{
    Chromium, ChromiumOptions, LaunchError, RenderError, RenderOptions, Rendered, WaitUntil,
};
use blastshield_web::{Resolver, fixed_policy};
use url::Url;

/// Plain http on any port; of all loopback only 127.0.0.2.
pub(crate) fn policy() -> HopPolicy {
    HopPolicy {
        rules: UrlRules {
            allow_http: true,
            ports: Ports::Any,
        },
        guard: AddressGuard {
            ranges: vec!["127.0.0.2/32".parse().unwrap()],
            ..AddressGuard::default()
        },
        domains: Arc::new(DomainPolicy {
            block: DomainList::parse("blocked.test").unwrap(),
            ..DomainPolicy::default()
        }),
    }
}

/// `origin.test` may be reached, `blocked.test` is there but blocklisted, `inside.test` leads where nobody may go.
pub(crate) fn names() -> Resolver {
    let to = |name: &str, ip: [u8; 4]| (Host::parse(name).unwrap(), vec![IpAddr::from(ip)]);
    let mut both = to("both.test", [127, 0, 0, 2]);
    both.1.push(IpAddr::from([127, 0, 0, 1]));
    Resolver::fixed([
        to("origin.test", [127, 0, 0, 2]),
        to("blocked.test", [127, 0, 0, 2]),
        to("inside.test", [127, 0, 0, 1]),
        both,
    ])
}

pub(crate) fn options() -> ChromiumOptions {
    ChromiumOptions {
        resolver: names(),
        // Test runners in containers are often root.
        no_sandbox: std::env::var_os("BLASTSHIELD_TEST_SANDBOX").is_none(),
        start_timeout: Duration::from_secs(60),
        ..ChromiumOptions::new(fixed_policy(policy()))
    }
}

/// As [`options`], for many pages at once.
pub(crate) fn several() -> ChromiumOptions {
    ChromiumOptions {
        max_concurrent: 8,
        ..options()
    }
}

/// A browser, or `None` if the suite is switched off.
pub(crate) async fn launch(options: ChromiumOptions) -> Option<Chromium> {
    if std::env::var("BLASTSHIELD_TEST_CHROMIUM").is_ok_and(|wanted| wanted == "off") {
        return None;
    }
    match Chromium::launch(options).await {
        Ok(chromium) => Some(chromium),
        Err(LaunchError::NotFound) => panic!(
            "these tests need Chromium: install the package chromium, or set BLASTSHIELD_TEST_CHROMIUM=off"
        ),
        Err(error) => panic!("{error}"),
    }
}

/// Patient, so that a slow machine does not fail; nothing here waits for it.
pub(crate) fn patient(wait_until: WaitUntil) -> RenderOptions {
    RenderOptions {
        wait_until,
        timeout: Duration::from_secs(40),
        ..RenderOptions::default()
    }
}

pub(crate) async fn render(chromium: &Chromium, url: &str) -> Result<Rendered, RenderError> {
    let url = Url::parse(url).unwrap();
    chromium.render(&url, &patient(WaitUntil::Load)).await
}
