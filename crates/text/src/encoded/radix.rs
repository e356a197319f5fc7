//! Digits to bytes for alphabets of two, sixteen, thirty-two and sixty-four symbols.

use crate::span::SpanMap;
use crate::table::ByteTable;

/// Marks a byte that is no digit of the alphabet.
pub(super) const NONE: u8 = 0xff;

/// An alphabet: how many bits a digit carries, and which digit a byte is.
pub(super) struct Radix {
    bits: u32,
    digits: ByteTable<u8>,
}

pub(super) static BASE64: Radix = Radix::new(
    6,
    &[
        (b'A', b'Z', 0),
        (b'a', b'z', 26),
        (b'0', b'9', 52),
        (b'+', b'+', 62),
        (b'/', b'/', 63),
        (b'-', b'-', 62),
        (b'_', b'_', 63),
    ],
);
pub(super) static BASE32: Radix =
    Radix::new(5, &[(b'A', b'Z', 0), (b'a', b'z', 0), (b'2', b'7', 26)]);
pub(super) static HEX: Radix =
    Radix::new(4, &[(b'0', b'9', 0), (b'a', b'f', 10), (b'A', b'F', 10)]);
pub(super) static BINARY: Radix = Radix::new(1, &[(b'0', b'1', 0)]);

impl Radix {
    #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
    const fn new(bits: u32, ranges: &[(u8, u8, u8)]) -> Radix {
        let mut digits = [NONE; 256];
        let mut range = 0;
        while range < ranges.len() {
            let (first, last, value) = ranges[range];
            let mut byte = first;
            while byte <= last {
                digits[byte as usize] = value + (byte - first);
                byte += 1;
            }
            range += 1;
        }
        Radix {
            bits,
            digits: ByteTable::new(digits),
        }
    }

    /// The value of a digit, or `NONE`.
    #[inline]
    pub(super) fn digit(&self, byte: u8) -> u8 {
        self.digits.of(byte)
    }

    /// Digits and bytes of the smallest group in which both come out even.
    fn group(&self) -> (usize, usize) {
        match self.bits {
            6 => (4, 3),
            5 => (8, 5),
            4 => (2, 1),
            _ => (8, 1),
        }
    }
}

/// Decoded bytes and where they came from.
#[derive(Default)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    pub(super) map: SpanMap,
    /// Where reading stopped.
    pub(super) end: usize,
}

/// Decodes the digits of `text` in `start..end`, skipping what is none, until `max_bytes` are made.
pub(super) fn decode(
    radix: &Radix,
    text: &[u8],
    start: usize,
    end: usize,
    max_bytes: usize,
) -> Decoded {
    let (digits_per_group, bytes_per_group) = radix.group();
    let mut decoded = Decoded {
        end: start,
        ..Decoded::default()
    };
    let mut group = Group::default();
    for (at, byte) in text.iter().copied().enumerate().take(end).skip(start) {
        let digit = radix.digit(byte);
        if digit == NONE {
            if byte == b'=' && group.digits > 0 {
                group.end = at + 1;
            }
            continue;
        }
        if decoded.bytes.len() + bytes_per_group > max_bytes {
            return decoded;
        }
        group.push(radix.bits, digit, at);
        if group.digits == digits_per_group {
            group.emit(radix.bits, &mut decoded);
        }
        decoded.end = at + 1;
    }
    group.emit(radix.bits, &mut decoded);
    decoded
}

/// The first bytes that `text` decodes to, at most `N`.
pub(super) struct Sniffed<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Sniffed<N> {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// Decodes the first bytes of `text`, as far as the first one that no text begins with.
pub(super) fn sniff<const N: usize>(radix: &Radix, text: &[u8]) -> Sniffed<N> {
    let mut sniffed = Sniffed {
        bytes: [0; N],
        len: 0,
    };
    let (mut value, mut bits) = (0u32, 0);
    for digit in text
        .iter()
        .map(|byte| radix.digit(*byte))
        .filter(|digit| *digit != NONE)
    {
        value = value << radix.bits | u32::from(digit);
        bits += radix.bits;
        if bits < 8 {
            continue;
        }
        bits -= 8;
        let Some(slot) = sniffed.bytes.get_mut(sniffed.len) else {
            break;
        };
        *slot = (value >> bits & 0xff) as u8;
        sniffed.len += 1;
        if matches!(*slot, 1..=8 | 14..=31) && sniffed.len < 4 {
            break;
        }
    }
    sniffed
}

/// The digits read since the last whole group.
#[derive(Default)]
struct Group {
    value: u64,
    digits: usize,
    start: usize,
    end: usize,
}

impl Group {
    fn push(&mut self, bits: u32, digit: u8, at: usize) {
        if self.digits == 0 {
            self.start = at;
        }
        self.value = self.value << bits | u64::from(digit);
        self.digits += 1;
        self.end = at + 1;
    }

    fn emit(&mut self, bits: u32, decoded: &mut Decoded) {
        let total = u32::try_from(self.digits).unwrap_or(0) * bits;
        let whole = total / 8;
        let aligned = self.value >> (total % 8);
        let bytes = aligned.to_be_bytes();
        let bytes = bytes.get(8 - whole as usize..).unwrap_or_default();
        decoded.bytes.extend_from_slice(bytes);
        decoded.map.block(self.start..self.end, bytes.len());
        *self = Group::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding as reference;
    use proptest::prelude::*;

    fn all(radix: &Radix, text: &str) -> Vec<u8> {
        decode(radix, text.as_bytes(), 0, text.len(), usize::MAX).bytes
    }

    proptest! {
        #[test]
        fn agrees_with_a_reference(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(&all(&BASE64, &reference::BASE64.encode(&bytes)), &bytes);
            prop_assert_eq!(&all(&BASE64, &reference::BASE64URL_NOPAD.encode(&bytes)), &bytes);
            prop_assert_eq!(&all(&BASE32, &reference::BASE32.encode(&bytes)), &bytes);
            prop_assert_eq!(&all(&HEX, &reference::HEXUPPER.encode(&bytes)), &bytes);
        }
    }

    #[test]
    fn line_breaks_are_skipped_and_mapped() {
        let text = b"aWdu\r\n> b3Jl";
        let decoded = decode(&BASE64, text, 0, text.len(), 100);
        assert_eq!(decoded.bytes, b"ignore");
        assert_eq!(decoded.map.span(3..6).start, 8);
        assert_eq!(decoded.map.span(0..6).end, 12);
    }

    #[test]
    fn the_limit_holds() {
        let text = b"aWdub3Jl";
        assert_eq!(decode(&BASE64, text, 0, text.len(), 5).bytes, b"ign");
    }
}
