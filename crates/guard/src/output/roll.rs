//! Letters without case, dress, spaces and punctuation, hashed in overlapping pieces.

use crate::glyph::{self, OTHER};
use std::hash::Hasher;

/// Units in a piece; a letter is one unit, a character of a script without spaces three.
pub(super) const PIECE: usize = 30;

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// What `c` counts as: a value and how many units.
#[inline]
pub(super) fn unit(c: char) -> Option<(u64, usize)> {
    let look = glyph::look(c);
    if look.is_ascii_alphanumeric() {
        return Some((u64::from(look), 1));
    }
    if look != OTHER || !c.is_alphanumeric() {
        return None;
    }
    let lower = c.to_lowercase().next().unwrap_or(c);
    let times = if writes_no_spaces(c) { 3 } else { 1 };
    Some((u64::from(u32::from(lower)) << 8, times))
}

fn writes_no_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{edf}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..='\u{3ffff}')
}

pub(super) fn rot13(c: char) -> char {
    let turn = |first: u8| {
        let index = (u32::from(c) - u32::from(first) + 13) % 26;
        char::from_u32(u32::from(first) + index).unwrap_or(c)
    };
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        _ => c,
    }
}

pub(super) fn rolled(text: &str, mut take: impl FnMut(u64)) {
    let mut roll = Roll::default();
    for c in text.chars() {
        if let Some((value, times)) = unit(c) {
            for part in 0..times {
                if let Some(piece) = roll.push(value.wrapping_add(part as u64)) {
                    take(piece);
                }
            }
        }
    }
}

/// The hash of the last units.
#[derive(Debug, Default)]
pub(super) struct Roll {
    last: [u64; PIECE],
    count: usize,
    at: usize,
    hash: u64,
}

impl Roll {
    #[inline]
    pub(super) fn push(&mut self, value: u64) -> Option<u64> {
        const OLDEST: u64 = power(PIECE);
        let slot = self.last.get_mut(self.at)?;
        // Units are never zero, so that an empty slot takes nothing away.
        let oldest = std::mem::replace(slot, value);
        self.hash = self
            .hash
            .wrapping_mul(BASE)
            .wrapping_add(value)
            .wrapping_sub(oldest.wrapping_mul(OLDEST));
        self.at = if self.at + 1 == PIECE { 0 } else { self.at + 1 };
        self.count += 1;
        (self.count >= PIECE).then_some(self.hash)
    }
}

/// The word of a bit set of `words` words that a piece belongs to, and its bit.
#[inline]
pub(super) fn place(piece: u64, words: usize) -> (usize, u64) {
    let spread = (piece ^ (piece >> 32)).wrapping_mul(BASE);
    let word = usize::try_from(spread >> 32).unwrap_or_default() & words.saturating_sub(1);
    (word, 1 << (spread >> 26 & 63))
}

const fn power(exponent: usize) -> u64 {
    let mut product = 1_u64;
    let mut n = 0;
    while n < exponent {
        product = product.wrapping_mul(BASE);
        n += 1;
    }
    product
}

/// The keys are hashes already; they only need their bits spread.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(BASE).wrapping_add(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (value ^ (value >> 32)).wrapping_mul(BASE);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
