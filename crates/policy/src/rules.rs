//! Which schemes and ports a URL may name.

use std::str::FromStr;

use thiserror::Error;

/// The longest URL that is looked at, in bytes.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// What a URL may look like. The default is `https` on 443 (and 80).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlRules {
    /// Whether plain `http` is accepted, at the start and after a redirect.
    pub allow_http: bool,
    /// Which ports may be named.
    pub ports: Ports,
}

/// Ports that may be dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ports {
    /// These only.
    Only(Vec<u16>),
    /// Any but 0.
    Any,
}

impl Default for Ports {
    fn default() -> Self {
        Self::Only(vec![80, 443])
    }
}

impl Ports {
    /// Whether this port may be dialled.
    #[must_use]
    pub fn allow(&self, port: u16) -> bool {
        port != 0
            && match self {
                Self::Only(ports) => ports.contains(&port),
                Self::Any => true,
            }
    }
}

/// The text is no list of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("ports must be numbers from 1 to 65535 separated by commas, or * for any")]
pub struct BadPort;

impl FromStr for Ports {
    type Err = BadPort;

    fn from_str(text: &str) -> Result<Self, BadPort> {
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        let ports = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|port| !port.is_empty())
            .map(|port| port.parse().ok().filter(|port| *port != 0).ok_or(BadPort))
            .collect::<Result<Vec<u16>, _>>()?;
        if ports.is_empty() {
            Err(BadPort)
        } else {
            Ok(Self::Only(ports))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        assert_eq!("80, 443 8443".parse(), Ok(Ports::Only(vec![80, 443, 8443])));
        assert_eq!(" * ".parse(), Ok(Ports::Any));
        for bad in ["", "0", "65536", "http", "-1", "80-90"] {
            assert_eq!(bad.parse::<Ports>(), Err(BadPort), "{bad}");
        }
    }

    #[test]
    fn port_zero_is_never_allowed() {
        assert!(!Ports::Any.allow(0));
        assert!(!Ports::Only(vec![0]).allow(0));
        assert!(Ports::Any.allow(6379) && !Ports::default().allow(6379));
    }
}
