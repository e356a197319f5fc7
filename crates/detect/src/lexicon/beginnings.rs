//! A small table in front of the large ones: it answers most look-ups of stems with no.

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
