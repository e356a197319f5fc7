//! Finds where a word ends, fast.

use super::lexicon::LETTER;

/// How many lower-case letters stand at `at`, and their sum. Takes eight bytes at a time, because where a word ends is
/// what a processor guesses worst.
#[inline]
pub(super) fn letters(bytes: &[u8], at: usize) -> (usize, u64) {
    let (mut len, mut sum) = (0, 0u64);
    loop {
        let eight = load(bytes, at + len);
        let count = (!letter_bits(eight) & HIGH_BITS).trailing_zeros() / 8;
        let letters = eight & u64::MAX.checked_shr(64 - 8 * count).unwrap_or(0);
        for byte in letters.to_le_bytes() {
            sum = sum.wrapping_add(LETTER.of(byte));
        }
        len += count as usize;
        if count < 8 {
            return (len, sum);
        }
    }
}

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The high bit of every byte of `eight` that is a lower-case letter.
#[inline]
fn letter_bits(eight: u64) -> u64 {
    let low = eight & !HIGH_BITS;
    let from_a = low + u64::from_le_bytes([0x80 - b'a'; 8]);
    let beyond_z = low + u64::from_le_bytes([0x7f - b'z'; 8]);
    (from_a ^ beyond_z) & !eight & HIGH_BITS
}

/// The eight bytes at `at`, with zeros after the end.
#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => rest
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_and_summed_whatever_follows() {
        for len in 1..40 {
            let word: String = ('a'..='z').cycle().take(len).collect();
            let expected = word
                .bytes()
                .fold(0, |sum: u64, byte| sum.wrapping_add(LETTER.of(byte)));
            for after in ["", " ", "{", "`", "A", "é", "\0", "0", " next"] {
                assert_eq!(
                    letters(format!("{word}{after}").as_bytes(), 0),
                    (len, expected),
                    "{word}{after}"
                );
            }
        }
    }
}
