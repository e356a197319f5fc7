//! Expressions that a whole value must match: ASCII, linear in the value, bounded in memory.

use regex::bytes::{Regex, RegexBuilder};

/// Longest expression.
pub(crate) const MAX_PATTERN_BYTES: usize = 512;
/// Most memory that one expression may compile to.
const MAX_COMPILED: usize = 128 << 10;
/// Most memory for its lazy automaton.
const MAX_CACHE: usize = 256 << 10;
const MAX_NESTING: u32 = 24;

/// An expression, anchored at both ends.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// Compiles an expression; `None` if it cannot be used.
    pub(crate) fn new(expression: &str) -> Option<Self> {
        // On its own first: otherwise `a)|(?:b` would step out of the anchors.
        compile(expression)?;
        compile(&format!(r"\A(?:{expression})\z")).map(Self)
    }

    pub(crate) fn matches(&self, value: &str) -> bool {
        self.0.is_match(value.as_bytes())
    }
}

fn compile(expression: &str) -> Option<Regex> {
    RegexBuilder::new(expression)
        .unicode(false)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_CACHE)
        .nest_limit(MAX_NESTING)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_value_counts() {
        let digits = Pattern::new("[0-9]+|none").unwrap();
        assert!(digits.matches("12") && digits.matches("none"));
        for other in ["12a", "a12", "12\n", "\n12", "12\n34", "none ", ""] {
            assert!(!digits.matches(other), "{other:?}");
        }
        let lines = Pattern::new("(?m)^a$").unwrap();
        assert!(lines.matches("a") && !lines.matches("a\nb"));
    }

    #[test]
    fn no_expression_steps_out_of_its_anchors() {
        for expression in ["a)|(?:b", "a)|(b", "(?x)a # b", "a\\", "[a", "(?:a"] {
            assert!(
                Pattern::new(expression).is_none_or(|pattern| !pattern.matches("xb")),
                "{expression}"
            );
        }
        assert!(Pattern::new("a)|(?:b").is_none());
    }

    #[test]
    fn an_expression_is_bounded() {
        assert!(Pattern::new("((a{100}){100}){100}").is_none());
        assert!(Pattern::new(&"(".repeat(200)).is_none());
        let deep = format!("{}a{}", "(".repeat(100), ")".repeat(100));
        assert!(Pattern::new(&deep).is_none());
        assert!(Pattern::new("[!-~]{8,512}").is_some());
    }
}
