//! The rules of form, as data: what a key begins with, how it goes on, and what must hold of it.

use crate::proof::Check;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// One row of the tables in `rules/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) means: String,
    /// Literals that are looked for; the pattern begins at one of them.
    #[serde(default)]
    pub(crate) starts: Vec<String>,
    /// Instead: lengths of a run of token characters at which the pattern begins.
    #[serde(default)]
    pub(crate) runs: Option<(usize, usize)>,
    /// Literals count in any case.
    #[serde(default)]
    nocase: bool,
    /// The pattern begins so many bytes before the literal.
    #[serde(default)]
    back: usize,
    /// The pattern begins at the digits before the literal.
    #[serde(default)]
    digits: bool,
    /// The pattern begins somewhere in the `back` bytes.
    #[serde(default)]
    find: bool,
    #[serde(default)]
    left: Left,
    #[serde(default)]
    right: Right,
    pattern: String,
    #[serde(default)]
    check: Check,
    /// The most bytes the pattern may look at.
    #[serde(default = "window")]
    window: usize,
    /// One of these must stand in the window, or the pattern is not tried.
    #[serde(default)]
    needs: Vec<String>,
    /// Made of templates at run time, so that no table holds a key.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "read by the tests of the tables")
    )]
    pub(crate) example: String,
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "read by the tests of the tables")
    )]
    #[serde(default)]
    pub(crate) near: Option<String>,
    #[serde(skip)]
    regex: OnceLock<Option<Regex>>,
    #[serde(skip)]
    splittable: OnceLock<bool>,
}

/// Why a literal begins no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// It does not go on as one does.
    Form,
    /// It does for so many bytes, but is a blank or an example, or its sum is wrong.
    Proof(usize),
}

fn window() -> usize {
    512
}

/// What may stand before.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Left {
    /// No letter and no digit.
    #[default]
    Word,
    /// Nothing, white space, a quote or a sign: the beginning of a value.
    Value,
    /// Anything.
    Any,
}

/// What may stand after.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Right {
    /// Anything: the pattern takes all there is.
    #[default]
    Any,
    /// No letter and no digit.
    Word,
    /// No letter, digit, `_` or `-`.
    Token,
}

#[derive(Deserialize)]
struct File {
    rule: Vec<Rule>,
}

const FILES: &[&str] = &[
    include_str!("../rules/ai.toml"),
    include_str!("../rules/cloud.toml"),
    include_str!("../rules/forge.toml"),
    include_str!("../rules/chat.toml"),
    include_str!("../rules/service.toml"),
    include_str!("../rules/chain.toml"),
];

/// All rules of form. A table that cannot be read is a mistake that the tests of this file find.
pub(crate) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    FILES
        .iter()
        .filter_map(|file| toml::from_str::<File>(file).ok())
        .flat_map(|file| file.rule)
        .collect()
});

impl Rule {
    fn regex(&self) -> Option<&Regex> {
        self.regex
            .get_or_init(|| {
                let anchor = if self.find { "" } else { "^" };
                RegexBuilder::new(&format!("{anchor}(?:{})", self.pattern))
                    .unicode(false)
                    .build()
                    .ok()
            })
            .as_ref()
    }

    /// The place of the secret, if the literal at `at` begins one.
    pub(crate) fn confirm(&self, text: &[u8], at: Range<usize>) -> Result<Range<usize>, Miss> {
        let (start, place) = self.form(text, at).ok_or(Miss::Form)?;
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let before = part(start.saturating_sub(64)..place.start);
        let after = part(place.end..text.len());
        if self.check.holds(part(place.clone()), before, after) {
            Ok(place)
        } else {
            Err(Miss::Proof(place.len()))
        }
    }

    /// Where the form begins that the literal at `at` belongs to, and the place of the secret in it.
    fn form(&self, text: &[u8], at: Range<usize>) -> Option<(usize, Range<usize>)> {
        if !self.nocase && !self.starts.is_empty() {
            let literal = text.get(at.clone())?;
            if self.runs.is_none() && !self.starts.iter().any(|start| start.as_bytes() == literal) {
                return None;
            }
            if self.runs.is_some()
                && !self
                    .starts
                    .iter()
                    .any(|start| literal.starts_with(start.as_bytes()))
            {
                return None;
            }
        }
        let mut start = at
            .start
            .checked_sub(if self.find { 0 } else { self.back })?;
        if self.find {
            start = at.start.saturating_sub(self.back);
        }
        if self.digits {
            let before = text.get(at.start.saturating_sub(17)..at.start)?;
            start = at.start
                - before
                    .iter()
                    .rev()
                    .take_while(|b| b.is_ascii_digit())
                    .count();
        }
        let before = start
            .checked_sub(1)
            .and_then(|place| text.get(place).copied());
        let free = match self.left {
            Left::Any => true,
            Left::Word => !before.is_some_and(|b| b.is_ascii_alphanumeric()),
            Left::Value => {
                before.is_none_or(|b| b.is_ascii_whitespace() || b"=:\"'`,(<[>".contains(&b))
            }
        };
        if !free {
            return None;
        }
        let end = text
            .len()
            .min(start + self.window.max(at.len() + self.back));
        let window = text.get(start..end)?;
        let has = |word: &String| {
            crate::work::searched(window.len());
            memchr::memmem::find(window, word.as_bytes()).is_some()
        };
        if !self.needs.is_empty() && !self.needs.iter().any(has) {
            return None;
        }
        let captures;
        let (whole, secret) = if self.grouped() {
            captures = self.regex()?.captures(window)?;
            let whole = captures.get(0)?.range();
            (
                whole.clone(),
                captures.get(1).map_or(whole, |group| group.range()),
            )
        } else {
            let whole = self.regex()?.find(window)?.range();
            (whole.clone(), whole)
        };
        let after = window.get(whole.end);
        let closed = match self.right {
            Right::Any => true,
            Right::Word => !after.is_some_and(u8::is_ascii_alphanumeric),
            Right::Token => {
                !after.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            }
        };
        closed.then_some((start, start + secret.start..start + secret.end))
    }

    /// Whether the pattern marks the secret in it.
    fn grouped(&self) -> bool {
        self.regex().is_some_and(|regex| regex.captures_len() > 1)
    }

    /// Whether a value claims to be of this form: it has a head that nothing else has.
    pub(crate) fn claims(&self, value: &str) -> bool {
        const SHARED: &[&str] = &["live_", "test_", "key-", "secret_", "pubkey-", "access-"];
        let own = |start: &str| {
            start.len() >= 4
                && !SHARED.contains(&start)
                && (start.ends_with(['_', '-']) || matches!(start, "dapi" | "4b1d"))
        };
        self.runs.is_none()
            && self.back == 0
            && !self.nocase
            && self
                .starts
                .iter()
                .any(|start| own(start) && value.starts_with(start.as_str()))
    }

    /// How far behind its literal a match may still be decided by what follows.
    pub(crate) fn reach(&self) -> usize {
        if self.splittable() {
            304
        } else {
            self.window.min(if self.grouped() { 800 } else { 0 })
        }
    }

    /// Whether the literal stands there in its own case.
    pub(crate) fn may_begin(&self, text: &[u8], at: &Range<usize>) -> bool {
        self.nocase
            || text
                .get(at.clone())
                .is_some_and(|literal| self.starts.iter().any(|start| start.as_bytes() == literal))
    }

    /// How far before its literal it may begin.
    pub(crate) fn behind(&self) -> usize {
        self.back.max(if self.digits { 17 } else { 0 })
    }

    /// Whether pieces of it, joined, may be tried: a form with a head of its own.
    pub(crate) fn splittable(&self) -> bool {
        *self.splittable.get_or_init(|| {
            self.runs.is_none()
                && self.back == 0
                && !self.digits
                && !self.nocase
                && !self.find
                && !self.grouped()
                && self.starts.iter().all(|start| start.len() >= 3)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;

    #[test]
    fn every_table_is_read_and_every_pattern_compiles() {
        for file in FILES {
            if let Err(error) = toml::from_str::<File>(file) {
                panic!("{error}");
            }
        }
        assert!(RULES.len() > 120, "{}", RULES.len());
        for rule in RULES.iter() {
            assert!(rule.regex().is_some(), "{}", rule.id);
            assert!(
                !rule.starts.is_empty() || rule.runs.is_some(),
                "{}",
                rule.id
            );
            assert_eq!(rule.means.trim(), rule.means);
        }
    }

    #[test]
    fn ids_are_names_of_one_rule_each() {
        let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id.as_str()).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert!(ids.iter().all(|id| {
            id.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        }));
    }

    #[test]
    fn the_checksum_of_a_github_token_is_known() {
        let random = "a".repeat(30);
        let mut left = check::crc32(random.as_bytes());
        let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut sum = [b'0'; 6];
        for place in sum.iter_mut().rev() {
            *place = digits[(left % 62) as usize];
            left /= 62;
        }
        let token = format!("ghp_{random}{}", std::str::from_utf8(&sum).unwrap());
        assert!(check::github(token.as_bytes()));
        assert!(!check::github(format!("ghp_{}", "a".repeat(36)).as_bytes()));
    }
}
