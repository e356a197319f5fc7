//! Lexicon entries as they are written, gathered and then packed into an [`Index`].

use super::beginnings::MAX_STEM;
use super::index::{Entry, FirstLook, Index, Part, Word, address, number, pair};
use super::{Concept, Languages};
use crate::hashed::HashedMap;
use crate::tokens::{Kind, Token, hash, tokens};

/// Shortest stem that may stand alone: shorter ones would be noise.
const MIN_STEM: usize = 3;

/// An entry: folded words, with `*` where more may stand before or follow.
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
}

/// Entries while they are gathered: the same words may come with several meanings.
#[derive(Default)]
pub(super) struct Builder {
    entries: Vec<Draft>,
    words: Vec<Word>,
    meanings: Vec<Meaning>,
    by_words: HashedMap<u32>,
    first: FirstLook,
}

struct Draft {
    address: u64,
    further: Part,
}

struct Meaning {
    entry: u32,
    concept: Concept,
    languages: Languages,
}

impl Builder {
    /// Adds an entry; `None` if it is unusable.
    pub(super) fn add(
        &mut self,
        spelling: Spelling<'_>,
        concept: Concept,
        languages: Languages,
    ) -> Option<()> {
        let Spelling {
            inner: folded,
            open,
            stem,
        } = spelling;
        let cut: Vec<Token> = tokens(folded).into_iter().filter(Token::is_word).collect();
        if cut.is_empty() || folded.contains('*') {
            return None;
        }
        let last = cut.len() - 1;
        let words: Vec<Word> = cut
            .iter()
            .enumerate()
            .map(|(place, token)| {
                let length = token.bytes().len().min(MAX_STEM);
                let begins = stem
                    && place == last
                    && token.kind != Kind::Single
                    && (place > 0 || length >= MIN_STEM);
                if !begins {
                    return Some(Word::Whole(token.hash));
                }
                let start = token.bytes().start;
                let bytes = folded.as_bytes().get(start..start + length)?;
                Some(Word::Begins(hash(bytes), u8::try_from(length).ok()?))
            })
            .collect::<Option<_>>()?;
        let first = folded.as_bytes().get(cut.first()?.bytes())?;
        let entry = self.entry(&words, first, open);
        self.meanings.push(Meaning {
            entry,
            concept,
            languages,
        });
        Some(())
    }

    /// The number of the entry with these words.
    fn entry(&mut self, words: &[Word], first: &[u8], open: bool) -> u32 {
        let key = words
            .iter()
            .fold(u64::from(open), |key, word| pair(key, word.key()));
        *self.by_words.entry(key).or_insert_with(|| {
            let address = address(words, open);
            self.first.note(words, open, address, first);
            let further = words.get(1..).unwrap_or_default();
            self.entries.push(Draft {
                address,
                further: Part::new(self.words.len(), further.len()),
            });
            self.words.extend_from_slice(further);
            number(self.entries.len() - 1)
        })
    }

    /// Packs what was gathered: entries of one address side by side.
    pub(super) fn finish(mut self) -> Index {
        let (meanings, of_entry) = self.meanings_by_entry();
        let mut order: Vec<(u64, u32)> = self
            .entries
            .iter()
            .zip(0..)
            .map(|(entry, number)| (entry.address, number))
            .collect();
        order.sort_unstable();
        let mut table = HashedMap::with_capacity_and_hasher(order.len(), Default::default());
        let mut entries = Vec::with_capacity(order.len());
        for (address, number) in order {
            let known = self.entries.get(number as usize);
            let (Some(known), Some(meanings)) = (known, of_entry.get(number as usize)) else {
                continue;
            };
            let here = Part::new(entries.len(), 0);
            table.entry(address).or_insert(here).count += 1;
            entries.push(Entry {
                further: known.further,
                meanings: *meanings,
            });
        }
        Index {
            first: self.first,
            table,
            entries: entries.into(),
            words: self.words.into(),
            meanings: meanings.into(),
        }
    }

    /// All meanings, each concept of an entry once, and which of them are whose.
    fn meanings_by_entry(&mut self) -> (Vec<(Concept, Languages)>, Vec<Part>) {
        self.meanings.sort_by_key(|meaning| meaning.entry);
        let mut all: Vec<(Concept, Languages)> = Vec::with_capacity(self.meanings.len());
        let mut of_entry = Vec::with_capacity(self.entries.len());
        for same in self.meanings.chunk_by(|one, next| one.entry == next.entry) {
            let start = all.len();
            for meaning in same {
                let mut known = all.iter_mut().skip(start);
                match known.find(|(concept, _)| *concept == meaning.concept) {
                    Some((_, languages)) => *languages = languages.or(meaning.languages),
                    None => all.push((meaning.concept, meaning.languages)),
                }
            }
            of_entry.push(Part::new(start, all.len() - start));
        }
        (all, of_entry)
    }
}
