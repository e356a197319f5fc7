//! Lexicon entries by the hashes of their first words.
//!
//! An entry of one word is found by that word's hash, a stem by the hash of the prefix, a
//! phrase by its first two words together; the rest of a phrase is compared word by word.
//! A filter of bits in front answers nearly all look-ups without touching the tables.

use super::beginnings::Beginnings;
use super::{Concept, Hit, Languages};
use crate::hashed::{Filter, HashedMap};
use crate::tokens::{Kind, Memo, Token, hash, hash_start};

/// A word of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The whole word.
    Whole(u64),
    /// The word begins so: hash and length of the beginning.
    Begins(u64, u8),
}

/// Part of a list that all entries share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    start: u32,
    pub(super) count: u32,
}

impl Part {
    pub(super) fn new(start: usize, count: usize) -> Self {
        Self {
            start: number(start),
            count: number(count),
        }
    }

    fn of<T>(self, all: &[T]) -> &[T] {
        let (start, count) = (self.start as usize, self.count as usize);
        all.get(start..start + count).unwrap_or_default()
    }
}

/// A place in a list. Lists of words are far shorter than these numbers go.
pub(super) fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its words but the first, which its address stands for.
    pub(super) further: Part,
    pub(super) meanings: Part,
}

/// Letters of a clitic or compound that may stand before an open entry.
const MAX_ATTACHED: usize = 6;
const MIN_COMPOUND: usize = 10;

/// All entries, packed: [`Builder`](super::building::Builder) makes it.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) first: FirstLook,
    /// The entries of each address.
    pub(super) table: HashedMap<Part>,
    pub(super) entries: Box<[Entry]>,
    pub(super) words: Box<[Word]>,
    pub(super) meanings: Box<[(Concept, Languages)]>,
}

/// What says no to most words of a text, small enough to stay near.
#[derive(Debug, Default)]
pub(super) struct FirstLook {
    addresses: Filter<19>,
    firsts: Filter<16>,
    stems: Beginnings<12>,
    open: Beginnings<10>,
    open_firsts: Filter<12>,
}

impl FirstLook {
    /// Notes an entry by its words, its address and the bytes of its first word.
    pub(super) fn note(&mut self, words: &[Word], open: bool, address: u64, bytes: &[u8]) {
        self.addresses.set(address);
        match (words.first(), open) {
            (Some(Word::Begins(..)), false) => self.stems.note(bytes),
            (Some(Word::Whole(first)), false) => self.firsts.set(*first),
            (Some(Word::Begins(..)), true) => self.open.note(bytes),
            (Some(Word::Whole(first)), true) => {
                self.open.note(bytes);
                self.open_firsts.set(*first);
            }
            _ => {}
        }
    }
}

impl Index {
    /// Every entry that starts at the first of these words. `unknown` holds words that begin none.
    pub(super) fn look_up(
        &self,
        text: &[u8],
        words: &[Token],
        unknown: &mut Memo<()>,
        hits: &mut Vec<Hit>,
    ) {
        let Some(first) = words.first() else {
            return;
        };
        if unknown.get(first.hash).is_some() {
            return;
        }
        let from = hits.len();
        let mut begins_phrase = self.first.firsts.may_have(first.hash);
        if begins_phrase {
            self.try_hash(ONE, first.hash, text, words, hits);
            self.try_hash(TWO, pair(first.hash, second(words)), text, words, hits);
        }
        if first.kind != Kind::Single {
            let bytes = text.get(first.bytes()).unwrap_or_default();
            self.try_stems(
                self.first.stems.lengths(bytes),
                STEM,
                bytes,
                text,
                words,
                hits,
            );
            begins_phrase |= self.try_attached(bytes, text, words, hits);
        }
        if hits.len() > from {
            merge(hits, from);
        } else if !begins_phrase {
            unknown.put(first.hash, ());
        }
    }

    /// Stems that these bytes begin with; only lengths that some stem with this beginning has are tried.
    #[allow(
        clippy::too_many_arguments,
        reason = "one look-up, no state worth a type"
    )]
    fn try_stems(
        &self,
        mut lengths: u32,
        role: u64,
        bytes: &[u8],
        text: &[u8],
        words: &[Token],
        hits: &mut Vec<Hit>,
    ) {
        while lengths != 0 {
            let length = lengths.trailing_zeros() as usize;
            lengths &= lengths - 1;
            if length > bytes.len() {
                return;
            }
            self.try_hash(role, hash_start(bytes, length), text, words, hits);
        }
    }

    /// Entries that may have something attached before them: Arabic clitics, German compounds.
    /// Says whether the word may begin a phrase so.
    fn try_attached(
        &self,
        bytes: &[u8],
        text: &[u8],
        words: &[Token],
        hits: &mut Vec<Hit>,
    ) -> bool {
        let mut begins_phrase = false;
        let arabic = bytes.first().is_some_and(|b| (0xD8..=0xDB).contains(b));
        let (last, stride) = match (arabic, bytes.len()) {
            (true, _) => (MAX_ATTACHED * 2, 2),
            (false, MIN_COMPOUND..) => (bytes.len() - 4, 1),
            (false, _) => (0, 1),
        };
        for start in (0..=last).step_by(stride) {
            let rest = bytes.get(start..).unwrap_or_default();
            let lengths = self.first.open.lengths(rest);
            if lengths == 0 {
                continue;
            }
            let word = hash(rest);
            if self.first.open_firsts.may_have(word) {
                begins_phrase = true;
                self.try_hash(OPEN_ONE, word, text, words, hits);
                self.try_hash(OPEN_TWO, pair(word, second(words)), text, words, hits);
            }
            self.try_stems(lengths, OPEN_STEM, rest, text, words, hits);
        }
        begins_phrase
    }

    #[inline]
    fn try_hash(&self, role: u64, hash: u64, text: &[u8], words: &[Token], hits: &mut Vec<Hit>) {
        let address = hash ^ role;
        if self.first.addresses.may_have(address) {
            self.confirm(address, text, words, hits);
        }
    }

    fn confirm(&self, address: u64, text: &[u8], words: &[Token], hits: &mut Vec<Hit>) {
        let Some(found) = self.table.get(&address) else {
            return;
        };
        for entry in found.of(&self.entries) {
            let further = entry.further.of(&self.words);
            let Some((first, last)) = spanned(further, text, words) else {
                continue;
            };
            for (concept, languages) in entry.meanings.of(&self.meanings) {
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

/// The hash of the second of these words.
fn second(words: &[Token]) -> u64 {
    words
        .iter()
        .skip(1)
        .find(|token| token.is_word())
        .map_or(0, |word| word.hash)
}

/// The first and last word of an entry's place, if all its further words stand there in one sentence.
fn spanned<'w>(
    further: &[Word],
    text: &[u8],
    words: &'w [Token],
) -> Option<(&'w Token, &'w Token)> {
    let mut place = words.iter().filter(|token| token.is_word());
    let first = place.next()?;
    let mut last = first;
    for word in further {
        let token = place.next()?;
        let matches = match word {
            Word::Whole(hash) => *hash == token.hash,
            Word::Begins(begins, length) => {
                let length = usize::from(*length);
                token.bytes().len() >= length
                    && hash(text.get(token.bytes())?.get(..length)?) == *begins
            }
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
        let same = |known: &&mut Hit| {
            known.start == hit.start && known.end == hit.end && known.concept == hit.concept
        };
        let earlier = hits
            .get_mut(from..place)
            .unwrap_or_default()
            .iter_mut()
            .find(same);
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
    pub(super) fn key(self) -> u64 {
        match self {
            Self::Whole(hash) => hash,
            Self::Begins(hash, _) => hash ^ STEM,
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
pub(super) fn address(words: &[Word], open: bool) -> u64 {
    let (one, stem, two) = if open {
        (OPEN_ONE, OPEN_STEM, OPEN_TWO)
    } else {
        (ONE, STEM, TWO)
    };
    match words {
        [Word::Whole(first), Word::Whole(second), ..] => pair(*first, *second) ^ two,
        [Word::Begins(first, _), ..] => first ^ stem,
        [Word::Whole(first), ..] => first ^ one,
        [] => 0,
    }
}

pub(super) fn pair(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
