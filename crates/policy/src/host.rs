//! A host in its one normal form: a lower-case ASCII name without trailing dots, or an IP address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;
use url::Url;

const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// A normalised host. IPv4 addresses wrapped as `::ffff:a.b.c.d` are unwrapped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// A DNS name: IDNA applied, lower case, no trailing dot.
    Name(Box<str>),
    /// A literal address.
    Ip(IpAddr),
}

/// The text is no host name and no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a host name or address")]
pub struct HostError;

impl Host {
    /// Reads a name or an address in any spelling that a browser would read; IPv6 with or without brackets.
    ///
    /// # Errors
    /// When a browser would refuse it, or DNS could not carry it.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self::Ip(ip.to_canonical()));
        }
        // The dots go first: what is left may turn out to be a number, and so an address.
        let undotted = text.trim_end_matches(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']);
        match url::Host::parse(undotted).map_err(|_| HostError)? {
            url::Host::Ipv4(ip) => Ok(Self::Ip(ip.into())),
            url::Host::Ipv6(ip) => Ok(Self::Ip(IpAddr::from(ip).to_canonical())),
            url::Host::Domain(name) if is_dns_name(&name) => Ok(Self::Name(name.into())),
            url::Host::Domain(_) => Err(HostError),
        }
    }

    /// The host of a parsed URL.
    ///
    /// # Errors
    /// When it has none, or one that DNS could not carry.
    pub fn of(url: &Url) -> Result<Self, HostError> {
        url.host_str().ok_or(HostError).and_then(Self::parse)
    }

    /// The name, unless this is an address.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Ip(_) => None,
        }
    }

    /// The address, unless this is a name.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Name(_) => None,
            Self::Ip(ip) => Some(*ip),
        }
    }
}

/// Letters, digits, hyphens and (seen in the wild) underscores, within the lengths of DNS.
fn is_dns_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.split('.').all(|label| {
            (1..=MAX_LABEL).contains(&label.len())
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        })
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(ip) => ip.fmt(f),
        }
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        Self::parse(text)
    }
}

impl Serialize for Host {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, HostError> {
        Host::parse(text).map(|host| host.to_string())
    }

    #[test]
    fn spellings_of_one_host_become_one() {
        for text in [
            "example.com",
            "EXAMPLE.com",
            "example.com.",
            "example.com..",
            "ｅｘａｍｐｌｅ。com",
            "ex\u{ad}ample.com",
        ] {
            assert_eq!(shown(text).as_deref(), Ok("example.com"), "{text}");
        }
        assert_eq!(
            shown("Bücher.example").as_deref(),
            Ok("xn--bcher-kva.example")
        );
    }

    #[test]
    fn numbers_are_addresses_in_every_spelling() {
        for text in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.0.0.1.",
            "127.0.0.1..",
            "１２７.0.0.1",
            "::ffff:127.0.0.1",
            "[::ffff:7f00:1]",
        ] {
            assert_eq!(
                Host::parse(text),
                Ok(Host::Ip([127, 0, 0, 1].into())),
                "{text}"
            );
        }
        assert_eq!(shown("[::1]").as_deref(), Ok("::1"));
    }

    #[test]
    fn what_dns_cannot_carry_is_no_host() {
        let long_label = format!("{}.com", "a".repeat(64));
        let long_name = "a.".repeat(130) + "com";
        for text in [
            "",
            ".",
            "..",
            "a..b",
            "a b",
            "a/b",
            "a@b",
            "a:80",
            "a%2fb",
            "a!b.com",
            "*.com",
            "1.2.3.256",
            "[::1",
            "[fe80::1%eth0]",
            &long_label,
            &long_name,
        ] {
            assert_eq!(Host::parse(text), Err(HostError), "{text}");
        }
    }

    #[test]
    fn look_alikes_stay_different() {
        assert_ne!(Host::parse("рub.test"), Host::parse("pub.test"));
    }
}
