//! One pass over a folded text that notices every disguise of a key word, and numbers that may be character codes.

use super::lexicon::{LETTER, LEXICON, Lexicon, MIN_DISORDER};
use super::spaced::Run;
use super::typo::Disorder;
use super::{leet, segment, typo};
use crate::encoded::{morse_run, number_run};
use crate::passage::{Edit, EditText};
use crate::span::SpanMap;
use std::ops::Range;

/// Shortest word that is tried as several run together.
const MIN_SQUASHED: usize = 12;
/// Longest identifier that is taken apart.
const MAX_SNAKE: usize = 96;
/// Bytes around a disguised key word in which disguised small words count too.
const COMPANY: usize = 64;

/// What one pass over a text turned up.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Disguised words and their plain spelling, sorted and disjoint.
    pub(crate) edits: Vec<Edit>,
    /// Key words spelt backwards.
    pub(crate) backwards: Vec<Range<usize>>,
    /// Key words under a letter cipher.
    pub(crate) shifted: Vec<(Shift, Range<usize>)>,
    /// Runs of numbers.
    pub(crate) numbers: Vec<Range<usize>>,
    /// Runs of dots and dashes.
    pub(crate) morse: Vec<Range<usize>>,
}

/// A cipher that moves every letter by the same amount, possibly after mirroring the alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Shift {
    mirror: bool,
    by: u8,
}

impl Shift {
    /// The plain letter behind a lower-case `byte`; other bytes stay.
    pub(crate) fn undo(self, byte: u8) -> u8 {
        if !byte.is_ascii_lowercase() {
            return byte;
        }
        let moved = (byte - b'a' + 26 - self.by) % 26;
        b'a' + if self.mirror { 25 - moved } else { moved }
    }

    /// The cipher that turns `plain` into `word`.
    fn between(plain: &[u8], word: &[u8]) -> Option<Shift> {
        let (first, seen) = (plain.first()?, word.first()?);
        let ciphers = [false, true].map(|mirror| {
            let start = if mirror { b'z' - first } else { first - b'a' };
            Shift { mirror, by: (seen - b'a' + 26 - start) % 26 }
        });
        let identity = Shift { mirror: false, by: 0 };
        ciphers.into_iter().find(|cipher| *cipher != identity && word.iter().map(|byte| cipher.undo(*byte)).eq(plain.iter().copied()))
    }
}

impl Scan {
    /// Scans a folded text; `source` maps it to the text before white space was squeezed.
    pub(crate) fn of(text: &str, source: &SpanMap) -> Scan {
        let mut scanner = Scanner { text, bytes: text.as_bytes(), source, scan: Scan::default(), strong: Vec::new(), leet_tried: 0, lexicon: &LEXICON };
        scanner.run();
        let Scanner { mut scan, strong, .. } = scanner;
        let near_strong = |edit: &Edit| {
            let next = strong.partition_point(|at| at + COMPANY < edit.range.start);
            strong.get(next).is_some_and(|at| *at < edit.range.end + COMPANY)
        };
        scan.edits.retain(near_strong);
        scan
    }
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    source: &'a SpanMap,
    scan: Scan,
    /// Where edits that recover a key word start.
    strong: Vec<usize>,
    /// Up to where a token has been tried as leet.
    leet_tried: usize,
    lexicon: &'static Lexicon,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let bytes = self.bytes;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let first = LETTER.of(*byte);
            if first != 0 {
                let start = at;
                let mut sum = first;
                at += 1;
                while let Some(value) = bytes.get(at).map(|byte| LETTER.of(*byte)).filter(|value| *value != 0) {
                    sum = sum.wrapping_add(value);
                    at += 1;
                }
                at = self.word(start, at, sum);
            } else if byte.is_ascii_digit() {
                at = self.number(at);
            } else if matches!(byte, b'.' | b'-') && matches!(bytes.get(at + 1), Some(b'.' | b'-' | b' ')) {
                at = self.morse(at);
            } else {
                at += 1;
            }
        }
    }

    /// Judges the word at `start..end` and returns where to go on.
    #[inline]
    fn word(&mut self, start: usize, end: usize, letter_sum: u64) -> usize {
        let before = start.checked_sub(1).and_then(|before| self.bytes.get(before)).copied().unwrap_or(b' ');
        let after = self.bytes.get(end).copied().unwrap_or(b' ');
        if leet::is_stand_in(before) || leet::is_stand_in(after) {
            return self.leet(start).unwrap_or(end).max(end);
        }
        let len = end - start;
        if len == 1 {
            return self.spaced(start, before).unwrap_or(end);
        }
        if before == b'_' || after == b'_' {
            return self.snake(start, end);
        }
        if len < MIN_DISORDER {
            return end;
        }
        if self.lexicon.may_be_disordered(letter_sum) {
            self.disorder(start..end, letter_sum);
        }
        let word = self.bytes.get(start..end).unwrap_or_default();
        if let Some(shift) = self.lexicon.same_steps(word).find_map(|plain| Shift::between(plain.as_bytes(), word)) {
            self.scan.shifted.push((shift, start..end));
        }
        if len >= MIN_SQUASHED {
            self.squashed(start..end);
        }
        end
    }

    fn disorder(&mut self, range: Range<usize>, letter_sum: u64) {
        let word = self.text.get(range.clone()).unwrap_or_default();
        match typo::disorder(word, letter_sum) {
            Some(Disorder::Misspelt(key)) => self.edit(range, EditText::Word(key), true),
            Some(Disorder::Backwards) => self.scan.backwards.push(range),
            None => {}
        }
    }

    fn leet(&mut self, at: usize) -> Option<usize> {
        if at < self.leet_tried {
            return None;
        }
        let token = leet::token(self.bytes, at);
        self.leet_tried = token.end;
        let (entry, dropped) = leet::read(self.bytes.get(token.clone())?)?;
        self.edit(token.start..token.end - dropped, EditText::Word(entry.text), entry.key);
        Some(token.end)
    }

    fn spaced(&mut self, at: usize, before: u8) -> Option<usize> {
        if before.is_ascii_alphanumeric() || !before.is_ascii() {
            return None;
        }
        let run = Run::at(self.bytes, at)?;
        for edit in run.read(self.bytes, self.source) {
            self.edit(edit.range, edit.text, true);
        }
        Some(run.end())
    }

    /// Words run together without a gap: at least three, two of them key words.
    fn squashed(&mut self, range: Range<usize>) {
        let Some(words) = segment::exactly(self.bytes.get(range.clone()).unwrap_or_default()) else { return };
        if words.len() < 3 || words.iter().filter(|entry| entry.key).count() < 2 {
            return;
        }
        let mut at = range.start;
        for entry in words.iter().take(words.len() - 1) {
            at += entry.text.len();
            self.edit(at..at, EditText::Char(' '), true);
        }
    }

    /// The same with underscores for gaps. Returns where the identifier ends.
    fn snake(&mut self, start: usize, end: usize) -> usize {
        let is_part = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b'_';
        let len = self.bytes.get(start..).unwrap_or_default().iter().take(MAX_SNAKE).take_while(is_part).count();
        let identifier = self.bytes.get(start..start + len).unwrap_or_default();
        let identifier = identifier.strip_suffix(b"_").unwrap_or(identifier);
        let mut key_words = 0;
        let mut words = 0;
        for part in identifier.split(|byte| *byte == b'_') {
            let Some(entry) = self.lexicon.exact(part) else { return end };
            key_words += usize::from(entry.key);
            words += 1;
        }
        if words < 3 || key_words < 2 {
            return end;
        }
        for gap in memchr::memchr_iter(b'_', identifier) {
            self.edit(start + gap..start + gap + 1, EditText::Char(' '), true);
        }
        start + len
    }

    fn number(&mut self, at: usize) -> usize {
        match number_run(self.bytes, at) {
            Ok(run) => {
                let end = run.end;
                self.scan.numbers.push(run);
                end
            }
            Err(end) => self.leet(at).unwrap_or(end).max(end),
        }
    }

    fn morse(&mut self, at: usize) -> usize {
        match morse_run(self.bytes, at) {
            Ok(run) => {
                let end = run.end;
                self.scan.morse.push(run);
                end
            }
            Err(end) => end,
        }
    }

    fn edit(&mut self, range: Range<usize>, text: EditText, strong: bool) {
        if self.scan.edits.last().is_some_and(|last| last.range.end > range.start) {
            return;
        }
        if strong {
            self.strong.push(range.start);
        }
        self.scan.edits.push(Edit { range, text });
    }
}
