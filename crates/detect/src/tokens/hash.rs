//! The hash that words are known by.

/// The hash of a word, eight bytes at a time: most words need one multiplication.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0_u64;
    let mut rest = bytes;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        state = (state ^ u64::from_le_bytes(*chunk))
            .wrapping_mul(MULTIPLIER)
            .rotate_left(29);
        rest = tail;
    }
    let chunk = rest
        .iter()
        .rev()
        .fold(0, |chunk, byte| chunk << 8 | u64::from(*byte));
    let last = (state ^ chunk ^ (bytes.len() as u64) << 56).wrapping_mul(MULTIPLIER);
    last ^ last >> 31
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
