//! A folded text as tokens: the common ground of lexicon and model.
//!
//! Words are runs of letters and digits; a character of a script without spaces is a token of
//! its own. Token hashes have 64 bits, so that equal hashes mean equal words for all practice.

mod address;
mod hash;
mod memo;

use address::address;
pub(crate) use hash::{hash, hash_start};
pub(crate) use memo::Memo;
use std::ops::Range;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters and digits of ASCII.
    Word,
    /// A word with letters of two or three bytes.
    WideWord,
    /// A character of an unspaced script, or an emoji.
    Single,
    /// A run of punctuation.
    Marks,
    /// Digits alone.
    Number,
    /// A mail address.
    Mail,
    /// A web address.
    Link,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) hash: u64,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Half words before it: what gaps are measured in.
    pub(crate) at: u32,
}

impl Token {
    pub(crate) fn bytes(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Half words up to its end.
    pub(crate) fn until(&self) -> u32 {
        self.at + self.width()
    }

    fn width(&self) -> u32 {
        match self.kind {
            Kind::Single => 1,
            Kind::Marks => 0,
            Kind::Word | Kind::WideWord | Kind::Number | Kind::Mail | Kind::Link => 2,
        }
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind != Kind::Marks
    }
}

/// Longer words are cut: no language needs more.
const MAX_WORD: usize = 48;
const MAX_MARKS: usize = 3;
/// The end of a sentence keeps words apart as this many half words do.
const SENTENCE_END: u32 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Letter,
    Mark,
    Wide,
    Unspaced,
}

const CLASSES: [Class; 256] = classes();

#[allow(clippy::indexing_slicing, reason = "a table made at compile time")]
const fn classes() -> [Class; 256] {
    let mut table = [Class::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => Class::Letter,
            0..=b' ' | 0x7F => Class::Space,
            0xE3..=0xE9 | 0xF0..=0xFF => Class::Unspaced,
            0x80.. => Class::Wide,
            _ => Class::Mark,
        };
        byte += 1;
    }
    table
}

fn class(byte: u8) -> Class {
    CLASSES
        .get(usize::from(byte))
        .copied()
        .unwrap_or(Class::Mark)
}

/// Cuts a folded text into tokens. Texts over four gigabytes are cut short.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text
        .as_bytes()
        .get(..text.len().min(u32::MAX as usize))
        .unwrap_or_default();
    let mut tokens = Vec::with_capacity(bytes.len() / 5 + 4);
    let mut cutter = Cutter {
        bytes,
        position: 0,
        at: 0,
    };
    while let Some(token) = cutter.next_token() {
        tokens.push(token);
    }
    tokens
}

struct Cutter<'t> {
    bytes: &'t [u8],
    position: usize,
    at: u32,
}

impl Cutter<'_> {
    fn next_token(&mut self) -> Option<Token> {
        loop {
            let start = self.position;
            let byte = *self.bytes.get(start)?;
            let token = match class(byte) {
                Class::Space => {
                    self.position += 1;
                    continue;
                }
                Class::Unspaced => self.hashed(
                    Kind::Single,
                    start,
                    start + if byte >= 0xF0 { 4 } else { 3 },
                ),
                Class::Mark => {
                    let end = self.marks(start);
                    if end - start < 2 && !matches!(byte, b'"' | b'?' | b':' | b'!') {
                        continue;
                    }
                    self.hashed(Kind::Marks, start, end.min(start + MAX_MARKS))
                }
                Class::Wide
                    if let Some(length) =
                        wide_mark(self.bytes.get(start..).unwrap_or_default()) =>
                {
                    self.position += length;
                    continue;
                }
                Class::Letter | Class::Wide => self.word(start),
            };
            return Some(self.pass(token));
        }
    }

    fn hashed(&self, kind: Kind, start: usize, end: usize) -> Token {
        let rest = self.bytes.get(start..).unwrap_or_default();
        self.token(kind, hash_start(rest, end - start), start, end)
    }

    /// Moves behind a run of punctuation and notes the end of a sentence.
    fn marks(&mut self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|b| class(**b) == Class::Mark)
            .count();
        let end = start + length;
        let ends = matches!(
            self.bytes.get(end.wrapping_sub(1)),
            Some(b'.' | b'!' | b'?')
        );
        if ends
            && self
                .bytes
                .get(end)
                .is_some_and(|b| class(*b) == Class::Space)
        {
            self.at += SENTENCE_END;
        }
        self.position = end;
        end
    }

    /// The word that starts here, or the address that it begins.
    fn word(&self, start: usize) -> Token {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let (kind, length) = word_at(rest);
        let wide = kind == Kind::WideWord;
        let hash = hash_start(rest, length);
        let (kind, length) = match rest.get(length) {
            Some(b':' | b'@' | b'.' | b'_' | b'-' | b'+' | b'[') if !wide => {
                address(self.bytes, start, rest).unwrap_or((kind, length))
            }
            _ => (kind, length),
        };
        self.token(kind, hash, start, start + length)
    }

    fn token(&self, kind: Kind, hash: u64, start: usize, end: usize) -> Token {
        Token {
            kind,
            hash,
            start: start as u32,
            end: end.min(self.bytes.len()) as u32,
            at: self.at,
        }
    }

    /// Moves behind a token.
    fn pass(&mut self, token: Token) -> Token {
        self.at = token.until();
        self.position = self.position.max(token.bytes().end);
        token
    }
}

/// The kind and length of the word that starts here.
fn word_at(rest: &[u8]) -> (Kind, usize) {
    let mut wide = false;
    let mut length = 0;
    while length < MAX_WORD {
        let tail = rest.get(length..).unwrap_or_default();
        let run = tail.first_chunk().map_or_else(
            || letters(tail),
            |chunk| letters_of_eight(u64::from_le_bytes(*chunk)),
        );
        length += run;
        if run == 8 {
            continue;
        }
        match tail.get(run..) {
            Some(after @ [byte, ..])
                if class(*byte) == Class::Wide && wide_mark(after).is_none() =>
            {
                wide = true;
                length += 1;
            }
            _ => break,
        }
    }
    let kind = match rest.first() {
        _ if wide => Kind::WideWord,
        Some(b'0'..=b'9')
            if rest
                .get(..length)
                .is_some_and(|word| word.iter().all(u8::is_ascii_digit)) =>
        {
            Kind::Number
        }
        _ => Kind::Word,
    };
    (kind, length.min(MAX_WORD))
}

fn letters(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|b| class(**b) == Class::Letter)
        .count()
}

/// How many of eight bytes, lowest first, are ASCII letters or digits before one is not.
/// Words end unpredictably: one comparison of eight bytes is cheaper than eight of one.
fn letters_of_eight(chunk: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Per byte and below 0x80: the high bit is set when the byte is at least `least`.
    let at_least = |bytes: u64, least: u8| bytes + ONES * u64::from(0x80 - least);
    let low = chunk & !HIGH;
    let lower = low | (ONES * 0x20);
    let alphabetic = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
    let digit = at_least(low, b'0') & !at_least(low, b'9' + 1);
    let belongs = (alphabetic | digit) & !chunk & HIGH;
    ((belongs ^ HIGH).trailing_zeros() / 8) as usize
}

/// The length of a punctuation mark outside ASCII that starts here: signs of Latin-1, the Arabic
/// comma, semicolon, question mark and full stop, the danda, and general punctuation.
fn wide_mark(rest: &[u8]) -> Option<usize> {
    match rest {
        [0xC2, ..] | [0xD8, 0x8C | 0x9B | 0x9F, ..] | [0xDB, 0x94, ..] => Some(2),
        [0xE0, 0xA5, 0xA4 | 0xA5, ..] | [0xE2, 0x80 | 0x81, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
