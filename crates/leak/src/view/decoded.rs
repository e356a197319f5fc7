//! Runs of hex digits and of base64.

use super::{Map, View};
use crate::Seen;
use std::ops::Range;

/// How many decoded bytes tell whether a run is text.
const PROBE: usize = 12;

/// The text in a run of hex digits, or of base64.
pub(crate) fn decoded(text: &[u8], run: Range<usize>) -> Option<View> {
    hex(text, &run).or_else(|| base64(text, run))
}

fn hex(text: &[u8], run: &Range<usize>) -> Option<View> {
    let mut start = run.start;
    if text.get(start..start + 2)?.eq_ignore_ascii_case(b"0x") {
        start += 2;
    }
    let digits = text.get(start..run.end)?;
    if digits.len() < 24
        || !digits.len().is_multiple_of(2)
        || !digits.iter().all(u8::is_ascii_hexdigit)
    {
        return None;
    }
    let value = |b: u8| char::from(b).to_digit(16).unwrap_or_default() as u8;
    let bytes: Vec<u8> = digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |sum, b| sum << 4 | value(*b)))
        .collect();
    view(&bytes, start..run.end, (2, 1))
}

fn base64(text: &[u8], run: Range<usize>) -> Option<View> {
    let chars = text.get(run.clone())?;
    if chars.len() < 16 {
        return None;
    }
    let probe = crate::check::base64(chars, PROBE * 4 / 3)?;
    if !printable(&probe) && !wide(&probe) {
        return None;
    }
    let bytes = crate::check::base64(chars, chars.len())?;
    if wide(&probe) {
        let narrow: Vec<u8> = bytes.iter().step_by(2).copied().collect();
        let found = view(&narrow, run, (8, 3))?;
        return Some(View {
            binary: false,
            ..found
        });
    }
    view(&bytes, run, (4, 3))
}

/// Bytes as a view, if they can be read; so many characters of the run stand for so many of them.
fn view(bytes: &[u8], run: Range<usize>, (chars, each): (usize, usize)) -> Option<View> {
    Some(View {
        text: readable(bytes)?,
        seen: Seen::Encoded,
        binary: !clean(bytes),
        map: Map::Groups {
            start: run.start,
            end: run.end,
            chars,
            bytes: each,
        },
    })
}

fn printable(bytes: &[u8]) -> bool {
    let plain = bytes
        .iter()
        .filter(|b| matches!(b, 32..=126 | b'\n' | b'\r' | b'\t'))
        .count();
    plain + 1 >= bytes.len() && !bytes.is_empty()
}

/// Two bytes a character, as Windows writes.
fn wide(bytes: &[u8]) -> bool {
    bytes.len() >= 8
        && bytes
            .chunks_exact(2)
            .all(|pair| matches!(pair, [32..=126, 0]))
}

/// Nothing but text.
fn clean(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        !text
            .chars()
            .any(|c| c.is_control() && !c.is_ascii_whitespace())
    })
}

/// One ASCII character for each byte, if nearly all are.
fn readable(bytes: &[u8]) -> Option<String> {
    let plain = bytes
        .iter()
        .filter(|b| matches!(b, 32..=126 | b'\n' | b'\r' | b'\t' | 128..))
        .count();
    let broken = bytes.iter().filter(|b| **b >= 128).count();
    let foreign = broken * 10 > bytes.len() && std::str::from_utf8(bytes).is_err();
    if plain * 10 < bytes.len() * 9 || foreign || bytes.is_empty() {
        return None;
    }
    Some(
        bytes
            .iter()
            .map(|b| if b.is_ascii() { char::from(*b) } else { '?' })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_decoded_if_they_hold_text() {
        let view = decoded(b"aGVsbG8gd29ybGQsIGhlbGxv", 0..24).unwrap();
        assert_eq!(view.text, "hello world, hello");
        assert_eq!(view.origin(&(6..11)), 8..15);
        let hex = b"68656c6c6f20776f726c642c2068656c6c6f";
        assert_eq!(
            decoded(hex, 0..hex.len()).unwrap().text,
            "hello world, hello"
        );
        assert!(decoded(b"bdc3006532dd29b03d83dc819e5fa7683815b88e", 0..40).is_none());
        assert!(decoded(b"antidisestablishmentarianism", 0..28).is_none());
    }
}
