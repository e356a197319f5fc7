//! A folded text as tokens: the common ground of lexicon and model.
//!
//! Words are runs of letters and digits; a character of a script without spaces is a token of
//! its own. Token hashes have 64 bits, so that equal hashes mean equal words for all practice.

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
pub(crate) const MAX_WORD: usize = 48;
const MAX_MARKS: usize = 3;
const MAX_MAIL: usize = 120;
const MAX_LINK: usize = 400;
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
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Mark)
}

/// Cuts a folded text into tokens. Texts over four gigabytes are cut short.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes().get(..text.len().min(u32::MAX as usize)).unwrap_or_default();
    let mut tokens = Vec::with_capacity(bytes.len() / 5 + 4);
    let mut cutter = Cutter { bytes, position: 0, at: 0 };
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
            let (kind, end) = match class(byte) {
                Class::Space => {
                    self.position += 1;
                    continue;
                }
                Class::Unspaced => (Kind::Single, start + if byte >= 0xF0 { 4 } else { 3 }),
                Class::Mark => {
                    let end = self.marks(start);
                    if end - start < 2 && !matches!(byte, b'"' | b'?' | b':' | b'!') {
                        continue;
                    }
                    (Kind::Marks, end.min(start + MAX_MARKS))
                }
                Class::Wide if let Some(length) = wide_mark(self.bytes.get(start..).unwrap_or_default()) => {
                    self.position += length;
                    continue;
                }
                Class::Letter | Class::Wide => self.word(start),
            };
            return Some(self.cut(kind, start, end));
        }
    }

    /// Moves behind a run of punctuation and notes the end of a sentence.
    fn marks(&mut self, start: usize) -> usize {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().take_while(|b| class(**b) == Class::Mark).count();
        let end = start + length;
        let ends = matches!(self.bytes.get(end.wrapping_sub(1)), Some(b'.' | b'!' | b'?'));
        if ends && self.bytes.get(end).is_some_and(|b| class(*b) == Class::Space) {
            self.at += SENTENCE_END;
        }
        self.position = end;
        end
    }

    fn word(&self, start: usize) -> (Kind, usize) {
        let rest = self.bytes.get(start..).unwrap_or_default();
        if let Some(found) = address(self.bytes, start, rest) {
            return found;
        }
        let mut wide = false;
        let mut digits = true;
        let mut length = 0;
        for byte in rest.iter().take(MAX_WORD) {
            match class(*byte) {
                Class::Letter => digits &= byte.is_ascii_digit(),
                Class::Wide if wide_mark(rest.get(length..).unwrap_or_default()).is_some() => break,
                Class::Wide => {
                    wide = true;
                    digits = false;
                }
                Class::Space | Class::Mark | Class::Unspaced => break,
            }
            length += 1;
        }
        let kind = match (wide, digits) {
            (true, _) => Kind::WideWord,
            (false, true) => Kind::Number,
            (false, false) => Kind::Word,
        };
        (kind, start + length)
    }

    fn cut(&mut self, kind: Kind, start: usize, end: usize) -> Token {
        let end = end.min(self.bytes.len());
        let token = Token {
            kind,
            hash: hash(self.bytes.get(start..end).unwrap_or_default()),
            start: start as u32,
            end: end as u32,
            at: self.at,
        };
        self.at = token.until();
        if kind != Kind::Marks {
            self.position = end;
        }
        token
    }
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

/// A mail or web address that starts here.
fn address(bytes: &[u8], start: usize, rest: &[u8]) -> Option<(Kind, usize)> {
    let first = *rest.first()?;
    if (first == b'h' && (rest.starts_with(b"http://") || rest.starts_with(b"https://"))) || (first == b'w' && rest.starts_with(b"www.")) {
        let ends = |b: &&u8| !matches!(b, 0..=b' ' | b'"' | b'<' | b'>' | b')' | b']' | b'\'' | b'`');
        return Some((Kind::Link, start + rest.iter().take(MAX_LINK).take_while(ends).count()));
    }
    // Only the beginning of a run can begin an address: each run is looked at once.
    let inside = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+' | b'@' | b'[' | b']');
    if start.checked_sub(1).and_then(|i| bytes.get(i)).is_some_and(|b| inside(*b) && *b != b'[') {
        return None;
    }
    let mut at = None;
    let mut dot = false;
    let mut length = 0;
    for byte in rest.iter().take(MAX_MAIL) {
        match byte {
            b'@' if at.is_none() => at = Some(length),
            b'.' => dot |= at.is_some(),
            b if inside(*b) => {}
            _ => break,
        }
        length += 1;
    }
    (at? > 0 && dot).then_some((Kind::Mail, start + length))
}

/// The hash of a word; hashing goes on from a prefix's hash.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(SEED, |hash, byte| step(hash, *byte))
}

/// The hash of nothing.
pub(crate) const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// One byte more.
#[inline]
pub(crate) fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(&str, Kind)> {
        tokens(text).iter().map(|t| (&text[t.bytes()], t.kind)).collect()
    }

    #[test]
    fn words_marks_and_numbers() {
        assert_eq!(
            cut("ignore all, <|im 42"),
            [("ignore", Kind::Word), ("all", Kind::Word), ("<|", Kind::Marks), ("im", Kind::Word), ("42", Kind::Number)]
        );
    }

    #[test]
    fn scripts_with_and_without_spaces() {
        assert_eq!(cut("忽略abc игнор"), [("忽", Kind::Single), ("略", Kind::Single), ("abc", Kind::Word), ("игнор", Kind::WideWord)]);
    }

    #[test]
    fn marks_of_other_scripts_end_words() {
        assert_eq!(cut("दिखाओ। ¿cómo؟"), [("दिखाओ", Kind::WideWord), ("cómo", Kind::WideWord)]);
    }

    #[test]
    fn addresses_are_one_token() {
        assert_eq!(
            cut("to a.b+c@evil.example: see https://x.example/a?b=c) @ noon"),
            [
                ("to", Kind::Word),
                ("a.b+c@evil.example", Kind::Mail),
                (":", Kind::Marks),
                ("see", Kind::Word),
                ("https://x.example/a?b=c", Kind::Link),
                ("noon", Kind::Word)
            ]
        );
    }

    #[test]
    fn gaps_are_measured_in_half_words() {
        let at = |text| tokens(text).iter().filter(|t| t.is_word()).map(|t| t.at).collect::<Vec<_>>();
        assert_eq!(at("one two three"), [0, 2, 4]);
        assert_eq!(at("忽略之前"), [0, 1, 2, 3]);
        assert_eq!(at("one. two"), [0, 6]);
        assert_eq!(at("one.two"), [0, 2]);
    }

    #[test]
    fn tokens_never_overlap_and_always_advance() {
        for text in ["", "<<<", "a@b@c.d", "é忽a1 ", "x".repeat(200).as_str(), "....", "a@", "@a.b", "\u{1f600}x"] {
            let list = tokens(text);
            assert!(list.windows(2).all(|pair| pair[0].end <= pair[1].start), "{text}");
            assert!(list.iter().all(|t| t.start < t.end && t.end as usize <= text.len()), "{text}");
        }
    }
}
