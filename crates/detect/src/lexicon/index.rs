//! Lexicon entries by the hashes of their first words.
//!
//! An entry of one word is found by that word's hash, a stem by the hash of the prefix, a
//! phrase by its first two words together; the rest of a phrase is compared word by word.
//! A filter of bits in front answers nearly all look-ups without touching the tables.

use super::beginnings::{Beginnings, MAX_STEM};
use super::{Concept, Hit, Languages};
use crate::hashed::{Filter, HashedMap};
use crate::tokens::{Kind, Memo, Token, hash, hash_start, tokens};

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

/// Shortest stem that may stand alone: shorter ones would be noise.
const MIN_STEM: usize = 3;
/// Letters of a clitic or compound that may stand before an open entry.
const MAX_ATTACHED: usize = 6;
const MIN_COMPOUND: usize = 10;

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: Vec<Entry>,
    by_words: HashedMap<usize>,
    table: HashedMap<Vec<u32>>,
    filter: Filter<19>,
    /// First words of entries: small enough to stay near, and most words of a text are in no entry.
    firsts: Filter<16>,
    stems: Beginnings<12>,
    open: Beginnings<10>,
    open_firsts: Filter<12>,
}

/// An entry as it is written: words, with `*` where more may stand before or follow.
#[derive(Clone, Copy)]
pub(super) struct Spelling<'s> {
    inner: &'s str,
    open: bool,
    stem: bool,
}

impl<'s> Spelling<'s> {
    pub(super) fn read(spelling: &'s str) -> Self {
        let (inner, open) = spelling
            .strip_prefix('*')
            .map_or((spelling, false), |rest| (rest, true));
        let (inner, stem) = inner
            .strip_suffix('*')
            .map_or((inner, false), |rest| (rest, true));
        Self { inner, open, stem }
    }

    /// The folded inner parts of many spellings. Folding costs little a letter and much a call, so that thousands of words
    /// are folded as one text.
    pub(super) fn fold_all(spellings: &[Self]) -> Vec<String> {
        const BETWEEN: &str = "|";
        let inner: Vec<&str> = spellings.iter().map(|spelling| spelling.inner).collect();
        let folded = blastshield_text::fold(&inner.join(BETWEEN));
        let pieces: Vec<String> = folded.split(BETWEEN).map(str::to_owned).collect();
        if pieces.len() == spellings.len() {
            pieces
        } else {
            // A word with the separator in it.
            inner.into_iter().map(blastshield_text::fold).collect()
        }
    }
}

impl Index {
    /// Adds an entry whose inner part was folded; `None` if it is unusable.
    pub(super) fn add(
        &mut self,
        spelling: Spelling<'_>,
        folded: &str,
        concept: Concept,
        language: Languages,
    ) -> Option<()> {
        let Spelling { open, stem, .. } = spelling;
        let cut: Vec<Token> = tokens(folded).into_iter().filter(Token::is_word).collect();
        if cut.is_empty() || folded.contains('*') {
            return None;
        }
        let last = cut.len() - 1;
        let words: Box<[Word]> = cut
            .iter()
            .enumerate()
            .map(|(place, token)| {
                let length = token.bytes().len().min(MAX_STEM);
                let begins = stem
                    && place == last
                    && token.kind != Kind::Single
                    && (place > 0 || length >= MIN_STEM);
                if begins {
                    Word::Begins(
                        hash(
                            folded
                                .as_bytes()
                                .get(token.start as usize..token.start as usize + length)
                                .unwrap_or_default(),
                        ),
                        length,
                    )
                } else {
                    Word::Whole(token.hash)
                }
            })
            .collect();
        let first = cut
            .first()
            .and_then(|token| folded.as_bytes().get(token.bytes()))?;
        self.insert(words, first, open, concept, language);
        Some(())
    }

    fn insert(
        &mut self,
        words: Box<[Word]>,
        bytes: &[u8],
        open: bool,
        concept: Concept,
        language: Languages,
    ) {
        let key = words
            .iter()
            .fold(u64::from(open), |key, word| pair(key, word.key()));
        let number = match self.by_words.get(&key) {
            Some(known) => *known,
            None => {
                let number = self.entries.len();
                let hash = address(&words, open);
                self.filter.set(hash);
                self.note_beginning(&words, open, bytes);
                self.table
                    .entry(hash)
                    .or_default()
                    .push(u32::try_from(number).unwrap_or(u32::MAX));
                self.entries.push(Entry {
                    words,
                    open,
                    meanings: Vec::new(),
                });
                self.by_words.insert(key, number);
                number
            }
        };
        if let Some(entry) = self.entries.get_mut(number) {
            match entry
                .meanings
                .iter_mut()
                .find(|(known, _)| *known == concept)
            {
                Some((_, languages)) => *languages = languages.or(language),
                None => entry.meanings.push((concept, language)),
            }
        }
    }

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
        let mut begins_phrase = self.firsts.may_have(first.hash);
        if begins_phrase {
            self.try_hash(ONE, first.hash, text, words, false, hits);
            self.try_hash(
                TWO,
                pair(first.hash, second(words)),
                text,
                words,
                false,
                hits,
            );
        }
        if first.kind != Kind::Single {
            let bytes = text.get(first.bytes()).unwrap_or_default();
            self.try_stems(
                self.stems.lengths(bytes),
                STEM,
                bytes,
                text,
                words,
                false,
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
        open: bool,
        hits: &mut Vec<Hit>,
    ) {
        while lengths != 0 {
            let length = lengths.trailing_zeros() as usize;
            lengths &= lengths - 1;
            if length > bytes.len() {
                return;
            }
            self.try_hash(role, hash_start(bytes, length), text, words, open, hits);
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
            let lengths = self.open.lengths(rest);
            if lengths == 0 {
                continue;
            }
            let word = hash(rest);
            if self.open_firsts.may_have(word) {
                begins_phrase = true;
                self.try_hash(OPEN_ONE, word, text, words, true, hits);
                self.try_hash(OPEN_TWO, pair(word, second(words)), text, words, true, hits);
            }
            self.try_stems(lengths, OPEN_STEM, rest, text, words, true, hits);
        }
        begins_phrase
    }

    fn note_beginning(&mut self, words: &[Word], open: bool, bytes: &[u8]) {
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

    #[inline]
    fn try_hash(
        &self,
        role: u64,
        hash: u64,
        text: &[u8],
        words: &[Token],
        open: bool,
        hits: &mut Vec<Hit>,
    ) {
        let address = hash ^ role;
        if self.filter.may_have(address) {
            self.confirm(address, text, words, open, hits);
        }
    }

    fn confirm(&self, address: u64, text: &[u8], words: &[Token], open: bool, hits: &mut Vec<Hit>) {
        for number in self.table.get(&address).into_iter().flatten() {
            let Some(entry) = self
                .entries
                .get(*number as usize)
                .filter(|entry| entry.open == open)
            else {
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

/// The hash of the second of these words.
fn second(words: &[Token]) -> u64 {
    words
        .iter()
        .skip(1)
        .find(|token| token.is_word())
        .map_or(0, |word| word.hash)
}

/// The first and last word of an entry's place, if all its words stand there in one sentence.
fn spanned<'w>(entry: &Entry, text: &[u8], words: &'w [Token]) -> Option<(&'w Token, &'w Token)> {
    let mut place = words.iter().filter(|token| token.is_word());
    let first = place.next()?;
    let mut last = first;
    // The address has vouched for the first word.
    for word in entry.words.iter().skip(1) {
        let token = place.next()?;
        let matches = match word {
            Word::Whole(hash) => *hash == token.hash,
            Word::Begins(begins, length) => {
                token.bytes().len() >= *length
                    && hash(text.get(token.bytes())?.get(..*length)?) == *begins
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
    fn key(self) -> u64 {
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
fn address(words: &[Word], open: bool) -> u64 {
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

fn pair(first: u64, second: u64) -> u64 {
    (first.rotate_left(23) ^ second).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
