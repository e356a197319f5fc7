//! Lexicon entries by the hashes of their first words.
//!
//! An entry of one word is found by that word's hash, a stem by the hash of the prefix, a
//! phrase by its first two words together; the rest of a phrase is compared word by word.
//! A filter of bits in front answers nearly all look-ups without touching the tables.

use super::{Concept, Hit, Languages};
use crate::tokens::{Kind, SEED, Token, hash, step, tokens};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A word of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// The whole word.
    Whole(u64),
    /// The word begins so: hash and length of the beginning.
    Begins(u64, usize),
}

#[derive(Debug)]
struct Entry {
    words: Box<[Word]>,
    /// Something may be attached before the first word.
    open: bool,
    meanings: Vec<(Concept, Languages)>,
}

/// Shortest stem: shorter ones would be noise.
const MIN_STEM: usize = 2;
/// Letters of a clitic or compound that may stand before an open entry.
const MAX_ATTACHED: usize = 6;
const MIN_COMPOUND: usize = 10;

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: Vec<Entry>,
    by_words: HashMap<(Box<[Key]>, bool), usize>,
    table: HashMap<u64, Vec<u32>, BuildHasherDefault<Hashed>>,
    filter: Filter,
}

/// An entry's words in a form that can be compared.
type Key = (u64, usize);

impl Index {
    /// Adds an entry; `None` if it is unusable.
    pub(super) fn add(&mut self, spelling: &str, concept: Concept, language: Languages) -> Option<()> {
        let (inner, open) = spelling.strip_prefix('*').map_or((spelling, false), |rest| (rest, true));
        let (inner, stem) = inner.strip_suffix('*').map_or((inner, false), |rest| (rest, true));
        let folded = blastshield_text::fold(inner);
        let cut: Vec<Token> = tokens(&folded).into_iter().filter(Token::is_word).collect();
        if cut.is_empty() || folded.contains('*') {
            return None;
        }
        let last = cut.len() - 1;
        let words: Box<[Word]> = cut
            .iter()
            .enumerate()
            .map(|(place, token)| {
                let length = token.bytes().len();
                let begins = stem && place == last && token.kind != Kind::Single && length >= MIN_STEM;
                if begins { Word::Begins(token.hash, length) } else { Word::Whole(token.hash) }
            })
            .collect();
        self.insert(words, open, concept, language);
        Some(())
    }

    fn insert(&mut self, words: Box<[Word]>, open: bool, concept: Concept, language: Languages) {
        let key: Box<[Key]> = words.iter().map(|word| word.key()).collect();
        let number = match self.by_words.get(&(key.clone(), open)) {
            Some(known) => *known,
            None => {
                let number = self.entries.len();
                let hash = address(&words, open);
                self.filter.set(hash);
                self.table.entry(hash).or_default().push(u32::try_from(number).unwrap_or(u32::MAX));
                self.entries.push(Entry { words, open, meanings: Vec::new() });
                self.by_words.insert((key, open), number);
                number
            }
        };
        if let Some(entry) = self.entries.get_mut(number) {
            match entry.meanings.iter_mut().find(|(known, _)| *known == concept) {
                Some((_, languages)) => *languages = languages.or(language),
                None => entry.meanings.push((concept, language)),
            }
        }
    }

    /// Every entry that starts at the first of these words.
    pub(super) fn look_up(&self, text: &[u8], words: &[Token], hits: &mut Vec<Hit>) {
        let Some(first) = words.first() else {
            return;
        };
        let from = hits.len();
        let next = words.get(1).map_or(0, |word| word.hash);
        self.try_hash(ONE, first.hash, text, words, false, hits);
        self.try_hash(TWO, pair(first.hash, next), text, words, false, hits);
        if first.kind != Kind::Single {
            let bytes = text.get(first.bytes()).unwrap_or_default();
            self.try_prefixes(bytes, text, words, false, hits);
            self.try_attached(bytes, next, text, words, hits);
        }
        merge(hits, from);
    }

    fn try_prefixes(&self, bytes: &[u8], text: &[u8], words: &[Token], open: bool, hits: &mut Vec<Hit>) {
        let mut hash = SEED;
        for byte in bytes {
            hash = step(hash, *byte);
            self.try_hash(STEM, hash, text, words, open, hits);
        }
    }

    /// Entries that may have something attached before them.
    fn try_attached(&self, bytes: &[u8], next: u64, text: &[u8], words: &[Token], hits: &mut Vec<Hit>) {
        let arabic = bytes.first().is_some_and(|b| (0xD8..=0xDB).contains(b));
        let starts = match (arabic, bytes.len()) {
            (true, _) => (0..=MAX_ATTACHED * 2).step_by(2).collect::<Vec<_>>(),
            (false, MIN_COMPOUND..) => (0..bytes.len().saturating_sub(4)).collect(),
            (false, _) => vec![0],
        };
        for start in starts {
            let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) else {
                return;
            };
            let word = hash(rest);
            self.try_hash(OPEN_ONE, word, text, words, true, hits);
            self.try_hash(OPEN_TWO, pair(word, next), text, words, true, hits);
            let mut prefix = SEED;
            for byte in rest {
                prefix = step(prefix, *byte);
                self.try_hash(OPEN_STEM, prefix, text, words, true, hits);
            }
        }
    }

    #[inline]
    fn try_hash(&self, role: u64, hash: u64, text: &[u8], words: &[Token], open: bool, hits: &mut Vec<Hit>) {
        let address = hash ^ role;
        if self.filter.may_have(address) {
            self.confirm(address, text, words, open, hits);
        }
    }

    fn confirm(&self, address: u64, text: &[u8], words: &[Token], open: bool, hits: &mut Vec<Hit>) {
        for number in self.table.get(&address).into_iter().flatten() {
            let Some(entry) = self.entries.get(*number as usize).filter(|entry| entry.open == open) else {
                continue;
            };
            let Some((first, last)) = spanned(entry, text, words) else {
                continue;
            };
            for (concept, languages) in &entry.meanings {
                hits.push(Hit {
                    start: first.bytes().start,
                    end: last.bytes().end,
                    at: first.at,
                    until: last.until(),
                    concept: *concept,
                    languages: *languages,
                });
            }
        }
    }
}

/// The first and last word of an entry's place, if all its words stand there in one sentence.
fn spanned<'w>(entry: &Entry, text: &[u8], words: &'w [Token]) -> Option<(&'w Token, &'w Token)> {
    let place = words.get(..entry.words.len())?;
    let first = place.first()?;
    let mut last = first;
    // The address has vouched for the first word.
    for (word, token) in entry.words.iter().zip(place).skip(1) {
        let matches = match word {
            Word::Whole(hash) => *hash == token.hash,
            Word::Begins(begins, length) => token.bytes().len() >= *length && hash(text.get(token.bytes())?.get(..*length)?) == *begins,
        };
        if !matches || token.at != last.until() {
            return None;
        }
        last = token;
    }
    Some((first, last))
}

/// Words of several entries at one place with one concept are one hit.
fn merge(hits: &mut Vec<Hit>, from: usize) {
    let mut place = from;
    while let Some(hit) = hits.get(place).copied() {
        let same = |known: &&mut Hit| known.start == hit.start && known.end == hit.end && known.concept == hit.concept;
        let earlier = hits.get_mut(from..place).unwrap_or_default().iter_mut().find(same);
        match earlier {
            Some(known) => {
                known.languages = known.languages.or(hit.languages);
                hits.remove(place);
            }
            None => place += 1,
        }
    }
}

impl Word {
    fn key(self) -> Key {
        match self {
            Self::Whole(hash) => (hash, 0),
            Self::Begins(hash, length) => (hash, length),
        }
    }
}

/// What an address is made of; each kind of look-up has its own.
const ONE: u64 = 0;
const STEM: u64 = 0x9e37_79b9_7f4a_7c15;
const TWO: u64 = 0xbf58_476d_1ce4_e5b9;
const OPEN_ONE: u64 = 0x94d0_49bb_1331_11eb;
const OPEN_STEM: u64 = 0xd6e8_feb8_6659_fd93;
const OPEN_TWO: u64 = 0xa076_1d64_78bd_642f;

/// Where an entry is found: by its first word, its first stem, or its first two words.
fn address(words: &[Word], open: bool) -> u64 {
    let (one, stem, two) = if open { (OPEN_ONE, OPEN_STEM, OPEN_TWO) } else { (ONE, STEM, TWO) };
    match words {
        [Word::Whole(first), Word::Whole(second), ..] => pair(*first, *second) ^ two,
        [Word::Begins(first, _), ..] => first ^ stem,
        [Word::Whole(first), ..] => first ^ one,
        [] => 0,
    }
}

fn pair(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A set of addresses that may say yes wrongly, never no.
#[derive(Debug)]
struct Filter(Vec<u64>);

/// Half a megabit: one entry in sixteen bits.
const FILTER_BITS: u32 = 19;

impl Default for Filter {
    fn default() -> Self {
        Self(vec![0; 1 << (FILTER_BITS - 6)])
    }
}

impl Filter {
    fn place(address: u64) -> (usize, u64) {
        let mixed = address.wrapping_mul(0xff51_afd7_ed55_8ccd) >> (64 - FILTER_BITS);
        ((mixed >> 6) as usize, 1 << (mixed & 63))
    }

    fn set(&mut self, address: u64) {
        let (word, bit) = Self::place(address);
        if let Some(word) = self.0.get_mut(word) {
            *word |= bit;
        }
    }

    #[inline]
    fn may_have(&self, address: u64) -> bool {
        let (word, bit) = Self::place(address);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// Keys are hashes already.
#[derive(Default)]
struct Hashed(u64);

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
