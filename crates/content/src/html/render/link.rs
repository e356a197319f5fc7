//! Where a link may lead.

use std::collections::BTreeSet;

use html5ever::local_name;
use url::Url;

use crate::Flag;
use crate::html::dom::Element;

const MAX_LENGTH: usize = 2048;

/// The absolute address of a link, if it is of a kind that only leads to a document or a letter.
pub(crate) fn target(
    element: &Element,
    base: Option<&Url>,
    flags: &mut BTreeSet<Flag>,
) -> Option<String> {
    let href = element.attr(&local_name!("href"))?;
    resolve(href, base, flags)
}

/// The same for an address from elsewhere.
pub(crate) fn resolve(
    href: &str,
    base: Option<&Url>,
    flags: &mut BTreeSet<Flag>,
) -> Option<String> {
    let href = href.trim();
    if href.is_empty() || href.starts_with('#') || href.len() > MAX_LENGTH {
        return None;
    }
    let mut url = Url::options().base_url(base).parse(href).ok()?;
    match url.scheme() {
        "http" | "https" => {}
        "mailto" => {
            url.set_query(None);
            url.set_fragment(None);
        }
        "tel" | "ftp" | "file" => return None,
        _ => {
            flags.insert(Flag::UnsafeLink);
            return None;
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        flags.insert(Flag::LinkCredentials);
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
    }
    // What would end the link in markdown, or be invisible in it, is encoded.
    let text: String = url.into();
    let is_harmless = |byte: u8| byte.is_ascii_graphic() && !b"()<>\\".contains(&byte);
    if text.len() <= MAX_LENGTH && text.bytes().all(is_harmless) {
        return Some(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            c if c.is_whitespace() || c.is_control() => {}
            c => out.push(c),
        }
    }
    (out.len() <= MAX_LENGTH).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(href: &str) -> (Option<String>, Vec<Flag>) {
        let base = Url::parse("https://example.org/a/b").unwrap();
        let mut flags = BTreeSet::new();
        let target = resolve(href, Some(&base), &mut flags);
        (target, flags.into_iter().collect())
    }

    #[test]
    fn only_documents_and_letters_are_linked() {
        assert_eq!(go("c?d").0.as_deref(), Some("https://example.org/a/c?d"));
        assert_eq!(go("mailto:a@b.c?body=x").0.as_deref(), Some("mailto:a@b.c"));
        for href in [
            "javascript:x",
            " jav\tascript:x",
            "data:text/html,x",
            "vbscript:x",
            "blob:x",
        ] {
            assert_eq!(go(href), (None, vec![Flag::UnsafeLink]), "{href}");
        }
    }

    #[test]
    fn credentials_and_brackets_do_not_survive() {
        assert_eq!(
            go("https://u:p@h.test/(x)"),
            (
                Some("https://h.test/%28x%29".into()),
                vec![Flag::LinkCredentials]
            )
        );
    }
}
