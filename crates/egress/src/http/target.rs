//! The four forms of a request target, and the authority in it.

use blastshield_policy::Host;

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `host:port`, of CONNECT alone.
    Connect(Authority),
    /// `http://host/path`, as a proxy is asked.
    Absolute {
        /// `http` or `https`.
        scheme: Scheme,
        /// Where to.
        authority: Authority,
        /// Whether a user name or password stands before the host.
        userinfo: bool,
        /// From the first slash on, without a fragment.
        path: String,
    },
    /// `/path`, as an origin is asked.
    Origin(String),
    /// `*`.
    Asterisk,
    /// None of these.
    Other,
}

/// The scheme of an absolute target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Plain.
    Http,
    /// TLS.
    Https,
    /// Something that no proxy fetches.
    Other,
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Authority {
    /// The host in its one form.
    pub host: Host,
    /// The port, if one is named.
    pub port: Option<u16>,
}

impl Target {
    /// The target's form; nothing when it is malformed.
    #[must_use]
    pub fn of(method: &str, text: &str) -> Option<Self> {
        if method == "CONNECT" {
            let authority = Authority::parse(text)?;
            return authority.port.map(|_| Self::Connect(authority));
        }
        if text == "*" {
            return (method == "OPTIONS").then_some(Self::Asterisk);
        }
        if text.starts_with('/') {
            return Some(Self::Origin(without_fragment(text).to_owned()));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Some(Self::Other);
        };
        let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        if scheme.is_empty() || !scheme.bytes().all(word) {
            return Some(Self::Other);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let (userinfo, authority) = match authority.rsplit_once('@') {
            Some((_, authority)) => (true, authority),
            None => (false, authority),
        };
        let path = without_fragment(path);
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(Self::Absolute {
            scheme: match scheme.to_ascii_lowercase().as_str() {
                "http" => Scheme::Http,
                "https" => Scheme::Https,
                _ => Scheme::Other,
            },
            authority: Authority::parse(authority)?,
            userinfo,
            path: format!("{slash}{path}"),
        })
    }
}

fn without_fragment(text: &str) -> &str {
    text.split_once('#').map_or(text, |(before, _)| before)
}

impl Authority {
    /// Reads `host`, `host:port` or `[address]:port`. A port is plain digits from 1 to 65535; a host has no
    /// percent signs, zones, user names or paths.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.contains(['@', '/', '?', '#', '%', '\\']) || text.chars().any(char::is_control) {
            return None;
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']')?;
                let port = match after {
                    "" => None,
                    after => Some(after.strip_prefix(':')?),
                };
                (host, port)
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port
            .map(self::port)
            .map_or(Some(None), |port| port.map(Some))?;
        Some(Self {
            host: Host::parse(host).ok()?,
            port,
        })
    }

    /// As it stands in a `Host` header: without the port that the scheme implies.
    #[must_use]
    pub fn shown(&self, implied: u16) -> String {
        let host = match &self.host {
            Host::Ip(std::net::IpAddr::V6(ip)) => format!("[{ip}]"),
            host => host.to_string(),
        };
        match self.port {
            Some(port) if port != implied => format!("{host}:{port}"),
            _ => host,
        }
    }
}

fn port(text: &str) -> Option<u16> {
    let plain = (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let port = plain.then(|| text.parse().ok()).flatten();
    port.filter(|port| *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_in_one_way() {
        for (text, host, port) in [
            ("a.test:443", "a.test", Some(443)),
            ("A.Test.:80", "a.test", Some(80)),
            ("[::1]:443", "::1", Some(443)),
            ("[a.test]:443", "a.test", Some(443)),
            ("[10.0.0.1]:443", "10.0.0.1", Some(443)),
            ("b\u{fc}cher.test:443", "xn--bcher-kva.test", Some(443)),
            ("0x7f000001:443", "127.0.0.1", Some(443)),
            ("a.test", "a.test", None),
        ] {
            let read = Authority::parse(text).unwrap();
            assert_eq!(
                (read.host.to_string().as_str(), read.port),
                (host, port),
                "{text}"
            );
        }
        for bad in [
            "",
            ":",
            "::",
            ":443",
            "a.test:",
            "a.test:0",
            "a.test:65536",
            "a.test:+443",
            "a.test: 443",
            "a.test:443x",
            "a.test:4294967739",
            "a.test:443@b.test:22",
            "u@a.test:443",
            "a.test/x:443",
            "2001:db8::1",
            "[2001:db8::1",
            "[::1]443",
            "[::1]:https",
            "[::1%25lo]:443",
            "a.test%00.b.test:443",
            "a\0b:443",
            "a b:443",
        ] {
            assert_eq!(Authority::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn forms_are_told_apart() {
        assert!(matches!(
            Target::of("CONNECT", "a.test:443"),
            Some(Target::Connect(_))
        ));
        assert_eq!(Target::of("CONNECT", "a.test"), None);
        assert_eq!(Target::of("OPTIONS", "*"), Some(Target::Asterisk));
        assert_eq!(Target::of("GET", "*"), None);
        assert_eq!(
            Target::of("GET", "/a#b"),
            Some(Target::Origin("/a".to_owned()))
        );
        assert_eq!(Target::of("GET", "a/b"), Some(Target::Other));
        assert_eq!(Target::of("GET", "http://:80/"), None);
        let path = |text| match Target::of("GET", text) {
            Some(Target::Absolute { path, userinfo, .. }) => (path, userinfo),
            other => panic!("{other:?}"),
        };
        assert_eq!(path("http://a.test"), ("/".to_owned(), false));
        assert_eq!(path("http://a.test?q#f"), ("/?q".to_owned(), false));
        assert_eq!(path("http://a.test@10.0.0.1/x"), ("/x".to_owned(), true));
    }
}
