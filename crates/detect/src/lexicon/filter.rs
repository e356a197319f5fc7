//! Small tables in front of the large ones: they answer most look-ups with no.

use crate::tokens::hash;
use std::hash::Hasher;

/// Longer stems are cut to this.
pub(super) const MAX_STEM: usize = 31;

/// For the first bytes of a word, the lengths of the stems that begin so, as bits.
#[derive(Debug)]
pub(super) struct Beginnings<const BITS: u32>(Vec<u32>);

impl<const BITS: u32> Default for Beginnings<BITS> {
    fn default() -> Self {
        Self(vec![0; 1 << BITS])
    }
}

impl<const BITS: u32> Beginnings<BITS> {
    /// The place of a beginning of three bytes, or of a shorter word.
    fn place(bytes: &[u8]) -> usize {
        let value = match bytes {
            [a, b, c, ..] => u32::from_le_bytes([*a, *b, *c, 0]),
            [a, b] => u32::from_le_bytes([*a, *b, 0, 0]),
            _ => 0,
        };
        (value.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize
    }

    pub(super) fn note(&mut self, bytes: &[u8]) {
        if let Some(lengths) = self.0.get_mut(Self::place(bytes)) {
            *lengths |= 1 << bytes.len().min(MAX_STEM);
        }
    }

    #[inline]
    pub(super) fn lengths(&self, bytes: &[u8]) -> u32 {
        self.0.get(Self::place(bytes)).copied().unwrap_or(0)
    }
}

/// A set of hashes, of two to the power of `BITS` bits, that may say yes wrongly, never no.
#[derive(Debug)]
pub(super) struct Filter<const BITS: u32>(Vec<u64>);

impl<const BITS: u32> Default for Filter<BITS> {
    fn default() -> Self {
        Self(vec![0; 1 << (BITS - 6)])
    }
}

impl<const BITS: u32> Filter<BITS> {
    fn place(hash: u64) -> (usize, u64) {
        let mixed = hash.wrapping_mul(0xff51_afd7_ed55_8ccd) >> (64 - BITS);
        ((mixed >> 6) as usize, 1 << (mixed & 63))
    }

    pub(super) fn set(&mut self, hash: u64) {
        let (word, bit) = Self::place(hash);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    pub(super) fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = Self::place(hash);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Keys are hashes already.
#[derive(Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
