//! Shape rules: a literal finds the place, an anchored expression confirms it.
//!
//! The expression sees a bounded window only, so a text full of literals costs a
//! constant for each, never a walk to its end.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use crate::phrase::Found;

/// How far after its literal a shape may reach.
const WINDOW: usize = 320;

/// A shape cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("bad shape: {0}")]
pub struct ShapeError(String);

/// All shapes of all rules.
#[derive(Debug)]
pub(crate) struct Shapes {
    literals: AhoCorasick,
    /// For each literal its shape.
    owner: Vec<usize>,
    shapes: Vec<(usize, Regex)>,
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
        let mut owner = Vec::new();
        let mut literals = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let anchored = format!("^(?:{})", source.expression);
            let regex = RegexBuilder::new(&anchored)
                .unicode(false)
                .size_limit(1 << 20)
                .build()
                .map_err(|error| broken(&error))?;
            shapes.push((source.rule, regex));
            for literal in source.literals {
                literals.push(literal.as_str());
                owner.push(number);
            }
        }
        let literals = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&literals)
            .map_err(|error| broken(&error))?;
        Ok(Self {
            literals,
            owner,
            shapes,
        })
    }

    /// Every place where a shape holds.
    pub(crate) fn find(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        for hit in self.literals.find_overlapping_iter(text) {
            let shape = self
                .owner
                .get(hit.pattern().as_usize())
                .and_then(|number| self.shapes.get(*number));
            let (Some((rule, regex)), Some(window)) = (shape, window(text, hit.start())) else {
                continue;
            };
            if let Some(confirmed) = regex.find(window.as_bytes()) {
                found.push(Found {
                    rule: *rule,
                    start: hit.start(),
                    end: hit.start() + confirmed.end(),
                });
            }
        }
        found
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

    #[test]
    fn a_literal_alone_is_not_enough() {
        let shapes = shapes("<|", r"<\|im_start\|>");
        assert!(shapes.find("a <| b").is_empty());
        assert_eq!(
            shapes.find("a <|im_start|> b"),
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
        assert!(shapes.find(&text).is_empty());
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
