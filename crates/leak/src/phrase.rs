//! BIP-39 seed phrases: twelve to twenty-four words of the English list whose checksum holds.

use sha2::{Digest, Sha256};
use std::ops::Range;
use std::sync::LazyLock;

/// The English list, in order; a word's number is its place.
static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    include_str!("../words/english.txt")
        .split_ascii_whitespace()
        .collect()
});

/// In how long a row of listed words every part is tried; a longer one is a list, not a phrase.
const LONGEST_ROW: usize = 64;
/// The most letters between two words.
const GAP: usize = 8;

/// One bit for each hash of a listed word: a quick no for nearly every other word.
static FILTER: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut filter = vec![0; 1 << 10];
    for word in WORDS.iter() {
        let (place, bit) = slot(word.as_bytes());
        if let Some(bits) = filter.get_mut(place) {
            *bits |= bit;
        }
    }
    filter
});

fn slot(word: &[u8]) -> (usize, u64) {
    let hash = word.iter().fold(0xCBF2_9CE4_u32, |hash, b| {
        (hash ^ u32::from(b | 32)).wrapping_mul(0x0100_0193)
    });
    let mixed = hash ^ (hash >> 15);
    ((mixed >> 6) as usize & 0x3FF, 1 << (mixed & 63))
}

/// Whether a word may be a listed one: a quick no for nearly every other.
pub(crate) fn may(word: &[u8]) -> bool {
    let (place, bit) = slot(word);
    FILTER.get(place).is_some_and(|bits| bits & bit != 0)
}

/// The place of a word in the list.
pub(crate) fn number(word: &[u8]) -> Option<u16> {
    if !(3..=8).contains(&word.len()) || !may(word) {
        return None;
    }
    let from = place_of(word);
    INDEX
        .iter()
        .skip(from)
        .map_while(|number| *number)
        .find(|number| {
            WORDS
                .get(usize::from(*number))
                .is_some_and(|listed| listed.as_bytes().eq_ignore_ascii_case(word))
        })
}

/// Where the numbers of words with this word's hash begin in the index.
fn place_of(word: &[u8]) -> usize {
    let (place, bit) = slot(word);
    (place << 2 ^ bit.trailing_zeros() as usize) & (SLOTS - 1)
}

const SLOTS: usize = 1 << 12;

/// The number of every word at the place of its hash, or at the first free one behind it. The end stays free.
static INDEX: LazyLock<Vec<Option<u16>>> = LazyLock::new(|| {
    let mut index: Vec<Option<u16>> = vec![None; SLOTS];
    for (number, word) in WORDS.iter().enumerate() {
        let from = place_of(word.as_bytes());
        let free = index.iter().skip(from).position(Option::is_none);
        match free.and_then(|free| index.get_mut(from + free)) {
            Some(slot) => *slot = Some(number as u16),
            None => index.push(Some(number as u16)),
        }
    }
    index.push(None);
    index
});

/// Phrases in a passage of words. `unfinished` becomes the beginning of a row of listed words at its end.
pub(crate) fn find(text: &[u8], passage: Range<usize>, mut report: impl FnMut(Range<usize>)) {
    let mut row: Vec<(u16, Range<usize>)> = Vec::new();
    let mut at = passage.start;
    while at < passage.end {
        let Some(rest) = text.get(at..passage.end) else {
            return;
        };
        let skipped = rest.iter().take_while(|b| !b.is_ascii_alphabetic()).count();
        if skipped > GAP {
            check(&mut row, &mut report);
        }
        at += skipped;
        let rest = rest.get(skipped..).unwrap_or_default();
        let length = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        if length == 0 {
            break;
        }
        match number(rest.get(..length).unwrap_or_default()) {
            Some(number) => row.push((number, at..at + length)),
            None => check(&mut row, &mut report),
        }
        at += length;
    }
    check(&mut row, &mut report);
}

fn check(row: &mut Vec<(u16, Range<usize>)>, report: &mut impl FnMut(Range<usize>)) {
    let words = std::mem::take(row);
    if words.len() < 12 || words.len() > LONGEST_ROW {
        return;
    }
    let mut start = 0;
    while start + 12 <= words.len() {
        let phrase = [24, 21, 18, 15, 12].into_iter().find_map(|count| {
            let part = words.get(start..start + count)?;
            holds(part.iter().map(|(number, _)| *number)).then_some(part)
        });
        match phrase.and_then(|part| Some((part.len(), part.first()?.1.start..part.last()?.1.end)))
        {
            Some((count, place)) => {
                report(place);
                start += count;
            }
            None => start += 1,
        }
    }
}

/// Whether the last bits of a phrase are the first ones of the hash of the others.
fn holds(numbers: impl ExactSizeIterator<Item = u16>) -> bool {
    let bits = numbers.len() * 11;
    let sum_bits = bits / 33;
    let mut bytes = [0_u8; 33];
    let mut distinct = 0;
    let mut last = u16::MAX;
    for (word, number) in numbers.enumerate() {
        distinct += usize::from(number != last);
        last = number;
        for bit in 0..11 {
            let place = word * 11 + bit;
            if number >> (10 - bit) & 1 == 1
                && let Some(byte) = bytes.get_mut(place / 8)
            {
                *byte |= 0x80 >> (place % 8);
            }
        }
    }
    let entropy = (bits - sum_bits) / 8;
    let (data, rest) = bytes.split_at(entropy);
    let digest = Sha256::digest(data);
    let (Some(sum), Some(expected)) = (rest.first(), digest.first()) else {
        return false;
    };
    let mask = !0_u8 << (8 - sum_bits);
    distinct > 1 && sum & mask == expected & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut places = Vec::new();
        find(text.as_bytes(), 0..text.len(), |place| places.push(place));
        places.into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn the_list_is_whole_and_sorted() {
        assert_eq!(WORDS.len(), 2048);
        assert!(WORDS.is_sorted());
        for (place, word) in WORDS.iter().enumerate() {
            assert_eq!(number(word.to_uppercase().as_bytes()), Some(place as u16));
        }
        assert_eq!((number(b"abandom"), number(b"zoology")), (None, None));
        assert_eq!((WORDS[0], WORDS[2047]), ("abandon", "zoo"));
    }

    #[test]
    fn a_phrase_is_found_by_its_checksum() {
        let phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        assert_eq!(found(&format!("my words: {phrase} keep them")), [phrase]);
        assert!(found(&phrase.replace("yellow", "zebra")).is_empty());
        let numbered: String = phrase
            .split(' ')
            .enumerate()
            .map(|(n, word)| format!("{}. {word}\n", n + 1))
            .collect();
        assert_eq!(found(&numbered).len(), 1);
    }
}
