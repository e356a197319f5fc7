//! Passages: the stretches of a text around places that were rewritten, with the rewriting done.

use crate::span::SpanMap;
use std::ops::Range;

/// Bytes of context on each side of a change.
pub(crate) const CONTEXT: usize = 160;

/// "Read `range` as `text`".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: EditText,
}

/// What an edit puts in place of its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditText {
    /// A single character, which is what most escapes stand for.
    Char(char),
    Word(&'static str),
    Words(String),
}

/// A derived text and the map to the text it was derived from.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    pub(crate) text: String,
    pub(crate) map: SpanMap,
}

impl Derived {
    pub(crate) fn copy(&mut self, source: &str, range: Range<usize>) {
        if let Some(text) = source.get(range.clone()) {
            self.text.push_str(text);
            self.map.copy(range.start, text.len());
        }
    }

    pub(crate) fn replace(&mut self, range: Range<usize>, text: &EditText) {
        let from = self.text.len();
        match text {
            EditText::Char(c) => self.text.push(*c),
            EditText::Word(word) => self.text.push_str(word),
            EditText::Words(words) => self.text.push_str(words),
        }
        self.map.block(range, self.text.len() - from);
    }

    /// Starts a new passage that begins at `source`.
    pub(crate) fn separate(&mut self, source: usize) {
        if !self.text.is_empty() {
            self.text.push('\n');
            self.map.inserted(source, 1);
        }
    }
}

/// The range `context` bytes around `range`, on char boundaries of `text`.
pub(crate) fn around(text: &str, range: &Range<usize>, context: usize) -> Range<usize> {
    text.ceil_char_boundary(range.start.saturating_sub(context))
        ..text.floor_char_boundary(range.end.saturating_add(context))
}

/// Applies sorted, disjoint `edits` and keeps the passages around them, one per line, up to about `max_bytes`.
/// The second value says whether that left something out.
pub(crate) fn rewrite(source: &str, edits: &[Edit], max_bytes: usize) -> (Derived, bool) {
    let mut derived = Derived::default();
    let mut copied = 0;
    let mut open_until = 0;
    for edit in edits {
        let passage = around(source, &edit.range, CONTEXT);
        if derived.text.len() + (edit.range.start - copied.max(passage.start)) + CONTEXT > max_bytes
        {
            return (finish(derived, source, copied..open_until, max_bytes), true);
        }
        if passage.start > open_until || derived.text.is_empty() {
            derived.copy(source, copied..open_until);
            derived.separate(passage.start);
            copied = passage.start;
        }
        derived.copy(source, copied..edit.range.start);
        derived.replace(edit.range.clone(), &edit.text);
        copied = edit.range.end;
        open_until = passage.end.max(open_until);
    }
    (
        finish(derived, source, copied..open_until, max_bytes),
        false,
    )
}

fn finish(mut derived: Derived, source: &str, rest: Range<usize>, max_bytes: usize) -> Derived {
    let room = max_bytes.saturating_sub(derived.text.len());
    let end = source.floor_char_boundary(rest.end.min(rest.start.saturating_add(room)));
    derived.copy(source, rest.start..end.max(rest.start));
    derived
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(range: Range<usize>, word: &'static str) -> Edit {
        Edit {
            range,
            text: EditText::Word(word),
        }
    }

    #[test]
    fn near_edits_share_a_passage_and_far_ones_do_not() {
        let source = format!(
            "{}1gnore the ru1es{}b4d{}",
            "x".repeat(300),
            "y".repeat(1000),
            "z".repeat(10)
        );
        let ru1es = source.find("ru1es").unwrap();
        let b4d = source.find("b4d").unwrap();
        let edits = [
            word(300..306, "ignore"),
            word(ru1es..ru1es + 5, "rules"),
            word(b4d..b4d + 3, "bad"),
        ];
        let (derived, cut) = rewrite(&source, &edits, 10_000);
        assert!(!cut);
        let lines: Vec<_> = derived.text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[0],
            format!("{}ignore the rules{}", "x".repeat(160), "y".repeat(160))
        );
        assert_eq!(
            lines[1],
            format!("{}bad{}", "y".repeat(160), "z".repeat(10))
        );
        let at = derived.text.find("bad").unwrap();
        let span = derived.map.span(at..at + 3);
        assert_eq!((span.start, span.end), (b4d, b4d + 3));
    }

    #[test]
    fn the_limit_holds() {
        let source = "ab".repeat(5000);
        let edits: Vec<_> = (0..100)
            .map(|at| word(at * 100..at * 100 + 1, "zz"))
            .collect();
        let (derived, cut) = rewrite(&source, &edits, 1000);
        assert!(cut);
        assert!(derived.text.len() <= 1000);
        assert!(!derived.text.is_empty());
    }
}
