//! A text reduced to what its characters look like, each byte with its place in the original.

use crate::glyph::{self, JOINT, NOTHING, OTHER, SPACE};

/// Longest entity or escape that is read as one character.
const MAX_ESCAPE: usize = 12;

/// Looks of the characters of a text without white space, invisible characters and joints.
pub(crate) struct Skeleton {
    pub(crate) looks: Vec<u8>,
    places: Vec<(u32, u32)>,
}

impl Skeleton {
    /// Reads `text`; what lies beyond four gigabytes is not looked at.
    pub(crate) fn of(text: &str) -> Self {
        let mut skeleton = Self {
            looks: Vec::with_capacity(text.len()),
            places: Vec::with_capacity(text.len()),
        };
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = if byte.is_ascii() {
                skeleton.ascii(text, byte, at)
            } else {
                skeleton.foreign(text, at)
            };
        }
        skeleton
    }

    #[inline]
    fn ascii(&mut self, text: &str, byte: u8, at: usize) -> usize {
        if matches!(byte, b'&' | b'\\' | b'%')
            && let Some((c, len)) = escaped(text.as_bytes().get(at..).unwrap_or_default())
        {
            self.push(glyph::look(c), glyph::weight(c), at, at + len);
            return at + len;
        }
        if byte != b'\\' {
            self.push(glyph::ascii(byte), 1, at, at + 1);
        }
        at + 1
    }

    fn foreign(&mut self, text: &str, at: usize) -> usize {
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            return at + 1;
        };
        let end = at + c.len_utf8();
        self.push(glyph::look(c), glyph::weight(c), at, end);
        end
    }

    #[inline]
    fn push(&mut self, look: u8, times: usize, start: usize, end: usize) {
        if matches!(look, NOTHING | SPACE | JOINT) {
            return;
        }
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        for _ in 0..times {
            self.looks.push(look);
            self.places.push((place(start), place(end)));
        }
    }

    /// Where in the original the look at `index` begins.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.places
            .get(index)
            .map_or(usize::MAX, |(start, _)| *start as usize)
    }

    /// Where in the original the look at `index` ends.
    pub(crate) fn end(&self, index: usize) -> usize {
        self.places
            .get(index)
            .map_or(usize::MAX, |(_, end)| *end as usize)
    }

    pub(crate) fn at(&self, index: usize) -> u8 {
        self.looks.get(index).copied().unwrap_or(OTHER)
    }

    pub(crate) fn from(&self, index: usize) -> &[u8] {
        self.looks.get(index..).unwrap_or_default()
    }
}

/// The character that `rest` begins with in an escaped form, and the form's length.
fn escaped(rest: &[u8]) -> Option<(char, usize)> {
    match rest {
        [b'&', b'#', b'x' | b'X', digits @ ..] => numeric(digits, 16, 3),
        [b'&', b'#', digits @ ..] => numeric(digits, 10, 2),
        [b'&', name @ ..] => named(name),
        [b'\\', b'n' | b'r' | b't', ..] => Some((' ', 2)),
        [b'\\', b'u' | b'U', b'{', digits @ ..] => braced(digits),
        [b'\\', b'u', digits @ ..] => fixed(digits, 4, 2),
        [b'\\', b'U', digits @ ..] => fixed(digits, 8, 2),
        [b'\\', b'x', digits @ ..] => fixed(digits, 2, 2),
        [b'%', digits @ ..] => fixed(digits, 2, 1).filter(|(c, _)| c.is_ascii()),
        _ => None,
    }
}

fn numeric(digits: &[u8], radix: u32, before: usize) -> Option<(char, usize)> {
    let count = digits
        .iter()
        .take(MAX_ESCAPE)
        .take_while(|byte| char::from(**byte).is_digit(radix))
        .count();
    let c = code(digits.get(..count)?, radix)?;
    let semicolon = usize::from(digits.get(count) == Some(&b';'));
    Some((c, before + count + semicolon))
}

fn braced(digits: &[u8]) -> Option<(char, usize)> {
    let close = digits
        .iter()
        .take(MAX_ESCAPE)
        .position(|byte| *byte == b'}')?;
    Some((code(digits.get(..close)?, 16)?, close + 4))
}

fn fixed(digits: &[u8], count: usize, before: usize) -> Option<(char, usize)> {
    Some((code(digits.get(..count)?, 16)?, before + count))
}

fn code(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

fn named(name: &[u8]) -> Option<(char, usize)> {
    const NAMES: [(&[u8], char); 18] = [
        (b"lt", '<'),
        (b"gt", '>'),
        (b"LT", '<'),
        (b"GT", '>'),
        (b"lang", '<'),
        (b"rang", '>'),
        (b"laquo", '«'),
        (b"raquo", '»'),
        (b"lsaquo", '<'),
        (b"rsaquo", '>'),
        (b"lbrack", '['),
        (b"rbrack", ']'),
        (b"lsqb", '['),
        (b"rsqb", ']'),
        (b"vert", '|'),
        (b"lowbar", '_'),
        (b"sol", '/'),
        (b"colon", ':'),
    ];
    let (found, c) = NAMES.iter().find(|(known, _)| name.starts_with(known))?;
    let semicolon = usize::from(name.get(found.len()) == Some(&b';'));
    // Only the oldest names may go without their semicolon.
    (semicolon == 1 || found.len() == 2).then_some((*c, 1 + found.len() + semicolon))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(text: &str) -> String {
        Skeleton::of(text)
            .looks
            .iter()
            .copied()
            .map(char::from)
            .collect()
    }

    #[test]
    fn escapes_are_read_through() {
        for text in [
            "<<END>>",
            "&lt;&lt;END&gt;&gt;",
            "&#60;&#x3c;E&#78;D&gt&gt",
            "\\u003c\\u003CEND\\u{3e}\\x3e",
            "%3C%3cE%4ED%3E>",
            "< <\u{200b}E_N-D\n>>",
        ] {
            assert_eq!(looks(text), "<<end>>", "{text}");
        }
    }

    #[test]
    fn places_lead_back() {
        let text = "a &lt;ж";
        let skeleton = Skeleton::of(text);
        assert_eq!((skeleton.start(1), skeleton.end(1)), (2, 6));
        assert_eq!((skeleton.start(2), skeleton.end(2)), (6, 8));
    }
}
