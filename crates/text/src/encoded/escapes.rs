//! Backslash escapes of programming languages: `\u0069`, `\u{69}`, `\U00000069` and `\x69`.

use super::bytes::{ByteEscapes, hex_byte};
use super::substitute;
use crate::explore::Finds;
use crate::passage::EditText;
use crate::views::ViewKind;

/// Fewest escapes in a group.
const MIN_ESCAPES: usize = 2;

pub(super) fn find(text: &str, finds: &mut Finds<'_>) {
    let bytes = text.as_bytes();
    let mut escapes = ByteEscapes::default();
    let mut high: Option<(u32, usize)> = None;
    let mut at = 0;
    while let Some(ahead) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
        let start = at + ahead;
        at = start + 1;
        let rest = bytes.get(at..).unwrap_or_default();
        if let Some(byte) = rest
            .strip_prefix(b"x")
            .and_then(|rest| rest.get(..2))
            .and_then(hex_byte)
        {
            at += 3;
            escapes.push(byte, start..at);
            continue;
        }
        let Some((value, len)) = code_point(rest) else {
            continue;
        };
        at += len;
        let lead = high.take().filter(|(_, first)| *first + 6 == start);
        match (value, lead) {
            (0xd800..=0xdbff, _) => high = Some((value, start)),
            (0xdc00..=0xdfff, Some((lead, first))) => {
                let c = char::from_u32(0x1_0000 + ((lead - 0xd800) << 10) + (value - 0xdc00));
                escapes.push_char(c.unwrap_or(char::REPLACEMENT_CHARACTER), first..at);
            }
            _ => {
                if let Some(c) = char::from_u32(value) {
                    escapes.push_char(c, start..at);
                }
            }
        }
    }
    // Escaped control characters abound in code and hide nothing.
    let telling = |text: &EditText| matches!(text, EditText::Char(c) if !c.is_control());
    substitute::resolve(text, escapes.finish(), ViewKind::Escapes, finds, |group| {
        group.iter().filter(|edit| telling(&edit.text)).count() >= MIN_ESCAPES
    });
}

/// The value and length of `u0069`, `u{69}` or `U00000069`.
fn code_point(rest: &[u8]) -> Option<(u32, usize)> {
    match rest {
        [b'u', b'{', braced @ ..] => {
            let len = braced.iter().take(7).position(|byte| *byte == b'}')?;
            Some((hex(braced.get(..len)?)?, len + 3))
        }
        [b'u', digits @ ..] => Some((hex(digits.get(..4)?)?, 5)),
        [b'U', digits @ ..] => Some((hex(digits.get(..8)?)?, 9)),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| all_digits)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use crate::{ViewKind, Views};

    fn escapes(input: &str) -> Option<String> {
        let views = Views::of(input);
        views
            .iter()
            .find(|view| view.kind() == ViewKind::Escapes)
            .map(|view| view.text().to_owned())
    }

    #[test]
    fn every_form_is_resolved() {
        assert_eq!(escapes(r"\u0069\u0067\u006eore").unwrap(), "ignore");
        assert_eq!(escapes(r"\x69\x67nore").unwrap(), "ignore");
        assert_eq!(escapes(r"\u{69}\u{67}\u{6e}ore").unwrap(), "ignore");
        assert_eq!(escapes(r"\U00000069\U00000067nore").unwrap(), "ignore");
        assert_eq!(escapes(r"\xd0\x98\xd0\xb3\xd0\xbd!").unwrap(), "игн!");
        assert_eq!(
            escapes(r"\ud83d\ude00 and \ud83d\ude00").unwrap(),
            "😀 and 😀"
        );
    }

    #[test]
    fn backslashes_elsewhere_are_left_alone() {
        for text in [
            r"C:\users\x\update",
            r"\d+\w*\s",
            r"line\nline\n",
            r"\x1b[0m\x1b[1m",
            r"\u12",
            r"\",
            r"\u{}",
            r"\ud800\ud800",
        ] {
            assert_eq!(escapes(text), None, "{text}");
        }
    }
}
