//! The agent's ways out: hosts that it reaches by itself, what it may spend, and what stands between it and services.

use super::check::{Check, Outcome, critical, found_if, info, warn};
use super::lists::{
    NAME_HOSTS, entries, is_address, is_for_strangers, is_local, is_suffix, is_top,
};
use super::scene::Scene;
use super::server::{covers_local, covers_much, ranges, said, service_ports};
use blastshield_config::EgressMode;
use blastshield_policy::Ports;

/// A tenth of a bitcoin: nobody means to lose that on one day.
const MUCH_SATS: u64 = 10_000_000;
const ALLOWED: &str = "egress.allowed_domains";
const RANGES: &str = "egress.allowed_ranges";
const HOSTS: &str = "egress.allowed_hosts";

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    critical("egress.not_enforced", "Hosts on no list pass", "set egress.mode = \"enforce\"", |s| found_if(s.settings.egress.mode != EgressMode::Enforce, || s.said("egress.mode"))),
    critical("egress.allow_everything", "Agents may reach a whole top-level domain", NAME_HOSTS, |s| entries(s, ALLOWED, is_top)),
    critical("egress.allow_suffix", "Agents may reach a suffix under which anyone can have a domain", NAME_HOSTS, |s| entries(s, ALLOWED, is_suffix)),
    warn("egress.allow_strangers", "Agents may reach sites where anyone can publish: data can be carried there", "take them out of egress.allowed_domains: the owner is asked then", |s| entries(s, ALLOWED, is_for_strangers)),
    warn("egress.allow_address", "Agents may reach an address: whoever has it tomorrow is allowed too", NAME_HOSTS, |s| entries(s, ALLOWED, is_address)),
    warn("egress.any_port", "Agents may reach any port of a host", "set egress.allowed_ports = \"80,443\"", |s| found_if(s.settings.egress.allowed_ports == Ports::Any, || s.said("egress.allowed_ports"))),
    warn("egress.service_ports", "Agents may reach ports of services that are not the web", "take them out of egress.allowed_ports", |s| service_ports(&s.settings.egress.allowed_ports)),
    critical("egress.ranges_local", "Agents may reach addresses of this machine, or of the cloud's metadata service", "take that range out of egress.allowed_ranges", |s| ranges(RANGES, &s.settings.egress.allowed_ranges, covers_local)),
    critical("egress.ranges_everything", "Agents may reach a very large range of private addresses", "name the few addresses that are needed in egress.allowed_ranges", |s| ranges(RANGES, &s.settings.egress.allowed_ranges, covers_much)),
    critical("egress.hosts_local", "Agents may reach this machine, or the cloud's metadata service, by name", "take it out of egress.allowed_hosts", |s| entries(s, HOSTS, is_local)),
    critical("egress.hosts_everything", "Every host of a top-level domain or suffix may have a private address", "name the hosts themselves in egress.allowed_hosts", |s| entries(s, HOSTS, |name| (is_top(name) || is_suffix(name)) && !is_local(name))),
    warn("egress.hidden_names", "Tunnels pass whose destination nobody can check", "set egress.ech, egress.no_sni and egress.non_tls to \"deny\"", |s| {
        let egress = &s.settings.egress;
        said(s, [
            ("egress.ech", egress.allow_ech),
            ("egress.no_sni", egress.allow_no_sni),
            ("egress.non_tls", egress.allow_non_tls),
        ])
    }),
    warn("egress.public", "The forward proxy listens beyond this machine, in the clear", "set egress.address to an address of this machine, such as 127.0.0.1:3128", |s| match s.settings.egress.address {
        None => Outcome::NotHere,
        Some(address) => found_if(!address.ip().is_loopback(), || s.said("egress.address")),
    }),
    warn("wallet.high_limit", "The daily limit is so high that it protects nothing", "lower WALLET_DAILY_LIMIT_SATS, and keep little in the wallet", |s| spending(s, |limit, _| limit > MUCH_SATS)),
    info("wallet.never_repeated", "One tap pays anything: no amount under the daily limit has to be repeated", "set WALLET_APPROVAL_THRESHOLD_SATS below WALLET_DAILY_LIMIT_SATS", |s| spending(s, |limit, threshold| limit > 0 && threshold >= limit)),
    warn("wallet.half_set", "The wallet has a key and lacks what it needs to be used", "set LNBITS_URL, WALLET_DAILY_LIMIT_SATS and WALLET_APPROVAL_THRESHOLD_SATS", half_set),
    critical("proxies.loopback", "Service definitions may name services on this machine over plain HTTP, which is for tests", "set proxies.allow_loopback = false", |s| found_if(s.settings.proxies.allow_loopback, || s.said("proxies.allow_loopback"))),
    warn("proxies.degraded", "Workers run though a layer of their sandbox is missing", "set proxies.missing_layers = \"refuse\"", |s| found_if(s.settings.proxies.degrade, || s.said("proxies.missing_layers"))),
];

/// Judges the limits of a wallet that can spend.
fn spending(scene: &Scene, wrong: fn(u64, u64) -> bool) -> Outcome {
    let wallet = &scene.settings.wallet;
    let limits = wallet.daily_limit_sats.zip(wallet.approval_threshold_sats);
    match limits.filter(|_| wallet.admin_key.is_some()) {
        None => Outcome::NotHere,
        Some((limit, threshold)) => found_if(wrong(limit, threshold), || {
            let threshold = scene.said("wallet.approval_threshold_sats");
            format!("{}, {threshold}", scene.said("wallet.daily_limit_sats"))
        }),
    }
}

fn half_set(scene: &Scene) -> Outcome {
    let wallet = &scene.settings.wallet;
    let spends = wallet.admin_key.is_some();
    if !spends && wallet.invoice_key.is_none() {
        return Outcome::NotHere;
    }
    let unlimited = |limit: Option<u64>| spends && limit.is_none();
    said(
        scene,
        [
            ("wallet.lnbits_url", wallet.lnbits_url.is_none()),
            (
                "wallet.daily_limit_sats",
                unlimited(wallet.daily_limit_sats),
            ),
            (
                "wallet.approval_threshold_sats",
                unlimited(wallet.approval_threshold_sats),
            ),
        ],
    )
}
