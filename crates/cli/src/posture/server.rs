//! Who can reach the gateway, and what happens when it is not sure: settings that open instead of close.

use super::check::{Check, Outcome, critical, found, found_any, found_if, info, warn};
use super::scene::Scene;
use blastshield_detect::Profile;
use blastshield_policy::{IpNet, Ports};
use std::net::IpAddr;

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    warn("server.public", "The gateway listens beyond this machine, in plain HTTP", "set server.host = \"127.0.0.1\", or put a proxy with TLS and its own access rules in front", |s| found_if(!loopback(s), || s.said("server.host"))),
    critical("server.public_without_tokens", "The gateway listens beyond this machine without both tokens", "set server.agent_token and server.owner_token", |s| {
        let server = &s.settings.server;
        found_if(!loopback(s) && (server.agent_token.is_none() || server.owner_token.is_none()), || s.said("server.host"))
    }),
    warn("server.no_agent_token", "Every local process is an agent: there is no agent token", "set server.agent_token: openssl rand -hex 32", |s| found_if(s.settings.server.agent_token.is_none(), || s.said("server.agent_token"))),
    info("server.wide_limits", "Limits of the server are wide: few clients can take all of it", "lower server.max_body_bytes, server.max_requests or server.request_timeout_ms", |s| {
        let server = &s.settings.server;
        let wide = [
            ("server.max_body_bytes", server.max_body_bytes > 4_000_000),
            ("server.max_requests", server.max_requests > 4096),
            ("server.request_timeout_ms", server.request_timeout.as_secs() > 300),
        ];
        said(s, wide)
    }),
    warn("server.test_variables", "Variables that are for tests are set", "unset them where the gateway runs", |s| {
        let tests = s.variables.keys().filter(|name| name.starts_with("BLASTSHIELD_TEST_"));
        found_any(tests.map(|name| name.chars().take(60).collect()).collect())
    }),
    critical("policy.fail_open", "Pages that nobody could clear pass", "set policy.fail_closed = true", |s| found_if(!s.settings.policy.fail_closed, || s.said("policy.fail_closed"))),
    warn("policy.urls_shown", "Search results show URLs to the agent", "set policy.redact_urls = true", |s| found_if(!s.settings.policy.redact_urls, || s.said("policy.redact_urls"))),
    warn("policy.baseline", "The weakest profile is in use", "set policy.profile = \"strict\"", |s| found_if(s.settings.policy.profile == Profile::Baseline, || s.said("policy.profile"))),
    warn("policy.baseline_unjudged", "The weakest profile is in use, and no judge looks at the gray zone", "set policy.profile = \"strict\", or judge.enabled = true with a model", |s| found_if(s.settings.policy.profile == Profile::Baseline && !s.settings.judge.enabled, || format!("{}, {}", s.said("policy.profile"), s.said("judge.enabled")))),
    warn("web.plain_http", "Pages are fetched without TLS", "set web.allow_http = false", |s| found_if(s.settings.web.allow_http, || s.said("web.allow_http"))),
    warn("web.any_port", "Agents may reach any port", "set web.allowed_ports = \"443\"", |s| found_if(s.settings.web.allowed_ports == Ports::Any, || s.said("web.allowed_ports"))),
    warn("web.service_ports", "Agents may reach ports of services that are not the web", "take them out of web.allowed_ports", |s| service_ports(&s.settings.web.allowed_ports)),
    critical("web.ranges_local", "Addresses of this machine, or of the cloud's metadata service, may be reached", "take that range out of web.allowed_ranges", |s| ranges("web.allowed_ranges", &s.settings.web.allowed_ranges, covers_local)),
    critical("web.ranges_everything", "A very large range of addresses is excepted from the guard", "name the few addresses that are needed in web.allowed_ranges", |s| ranges("web.allowed_ranges", &s.settings.web.allowed_ranges, covers_much)),
    warn("web.ranges_wide", "A whole network is excepted from the guard", "name the few addresses that are needed in web.allowed_ranges", |s| ranges("web.allowed_ranges", &s.settings.web.allowed_ranges, |net| if is_v4(net) { (8..24).contains(&net.prefix_len()) } else { (16..64).contains(&net.prefix_len()) })),
    warn("web.own_dns", "Names are asked of a distant DNS server in the clear", "use a resolver on this machine in web.dns", |s| match s.settings.web.dns {
        None => Outcome::NotHere,
        Some(server) => found_if(!is_near(server.ip()), || s.said("web.dns")),
    }),
    info("web.proxy", "Connections go through a proxy, which sees every name", "make sure that the proxy refuses private addresses, or leave web.proxy empty", |s| found_if(s.settings.web.proxy.is_some(), || "web.proxy is set".to_owned())),
    info("web.authorities", "Further certificate authorities are trusted: their holder can read and change pages", "leave web.ca_file empty if it is not needed", |s| found_if(s.settings.web.ca_file.is_some(), || s.said("web.ca_file"))),
    info("web.wide_limits", "Limits of a page are wide", "leave web.max_bytes, web.timeout_ms and web.max_redirects to the profile", |s| {
        let web = &s.settings.web;
        said(s, [
            ("web.max_bytes", web.max_bytes > 10_000_000),
            ("web.timeout_ms", web.timeout.as_secs() > 60),
            ("web.max_redirects", web.max_redirects > 10),
        ])
    }),
];

/// The settings of a list that are wrong.
pub(super) fn said<const N: usize>(scene: &Scene, wrong: [(&str, bool); N]) -> Outcome {
    let wrong = wrong.into_iter().filter(|(_, wrong)| *wrong);
    found_any(wrong.map(|(key, _)| scene.said(key)).collect())
}

fn loopback(scene: &Scene) -> bool {
    scene.settings.server.address.ip().is_loopback()
}

/// On this machine or in its own network.
fn is_near(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local(),
    }
}

pub(super) fn service_ports(ports: &Ports) -> Outcome {
    const SERVICES: [u16; 24] = [
        21, 22, 23, 25, 53, 110, 111, 135, 139, 143, 389, 445, 465, 587, 1433, 2049, 2375, 2376,
        3306, 3389, 5432, 6379, 9200, 27017,
    ];
    match ports {
        Ports::Any => found("every port"),
        Ports::Only(ports) => {
            let services = ports.iter().filter(|port| SERVICES.contains(port));
            found_any(services.map(|port| format!("port {port}")).collect())
        }
    }
}

fn is_v4(net: &IpNet) -> bool {
    matches!(net, IpNet::V4(_))
}

pub(super) fn ranges(key: &str, list: &[IpNet], wrong: fn(&IpNet) -> bool) -> Outcome {
    let wrong = list.iter().filter(|net| wrong(net));
    found_any(wrong.map(|net| format!("{key} has {net}")).collect())
}

pub(super) fn covers_much(net: &IpNet) -> bool {
    net.prefix_len() < if is_v4(net) { 8 } else { 16 }
}

pub(super) fn covers_local(net: &IpNet) -> bool {
    const LOCAL: [&str; 8] = [
        "127.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "100.100.100.200",
        "::1",
        "::",
        "fe80::1",
        "fd00:ec2::254",
    ];
    let local = LOCAL.iter().filter_map(|ip| ip.parse::<IpAddr>().ok());
    local.into_iter().any(|ip| net.contains(&ip))
}
