//! The search for a charset in the first bytes of a document, as the HTML standard has it.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Browsers look at 1024 bytes and start over when a later element disagrees; looking further comes to the same.
const WINDOW: usize = 64 * 1024;

/// What `<meta>` says: a charset, and whether a charset was named that is UTF-7.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) encoding: Option<&'static Encoding>,
    pub(crate) utf7: bool,
}

/// Scans for `<meta charset>` and `<meta http-equiv=content-type>`.
pub(crate) fn prescan(bytes: &[u8]) -> Found {
    let bytes = bytes.get(..WINDOW).unwrap_or(bytes);
    let mut found = Found::default();
    let mut at = 0;
    while let Some(open) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| *byte == b'<'))
    {
        at += open;
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(b"<!--") {
            // The two dashes that open a comment may be those that close it.
            match find(rest.get(2..).unwrap_or_default(), b"-->") {
                Some(end) => at += end + 5,
                None => return found,
            }
        } else if is_meta(rest) {
            let mut scan = Scan { bytes, at: at + 5 };
            let Some(element) = meta(&mut scan) else {
                return found;
            };
            at = scan.at;
            if let Some(label) = element {
                found.utf7 |= is_utf7(&label);
                if let Some(encoding) = for_label(&label) {
                    found.encoding = Some(encoding);
                    return found;
                }
            }
        } else if rest.get(1).is_some_and(u8::is_ascii_alphabetic)
            || (rest.get(1) == Some(&b'/') && rest.get(2).is_some_and(u8::is_ascii_alphabetic))
        {
            let mut scan = Scan { bytes, at: at + 1 };
            scan.skip_while(|byte| !byte.is_ascii_whitespace() && byte != b'>');
            while let Some(attribute) = scan.attribute() {
                if attribute.is_none() {
                    break;
                }
            }
            at = scan.at.max(at + 1);
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            match rest.iter().position(|byte| *byte == b'>') {
                Some(end) => at += end + 1,
                None => return found,
            }
        } else {
            at += 1;
        }
    }
    found
}

/// The encoding of an XML declaration.
pub(crate) fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..256).unwrap_or(bytes);
    if !head.starts_with(b"<?xml") {
        return None;
    }
    let end = find(head, b"?>").unwrap_or(head.len());
    let head = head.get(..end)?;
    let rest = head
        .get(find(head, b"encoding")? + 8..)?
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let label = rest.get(1..)?.split(|byte| *byte == quote).next()?;
    for_label(label)
}

/// A label as documents may use it on themselves: one that says UTF-16 in bytes that were readable is wrong.
fn for_label(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

/// Names of UTF-7 in its two variants.
pub(crate) fn is_utf7(label: &[u8]) -> bool {
    let label = label.trim_ascii().to_ascii_lowercase();
    matches!(
        label.as_slice(),
        b"utf-7" | b"utf7" | b"unicode-1-1-utf-7" | b"csunicode11utf7" | b"x-imap4-modified-utf7"
    )
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(1..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
        && rest
            .get(5)
            .is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

/// Reads the attributes of a `meta`. The outer `None`: the document ended in it.
fn meta(scan: &mut Scan<'_>) -> Option<Option<Vec<u8>>> {
    let (mut pragma, mut charset, mut content) = (false, None, None);
    while let Some((name, value)) = scan.attribute()? {
        match name.as_slice() {
            b"http-equiv" => pragma |= value.eq_ignore_ascii_case(b"content-type"),
            b"charset" if charset.is_none() => charset = Some(value),
            b"content" if content.is_none() => content = from_content(&value),
            _ => {}
        }
    }
    Some(charset.or(content.filter(|_| pragma)))
}

/// The charset in `text/html; charset=…`.
fn from_content(value: &[u8]) -> Option<Vec<u8>> {
    let lower = value.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let at = find(lower.get(from..)?, b"charset")? + from + 7;
        let rest = lower.get(at..)?.trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"=") else {
            from = at;
            continue;
        };
        let rest = rest.trim_ascii_start();
        return match rest.first()? {
            quote @ (b'"' | b'\'') => {
                let inside = rest.get(1..)?;
                let end = inside.iter().position(|byte| byte == quote)?;
                inside.get(..end).map(<[u8]>::to_vec)
            }
            _ => rest
                .split(|byte| byte.is_ascii_whitespace() || *byte == b';')
                .next()
                .map(<[u8]>::to_vec),
        };
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_while(&mut self, test: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&test) {
            self.at += 1;
        }
    }

    /// The next attribute, lower case; `Some(None)` at the end of the tag, `None` at the end of the document.
    fn attribute(&mut self) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
        self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if self.peek()? == b'>' {
            self.at += 1;
            return Some(None);
        }
        let start = self.at;
        // An equals sign at the very beginning belongs to the name.
        self.at += 1;
        self.skip_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'/' | b'>'));
        let name = self.bytes.get(start..self.at)?.to_ascii_lowercase();
        self.skip_while(|byte| byte.is_ascii_whitespace());
        if self.peek()? != b'=' {
            return Some(Some((name, Vec::new())));
        }
        self.at += 1;
        self.skip_while(|byte| byte.is_ascii_whitespace());
        let value = match self.peek()? {
            quote @ (b'"' | b'\'') => {
                let start = self.at + 1;
                self.at = start;
                self.skip_while(|byte| byte != quote);
                self.peek()?;
                let value = self.bytes.get(start..self.at)?;
                self.at += 1;
                value
            }
            b'>' => &[],
            _ => {
                let start = self.at;
                self.skip_while(|byte| !byte.is_ascii_whitespace() && byte != b'>');
                self.peek()?;
                self.bytes.get(start..self.at)?
            }
        };
        Some(Some((name, value.to_ascii_lowercase())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(html: &str) -> Option<&'static str> {
        prescan(html.as_bytes()).encoding.map(Encoding::name)
    }

    #[test]
    fn finds_what_browsers_find() {
        assert_eq!(name("<meta charset=koi8-r>"), Some("KOI8-R"));
        assert_eq!(
            name("<!-- <meta charset=koi8-r> --><META CHARSET = 'big5'>"),
            Some("Big5")
        );
        assert_eq!(
            name("<meta content='text/html; charset=euc-jp' http-equiv=Content-Type>"),
            Some("EUC-JP")
        );
        assert_eq!(
            name("<p title='<meta charset=koi8-r>'><meta charset=utf-16>"),
            Some("UTF-8")
        );
        assert_eq!(name("<meta charset=bogus><meta charset=gbk>"), Some("GBK"));
    }

    #[test]
    fn finds_nothing_where_browsers_find_nothing() {
        for html in [
            "<metacharset=koi8-r>",
            "<meta content='text/html; charset=koi8-r'>",
            "<meta charset=koi8-r",
            "<",
            "<!--",
        ] {
            assert_eq!(name(html), None, "{html}");
        }
    }

    #[test]
    fn utf7_is_noticed_and_not_believed() {
        assert_eq!(
            prescan(b"<meta charset=UTF-7>"),
            Found {
                encoding: None,
                utf7: true
            }
        );
    }
}
