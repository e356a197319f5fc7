//! Tables indexed by a byte, which can never be out of range, and bit sets for cheap "certainly not" answers.

/// One value per byte.
pub(crate) struct ByteTable<T>([T; 256]);

impl<T: Copy + Default> ByteTable<T> {
    pub(crate) const fn new(values: [T; 256]) -> Self {
        ByteTable(values)
    }

    #[inline]
    pub(crate) fn of(&self, byte: u8) -> T {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }
}

/// A set of hashes that may answer "maybe" wrongly but "no" never.
pub(crate) struct HashBits {
    words: Vec<u64>,
    shift: u32,
}

impl HashBits {
    /// Room for `1 << bits` different answers.
    pub(crate) fn new(bits: u32) -> Self {
        HashBits {
            words: vec![0; 1 << bits.saturating_sub(6)],
            shift: 64 - bits,
        }
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        let slot = hash >> self.shift;
        (usize::try_from(slot >> 6).unwrap_or(0), 1 << (slot & 63))
    }
}
