//! Forms that no single expression describes: addresses of mail, passwords in URLs, signed tokens, private keys.

use crate::{check, value};
use std::ops::Range;

/// A mail address around the `@` at `at`.
pub(crate) fn email(text: &[u8], at: usize) -> Option<Range<usize>> {
    let local =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'%' | b'+' | b'-' | b'\'');
    let before = text.get(at.saturating_sub(64)..at)?;
    let mut start = at - before.iter().rev().take_while(|b| local(b)).count();
    while start < at && matches!(text.get(start), Some(b'.' | b'\'' | b'-' | b'%' | b'+')) {
        start += 1;
    }
    if start == at || text.get(start..at)? == b"git" {
        return None;
    }
    let after = text.get(at + 1..text.len().min(at + 256))?;
    let length = after
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
        .count();
    let domain = std::str::from_utf8(after.get(..length)?)
        .ok()?
        .trim_end_matches(['.', '-']);
    let (name, top) = domain.rsplit_once('.')?;
    let labels = name
        .split('.')
        .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
    let known =
        top.len() >= 2 && top.bytes().all(|b| b.is_ascii_alphabetic()) || top.starts_with("xn--");
    let file = matches!(
        top.to_ascii_lowercase().as_str(),
        "png"
            | "jpg"
            | "jpeg"
            | "gif"
            | "svg"
            | "webp"
            | "js"
            | "css"
            | "ts"
            | "json"
            | "md"
            | "html"
    );
    (labels && known && !file).then_some(start..at + 1 + domain.len())
}

/// The password in the URL whose `://` is at `at`.
pub(crate) fn url_password(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = at + 3;
    let rest = bytes.get(from..bytes.len().min(from + 320))?;
    let end = rest.iter().position(|b| {
        b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'<' | b'>' | b'`' | b'\'')
    });
    let authority = rest.get(..end.unwrap_or(rest.len()))?;
    let sign = authority.iter().rposition(|b| *b == b'@')?;
    let colon = authority.get(..sign)?.iter().position(|b| *b == b':')?;
    let place = from + colon + 1..from + sign;
    let password = text.get(place.clone())?;
    let user = text.get(from..from + colon)?;
    let host = text.get(from + sign + 1..)?;
    // The other way round: the name is the token.
    if matches!(password, "x-oauth-basic" | "") && user.len() >= 16 && value::looks_random(user) {
        return Some(from..from + colon);
    }
    let told = host.starts_with("example.") && password.len() < 12;
    (value::looks_chosen(password) && user != password && !told).then_some(place)
}

/// A signed token whose `eyJ` is at `at`: its head must be JSON that says so.
pub(crate) fn jwt(text: &[u8], at: usize) -> Option<Range<usize>> {
    const MOST: usize = 16 << 10;
    if at
        .checked_sub(1)
        .and_then(|before| text.get(before))
        .is_some_and(|b| b.is_ascii_alphanumeric())
    {
        return None;
    }
    let part = |from: usize| {
        let rest = text
            .get(from..text.len().min(from + MOST))
            .unwrap_or_default();
        rest.iter()
            .take_while(|b| {
                b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'=' | b'+' | b'/')
            })
            .count()
    };
    let head = part(at);
    let head_bytes = check::base64(text.get(at..at + head)?, 1024)?;
    let says = |word: &[u8]| head_bytes.windows(word.len()).any(|window| window == word);
    if !head_bytes.starts_with(b"{\"")
        || !(says(b"\"alg\"") || says(b"\"typ\"") || says(b"\"kid\"") || says(b"\"enc\""))
    {
        return None;
    }
    let mut end = at + head;
    let mut parts = 1;
    while parts < 5 && text.get(end) == Some(&b'.') {
        let length = part(end + 1);
        end += 1 + length;
        parts += 1;
    }
    (parts >= 2 && end - at >= 30).then_some(at..end)
}

/// Where private key blocks end; remembered, so that many beginnings cost one search.
#[derive(Default)]
pub(crate) struct KeyBlocks {
    end_line: Search,
    mac_line: Search,
    /// The last end found.
    end: Option<usize>,
    /// As far as this it looks like a key.
    body: usize,
}

impl KeyBlocks {
    const MOST: usize = 16 << 10;

    /// A private key whose header line begins at `at`.
    pub(crate) fn look(&mut self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let head = text.get(at..text.len().min(at + 96))?.to_ascii_uppercase();
        let line = head.split(|b| matches!(b, b'\n' | b'\r' | b'\\')).next()?;
        let says = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
        let private = says(b"PRIVATE KEY") || says(b"PUTTY-USER-KEY-FILE");
        if !private {
            return None;
        }
        let body = at + line.len();
        let start = at
            - text
                .get(at.saturating_sub(5)..at)?
                .iter()
                .rev()
                .take_while(|b| **b == b'-')
                .count();
        Some(start..self.close(text, body).max(body))
    }

    fn close(&mut self, text: &[u8], body: usize) -> usize {
        if let Some(end) = self.end.filter(|end| *end > body) {
            return end;
        }
        let limit = text.len().min(body + Self::MOST);
        let found = self
            .end_line
            .find(text, body..limit, b"-----END")
            .or_else(|| self.mac_line.find(text, body..limit, b"Private-MAC"));
        let Some(from) = found else {
            return self.open_body(text, body);
        };
        let line = text
            .get(from..text.len().min(from + 80))
            .unwrap_or_default();
        let length = line
            .iter()
            .skip(8)
            .position(|b| matches!(b, b'\n' | b'\r' | b'"' | b'\\'))
            .map_or(line.len(), |at| at + 8);
        let dashes = line
            .iter()
            .take(length)
            .rposition(|b| *b == b'-')
            .map_or(length, |at| at + 1);
        let end = from + dashes.max(8.min(line.len()));
        self.end = Some(end);
        end
    }

    /// Without an end: as far as it looks like a key.
    fn open_body(&mut self, text: &[u8], body: usize) -> usize {
        const MOST: usize = 4096;
        let key = |b: &u8| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\' | b' ')
        };
        let limit = body + MOST;
        let from = body.max(self.body);
        let more = text
            .get(from..text.len().min(limit))
            .unwrap_or_default()
            .iter()
            .take_while(|b| key(b))
            .count();
        crate::work::looked(more);
        self.body = from + more;
        self.body.min(limit)
    }
}

/// A search that is asked again and again, from later places on: what was searched in vain is not searched again.
#[derive(Default)]
struct Search {
    none_until: usize,
}

impl Search {
    fn find(&mut self, text: &[u8], place: Range<usize>, needle: &[u8]) -> Option<usize> {
        // But for a needle that the last search may have cut.
        let from = place
            .start
            .max(self.none_until.saturating_sub(needle.len()));
        let rest = text.get(from..place.end).unwrap_or_default();
        let found = memchr::memmem::find(rest, needle);
        crate::work::searched(found.unwrap_or(rest.len()));
        if found.is_none() {
            self.none_until = self.none_until.max(place.end);
        }
        found.map(|found| from + found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail() {
        let text = "to: <jane.doe@mail.example.org>.";
        assert_eq!(
            email(text.as_bytes(), text.find('@').unwrap()).map(|at| &text[at]),
            Some("jane.doe@mail.example.org")
        );
        for text in [
            "icon@2x.png",
            "git@github.com:x/y",
            "a@b",
            "@user",
            "pkg@1.2.3",
            "x@.com",
        ] {
            assert_eq!(
                email(text.as_bytes(), text.find('@').unwrap()),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn passwords_in_urls() {
        let text = "postgres://app:s3cr3tPw@db.internal:5432/x";
        assert_eq!(
            url_password(text, text.find("://").unwrap()).map(|at| &text[at]),
            Some("s3cr3tPw")
        );
        for text in [
            "https://user:password@host/",
            "https://x.example/a:b@c",
            "https://u:${PW}@h",
            "http://host:8080/",
        ] {
            assert_eq!(
                url_password(text, text.find("://").unwrap()),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn keys_end_where_they_end() {
        let dashes = "-----";
        let text = format!(
            "x {dashes}BEGIN RSA PRIVATE KEY{dashes}\nabc\n{dashes}END RSA PRIVATE KEY{dashes}\ny"
        );
        let at = text.find("BEGIN").unwrap() - 5;
        let place = KeyBlocks::default().look(text.as_bytes(), at).unwrap();
        assert!(text[place.clone()].ends_with("KEY-----") && text[place].starts_with("-----BEGIN"));
        let public = format!("{dashes}BEGIN PUBLIC KEY{dashes}\nabc");
        assert_eq!(KeyBlocks::default().look(public.as_bytes(), 0), None);
    }
}
