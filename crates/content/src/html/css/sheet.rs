//! Style sheets: which rules apply to an element, in the order of the cascade.

use std::collections::HashMap;

use cssparser::{Delimiter, Parser, Token};
use html5ever::{LocalName, local_name};

use super::ancestors::Ancestors;
use super::declaration::{Declared, block};
use super::selector::{Key, Selector, parse_list};
use super::value::VIEW;
use crate::html::dom::{Dom, Id};

/// All style sheets of a page, indexed by what the subject of each selector must have.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rules: Vec<(Selector, usize)>,
    blocks: Vec<Vec<Declared>>,
    ids: HashMap<String, Vec<usize>>,
    classes: HashMap<String, Vec<usize>>,
    tags: HashMap<LocalName, Vec<usize>>,
    any: Vec<usize>,
    bytes: usize,
    work: usize,
    /// Something was left out for its size.
    pub(crate) limited: bool,
}

const MAX_BYTES: usize = 2 * 1024 * 1024;
const MAX_RULES: usize = 40_000;
const MAX_WORK: usize = 4_000_000;
const MAX_NESTING: usize = 8;

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds the rules of one sheet, after those already there.
    pub(crate) fn add(&mut self, css: &str) {
        self.bytes += css.len();
        if self.bytes > MAX_BYTES {
            self.limited = true;
            return;
        }
        self.rules_in(&mut Parser::new(css), 0);
    }

    fn rules_in(&mut self, input: &mut Parser<'_>, nesting: usize) {
        loop {
            let start = input.state();
            match input.next() {
                Err(_) => return,
                Ok(Token::CDO | Token::CDC | Token::Semicolon) => {}
                Ok(Token::AtKeyword(name)) => {
                    let name = name.to_ascii_lowercase();
                    self.at_rule(input, &name, nesting);
                }
                Ok(_) => {
                    input.reset(&start);
                    self.rule(input);
                }
            }
            if self.rules.len() > MAX_RULES {
                self.limited = true;
                return;
            }
        }
    }

    fn at_rule(&mut self, input: &mut Parser<'_>, name: &str, nesting: usize) {
        let start = input.position();
        let mut end = start;
        let stopped = input.parse_until_before(
            Delimiter::CurlyBracketBlock | Delimiter::Semicolon,
            |prelude| {
                while prelude.next().is_ok() {}
                end = prelude.position();
                Ok::<(), cssparser::ParseError<()>>(())
            },
        );
        let prelude = input.slice(start..end).to_ascii_lowercase();
        if stopped.is_err() || !matches!(input.next(), Ok(Token::CurlyBracketBlock)) {
            return;
        }
        let applies = match name {
            "media" => media_applies(&prelude),
            "supports" => !prelude.trim_start().starts_with("not"),
            "layer" | "container" | "scope" | "document" | "-moz-document" | "starting-style" => {
                name != "starting-style"
            }
            _ => false,
        };
        // The block is always walked to its end: a rule's selector is the text since the end of what came before it.
        let _ = input.parse_nested_block(|inner| {
            if applies && nesting < MAX_NESTING {
                self.rules_in(inner, nesting + 1);
            }
            Ok::<(), cssparser::ParseError<()>>(())
        });
    }

    fn rule(&mut self, input: &mut Parser<'_>) {
        let start = input.position();
        let mut end = start;
        let _ = input.parse_until_before(Delimiter::CurlyBracketBlock, |prelude| {
            while prelude.next().is_ok() {}
            end = prelude.position();
            Ok::<(), cssparser::ParseError<()>>(())
        });
        let prelude = input.slice(start..end);
        if !matches!(input.next(), Ok(Token::CurlyBracketBlock)) {
            return;
        }
        let mut declared = Vec::new();
        let _ = input.parse_nested_block(|inner| {
            block(inner, &mut declared);
            Ok::<(), cssparser::ParseError<()>>(())
        });
        if declared.is_empty() {
            return;
        }
        let at = self.blocks.len();
        self.blocks.push(declared);
        for selector in parse_list(prelude) {
            if selector.is_dead() {
                continue;
            }
            let index = self.rules.len();
            match selector.key() {
                Key::Id(id) => self.ids.entry(id.to_owned()).or_default().push(index),
                Key::Class(class) => self
                    .classes
                    .entry(class.to_owned())
                    .or_default()
                    .push(index),
                Key::Tag(tag) => self.tags.entry(tag.clone()).or_default().push(index),
                Key::Any => self.any.push(index),
            }
            self.rules.push((selector, at));
        }
    }

    /// The declarations for an element, weakest first.
    pub(crate) fn declared(
        &mut self,
        dom: &Dom,
        id: Id,
        above: &Ancestors,
        found: &mut Vec<(u32, usize)>,
    ) {
        found.clear();
        let Some(element) = dom.element(id) else {
            return;
        };
        if self.work > MAX_WORK {
            self.limited = true;
            return;
        }
        let mut work = 1;
        let by_id = element
            .attr(&local_name!("id"))
            .and_then(|id| self.ids.get(id));
        let by_tag = self.tags.get(&element.name.local);
        let by_class = element
            .classes()
            .take(64)
            .filter_map(|class| self.classes.get(class));
        for &index in by_id
            .into_iter()
            .chain(by_tag)
            .chain(by_class)
            .chain([&self.any])
            .flatten()
        {
            if let Some((selector, _)) = self.rules.get(index)
                && selector.may_match(above)
                && selector.matches(dom, id, &mut work)
            {
                found.push((selector.specificity, index));
            }
        }
        self.work += work;
        found.sort_unstable();
        found.dedup();
    }

    pub(crate) fn block(&self, index: usize) -> &[Declared] {
        self.rules
            .get(index)
            .and_then(|(_, at)| self.blocks.get(*at))
            .map_or(&[], Vec::as_slice)
    }
}

/// Whether a media query holds for a person at a screen of ordinary width.
pub(crate) fn media_applies(prelude: &str) -> bool {
    let prelude = prelude.trim();
    prelude.is_empty() || prelude.split(',').any(|query| query_applies(query.trim()))
}

fn query_applies(query: &str) -> bool {
    let (negated, query) = match query.strip_prefix("not ") {
        Some(rest) => (true, rest.trim()),
        None => (false, query.strip_prefix("only ").unwrap_or(query).trim()),
    };
    let holds = query.split(" and ").all(|condition| {
        let condition = condition.trim().trim_matches(['(', ')']).replace(' ', "");
        match condition.split_once(':') {
            Some(("min-width", width)) => length(width).is_none_or(|width| width <= VIEW),
            Some(("max-width", width)) => length(width).is_none_or(|width| width >= VIEW),
            Some(("prefers-color-scheme", scheme)) => scheme != "dark",
            Some(("prefers-reduced-motion" | "prefers-contrast" | "forced-colors", value)) => {
                matches!(value, "no-preference" | "none")
            }
            Some(("orientation", value)) => value == "landscape",
            Some(_) => true,
            None => match condition.as_str() {
                "print" | "speech" | "aural" | "braille" | "embossed" | "handheld"
                | "projection" | "tty" | "tv" => false,
                condition => !condition.contains("<") || !condition.starts_with("width"),
            },
        }
    });
    holds != negated
}

fn length(text: &str) -> Option<f32> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value: f32 = digits.parse().ok()?;
    Some(if text.ends_with("em") {
        value * 16.0
    } else {
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_apply_are_read() {
        for css in [
            "@media screen{.a{display:none}}",
            "@media all { .a { display: none } }",
            "@layer x{.a{display:none}}",
        ] {
            let mut sheet = Sheet::default();
            sheet.add(css);
            assert!(sheet.classes.contains_key("a"), "{css}");
        }
    }

    #[test]
    fn a_block_that_does_not_apply_lends_nothing_to_the_next_rule() {
        let mut sheet = Sheet::default();
        sheet.add("@media print { .a { color: red } } .b { color: red } @font-face { x: y } .c { color: red }");
        let mut classes: Vec<&str> = sheet.classes.keys().map(String::as_str).collect();
        classes.sort_unstable();
        assert_eq!(classes, ["b", "c"]);
    }

    #[test]
    fn media_queries_mean_a_screen() {
        for query in [
            "screen",
            "all",
            "",
            "only screen and (min-width: 600px)",
            "not print",
            "print, screen",
        ] {
            assert!(media_applies(query), "{query}");
        }
        for query in [
            "print",
            "screen and (max-width: 600px)",
            "not screen",
            "(prefers-color-scheme: dark)",
        ] {
            assert!(!media_applies(query), "{query}");
        }
    }
}
