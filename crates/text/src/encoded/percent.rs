//! Percent-encoding, as in URLs.

use super::bytes::{ByteEscapes, hex_byte};
use super::substitute;
use crate::explore::Finds;
use crate::views::ViewKind;

/// Fewest escapes in a group.
const MIN_ESCAPES: usize = 3;

pub(super) fn find(text: &str, finds: &mut Finds<'_>) {
    let bytes = text.as_bytes();
    let mut escapes = ByteEscapes::default();
    let mut at = 0;
    while let Some(ahead) = memchr::memchr(b'%', bytes.get(at..).unwrap_or_default()) {
        let start = at + ahead;
        at = start + 1;
        if let Some(byte) = bytes.get(at..at + 2).and_then(hex_byte) {
            at += 2;
            escapes.push(byte, start..at);
        } else if let Some(c) = wide(bytes, at) {
            at += 5;
            escapes.push_char(c, start..at);
        }
    }
    substitute::resolve(text, escapes.finish(), ViewKind::Percent, finds, |group| {
        group.len() >= MIN_ESCAPES
    });
}

/// The non-standard `%uXXXX` of old scripts.
fn wide(bytes: &[u8], at: usize) -> Option<char> {
    let digits = bytes.get(at..at + 5)?.strip_prefix(b"u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use crate::{ViewKind, Views};

    fn percent(input: &str) -> Option<String> {
        let views = Views::of(input);
        views
            .iter()
            .find(|view| view.kind() == ViewKind::Percent)
            .map(|view| view.text().to_owned())
    }

    #[test]
    fn passages_are_resolved_in_place() {
        assert_eq!(
            percent("see /q?x=%69%67%6e%6fre%20all now").unwrap(),
            "see /q?x=ignore all now"
        );
        assert_eq!(percent("%D0%98%D0%B3%D0%BD%D0%BE%D1%80").unwrap(), "игнор");
        assert_eq!(percent("%u0069%u0067%u006e").unwrap(), "ign");
    }

    #[test]
    fn percentages_are_left_alone() {
        for text in [
            "up 20% in May, 35% in June, 50% in July",
            "100%",
            "a%20b",
            "%zz%zz%zz%zz",
            "%",
            "%4",
        ] {
            assert_eq!(percent(text), None, "{text}");
        }
    }

    #[test]
    fn the_origin_is_the_escapes() {
        let input = "go %69%67%6E%6F%72%65 go";
        let views = Views::of(input);
        let view = views
            .iter()
            .find(|view| view.kind() == ViewKind::Percent)
            .unwrap();
        let at = view.text().find("ignore").unwrap();
        let span = view.origin(at..at + 6);
        assert_eq!(&input[span.start..span.end], "%69%67%6E%6F%72%65");
    }
}
