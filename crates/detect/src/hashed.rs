//! Sets and maps whose keys are hashes already.

use crate::tokens::hash;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from hashes.
pub(crate) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

/// A set of hashes, of two to the power of `BITS` bits, that may say yes wrongly, never no.
#[derive(Debug)]
pub(crate) struct Filter<const BITS: u32>(Vec<u64>);

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

    pub(crate) fn set(&mut self, hash: u64) {
        let (word, bit) = Self::place(hash);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = Self::place(hash);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Takes a key as its own hash.
#[derive(Default)]
pub(crate) struct Hashed(u64);

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
