//! Look-up tables over the key words: exact, by letters in any order, and by the steps between letters.

use super::keywords::{FUNCTION_WORDS, KEY_WORDS, NOT_TYPOS, TELLING_WORDS};
use crate::table::{ByteTable, HashBits};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Shortest key word looked for under a cipher or with its letters in disorder.
pub(super) const MIN_DISORDER: usize = 5;
/// Shortest key word that may have a letter too many or too few.
const MIN_SLIP: usize = 7;
/// Longest word in the lists.
pub(super) const MAX_WORD: usize = 15;

/// The one lexicon.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

/// A letter's share in the sum that identifies a word's letters; 0 for what is no lower-case letter.
pub(super) static LETTER: ByteTable<u64> = ByteTable::new(letter_values());

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
const fn letter_values() -> [u64; 256] {
    let mut values = [0; 256];
    let mut letter = b'a';
    while letter <= b'z' {
        values[letter as usize] = scramble(letter as u64);
        letter += 1;
    }
    values
}

/// The finaliser of splitmix64.
const fn scramble(value: u64) -> u64 {
    let value = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A word of the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) text: &'static str,
    pub(super) key: bool,
}

/// Hash → word, behind a filter that says "no" to almost everything else.
struct Index {
    filter: HashBits,
    entries: Vec<(u64, Entry)>,
}

impl Entry {
    /// Whether the word is seldom part of a name in code.
    pub(super) fn is_telling(self) -> bool {
        TELLING_WORDS.contains(&self.text)
    }
}

impl Index {
    fn new(bits: u32, mut entries: Vec<(u64, Entry)>) -> Index {
        let mut filter = HashBits::new(bits);
        for (hash, _) in &entries {
            filter.insert(*hash);
        }
        entries.sort_by_key(|(hash, _)| *hash);
        Index { filter, entries }
    }

    fn get(&self, hash: u64) -> impl Iterator<Item = Entry> {
        let start = self.entries.partition_point(|(known, _)| *known < hash);
        self.entries
            .iter()
            .skip(start)
            .take_while(move |(known, _)| *known == hash)
            .map(|(_, entry)| *entry)
    }
}

pub(super) struct Lexicon {
    exact: Index,
    prefixes: HashBits,
    disorder: Index,
    steps: Index,
    leet: Index,
    not_typos: HashSet<&'static str>,
}

impl Lexicon {
    fn new() -> Lexicon {
        let keys = KEY_WORDS.iter().map(|text| Entry { text, key: true });
        let all: Vec<Entry> = keys
            .clone()
            .chain(FUNCTION_WORDS.iter().map(|text| Entry { text, key: false }))
            .collect();
        let mut prefixes = HashBits::new(14);
        all.iter()
            .filter(|entry| entry.text.len() >= 3)
            .for_each(|entry| prefixes.insert(prefix_hash(entry.text.as_bytes())));
        let long = keys.filter(|entry| entry.text.len() >= MIN_DISORDER);
        let mirrored =
            |entry: Entry, mirror: bool| steps_of(entry.text, mirror).map(|hash| (hash, entry));
        Lexicon {
            exact: Index::new(
                14,
                all.iter()
                    .map(|entry| (hash(entry.text.bytes()), *entry))
                    .collect(),
            ),
            prefixes,
            disorder: Index::new(
                17,
                long.clone()
                    .flat_map(|entry| disorders(entry.text).map(move |sum| (sum, entry)))
                    .collect(),
            ),
            steps: Index::new(
                14,
                long.flat_map(|entry| {
                    [false, true]
                        .into_iter()
                        .filter_map(move |mirror| mirrored(entry, mirror))
                })
                .collect(),
            ),
            leet: Index::new(
                14,
                all.iter()
                    .map(|entry| (hash(entry.text.bytes().map(super::leet::canonical)), *entry))
                    .collect(),
            ),
            not_typos: NOT_TYPOS.iter().copied().collect(),
        }
    }

    /// The entry that is exactly `word`.
    pub(super) fn exact(&self, word: &[u8]) -> Option<Entry> {
        let hash = hash(word.iter().copied());
        let known = word.len() <= MAX_WORD && self.exact.filter.may_contain(hash);
        known
            .then(|| {
                self.exact
                    .get(hash)
                    .find(|entry| entry.text.as_bytes() == word)
            })
            .flatten()
    }

    /// All entries that `text` begins with, the longest last.
    pub(super) fn beginnings(&self, text: &[u8]) -> impl Iterator<Item = Entry> {
        let room = if self.prefixes.may_contain(prefix_hash(text)) {
            MAX_WORD
        } else {
            2
        };
        let hashes = text.iter().take(room).scan(EMPTY, |state, byte| {
            *state = extend(*state, *byte);
            Some(finish(*state))
        });
        hashes
            .enumerate()
            .filter(|(_, hash)| self.exact.filter.may_contain(*hash))
            .filter_map(move |(last, hash)| {
                let word = text.get(..=last)?;
                self.exact
                    .get(hash)
                    .find(|entry| entry.text.as_bytes() == word)
            })
    }

    /// Whether a word with these letters may be a key word in disorder, backwards or with a slip.
    #[inline]
    pub(super) fn may_be_disordered(&self, letter_sum: u64) -> bool {
        self.disorder.filter.may_contain(letter_sum)
    }

    /// The key words that have these letters, or one more or one less.
    pub(super) fn disordered(&self, letter_sum: u64) -> impl Iterator<Item = &'static str> {
        self.disorder.get(letter_sum).map(|entry| entry.text)
    }

    /// Whether a word with these steps may be a key word under a cipher.
    #[inline]
    pub(super) fn may_be_shifted(&self, steps: u64) -> bool {
        self.steps.filter.may_contain(steps)
    }

    /// The key words that have these steps, or have them when mirrored.
    pub(super) fn same_steps(&self, steps: u64) -> impl Iterator<Item = &'static str> {
        self.steps.get(steps).map(|entry| entry.text)
    }

    /// The entries that look like `token` once digits and symbols are read as letters.
    pub(super) fn leet(&self, token: &[u8]) -> impl Iterator<Item = Entry> {
        let hash = hash(token.iter().map(|byte| super::leet::canonical(*byte)));
        let hash = self.leet.filter.may_contain(hash).then_some(hash);
        hash.into_iter().flat_map(|hash| self.leet.get(hash))
    }

    pub(super) fn is_never_a_typo(&self, word: &str) -> bool {
        self.not_typos.contains(word) || self.exact(word.as_bytes()).is_some()
    }
}

/// The letter sums under which a key word is found.
fn disorders(word: &'static str) -> impl Iterator<Item = u64> {
    let sum = word
        .bytes()
        .fold(0, |sum: u64, byte| sum.wrapping_add(LETTER.of(byte)));
    let slips = (word.len() >= MIN_SLIP).then(|| {
        let extra = (b'a'..=b'z').map(move |byte| sum.wrapping_add(LETTER.of(byte)));
        let missing: HashSet<u64> = word
            .bytes()
            .map(move |byte| sum.wrapping_sub(LETTER.of(byte)))
            .collect();
        extra.chain(missing)
    });
    [sum].into_iter().chain(slips.into_iter().flatten())
}

/// A hash of how far a word's second, third and last letter lie from its first, around the alphabet. No shift of the
/// alphabet changes it.
#[inline]
pub(super) fn steps([first, second, third, last]: [u8; 4], len: usize) -> u64 {
    let step = |letter: u8| {
        let ahead = u64::from(letter.wrapping_sub(first));
        if letter < first {
            ahead.wrapping_add(26) & 0xff
        } else {
            ahead
        }
    };
    let key = step(second) | step(third) << 8 | step(last) << 16 | (len as u64) << 24;
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The steps of a listed word, or of its mirror image.
fn steps_of(word: &str, mirror: bool) -> Option<u64> {
    let turned = |byte: &u8| if mirror { b'a' + b'z' - byte } else { *byte };
    let [first, second, third, .., last] = word.as_bytes() else {
        return None;
    };
    Some(steps(
        [turned(first), turned(second), turned(third), turned(last)],
        word.len(),
    ))
}

const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

fn extend(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn finish(state: u64) -> u64 {
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    finish(bytes.fold(EMPTY, extend))
}

fn prefix_hash(text: &[u8]) -> u64 {
    hash(text.iter().copied().take(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_plain_words_without_repetition() {
        let mut seen = HashSet::new();
        for word in KEY_WORDS.iter().chain(FUNCTION_WORDS) {
            assert!(
                word.bytes().all(|byte| byte.is_ascii_lowercase()) && word.len() <= MAX_WORD,
                "{word}"
            );
            assert!(seen.insert(word), "{word} twice");
        }
    }

    #[test]
    fn telling_words_are_listed() {
        for word in TELLING_WORDS {
            assert!(
                LEXICON
                    .exact(word.as_bytes())
                    .is_some_and(Entry::is_telling),
                "{word}"
            );
        }
    }

    #[test]
    fn real_words_are_not_key_words() {
        for word in NOT_TYPOS {
            assert!(LEXICON.exact(word.as_bytes()).is_none(), "{word}");
        }
    }

    #[test]
    fn beginnings_come_shortest_first() {
        let found: Vec<_> = LEXICON
            .beginnings(b"instructionsxyz")
            .map(|entry| entry.text)
            .collect();
        assert_eq!(
            found,
            ["i", "in", "instruct", "instruction", "instructions"]
        );
        assert_eq!(LEXICON.beginnings(b"zzz").count(), 0);
    }

    #[test]
    fn steps_survive_any_shift() {
        assert_eq!(steps(*b"vtar", 6), steps(*b"igne", 6));
        assert!(
            LEXICON
                .same_steps(steps(*b"rtmv", 6))
                .any(|word| word == "ignore")
        );
    }
}
