//! The Unicode step of the fold: invisibles out, compatibility forms and accents resolved, look-alikes read as meant.

use super::chars;
use super::confusable;
use super::invisible::{invisible, is_decoration};
use super::latin;
use super::word::Glyph;
use crate::signals::{SignalKind, Unseen, Watch};
use crate::span::{Span, SpanMap};
use unicode_normalization::UnicodeNormalization;

/// ASCII letters before a non-ASCII one that are still looked at as part of its word.
const MAX_LOOK_BACK: usize = 64;
/// Letters after which a word is taken to be over.
const MAX_WORD: usize = 256;
/// Marks on one letter that are kept in scripts that write with marks.
const MAX_MARKS: usize = 8;
/// Accents on one letter from which on they are a pile.
const PILE: usize = 3;
/// Characters after a regional indicator that are looked at to tell whether it is half a flag.
const MAX_GLANCE: usize = 8;

/// Cleans `input` and reports what was hidden in it.
pub(super) fn clean(input: &str, watch: &mut Watch) -> (String, SpanMap) {
    let mut cleaner = Cleaner {
        input,
        out: String::with_capacity(input.len()),
        map: SpanMap::default(),
        word: Vec::new(),
        spelt: Vec::new(),
        hyphens: 0,
        accents: 0,
        before: None,
        watch,
    };
    cleaner.run();
    (cleaner.out, cleaner.map)
}

/// The state of cleaning: what was written, and the word being read.
pub(super) struct Cleaner<'a, 'w> {
    pub(super) input: &'a str,
    pub(super) out: String,
    pub(super) map: SpanMap,
    pub(super) word: Vec<Glyph>,
    spelt: Vec<char>,
    pub(super) hyphens: usize,
    accents: usize,
    before: Option<char>,
    pub(super) watch: &'w mut Watch,
}

impl Cleaner<'_, '_> {
    fn run(&mut self) {
        let bytes = self.input.as_bytes();
        let mut at = 0;
        while let Some(ahead) = bytes
            .get(at..)
            .and_then(|rest| rest.iter().position(|byte| !byte.is_ascii()))
        {
            let start =
                at + ahead - trailing_letters(bytes.get(at..at + ahead).unwrap_or_default());
            self.copy(at, start);
            at = self.passage(start);
        }
        self.copy(at, self.input.len());
    }

    /// Reads from `at`, where a word with a non-ASCII character begins, up to ASCII that belongs to no word.
    fn passage(&mut self, mut at: usize) -> usize {
        let input = self.input;
        self.before = input.get(..at).and_then(|text| text.chars().next_back());
        while let Some(c) = input.get(at..).and_then(|rest| rest.chars().next()) {
            if c.is_ascii() && !c.is_ascii_alphabetic() {
                break;
            }
            let end = at + c.len_utf8();
            at = if let Some(kind) = invisible(c) {
                self.unseen(c, kind, Span { start: at, end });
                end
            } else {
                let next = self.visible(c, at, end);
                self.before = Some(c);
                next
            };
        }
        self.flush();
        at
    }

    fn unseen(&mut self, c: char, kind: super::invisible::Invisible, span: Span) {
        let after = self
            .input
            .get(span.end..)
            .and_then(|rest| rest.chars().next());
        self.watch.unseen(&Unseen {
            c,
            kind,
            span,
            before: self.before,
            after,
        });
        self.hyphens += usize::from(c == '\u{ad}' && !self.word.is_empty());
    }

    /// Takes in one visible character and returns where to go on.
    fn visible(&mut self, c: char, start: usize, end: usize) -> usize {
        if is_decoration(c) {
            self.accent(c, start, end);
            return end;
        }
        self.accents = 0;
        if c.is_ascii_alphabetic() {
            self.letter(Glyph {
                shape: c,
                folded: c,
                start,
                end,
                styled: false,
            });
            return end;
        }
        if matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}') {
            self.watch
                .note(SignalKind::PrivateUse, Span { start, end }, 1);
        }
        if chars::is_spelt(c) {
            return self.spell(c, start, end);
        }
        self.flush();
        self.cluster(c, start, end)
    }

    fn accent(&mut self, c: char, start: usize, end: usize) {
        self.accents += 1;
        if self.accents >= PILE {
            self.watch.note(
                SignalKind::StackedMarks,
                Span { start, end },
                if self.accents == PILE { PILE } else { 1 },
            );
        }
        if let Some(last) = self.word.last_mut() {
            last.end = end;
            last.folded = match (last.folded, c) {
                ('и', '\u{306}') => 'й',
                ('у', '\u{306}') => 'ў',
                ('і', '\u{308}') => 'ї',
                (folded, _) => folded,
            };
        }
    }

    /// Takes in a letter or symbol that folds on its own.
    fn spell(&mut self, c: char, start: usize, end: usize) -> usize {
        if let Some(folded) = chars::letter(c) {
            let shape = shape(c, folded);
            self.letter(Glyph {
                shape,
                folded,
                start,
                end,
                styled: folded.is_ascii() && latin::is_styled(c),
            });
            return end;
        }
        if let Some(end) = self.flag(c, start, end) {
            return end;
        }
        let mut spelt = std::mem::take(&mut self.spelt);
        spelt.clear();
        chars::spell_out(c, &mut spelt);
        let word = spelt.first().is_some_and(|first| first.is_alphabetic());
        if !word {
            self.flush();
        }
        for folded in spelt.iter().copied() {
            // A spelling of several letters is what it is; only single letters keep the look that may deceive.
            let shape = if spelt.len() == 1 {
                shape(c, folded)
            } else {
                folded
            };
            let styled = latin::is_styled(c) && folded.is_ascii_alphabetic();
            self.letter(Glyph {
                shape,
                folded,
                start,
                end,
                styled,
            });
        }
        if !word {
            self.flush();
        }
        self.spelt = spelt;
        end
    }

    /// Two regional indicators alone are a flag and stay as they are.
    fn flag(&mut self, c: char, start: usize, end: usize) -> Option<usize> {
        let is_indicator = |c: &char| ('\u{1f1e6}'..='\u{1f1ff}').contains(c);
        if !is_indicator(&c) || self.before.is_some_and(|before| is_indicator(&before)) {
            return None;
        }
        let mut visible = self
            .input
            .get(end..)?
            .char_indices()
            .take(MAX_GLANCE)
            .filter(|(_, c)| invisible(*c).is_none());
        let (offset, second) = visible.next().filter(|(_, c)| is_indicator(c))?;
        if visible
            .next()
            .is_some_and(|(_, third)| is_indicator(&third))
        {
            return None;
        }
        self.flush();
        let second_start = end + offset;
        let second_end = second_start + second.len_utf8();
        for (indicator, start, end) in [(c, start, end), (second, second_start, second_end)] {
            self.out.push(indicator);
            self.map.copy(start, end - start);
        }
        Some(second_end)
    }

    fn letter(&mut self, glyph: Glyph) {
        if self.word.len() >= MAX_WORD {
            self.flush();
        }
        self.word.push(glyph);
    }

    /// Takes in a character of another script together with the marks that compose with it.
    fn cluster(&mut self, c: char, start: usize, end: usize) -> usize {
        self.watch.right_to_left |=
            matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
        self.watch.east_asian |= matches!(c, '\u{2e80}'..='\u{d7af}');
        let attached = self.attached(end);
        if attached.is_none() && chars::is_plain(c) {
            self.out.push(c);
            self.map.copy(start, end - start);
            return end;
        }
        let from = self.out.len();
        if let Some(folded) = chars::alone(c).filter(|_| attached.is_none()) {
            self.out.extend(folded);
            let alike = self
                .out
                .get(from..)
                .is_some_and(|written| written.chars().count() == 1);
            self.mapped(start..end, from, alike);
            return end;
        }
        let (mut cluster, mut last) = (vec![c], end);
        let mut next = attached;
        while let Some((offset, mark)) = next {
            let (mark_start, mark_end) = (last + offset, last + offset + mark.len_utf8());
            if cluster.len() <= MAX_MARKS {
                cluster.push(mark);
            } else {
                self.watch.note(
                    SignalKind::StackedMarks,
                    Span {
                        start: mark_start,
                        end: mark_end,
                    },
                    1,
                );
            }
            last = mark_end;
            next = self.attached(last);
        }
        self.out.extend(
            cluster
                .into_iter()
                .nfkc()
                .filter(|c| !is_decoration(*c))
                .flat_map(chars::settle),
        );
        let alike = self.input.get(start..last) == self.out.get(from..);
        self.mapped(start..last, from, alike);
        last
    }

    /// The mark that composes with what ends at `at`, and how many bytes further on it stands.
    fn attached(&self, at: usize) -> Option<(usize, char)> {
        let mut rest = self.input.get(at..)?.char_indices();
        rest.find(|(_, c)| invisible(*c).is_none())
            .filter(|(_, mark)| chars::attaches(*mark))
    }

    fn copy(&mut self, start: usize, end: usize) {
        self.out
            .push_str(self.input.get(start..end).unwrap_or_default());
        self.map.copy(start, end - start);
    }
}

/// What a look-alike is recognised by: the letter as written if that deceives, and else what it folds to.
fn shape(c: char, folded: char) -> char {
    let as_written = c == folded || (!folded.is_ascii() && confusable::passing(c).is_some());
    if as_written { c } else { folded }
}

fn trailing_letters(ascii: &[u8]) -> usize {
    ascii
        .iter()
        .rev()
        .take(MAX_LOOK_BACK)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count()
}
