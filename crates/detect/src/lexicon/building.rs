//! Lexicon entries as they are written, gathered and then packed into an [`Index`].

use super::beginnings::MAX_STEM;
use super::index::{Entry, FirstLook, Index, Part, Word, address, pair};
use super::{Concept, Languages};
use crate::hashed::HashedMap;
use crate::tokens::{Kind, Token, hash, tokens};

/// Shortest stem that may stand alone: shorter ones would be noise.
const MIN_STEM: usize = 3;

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

/// Entries while they are gathered: the same words may come with several meanings.
#[derive(Default)]
pub(super) struct Builder {
    drafts: Vec<Draft>,
    by_words: HashedMap<usize>,
    first: FirstLook,
}

struct Draft {
    address: u64,
    words: Box<[Word]>,
    meanings: Vec<(Concept, Languages)>,
}

impl Builder {
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
        let words: Option<Box<[Word]>> = cut
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
            .collect();
        let first = cut
            .first()
            .and_then(|token| folded.as_bytes().get(token.bytes()))?;
        self.insert(words?, first, open, concept, language);
        Some(())
    }

    fn insert(
        &mut self,
        words: Box<[Word]>,
        first: &[u8],
        open: bool,
        concept: Concept,
        language: Languages,
    ) {
        let key = words
            .iter()
            .fold(u64::from(open), |key, word| pair(key, word.key()));
        let number = *self.by_words.entry(key).or_insert_with(|| {
            let address = address(&words, open);
            self.first.note(&words, open, address, first);
            self.drafts.push(Draft {
                address,
                words,
                meanings: Vec::with_capacity(1),
            });
            self.drafts.len() - 1
        });
        if let Some(draft) = self.drafts.get_mut(number) {
            let known = draft.meanings.iter_mut().find(|(is, _)| *is == concept);
            match known {
                Some((_, languages)) => *languages = languages.or(language),
                None => draft.meanings.push((concept, language)),
            }
        }
    }

    /// Packs what was gathered: entries of one address side by side.
    pub(super) fn finish(mut self) -> Index {
        self.drafts.sort_by_key(|draft| draft.address);
        let mut table = HashedMap::with_capacity_and_hasher(self.drafts.len(), Default::default());
        let mut entries = Vec::with_capacity(self.drafts.len());
        let mut words = Vec::new();
        let mut meanings = Vec::with_capacity(self.drafts.len());
        for draft in self.drafts {
            let here = part(entries.len(), 0);
            table.entry(draft.address).or_insert(here).count += 1;
            let further = draft.words.get(1..).unwrap_or_default();
            entries.push(Entry {
                further: part(words.len(), further.len()),
                meanings: part(meanings.len(), draft.meanings.len()),
            });
            words.extend_from_slice(further);
            meanings.extend(draft.meanings);
        }
        Index {
            first: self.first,
            table,
            entries: entries.into(),
            words: words.into(),
            meanings: meanings.into(),
        }
    }
}

/// A part of a list; lists of words are far shorter than the numbers go.
fn part(start: usize, count: usize) -> Part {
    Part {
        start: u32::try_from(start).unwrap_or(u32::MAX),
        count: u32::try_from(count).unwrap_or(0),
    }
}
