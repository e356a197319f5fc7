//! Addresses in an answer: where they stand, what they are made of, and whether a reader's program fetches them unasked.

use memchr::memchr2_iter;
use std::ops::Range;

/// Longest address that is looked at as a whole.
pub(crate) const MAX_URL: usize = 4096;
/// Bytes before an address in which the markup around it is looked for.
pub(crate) const LOOK_BACK: usize = 512;

/// How an address stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An image, a frame, a style: fetched as soon as the answer is shown.
    Fetched,
    /// A link, or plain text: somebody has to click it.
    Clicked,
}

/// One address in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) place: Place,
    /// It goes on beyond [`MAX_URL`] bytes.
    pub(crate) overlong: bool,
    /// The text ends before it does.
    pub(crate) open: bool,
}

/// All addresses of `text` that begin at `from` or later.
pub(crate) fn find(text: &str, from: usize) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut done = from;
    let is_slash = |at: usize| matches!(text.as_bytes().get(at), Some(b'/' | b'\\'));
    for slashes in memchr2_iter(b'/', b'\\', text.as_bytes()) {
        // Browsers take either slash for the other.
        if slashes < done || !is_slash(slashes + 1) {
            continue;
        }
        let Some(start) = start_of(text, slashes).filter(|start| *start >= done) else {
            continue;
        };
        let (end, overlong) = end_of(text, start);
        if end <= slashes + 2 && end < text.len() {
            continue;
        }
        found.push(Found {
            range: start..end,
            place: place(text, start),
            overlong,
            open: end == text.len() && !overlong,
        });
        done = end;
    }
    found
}

/// Where the address with slashes at `slashes` begins: at its scheme, or at the slashes if markup says it is one.
fn start_of(text: &str, slashes: usize) -> Option<usize> {
    let before = text.as_bytes().get(..slashes)?;
    let Some(before_colon) = before.strip_suffix(b":") else {
        let last = before.trim_ascii_end().last()?;
        return matches!(last, b'(' | b'"' | b'\'' | b'=' | b'<')
            .then_some(slashes)
            .filter(|_| is_marked(text, slashes));
    };
    let letters = before_colon
        .iter()
        .rev()
        .take(8)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let scheme = before_colon.get(before_colon.len() - letters..)?;
    ["https", "http", "ftp", "ftps", "wss", "ws"]
        .iter()
        .find(|known| {
            scheme.len() >= known.len()
                && scheme
                    .get(scheme.len() - known.len()..)
                    .is_some_and(|tail| tail.eq_ignore_ascii_case(known.as_bytes()))
        })
        .map(|known| before_colon.len() - known.len())
}

/// Where the address ends, and whether it was cut.
fn end_of(text: &str, start: usize) -> (usize, bool) {
    if let Some(quote) = attribute_quote(text, start) {
        return end_of_attribute(text, start, quote);
    }
    let mut open: i32 = 0;
    for (at, c) in text.get(start..).unwrap_or_default().char_indices() {
        if at >= MAX_URL {
            return (start + at, true);
        }
        let ends = match c {
            '(' => {
                open += 1;
                false
            }
            ')' => {
                open -= 1;
                open < 0
            }
            '<' | '>' | '"' | '\'' | '`' | ']' | '|' | '}' => {
                c != '}'
                    || open <= 0
                        && !text
                            .get(start..start + at)
                            .unwrap_or_default()
                            .contains('{')
            }
            _ => c.is_whitespace() || c.is_control(),
        };
        if ends {
            return (start + at, false);
        }
    }
    (text.len(), false)
}

/// The quotation mark of the attribute that begins with this address.
fn attribute_quote(text: &str, start: usize) -> Option<char> {
    let before = text.get(..start)?;
    ['"', '\''].into_iter().find(|quote| {
        before
            .strip_suffix(*quote)
            .is_some_and(|rest| rest.ends_with('='))
    })
}

/// An attribute goes on over line breaks, which browsers drop from addresses.
fn end_of_attribute(text: &str, start: usize, quote: char) -> (usize, bool) {
    let rest = text.get(start..).unwrap_or_default();
    let head = rest
        .get(..rest.floor_char_boundary(MAX_URL))
        .unwrap_or_default();
    match head.find([quote, '<', '>']) {
        Some(at) => (start + at, false),
        None => (start + head.len(), head.len() < rest.len()),
    }
}

fn look_back(text: &str, start: usize) -> &str {
    let from = text.ceil_char_boundary(start.saturating_sub(LOOK_BACK));
    text.get(from..start).unwrap_or_default()
}

fn is_marked(text: &str, start: usize) -> bool {
    let before = look_back(text, start)
        .trim_end()
        .trim_end_matches(['"', '\'', '<'])
        .trim_end();
    before.ends_with("](") || before.ends_with('=') || before.ends_with("url(")
}

/// What the markup before the address makes of it.
fn place(text: &str, start: usize) -> Place {
    let before = look_back(text, start);
    let bare = before
        .trim_end()
        .trim_end_matches(['"', '\'', '<'])
        .trim_end();
    if let Some(label) = bare.strip_suffix("](") {
        return if is_image(label) {
            Place::Fetched
        } else {
            Place::Clicked
        };
    }
    let lower = bare.to_ascii_lowercase();
    if lower.ends_with("url(") || lower.ends_with("@import") || is_definition(bare) {
        return Place::Fetched;
    }
    in_tag(&lower)
}

/// Whether the bracket that closes after `label` was opened by an image.
fn is_image(label: &str) -> bool {
    let mut depth = 0_usize;
    let bytes = label.as_bytes();
    for (at, byte) in bytes.iter().enumerate().rev() {
        match byte {
            b']' => depth += 1,
            b'[' if depth > 0 => depth -= 1,
            b'[' => return at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'!'),
            _ => {}
        }
    }
    // The label began too far back to be seen: then it may well be an image.
    label.len() + 2 >= LOOK_BACK
}

/// `[name]:` at the beginning of a line; images may refer to it from anywhere.
fn is_definition(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    line.starts_with('[') && line.ends_with("]:")
}

/// Elements whose addresses are fetched as soon as they are shown.
const FETCHING: [&str; 18] = [
    "img", "image", "iframe", "frame", "script", "link", "video", "audio", "source", "embed",
    "object", "input", "body", "track", "base", "meta", "use", "style",
];

/// What the element makes of an address among its attributes.
fn in_tag(before: &str) -> Place {
    let Some((_, tag)) = before.rsplit_once('<') else {
        return Place::Clicked;
    };
    let is_tag = !tag.contains('>') && tag.starts_with(|c: char| c.is_ascii_alphabetic());
    let name: &str = tag
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    let fetched = FETCHING.contains(&name)
        || [
            "src=",
            "srcset=",
            "background=",
            "poster=",
            "ping=",
            "style=",
        ]
        .iter()
        .any(|attribute| tag.contains(attribute));
    if is_tag && tag.len() > name.len() && fetched {
        Place::Fetched
    } else {
        Place::Clicked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (&str, Place) {
        let found = find(text, 0);
        assert_eq!(found.len(), 1, "{text} {found:?}");
        (&text[found[0].range.clone()], found[0].place)
    }

    #[test]
    fn markup_decides_who_fetches() {
        for (text, url, place) in [
            (
                "see https://a.example/x, or",
                "https://a.example/x,",
                Place::Clicked,
            ),
            (
                "![a [b] c](https://a.example/x)",
                "https://a.example/x",
                Place::Fetched,
            ),
            (
                "![a](<https://a.example/x>)",
                "https://a.example/x",
                Place::Fetched,
            ),
            (
                "[a](https://a.example/x_(y))",
                "https://a.example/x_(y)",
                Place::Clicked,
            ),
            ("![a]( //a.example/x )", "//a.example/x", Place::Fetched),
            (
                "<img alt=x src='HTTPS://a.example/x'>",
                "HTTPS://a.example/x",
                Place::Fetched,
            ),
            ("<img src=//a.example/x>", "//a.example/x", Place::Fetched),
            (
                "<a href=\"https://a.example/x\">",
                "https://a.example/x",
                Place::Clicked,
            ),
            (
                "<div style=\"background:url(https://a.example/x)\">",
                "https://a.example/x",
                Place::Fetched,
            ),
            (
                "\n[ref]: https://a.example/x\n",
                "https://a.example/x",
                Place::Fetched,
            ),
            (
                "<img src=\"https:\\\\a.example\\x\">",
                "https:\\\\a.example\\x",
                Place::Fetched,
            ),
            (
                "<img src=\"https://a.example/x\n y\" alt>",
                "https://a.example/x\n y",
                Place::Fetched,
            ),
            (
                "a < b https://a.example/x",
                "https://a.example/x",
                Place::Clicked,
            ),
        ] {
            let found: Vec<Found> = find(text, 0);
            assert_eq!(found.len(), 1, "{text} {found:?}");
            assert_eq!(
                (&text[found[0].range.clone()], found[0].place),
                (url, place),
                "{text}"
            );
        }
        assert_eq!(one("[![i](https://a.example/i)](b)").1, Place::Fetched);
    }

    #[test]
    fn comments_and_empty_schemes_are_no_addresses() {
        for text in ["// a comment", "x = 1; // y", "a//b", "://x", "(// note)"] {
            assert!(find(text, 0).is_empty(), "{text}");
        }
    }

    #[test]
    fn endless_addresses_are_cut() {
        let text = format!("![x](https://a.example/{})", "a".repeat(10_000));
        let found = find(&text, 0);
        assert!(found[0].overlong && found[0].range.len() <= MAX_URL + 4);
    }
}
