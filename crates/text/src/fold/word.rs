//! Writes out a word once all of it has been read, because only then is it known how to read its letters.

use super::clean::Cleaner;
use super::confusable::{self, Family, Reading};
use super::invisible::invisible;
use super::latin;
use crate::signals::SignalKind;
use crate::span::Span;
use crate::words::{is_key_word, is_listed};
use std::ops::Range;

/// Letters in a decorative style from which on they spell a word.
const STYLED_WORD: usize = 3;
/// Characters between two words, or letters of the next word, that are looked at to judge a look-alike word.
const MAX_GLANCE: usize = 8;

/// One letter of the word being read.
#[derive(Clone, Copy)]
pub(super) struct Glyph {
    /// As it looks.
    pub(super) shape: char,
    /// As it folds if the word is read as written.
    pub(super) folded: char,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) styled: bool,
}

impl Cleaner<'_, '_> {
    /// Writes out the word read so far.
    pub(super) fn flush(&mut self) {
        if let (Some(first), Some(last)) = (self.word.first(), self.word.last()) {
            let span = Span {
                start: first.start,
                end: last.end,
            };
            let word = std::mem::take(&mut self.word);
            let shapes = word.iter().map(|glyph| glyph.shape);
            let reading = confusable::reading(
                &shapes,
                || self.follows_latin() && !self.precedes_foreign(span.end),
                is_listed,
            );
            if reading != Reading::AsWritten {
                self.watch.note(SignalKind::MixedScript, span, 1);
            }
            self.write(&word, reading);
            self.report_style(&word, span);
            self.word = word;
            self.word.clear();
        }
        self.hyphens = 0;
    }

    fn write(&mut self, word: &[Glyph], reading: Reading) {
        for unit in word.chunk_by(|a, b| a.start == b.start) {
            let Some(first) = unit.first() else { continue };
            let from = self.out.len();
            self.out.extend(
                unit.iter()
                    .map(|glyph| confusable::read(reading, glyph.shape, glyph.folded)),
            );
            self.mapped(first.start..first.end, from, unit.len() == 1);
        }
    }

    /// What was written since `from` came from `source`, character for character if `alike` and of the same length.
    pub(super) fn mapped(&mut self, source: Range<usize>, from: usize, alike: bool) {
        let len = self.out.len() - from;
        if alike && len == source.len() {
            self.map.copy(source.start, len);
        } else {
            self.map.block(source, len);
        }
    }

    fn report_style(&mut self, word: &[Glyph], span: Span) {
        let styled = word.iter().filter(|glyph| glyph.styled).count();
        if styled >= STYLED_WORD {
            let full_width = self
                .input
                .get(span.start..span.end)
                .is_some_and(|word| word.chars().any(latin::is_full_width));
            self.watch.styled(span, styled, full_width);
        }
        if self.hyphens > 0 {
            let letters: String = word
                .iter()
                .map(|glyph| glyph.folded.to_ascii_lowercase())
                .collect();
            self.watch
                .hyphenated(span, word.len(), self.hyphens, is_key_word(&letters));
        }
    }

    /// Whether only spaces lie between here and a Latin word.
    fn follows_latin(&self) -> bool {
        let before = self
            .out
            .bytes()
            .rev()
            .take(MAX_GLANCE)
            .find(|byte| *byte != b' ');
        before.is_some_and(|byte| byte.is_ascii_alphabetic())
    }

    /// Whether the word after `at` has a letter of another script that looks like no Latin one.
    fn precedes_foreign(&self, at: usize) -> bool {
        let rest = self
            .input
            .get(at..)
            .unwrap_or_default()
            .chars()
            .filter(|c| invisible(*c).is_none());
        let gap = rest.take(4 * MAX_GLANCE).skip_while(|c| !c.is_alphabetic());
        let mut word = gap.take_while(|c| c.is_alphabetic()).take(MAX_GLANCE);
        word.any(|c| {
            confusable::family(c).is_some_and(|family| family != Family::Latin)
                && confusable::twin(c).is_none()
        })
    }
}
