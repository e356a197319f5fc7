//! Words of many languages, answered as concepts.
//!
//! A concept ("ignore", "prior", "instructions") is spelled by words of every language in
//! `lexicon/<language>.toml`, which the build packs. Each token of a text is looked up by its hash, alone and with
//! the token after it, so that the cost does not depend on how many words and languages there are.

mod beginnings;
mod building;
mod index;
#[cfg(test)]
mod packing;

use building::{Builder, Spelling};
use index::Index;
#[cfg(test)]
pub(crate) use packing::{Example, LanguageFile};
use std::collections::HashMap;

use crate::tokens::{Kind, Memo, Token};

/// A set of languages, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Languages(u32);

impl Languages {
    /// Every language.
    pub(crate) const ALL: Self = Self(u32::MAX);
    const NONE: Self = Self(0);

    fn single(index: usize) -> Self {
        Self(
            u32::try_from(index)
                .ok()
                .and_then(|shift| 1_u32.checked_shl(shift))
                .unwrap_or(0),
        )
    }

    /// The languages in both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The languages in either set.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// No language at all.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A concept's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Concept(pub(crate) u8);

/// A word of the lexicon, found in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Half words before `start`.
    pub(crate) at: u32,
    /// Half words before `end`.
    pub(crate) until: u32,
    pub(crate) concept: Concept,
    pub(crate) languages: Languages,
}

/// Addresses are concepts of their own.
pub(crate) const MAIL_ADDRESS: &str = "mail_address";
pub(crate) const WEB_ADDRESS: &str = "web_address";

/// All words of all languages.
#[derive(Debug)]
pub(crate) struct Lexicon {
    index: Index,
    concepts: HashMap<String, Concept>,
    languages: HashMap<String, Languages>,
    verb_last: Languages,
    mail: Concept,
    web: Concept,
}

/// Why the lexicon files cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LexiconError {
    /// Concepts are numbered by one byte.
    #[error("more than 250 concepts")]
    TooManyConcepts,
    /// An entry holds no word, or a star in its middle.
    #[error("unusable word {word:?} in the {language} lexicon")]
    Word {
        /// Its language.
        language: String,
        /// As written.
        word: String,
    },
}

/// A lexicon that is read language by language.
pub(crate) struct Reading {
    entries: Builder,
    concepts: HashMap<String, Concept>,
    languages: HashMap<String, Languages>,
    verb_last: Languages,
    mail: Concept,
    web: Concept,
}

impl Reading {
    pub(crate) fn new() -> Result<Self, LexiconError> {
        let mut concepts = HashMap::new();
        let mail = intern(&mut concepts, MAIL_ADDRESS)?;
        let web = intern(&mut concepts, WEB_ADDRESS)?;
        Ok(Self {
            entries: Builder::default(),
            concepts,
            languages: HashMap::new(),
            verb_last: Languages::NONE,
            mail,
            web,
        })
    }

    /// Adds the languages of a packed lexicon.
    pub(crate) fn add(&mut self, packed: &str) -> Result<(), LexiconError> {
        for part in packed.split("\n\n").filter(|part| !part.is_empty()) {
            let mut lines = part.lines();
            let code = lines.next().unwrap_or_default();
            let (code, verb_last) = match code.strip_prefix('!') {
                Some(code) => (code, true),
                None => (code, false),
            };
            let language = Languages::single(self.languages.len());
            self.languages.insert(code.to_owned(), language);
            if verb_last {
                self.verb_last = self.verb_last.or(language);
            }
            for line in lines {
                self.concept(line, code, language)?;
            }
        }
        Ok(())
    }

    /// Adds a concept's words in one language.
    fn concept(&mut self, line: &str, code: &str, language: Languages) -> Result<(), LexiconError> {
        let mut words = line.split('\t');
        let concept = intern(&mut self.concepts, words.next().unwrap_or_default())?;
        for word in words {
            self.entries
                .add(Spelling::read(word), concept, language)
                .ok_or_else(|| LexiconError::Word {
                    language: code.to_owned(),
                    word: word.to_owned(),
                })?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Lexicon {
        Lexicon {
            index: self.entries.finish(),
            concepts: self.concepts,
            languages: self.languages,
            verb_last: self.verb_last,
            mail: self.mail,
            web: self.web,
        }
    }
}

impl Lexicon {
    #[cfg(test)]
    pub(crate) fn build(files: &[LanguageFile]) -> Result<Self, LexiconError> {
        let mut packed = String::new();
        for file in files {
            packing::pack(file, &mut packed).unwrap();
        }
        let mut reading = Reading::new()?;
        reading.add(&packed)?;
        Ok(reading.finish())
    }

    pub(crate) fn concept(&self, name: &str) -> Option<Concept> {
        self.concepts.get(name).copied()
    }

    pub(crate) fn language(&self, code: &str) -> Option<Languages> {
        self.languages.get(code).copied()
    }

    /// The languages in which the verb may come last.
    pub(crate) fn verb_last(&self) -> Languages {
        self.verb_last
    }

    /// Every word of the lexicon in a folded text, in the order in which they start.
    pub(crate) fn hits(&self, text: &str, tokens: &[Token]) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut unknown = Memo::new(tokens.len());
        for (number, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Mail => hits.push(whole(token, self.mail)),
                Kind::Link => hits.push(whole(token, self.web)),
                Kind::Marks => {}
                Kind::Word | Kind::WideWord | Kind::Single | Kind::Number => {
                    self.index.look_up(
                        text.as_bytes(),
                        tokens.get(number..).unwrap_or_default(),
                        &mut unknown,
                        &mut hits,
                    );
                }
            }
        }
        hits
    }
}

fn whole(token: &Token, concept: Concept) -> Hit {
    Hit {
        start: token.bytes().start,
        end: token.bytes().end,
        at: token.at,
        until: token.until(),
        concept,
        languages: Languages::ALL,
    }
}

fn intern(concepts: &mut HashMap<String, Concept>, name: &str) -> Result<Concept, LexiconError> {
    if let Some(known) = concepts.get(name) {
        return Ok(*known);
    }
    let number = u8::try_from(concepts.len())
        .ok()
        .filter(|number| *number < 250)
        .ok_or(LexiconError::TooManyConcepts)?;
    concepts.insert(name.to_owned(), Concept(number));
    Ok(Concept(number))
}

#[cfg(test)]
mod tests;
