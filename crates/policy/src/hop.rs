//! One hop: text to target, target and answers to addresses. Redirects pass through the same gate as first URLs.

use std::net::IpAddr;
use std::sync::Arc;

use url::Url;

use crate::domains::{DomainPolicy, Standing};
use crate::guard::{AddressGuard, PublicAddr};
use crate::host::Host;
use crate::refusal::Refusal;
use crate::rules::{MAX_URL_BYTES, UrlRules};

/// Everything that decides about one hop. Take a fresh one per hop, so that a changed list counts at once.
#[derive(Debug, Clone, Default)]
pub struct HopPolicy {
    /// Blocklist and allowlist.
    pub domains: Arc<DomainPolicy>,
    /// Schemes and ports.
    pub rules: UrlRules,
    /// Addresses, and the operator's exceptions.
    pub guard: AddressGuard,
}

/// A URL that may be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Normalised: host as in `host`, no fragment, no userinfo.
    pub url: Url,
    /// The one host that is resolved, dialled, and named to the peer.
    pub host: Host,
    /// The port, explicit or by scheme.
    pub port: u16,
    /// [`Standing::Allowed`] or [`Standing::Unlisted`].
    pub standing: Standing,
}

impl Target {
    /// Whether TLS is to be spoken.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }
}

/// What would happen to a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// What would be asked for.
    pub target: Target,
    /// What would be dialled.
    pub addresses: Vec<PublicAddr>,
}

/// Reads a URL as given by a caller.
///
/// # Errors
/// The first rule that it breaks.
pub fn check_url(raw: &str, policy: &HopPolicy) -> Result<Target, Refusal> {
    let text = check_text(raw)?;
    policy.check(Url::parse(text).map_err(|_| Refusal::Unparsable)?)
}

/// Reads the `Location` of an answer from `from`.
///
/// # Errors
/// The first rule that it breaks.
pub fn check_redirect(from: &Url, location: &str, policy: &HopPolicy) -> Result<Target, Refusal> {
    let text = check_text(location)?;
    policy.check(join(from, text).map_err(|_| Refusal::Unparsable)?)
}

/// Resolves a reference as a browser does: however many slashes lead, a host follows.
///
/// # Errors
/// When the result is no URL.
pub fn join(from: &Url, reference: &str) -> Result<Url, url::ParseError> {
    let slashes = |c: char| c == '/' || c == '\\';
    let rest = reference.trim_start_matches(slashes);
    if reference.chars().take_while(|c| slashes(*c)).count() > 2 {
        from.join(&format!("//{rest}"))
    } else {
        from.join(reference)
    }
}

/// What policy and guard say about a URL whose host resolves to `answers`. Nothing is connected.
///
/// # Errors
/// The first rule that it breaks.
pub fn explain(url: &str, policy: &HopPolicy, answers: &[IpAddr]) -> Result<Explained, Refusal> {
    let target = check_url(url, policy)?;
    let addresses = policy.admit(&target, answers)?;
    Ok(Explained { target, addresses })
}

impl HopPolicy {
    /// Admits the addresses of a target.
    ///
    /// # Errors
    /// When any of them may not be dialled.
    pub fn admit(&self, target: &Target, answers: &[IpAddr]) -> Result<Vec<PublicAddr>, Refusal> {
        self.guard.admit(&target.host, answers, target.port)
    }

    fn check(&self, mut url: Url) -> Result<Target, Refusal> {
        match url.scheme() {
            "https" => {}
            "http" if self.rules.allow_http => {}
            "http" => return Err(Refusal::PlainHttp),
            _ => return Err(Refusal::Scheme),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Userinfo);
        }
        let host = Host::of(&url).map_err(|_| Refusal::NoHost)?;
        let port = url.port_or_known_default().ok_or(Refusal::NoHost)?;
        if !self.rules.ports.allow(port) {
            return Err(Refusal::Port(port));
        }
        let standing = self.domains.standing(&host);
        if standing == Standing::Blocked {
            return Err(Refusal::Blocklisted);
        }
        self.guard.check_name(&host)?;
        url.set_fragment(None);
        match &host {
            Host::Name(name) => url.set_host(Some(name)).map_err(|_| Refusal::NoHost)?,
            Host::Ip(ip) => url.set_ip_host(*ip).map_err(|()| Refusal::NoHost)?,
        }
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(Refusal::TooLong);
        }
        Ok(Target {
            url,
            host,
            port,
            standing,
        })
    }
}

/// Refuses what parsers disagree about before one of them gets to see it.
fn check_text(raw: &str) -> Result<&str, Refusal> {
    if raw.len() > MAX_URL_BYTES {
        return Err(Refusal::TooLong);
    }
    let text = raw.trim_matches(' ');
    if text.chars().any(char::is_control) {
        return Err(Refusal::ControlCharacter);
    }
    let before_query = text.split(['?', '#']).next().unwrap_or(text);
    if before_query.contains('\\') {
        return Err(Refusal::Backslash);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::AddressClass;
    use crate::domains::DomainList;
    use crate::rules::Ports;

    fn http() -> HopPolicy {
        HopPolicy {
            rules: UrlRules {
                allow_http: true,
                ports: Ports::default(),
            },
            ..HopPolicy::default()
        }
    }

    fn code(url: &str, policy: &HopPolicy) -> &'static str {
        check_url(url, policy).map_or_else(|refusal| refusal.code(), |_| "ok")
    }

    #[test]
    fn each_rule_has_its_refusal() {
        let policy = HopPolicy::default();
        for (url, expected) in [
            ("https://example.com/", "ok"),
            (" https://example.com/a b?c=\\d#e ", "ok"),
            ("example.com", "url_invalid"),
            ("https://", "url_invalid"),
            ("https://exa mple.com/", "url_invalid"),
            ("https://example.com/\n", "url_control_character"),
            ("https://exam\tple.com/", "url_control_character"),
            ("https://example.com\\@127.0.0.1/", "url_backslash"),
            ("http://example.com/", "http_not_allowed"),
            ("ftp://example.com/", "scheme_not_allowed"),
            ("file:///etc/passwd", "scheme_not_allowed"),
            ("javascript:alert(1)", "scheme_not_allowed"),
            ("data:text/html,x", "scheme_not_allowed"),
            ("https://user@example.com/", "userinfo_not_allowed"),
            ("https://:pass@example.com/", "userinfo_not_allowed"),
            ("https://example.com:80@127.0.0.1/", "userinfo_not_allowed"),
            ("https://example.com:8443/", "port_not_allowed"),
            ("https://example.com:0/", "port_not_allowed"),
            ("https://a!b.com/", "host_invalid"),
            ("https://localhost/", "local_name"),
            ("https://LocalHost./", "local_name"),
            ("https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "local_name"),
            ("https://router/", "local_name"),
            ("https://metadata.google.internal/", "local_name"),
        ] {
            assert_eq!(code(url, &policy), expected, "{url}");
        }
        assert_eq!(
            code(
                &format!("https://example.com/{}", "a".repeat(9000)),
                &policy
            ),
            "url_too_long"
        );
        assert_eq!(
            code(
                &format!("https://example.com/{}", "ü".repeat(3000)),
                &policy
            ),
            "url_too_long"
        );
    }

    #[test]
    fn addresses_are_refused_in_every_spelling() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://１２７.0.0.1/",
            "http://127。0。0。1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://127.0.0.1./",
            "http://%31%32%37.0.0.1/",
            "http:////127.0.0.1/",
            "http:127.0.0.1",
        ] {
            let refusal = explain(url, &http(), &["93.184.215.14".parse().unwrap()]).unwrap_err();
            assert_eq!(refusal, Refusal::NotPublic(AddressClass::Loopback), "{url}");
        }
    }

    #[test]
    fn the_blocklist_holds_for_every_spelling() {
        let domains = DomainPolicy {
            block: DomainList::parse("bad.test 8.8.8.8").unwrap(),
            ..DomainPolicy::default()
        };
        let policy = HopPolicy {
            domains: Arc::new(domains),
            ..HopPolicy::default()
        };
        for url in [
            "https://bad.test/",
            "https://BAD.test./",
            "https://x.bad.test/",
            "https://ｂad.test/",
            "https://134744072/",
            "https://[::ffff:8.8.8.8]/",
        ] {
            assert_eq!(check_url(url, &policy), Err(Refusal::Blocklisted), "{url}");
        }
        assert!(check_url("https://notbad.test/", &policy).is_ok());
    }

    #[test]
    fn redirects_pass_the_same_gate() {
        let policy = HopPolicy::default();
        let from = Url::parse("https://pub.test/x/y").unwrap();
        let to = check_redirect(&from, "../a/./b?c#d", &policy).unwrap();
        assert_eq!(to.url.as_str(), "https://pub.test/a/b?c");
        for (location, refusal) in [
            ("http://pub.test/", Refusal::PlainHttp),
            ("gopher://127.0.0.1:6379/_x", Refusal::Scheme),
            ("https://pub.test@10.0.0.1/", Refusal::Userinfo),
            ("/\\10.0.0.1/", Refusal::Backslash),
            ("//localhost/", Refusal::LocalName),
            ("https://pub.test:22/", Refusal::Port(22)),
            ("/ok\n\tX: y", Refusal::ControlCharacter),
        ] {
            assert_eq!(
                check_redirect(&from, location, &policy),
                Err(refusal),
                "{location}"
            );
        }
        let literal = check_redirect(&from, "//10.0.0.1/", &policy).unwrap();
        assert_eq!(
            policy.admit(&literal, &[]),
            Err(Refusal::NotPublic(AddressClass::Private))
        );
    }

    #[test]
    fn refusals_do_not_repeat_what_was_refused() {
        let refusal = check_url(
            "https://s3cret:token@example.com/key",
            &HopPolicy::default(),
        )
        .unwrap_err();
        assert!(!format!("{refusal} {refusal:?}").contains("s3cret"));
    }
}
