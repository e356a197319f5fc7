//! What is written inside a text in another spelling, each byte mapped back to where it came from.

mod decoded;

use crate::Seen;
pub(crate) use decoded::decoded;
use std::ops::Range;

/// A text within a text.
pub(crate) struct View {
    pub(crate) text: String,
    pub(crate) seen: Seen,
    /// Not all of it is text: what looks like a person's data in it was put there by a format.
    pub(crate) binary: bool,
    map: Map,
}

enum Map {
    /// Characters per group and bytes per group, from a place on.
    Groups {
        start: usize,
        end: usize,
        chars: usize,
        bytes: usize,
    },
    /// From the end to the beginning.
    Back(usize),
    /// The place of every byte.
    Table(Vec<(u32, u32)>, usize),
}

impl View {
    /// The place in the outer text of a place in this one.
    pub(crate) fn origin(&self, place: &Range<usize>) -> Range<usize> {
        match &self.map {
            Map::Groups {
                start,
                end,
                chars,
                bytes,
            } => {
                let from = start + place.start * chars / bytes;
                let to = start + (place.end * chars).div_ceil(*bytes);
                from.min(*end)..to.min(*end)
            }
            Map::Back(end) => end.saturating_sub(place.end)..end.saturating_sub(place.start),
            Map::Table(places, base) => {
                let from = places
                    .get(place.start)
                    .map_or(0, |(from, _)| *from as usize);
                let to = place
                    .end
                    .checked_sub(1)
                    .and_then(|last| places.get(last))
                    .map_or(from, |(_, to)| *to as usize);
                base + from..base + to.max(from)
            }
        }
    }
}

/// Pieces joined; `places` are the bytes that stay.
pub(crate) fn joined(text: &[u8], places: impl Iterator<Item = usize>) -> View {
    let mut joined = String::new();
    let mut map = Vec::new();
    for place in places {
        if let Some(byte) = text.get(place).filter(|b| b.is_ascii()) {
            joined.push(char::from(*byte));
            map.push((place as u32, place as u32 + 1));
        }
    }
    View {
        text: joined,
        binary: false,
        seen: Seen::Split,
        map: Map::Table(map, 0),
    }
}

/// A run read backwards, or with its letters shifted by thirteen.
pub(crate) fn turned(text: &[u8], run: Range<usize>, backwards: bool) -> View {
    let bytes = text.get(run.clone()).unwrap_or_default();
    let ascii = |b: &u8| if b.is_ascii() { char::from(*b) } else { '?' };
    let shift = |b: &u8| match b {
        b'a'..=b'm' | b'A'..=b'M' => char::from(b + 13),
        b'n'..=b'z' | b'N'..=b'Z' => char::from(b - 13),
        b => ascii(b),
    };
    let (text, map) = if backwards {
        (bytes.iter().rev().map(ascii).collect(), Map::Back(run.end))
    } else {
        let map = Map::Groups {
            start: run.start,
            end: run.end,
            chars: 1,
            bytes: 1,
        };
        (bytes.iter().map(shift).collect(), map)
    };
    View {
        text,
        binary: false,
        seen: Seen::Encoded,
        map,
    }
}

/// The beginning of the word that holds the last trick of a text, if one is near its end.
pub(crate) fn last_trick(text: &str, near: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let from = bytes.len().saturating_sub(near);
    let at = (from..bytes.len()).find(|at| trick(bytes, *at))?;
    let before = bytes.get(..at)?;
    Some(
        before
            .iter()
            .rposition(u8::is_ascii_whitespace)
            .map_or(0, |place| place + 1),
    )
}

/// Whether a byte begins something that `unfold` would change, and that may hide letters.
pub(crate) fn trick(text: &[u8], at: usize) -> bool {
    let byte = |ahead: usize| text.get(at + ahead).copied().unwrap_or_default();
    match byte(0) {
        b'%' => {
            matches!(byte(1), b'2'..=b'7')
                && byte(2).is_ascii_hexdigit()
                && !matches!((byte(1), byte(2)), (b'2', b'0'))
        }
        b'&' => byte(1) == b'#',
        b'\\' => {
            matches!(byte(1), b'u' | b'x' | b'U')
                && (byte(2).is_ascii_hexdigit() || byte(2) == b'{')
        }
        _ => hidden(text, at).is_some() || wide_form(text, at).is_some(),
    }
}

/// The length of an invisible character.
pub(crate) fn hidden(text: &[u8], at: usize) -> Option<usize> {
    let byte = |ahead: usize| text.get(at + ahead).copied().unwrap_or_default();
    match (byte(0), byte(1), byte(2)) {
        (0xC2, 0xAD, _) | (0xCD, 0x8F, _) | (0xD8, 0x9C, _) => Some(2),
        (0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE)
        | (0xE2, 0x81, 0xA0..=0xAF)
        | (0xEF, 0xBB, 0xBF)
        | (0xEF, 0xB8, 0x80..=0x8F)
        | (0xE1, 0xA0, 0x8E)
        | (0xE1, 0x85, 0x9F | 0xA0)
        | (0xE3, 0x85, 0xA4) => Some(3),
        (0xF3, 0xA0, _) => Some(4),
        _ => None,
    }
}

/// The plain letter of a full-width one.
pub(crate) fn wide_form(text: &[u8], at: usize) -> Option<char> {
    let rest = text.get(at..at + 3)?;
    match rest {
        [0xEF, 0xBC | 0xBD, _] => {
            let c = std::str::from_utf8(rest).ok()?.chars().next()?;
            let code = u32::from(c);
            (0xFF01..=0xFF5E)
                .contains(&code)
                .then(|| char::from_u32(code - 0xFEE0))
                .flatten()
        }
        _ => None,
    }
}

/// A passage with percent codes, entities and escapes resolved, full-width letters made plain and invisible ones gone.
/// Nothing if none of that was there.
pub(crate) fn unfold(text: &str, passage: Range<usize>) -> Option<View> {
    let bytes = text.as_bytes().get(..passage.end)?;
    let mut out = String::with_capacity(passage.len());
    let mut map: Vec<(u32, u32)> = Vec::with_capacity(passage.len());
    let (mut at, base) = (passage.start, passage.start);
    let (mut resolved, mut dropped) = (0_usize, 0_usize);
    while at < passage.end {
        let (c, length) = match code(bytes, at) {
            Some(found) => {
                resolved += 1;
                found
            }
            None => {
                if let Some(length) = hidden(bytes, at) {
                    dropped += 1;
                    at += length;
                    continue;
                }
                if let Some(c) = wide_form(bytes, at) {
                    resolved += 1;
                    (c, 3)
                } else {
                    let c = text.get(at..)?.chars().next()?;
                    (c, c.len_utf8())
                }
            }
        };
        let place = ((at - base) as u32, (at - base + length) as u32);
        out.push(c);
        map.resize(out.len(), place);
        at += length;
    }
    let seen = if resolved > 0 {
        Seen::Encoded
    } else {
        Seen::Split
    };
    (resolved + dropped > 0).then_some(View {
        text: out,
        binary: false,
        seen,
        map: Map::Table(map, base),
    })
}

/// A character written as a code, and the length of the code.
fn code(text: &[u8], at: usize) -> Option<(char, usize)> {
    let rest = text.get(at..)?;
    let number = |digits: &[u8], radix: u32| {
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
    };
    let ascii = |code: u32| char::from_u32(code).filter(|c| c.is_ascii() && !c.is_ascii_control());
    match rest {
        [b'%', a, b, ..] => Some((ascii(number(&[*a, *b], 16)?)?, 3)),
        [b'&', b'#', x @ (b'x' | b'X'), digits @ ..] => {
            let count = digits
                .iter()
                .take(8)
                .take_while(|b| b.is_ascii_hexdigit())
                .count();
            let end = usize::from(digits.get(count) == Some(&b';'));
            let _ = x;
            Some((ascii(number(digits.get(..count)?, 16)?)?, 3 + count + end))
        }
        [b'&', b'#', digits @ ..] => {
            let count = digits
                .iter()
                .take(8)
                .take_while(|b| b.is_ascii_digit())
                .count();
            let end = usize::from(digits.get(count) == Some(&b';'));
            Some((ascii(number(digits.get(..count)?, 10)?)?, 2 + count + end))
        }
        [b'\\', b'u', b'{', digits @ ..] => {
            let count = digits
                .iter()
                .take(8)
                .take_while(|b| b.is_ascii_hexdigit())
                .count();
            Some((ascii(number(digits.get(..count)?, 16)?)?, 4 + count))
        }
        [b'\\', b'u', digits @ ..] => Some((ascii(number(digits.get(..4)?, 16)?)?, 6)),
        [b'\\', b'x', digits @ ..] => Some((ascii(number(digits.get(..2)?, 16)?)?, 4)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_resolved_and_mapped() {
        for text in [
            "a%73k-b",
            "a&#115;k-b",
            "a&#x73;k-b",
            "a\\u0073k-b",
            "a\\x73k-b",
            "aｓk-b",
            "a\u{200b}sk-b",
            "as\u{ad}k-b",
        ] {
            let view = unfold(text, 0..text.len()).unwrap();
            assert_eq!(view.text, "ask-b", "{text}");
            assert_eq!(view.origin(&(0..5)), 0..text.len());
            assert!(text[view.origin(&(3..5))].ends_with("-b"));
        }
        assert!(unfold("plain", 0..5).is_none());
    }
}
