//! Lists of domains, and where a host stands between a blocklist and an allowlist.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

use crate::address::embedded_v4;
use crate::host::Host;

/// Domains and addresses. A domain covers itself and its subdomains; `*.domain` only the subdomains; an address itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainList {
    names: HashMap<Box<str>, Cover>,
    addresses: HashSet<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    DomainAndBelow,
    BelowOnly,
}

/// Entries of a list that are neither a domain nor an address, by their place (from 1).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct BadEntries {
    /// The entries as written, at most 80 characters of each.
    pub entries: Vec<String>,
}

impl fmt::Display for BadEntries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a domain or an address: {}", self.entries.join(", "))
    }
}

impl DomainList {
    /// Reads entries separated by commas or white space.
    ///
    /// # Errors
    /// Names every entry that cannot be read; a list with one bad entry is no list.
    pub fn parse(text: &str) -> Result<Self, BadEntries> {
        Self::from_entries(text.split(|c: char| c == ',' || c.is_whitespace()))
    }

    /// As [`DomainList::parse`], of entries already separated. Empty ones are skipped.
    ///
    /// # Errors
    /// Names every entry that cannot be read.
    pub fn from_entries<'a>(
        entries: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, BadEntries> {
        let mut list = Self::default();
        let mut bad = Vec::new();
        for entry in entries
            .into_iter()
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            if !list.add(entry) {
                bad.push(entry.chars().take(80).filter(|c| !c.is_control()).collect());
            }
        }
        if bad.is_empty() {
            Ok(list)
        } else {
            Err(BadEntries { entries: bad })
        }
    }

    fn add(&mut self, entry: &str) -> bool {
        let (domain, cover) = match entry.strip_prefix("*.").or_else(|| entry.strip_prefix('.')) {
            Some(domain) => (domain, Cover::BelowOnly),
            None => (entry, Cover::DomainAndBelow),
        };
        match Host::parse(domain) {
            Ok(Host::Name(name)) => {
                let held = self.names.entry(name).or_insert(cover);
                if cover == Cover::DomainAndBelow {
                    *held = cover;
                }
                true
            }
            Ok(Host::Ip(ip)) if cover == Cover::DomainAndBelow => {
                self.addresses.insert(ip);
                true
            }
            _ => false,
        }
    }

    /// Whether the list covers this host.
    #[must_use]
    pub fn covers(&self, host: &Host) -> bool {
        match host {
            Host::Name(name) => self.covers_name(name),
            Host::Ip(ip) => self.covers_ip(*ip),
        }
    }

    fn covers_name(&self, name: &str) -> bool {
        if self.names.get(name) == Some(&Cover::DomainAndBelow) {
            return true;
        }
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            if self.names.contains_key(parent) {
                return true;
            }
            rest = parent;
        }
        false
    }

    fn covers_ip(&self, ip: IpAddr) -> bool {
        let inner = match ip {
            IpAddr::V4(_) => None,
            IpAddr::V6(ip) => embedded_v4(ip).map(IpAddr::from),
        };
        self.addresses.contains(&ip) || inner.is_some_and(|ip| self.addresses.contains(&ip))
    }

    /// The entries in order, each as it could be written; what another entry covers is left out.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let mut entries: Vec<String> = self
            .names
            .iter()
            .filter(|(name, _)| {
                !name
                    .split_once('.')
                    .is_some_and(|(_, above)| self.covers_below(above))
            })
            .map(|(name, cover)| match cover {
                Cover::DomainAndBelow => name.to_string(),
                Cover::BelowOnly => format!("*.{name}"),
            })
            .chain(self.addresses.iter().map(IpAddr::to_string))
            .collect();
        entries.sort();
        entries
    }

    /// Whether what is directly below this name is covered.
    fn covers_below(&self, name: &str) -> bool {
        let mut rest = Some(name);
        while let Some(name) = rest {
            if self.names.contains_key(name) {
                return true;
            }
            rest = name.split_once('.').map(|(_, above)| above);
        }
        false
    }

    /// How many entries it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len() + self.addresses.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl FromStr for DomainList {
    type Err = BadEntries;

    fn from_str(text: &str) -> Result<Self, BadEntries> {
        Self::parse(text)
    }
}

/// A blocklist, and an allowlist that it outranks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainPolicy {
    /// Hosts whose pages are not blocked for their score.
    pub allow: DomainList,
    /// Hosts that are never fetched.
    pub block: DomainList,
}

/// Where a host stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[must_use]
pub enum Standing {
    /// On the blocklist.
    Blocked,
    /// On the allowlist and not on the blocklist.
    Allowed,
    /// On neither.
    Unlisted,
}

impl DomainPolicy {
    /// The blocklist first, then the allowlist.
    pub fn standing(&self, host: &Host) -> Standing {
        if self.block.covers(host) {
            Standing::Blocked
        } else if self.allow.covers(host) {
            Standing::Allowed
        } else {
            Standing::Unlisted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        Host::parse(text).unwrap()
    }

    #[test]
    fn a_domain_covers_itself_and_what_is_below() {
        let list = DomainList::parse("Example.com., bücher.example\n10.0.0.1 [::1]").unwrap();
        assert_eq!(list.len(), 4);
        for covered in [
            "example.com",
            "docs.example.com",
            "a.b.example.com.",
            "EXAMPLE.COM",
            "xn--bcher-kva.example",
            "10.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "::1",
        ] {
            assert!(list.covers(&host(covered)), "{covered}");
        }
    }

    #[test]
    fn no_suffix_trick() {
        let list = DomainList::parse("example.com,10.0.0.1").unwrap();
        for other in [
            "evilexample.com",
            "example.com.evil.test",
            "example.co",
            "com",
            "10.0.0.10",
            "10.0.0.1.example.org",
            "еxample.com",
        ] {
            assert!(!list.covers(&host(other)), "{other}");
        }
    }

    #[test]
    fn a_star_leaves_the_domain_itself_out() {
        let list = DomainList::parse("*.example.com").unwrap();
        assert!(list.covers(&host("a.example.com")));
        assert!(!list.covers(&host("example.com")));
        assert!(
            DomainList::parse("*.example.com example.com")
                .unwrap()
                .covers(&host("example.com"))
        );
        assert!(
            DomainList::parse("example.com *.example.com")
                .unwrap()
                .covers(&host("example.com"))
        );
    }

    #[test]
    fn entries_are_told_once() {
        let list =
            DomainList::parse("b.example.com example.com *.a.org x.a.org a.net 10.0.0.1").unwrap();
        assert_eq!(
            list.entries(),
            ["*.a.org", "10.0.0.1", "a.net", "example.com"]
        );
        assert_eq!(
            DomainList::parse(&list.entries().join(" "))
                .unwrap()
                .entries(),
            list.entries()
        );
    }

    #[test]
    fn bad_entries_are_all_named() {
        let error =
            DomainList::parse("ok.com, https://a.com/, a.com:80, *.*.com, *.1.2.3.4, 10.0.0.0/8")
                .unwrap_err();
        assert_eq!(
            error.entries,
            [
                "https://a.com/",
                "a.com:80",
                "*.*.com",
                "*.1.2.3.4",
                "10.0.0.0/8"
            ]
        );
        assert!(error.to_string().contains("a.com:80"));
    }

    #[test]
    fn the_blocklist_outranks_the_allowlist() {
        let policy = DomainPolicy {
            allow: DomainList::parse("example.com").unwrap(),
            block: DomainList::parse("bad.example.com").unwrap(),
        };
        assert_eq!(policy.standing(&host("www.example.com")), Standing::Allowed);
        assert_eq!(
            policy.standing(&host("x.bad.example.com")),
            Standing::Blocked
        );
        assert_eq!(policy.standing(&host("example.org")), Standing::Unlisted);
    }
}
