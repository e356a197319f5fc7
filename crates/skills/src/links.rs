//! Addresses in a text: which hosts they lead to, and which of them hide it.

use regex::bytes::Regex;
use std::sync::LazyLock;
use url::{Host, Url};

/// An address longer than this is cut; its host stands at its beginning.
const MAX_ADDRESS: usize = 2048;

static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i-u)\b(?:https?|ftp|wss?)://[^\s"'<>`|\\{}\x00-\x20]+"#).ok());

/// An address in a text.
pub(crate) struct Link {
    /// Where it stands.
    pub(crate) at: usize,
    /// Its host, in the form in which it is dialled.
    pub(crate) host: String,
    /// The rule that finds fault with it.
    pub(crate) fault: Option<&'static str>,
}

/// The addresses of a text, in order.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let Some(address) = ADDRESS.as_ref() else {
        return Vec::new();
    };
    let found = address.find_iter(text.as_bytes());
    found
        .filter_map(|found| {
            let mut end = found.end().min(found.start() + MAX_ADDRESS);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let url = Url::parse(text.get(found.start()..end)?).ok()?;
            let host = url.host()?;
            let fault = match &host {
                Host::Ipv4(_) | Host::Ipv6(_) => Some("address_literal"),
                Host::Domain(name) if name.split('.').any(|label| label.starts_with("xn--")) => {
                    Some("foreign_letters")
                }
                Host::Domain(_) if !url.username().is_empty() || url.password().is_some() => {
                    Some("name_before_host")
                }
                Host::Domain(name) if name.ends_with(".onion") => Some("hidden_service"),
                Host::Domain(_) => None,
            };
            Some(Link {
                at: found.start(),
                host: host.to_string(),
                fault,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_as_they_are_dialled() {
        let text = "see HTTPS://Docs.Example/a, [x](http://10.0.0.1:80/) and https://bank.example@evil.example/ or https://аpple.example";
        let all: Vec<(String, Option<&str>)> = links(text)
            .into_iter()
            .map(|link| (link.host, link.fault))
            .collect();
        assert_eq!(
            all,
            [
                ("docs.example".to_owned(), None),
                ("10.0.0.1".to_owned(), Some("address_literal")),
                ("evil.example".to_owned(), Some("name_before_host")),
                ("xn--pple-43d.example".to_owned(), Some("foreign_letters")),
            ]
        );
    }

    #[test]
    fn what_is_no_address_is_none() {
        assert!(links("https:// http://[ ftp:/x example.org").is_empty());
        assert!(links(&"https://".repeat(10_000)).len() <= 1);
    }
}
