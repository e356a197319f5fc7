//! Shape rules: a literal finds the place, an anchored expression confirms it.
//!
//! Literals that begin with a word are looked up by that word's hash, so they match where a word
//! starts and nowhere else; the others are found by their first two bytes.
//! The expression sees a bounded window only, so a text full of literals costs a
//! constant for each, never a walk to its end.

use crate::hashed::{Filter, HashedMap};
use crate::phrase::Found;
use crate::tokens::{Token, tokens};
use aho_corasick::{AhoCorasick, Input, Span, packed};
use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;

/// How far after its literal a shape may reach.
const WINDOW: usize = 320;

/// A shape cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("bad shape: {0}")]
pub struct ShapeError(String);

/// All shapes of all rules.
#[derive(Debug)]
pub(crate) struct Shapes {
    shapes: Vec<(usize, Regex)>,
    /// Literals by the hash of their first word.
    words: HashedMap<Vec<Literal>>,
    first_words: Filter<12>,
    /// Literals by their first two bytes, neither of them a word's.
    marks: HashMap<[u8; 2], Vec<Literal>>,
    openings: Openings,
}

/// A literal and the number of its shape.
#[derive(Debug)]
struct Literal {
    text: Box<[u8]>,
    shape: usize,
}

/// One rule's shape, before compilation.
pub(crate) struct ShapeSource<'r> {
    pub(crate) rule: usize,
    pub(crate) literals: &'r [String],
    pub(crate) expression: &'r str,
}

impl Shapes {
    pub(crate) fn build(sources: &[ShapeSource<'_>]) -> Result<Self, ShapeError> {
        let broken = |error: &dyn std::fmt::Display| ShapeError(error.to_string());
        let mut shapes = Vec::new();
        let mut words = HashedMap::<Vec<Literal>>::default();
        let mut first_words = Filter::default();
        let mut marks = HashMap::<[u8; 2], Vec<Literal>>::new();
        for (number, source) in sources.iter().enumerate() {
            let anchored = format!("^(?:{})", source.expression);
            let regex = RegexBuilder::new(&anchored)
                .unicode(false)
                .size_limit(1 << 20)
                .build()
                .map_err(|error| broken(&error))?;
            shapes.push((source.rule, regex));
            for text in source.literals {
                let literal = Literal {
                    text: text.as_bytes().into(),
                    shape: number,
                };
                match (first_word(text), text.as_bytes().first_chunk()) {
                    (Some(word), _) => {
                        first_words.set(word);
                        words.entry(word).or_default().push(literal);
                    }
                    (None, Some(opening)) => marks.entry(*opening).or_default().push(literal),
                    (None, None) => return Err(broken(&"a literal of one mark is too common")),
                }
            }
        }
        let openings = Openings::build(marks.keys()).map_err(|error| broken(&error))?;
        Ok(Self {
            shapes,
            words,
            first_words,
            marks,
            openings,
        })
    }

    /// Every place where a shape holds.
    pub(crate) fn find(&self, text: &str, tokens: &[Token]) -> Vec<Found> {
        let mut found = Vec::new();
        for token in tokens {
            if self.first_words.may_have(token.hash)
                && let Some(literals) = self.words.get(&token.hash)
            {
                self.confirm(literals, text, token.bytes().start, &mut found);
            }
        }
        let mut from = 0;
        while let Some(start) = self.openings.next(text.as_bytes(), from) {
            let opening = text.as_bytes().get(start..).and_then(<[u8]>::first_chunk);
            if let Some(literals) = opening.and_then(|opening| self.marks.get(opening)) {
                self.confirm(literals, text, start, &mut found);
            }
            from = start + 1;
        }
        found
    }

    fn confirm(&self, literals: &[Literal], text: &str, start: usize, found: &mut Vec<Found>) {
        let Some(window) = window(text, start).map(str::as_bytes) else {
            return;
        };
        for literal in literals.iter().filter(|l| window.starts_with(&l.text)) {
            let Some((rule, regex)) = self.shapes.get(literal.shape) else {
                continue;
            };
            if let Some(confirmed) = regex.find(window) {
                found.push(Found {
                    rule: *rule,
                    start,
                    end: start + confirmed.end(),
                });
            }
        }
    }
}

/// The hash of the word that a literal begins with, if it begins with one.
fn first_word(literal: &str) -> Option<u64> {
    let token = tokens(literal).into_iter().next()?;
    (token.is_word() && token.start == 0).then_some(token.hash)
}

/// Finds pairs of bytes: by vector instructions where the machine has them.
#[derive(Debug)]
enum Openings {
    None,
    Packed(packed::Searcher),
    Automaton(AhoCorasick),
}

impl Openings {
    fn build<'o>(
        openings: impl Iterator<Item = &'o [u8; 2]>,
    ) -> Result<Self, aho_corasick::BuildError> {
        let mut openings: Vec<&[u8; 2]> = openings.collect();
        openings.sort_unstable();
        if openings.is_empty() {
            return Ok(Self::None);
        }
        match packed::Searcher::new(&openings) {
            Some(searcher) => Ok(Self::Packed(searcher)),
            None => AhoCorasick::new(&openings).map(Self::Automaton),
        }
    }

    /// Where the next pair starts, from here on.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let span = Span::from(from.min(text.len())..text.len());
        match self {
            Self::None => None,
            Self::Packed(searcher) => searcher.find_in(text, span).map(|hit| hit.start()),
            Self::Automaton(automaton) => automaton
                .find(Input::new(text).span(span))
                .map(|hit| hit.start()),
        }
    }
}

fn window(text: &str, start: usize) -> Option<&str> {
    let end = text.floor_char_boundary(start + WINDOW);
    text.get(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(literal: &str, expression: &str) -> Shapes {
        let literals = [literal.to_owned()];
        Shapes::build(&[ShapeSource {
            rule: 7,
            literals: &literals,
            expression,
        }])
        .unwrap()
    }

    fn find(shapes: &Shapes, text: &str) -> Vec<Found> {
        shapes.find(text, &tokens(text))
    }

    #[test]
    fn words_are_found_where_words_start() {
        let shapes = shapes("curl ", "curl -s");
        let starts = |text| -> Vec<usize> { find(&shapes, text).iter().map(|f| f.start).collect() };
        assert_eq!(starts("curl -s x; (curl -s y) 请curl -s"), [0, 12, 26]);
        assert!(starts("recurl -s").is_empty());
    }

    #[test]
    fn marks_are_found_wherever_they_stand() {
        let shapes = shapes("<<<", "<<<end");
        let text = format!("{}<<<<end{}<<<end", "<".repeat(70), " ".repeat(70));
        assert_eq!(find(&shapes, &text).len(), 2);
    }

    #[test]
    fn the_slow_way_finds_the_same() {
        let pairs = [b"<|", b"](", b"!["];
        let automaton = Openings::Automaton(AhoCorasick::new(pairs).unwrap());
        let packed = Openings::build(pairs.into_iter()).unwrap();
        let text = "a <| b ](![ <<|| ".repeat(9);
        for from in 0..=text.len() {
            assert_eq!(
                automaton.next(text.as_bytes(), from),
                packed.next(text.as_bytes(), from)
            );
        }
    }

    #[test]
    fn a_literal_alone_is_not_enough() {
        let shapes = shapes("<|", r"<\|im_start\|>");
        assert!(find(&shapes, "a <| b").is_empty());
        assert_eq!(
            find(&shapes, "a <|im_start|> b"),
            [Found {
                rule: 7,
                start: 2,
                end: 14
            }]
        );
    }

    #[test]
    fn the_window_ends_on_a_character() {
        let shapes = shapes("<|", r"<\|.*end");
        let text = format!("<|{}end", "é".repeat(WINDOW));
        assert!(find(&shapes, &text).is_empty());
    }

    #[test]
    fn bad_expressions_are_errors() {
        let literals = ["x".to_owned()];
        assert!(
            Shapes::build(&[ShapeSource {
                rule: 0,
                literals: &literals,
                expression: "("
            }])
            .is_err()
        );
    }
}
