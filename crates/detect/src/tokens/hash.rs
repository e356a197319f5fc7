//! The hash that words are known by.

/// The hash of a word, eight bytes at a time: most words need one multiplication.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    hash_start(bytes, bytes.len())
}

/// The hash of the first bytes of a text, at most all of them. What follows them in the text
/// spares a loop over the last few: they are read with it and cut off.
#[inline]
pub(crate) fn hash_start(text: &[u8], length: usize) -> u64 {
    let mut state = 0_u64;
    let mut rest = text;
    let mut left = length.min(text.len());
    let size = left as u64;
    while left >= 8
        && let Some((chunk, tail)) = rest.split_first_chunk::<8>()
    {
        state = (state ^ u64::from_le_bytes(*chunk))
            .wrapping_mul(MULTIPLIER)
            .rotate_left(29);
        rest = tail;
        left -= 8;
    }
    let chunk = match rest.first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk) & ((1 << (8 * left)) - 1),
        None => rest
            .iter()
            .take(left)
            .rev()
            .fold(0, |chunk, byte| chunk << 8 | u64::from(*byte)),
    };
    let last = (state ^ chunk ^ size << 56).wrapping_mul(MULTIPLIER);
    last ^ last >> 31
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_word_does_not_change_its_hash() {
        let text = b"a word of more than twenty-four bytes, and then some";
        for length in 0..text.len() {
            assert_eq!(hash_start(text, length), hash(&text[..length]), "{length}");
        }
    }

    #[test]
    fn zero_bytes_count() {
        assert_ne!(hash(b"a"), hash(b"a\0"));
        assert_ne!(hash(b""), hash(b"\0"));
    }
}
