//! Lists of domains that cover more than their author thinks.

use super::check::{Check, Outcome, critical, found_any, found_if, info, warn};
use super::scene::Scene;
use blastshield_policy::{Host, is_local_name};

pub(super) const NAME_HOSTS: &str = "name the hosts themselves instead";

#[rustfmt::skip]
pub(super) const CHECKS: &[Check] = &[
    critical("lists.allow_everything", "The allowlist holds a whole top-level domain", NAME_HOSTS, |s| entries(s, "policy.allowlist_domains", is_top)),
    critical("lists.allow_suffix", "The allowlist holds a suffix under which anyone can have a domain", NAME_HOSTS, |s| entries(s, "policy.allowlist_domains", is_suffix)),
    warn("lists.allow_strangers", "The allowlist holds sites where anyone can publish: their pages are not blocked", "take them out of policy.allowlist_domains", |s| entries(s, "policy.allowlist_domains", is_for_strangers)),
    warn("lists.allow_address", "The allowlist holds an address: whoever has it tomorrow is allowed too", NAME_HOSTS, |s| entries(s, "policy.allowlist_domains", is_address)),
    info("lists.allow_many", "The allowlist is long: nobody will look at it again", "take out what is no longer used", |s| found_if(s.settings.policy.domains.allow.len() > 100, || format!("{} entries", s.settings.policy.domains.allow.len()))),
    warn("lists.contradiction", "A domain is allowed and blocked; blocked wins", "take it out of one of the lists", contradiction),
    critical("lists.hosts_everything", "A whole top-level domain or suffix is excepted from the address guard", "name the hosts themselves in web.allowed_hosts", |s| entries(s, "web.allowed_hosts", |name| (is_top(name) || is_suffix(name)) && !is_local(name))),
    critical("lists.hosts_local", "This machine, or the cloud's metadata service, is excepted from the address guard", "take it out of web.allowed_hosts", |s| entries(s, "web.allowed_hosts", is_local)),
    info("lists.hosts_excepted", "Hosts are excepted from the address guard", "leave web.allowed_hosts empty if they are not needed", |s| entries(s, "web.allowed_hosts", |_| true)),
];

/// Second-level registries and hosting suffixes under which strangers get names; the commonest ones.
#[rustfmt::skip]
const SUFFIXES: &[&str] = &[
    "ac.jp", "ac.uk", "appspot.com", "amazonaws.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "co.id",
    "co.il", "co.in", "co.jp", "co.ke", "co.kr", "co.nz", "co.th", "co.uk", "co.za", "com.ar", "com.au", "com.bd",
    "com.br", "com.cn", "com.co", "com.eg", "com.hk", "com.mx", "com.my", "com.ng", "com.pe", "com.ph", "com.pk",
    "com.pl", "com.sa", "com.sg", "com.tr", "com.tw", "com.ua", "com.vn", "ddns.net", "deno.dev", "duckdns.org",
    "edu.au", "firebaseapp.com", "fly.dev", "github.io", "gitlab.io", "glitch.me", "gov.au", "gov.br", "gov.cn",
    "gov.in", "gov.uk", "herokuapp.com", "ltd.uk", "me.uk", "myshopify.com", "ne.jp", "net.au", "net.br", "net.cn",
    "netlify.app", "ngrok-free.app", "ngrok.io", "nhs.uk", "no-ip.org", "onrender.com", "or.jp", "org.au", "org.br",
    "org.cn", "org.uk", "pages.dev", "plc.uk", "r2.dev", "repl.co", "replit.app", "s3.amazonaws.com", "surge.sh",
    "trycloudflare.com", "tumblr.com", "vercel.app", "web.app", "wixsite.com", "wordpress.com", "workers.dev",
];

/// Sites on which anyone can put a page or a file.
#[rustfmt::skip]
const FOR_STRANGERS: &[&str] = &[
    "archive.org", "bit.ly", "bitbucket.org", "cdn.discordapp.com", "discord.com", "docs.google.com", "drive.google.com",
    "dropbox.com", "facebook.com", "gist.github.com", "github.com", "githubusercontent.com", "gitlab.com", "hastebin.com",
    "huggingface.co", "linkedin.com", "medium.com", "notion.site", "pastebin.com", "raw.githubusercontent.com",
    "reddit.com", "rentry.co", "sites.google.com", "stackoverflow.com", "substack.com", "t.co", "telegra.ph",
    "tinyurl.com", "twitter.com", "web.archive.org", "x.com", "youtube.com",
];

/// Found for the entries of a list that are wrong, each as the name that it covers.
pub(super) fn entries(scene: &Scene, key: &'static str, wrong: fn(&str) -> bool) -> Outcome {
    let wrong = names(scene.raw(key)).filter(|name| wrong(name));
    found_any(wrong.map(|name| format!("{key} has {name}")).collect())
}

/// The names of a list without their wildcards.
fn names(list: &str) -> impl Iterator<Item = String> {
    list.split(|c: char| c == ',' || c.is_whitespace())
        .map(|entry| entry.trim_start_matches("*.").trim_start_matches('.'))
        .filter(|entry| !entry.is_empty())
        .filter_map(|entry| Host::parse(entry).ok())
        .map(|host| host.to_string())
}

pub(super) fn is_top(name: &str) -> bool {
    !name.contains('.') && !is_address(name) && name != "localhost"
}

pub(super) fn is_suffix(name: &str) -> bool {
    SUFFIXES.contains(&name)
}

pub(super) fn is_for_strangers(name: &str) -> bool {
    FOR_STRANGERS.contains(&name)
}

pub(super) fn is_address(name: &str) -> bool {
    Host::parse(name).is_ok_and(|host| host.ip().is_some())
}

pub(super) fn is_local(name: &str) -> bool {
    const NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];
    match Host::parse(name) {
        Ok(Host::Ip(ip)) => {
            ip.is_loopback()
                || ip.is_unspecified()
                || ["169.254.169.254", "fd00:ec2::254"].contains(&ip.to_string().as_str())
        }
        _ => {
            NAMES.contains(&name)
                || (name.contains('.') && name.starts_with("metadata") && is_local_name(name))
        }
    }
}

fn contradiction(scene: &Scene) -> Outcome {
    let blocked = &scene.settings.policy.domains.block;
    let both = names(scene.raw("policy.allowlist_domains"))
        .filter(|name| Host::parse(name).is_ok_and(|host| blocked.covers(&host)));
    found_any(both.collect())
}
