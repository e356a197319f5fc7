//! Where a text forges a fence or speaks in the tokens of a chat template.

mod blank;
mod names;

use self::blank::{after_empty_line, is_rule};
use self::names::{BRACKETED, FENCE_STARTS, FENCE_WORDS, FENCES, SPEAKERS, TAGS, TELLING, speaker};
use crate::glyph::{self, JOINT, NOTHING, SPACE};
use crate::skeleton::Skeleton;
use memchr::memmem::Finder;
use memchr::{memchr, memchr3_iter};
use std::sync::LazyLock;

/// One forged marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Forged {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// What it imitates, if that may be said without imitating it again.
    pub(crate) label: Option<&'static str>,
}

/// Signs of a fence that are looked at on each side of its name.
const MAX_SIGNS: usize = 16;
/// Longest name.
const MAX_NAME: usize = 64;
/// Longest prefix before the colon of a tag's name.
const MAX_PREFIX: usize = 16;

struct Finders {
    fences: [Finder<'static>; FENCES.len()],
    speakers: [(Finder<'static>, &'static str); SPEAKERS.len()],
}

static FINDERS: LazyLock<Finders> = LazyLock::new(|| Finders {
    fences: FENCES.map(Finder::new),
    speakers: SPEAKERS.map(|(look, label)| (Finder::new(look), label)),
});

/// All forged markers of `text`, in order; they may overlap.
pub(crate) fn find(text: &str) -> Vec<Forged> {
    let mut search = Search {
        text,
        skeleton: Skeleton::of(text),
        found: Vec::new(),
    };
    search.names();
    search.brackets();
    search.speakers();
    search.found.sort_unstable();
    search.found
}

struct Search<'t> {
    text: &'t str,
    skeleton: Skeleton,
    found: Vec<Forged>,
}

impl Search<'_> {
    fn add(&mut self, from: usize, to: usize, label: Option<&'static str>) {
        let Some(last) = to.checked_sub(1) else {
            return;
        };
        let (start, end) = (self.skeleton.start(from), self.skeleton.end(last));
        if start < end && end <= self.text.len() {
            self.found.push(Forged { start, end, label });
        }
    }

    /// Known names of fences with signs before or after them.
    fn names(&mut self) {
        for finder in &FINDERS.fences {
            let places: Vec<usize> = finder.find_iter(&self.skeleton.looks).collect();
            for from in places {
                self.name(from, from + finder.needle().len());
            }
        }
    }

    fn name(&mut self, from: usize, to: usize) {
        let before = self.signs_before(from);
        let after = self.signs_after(to);
        let ruled = self.rule_before(from) || self.rule_after(to);
        if before >= 2 || after >= 3 || ruled {
            self.add(from - before, to + after, None);
        }
    }

    fn signs_before(&self, from: usize) -> usize {
        let before = self.skeleton.looks.get(..from).unwrap_or_default();
        let is_sign = |look: &&u8| matches!(look, b'<' | b'[' | b'{' | b'=' | b'#' | b'/' | b'|');
        before
            .iter()
            .rev()
            .take(MAX_SIGNS)
            .take_while(is_sign)
            .count()
    }

    fn signs_after(&self, to: usize) -> usize {
        let is_sign = |look: &&u8| matches!(look, b'>' | b']' | b'}' | b'=' | b'#' | b'/' | b'|');
        self.skeleton
            .from(to)
            .iter()
            .take(MAX_SIGNS)
            .take_while(is_sign)
            .count()
    }

    /// A line of dashes or stars leads up to the name.
    fn rule_before(&self, from: usize) -> bool {
        let start = self.skeleton.start(from);
        let before = self.text.get(..start).unwrap_or_default();
        is_rule(before.chars().rev())
    }

    fn rule_after(&self, to: usize) -> bool {
        let Some(last) = to.checked_sub(1) else {
            return false;
        };
        let after = self.text.get(self.skeleton.end(last)..).unwrap_or_default();
        is_rule(after.chars())
    }

    fn brackets(&mut self) {
        let looks = std::mem::take(&mut self.skeleton.looks);
        let places: Vec<usize> = memchr3_iter(b'<', b'[', b'|', &looks).collect();
        self.skeleton.looks = looks;
        let mut run_end = 0;
        for at in places {
            match self.skeleton.at(at) {
                b'<' if at < run_end => {}
                b'<' => {
                    let run = self
                        .skeleton
                        .from(at)
                        .iter()
                        .take_while(|look| **look == b'<')
                        .count();
                    run_end = at + run;
                    self.angle(at, run);
                }
                b'[' => self.square(at),
                _ => self.bar(at),
            }
        }
    }

    /// A run of opening angle brackets.
    fn angle(&mut self, at: usize, run: usize) {
        let inner = at + run;
        // Only the brackets next to the name belong to the marker.
        let near = |count: usize| inner.saturating_sub(count.min(run));
        if run >= 3 {
            self.generic_fence(near(MAX_SIGNS), inner);
        }
        if run >= 2 {
            self.system_brackets(near(2), inner);
        }
        if self.skeleton.at(inner) == b'|' {
            self.token(near(1), inner + 1);
        } else {
            self.tag(near(1), inner);
        }
    }

    /// `<<<NAME>>>` with a name that speaks of limits or trust.
    fn generic_fence(&mut self, from: usize, inner: usize) {
        let name_at = self.past_slash(inner);
        let name = self.name_at(name_at);
        let after = name_at + name.len();
        let close = self
            .skeleton
            .from(after)
            .iter()
            .take(MAX_SIGNS)
            .take_while(|look| **look == b'>')
            .count();
        let telling = FENCE_STARTS
            .iter()
            .any(|start| name.starts_with(start.as_bytes()))
            || FENCE_WORDS
                .iter()
                .any(|word| contains(name, word.as_bytes()));
        if close >= 2 && telling {
            self.add(from, after + close, None);
        }
    }

    /// `<<SYS>>`.
    fn system_brackets(&mut self, from: usize, inner: usize) {
        let name_at = self.past_slash(inner);
        if self.skeleton.from(name_at).starts_with(b"sys>>") {
            self.add(from, name_at + 5, Some("SYS"));
        }
    }

    /// What follows `<|`.
    fn token(&mut self, from: usize, inner: usize) {
        let name_at = self.past_slash(inner);
        let name = self.name_at(name_at);
        let after = name_at + name.len();
        let closed = self.skeleton.from(after).starts_with(b"|>");
        let known = TELLING
            .iter()
            .find(|(look, _)| name.starts_with(look.as_bytes()));
        match known {
            Some((look, label)) => {
                let exact = name.len() == look.len();
                let end = name_at + look.len() + if closed && exact { 2 } else { 0 };
                self.add(from, end, Some(label));
                if closed && !exact {
                    self.add(from, after + 2, Some(label));
                }
            }
            // Pipelines of several languages look like this, but not without a blank.
            None if closed && !name.is_empty() && self.is_tight(from, after + 2) => {
                self.add(from, after + 2, Some(speaker(name)));
            }
            None => {}
        }
    }

    /// `name|>` without its beginning.
    fn bar(&mut self, at: usize) {
        if self.skeleton.at(at + 1) != b'>' {
            return;
        }
        let before = self.skeleton.looks.get(..at).unwrap_or_default();
        let known = TELLING
            .iter()
            .find(|(look, _)| before.ends_with(look.as_bytes()));
        if let Some((look, label)) = known {
            self.add(at - look.len(), at + 2, Some(label));
        }
    }

    /// `<name …>` or `</prefix:name>`.
    fn tag(&mut self, from: usize, inner: usize) {
        let mut name_at = self.past_slash(inner);
        let head = self.skeleton.from(name_at);
        let head = head.get(..MAX_PREFIX.min(head.len())).unwrap_or_default();
        if let Some(colon) = memchr(b':', head)
            && head.iter().take(colon).all(u8::is_ascii_lowercase)
        {
            name_at += colon + 1;
        }
        let rest = self.skeleton.from(name_at);
        if rest.starts_with(b"s>") {
            if self.is_bare(from, name_at + 2) && !self.has_capitals(name_at, name_at + 1) {
                self.add(from, name_at + 2, Some("s"));
            }
            return;
        }
        let known = TAGS
            .iter()
            .find(|(look, _)| rest.starts_with(look.as_bytes()) && self.ends(name_at + look.len()));
        if let Some((look, label)) = known {
            if self.is_type_parameter(from, name_at, name_at + look.len()) {
                return;
            }
            let after = name_at + look.len();
            let close = usize::from(self.skeleton.at(after) == b'>');
            self.add(from, after + close, Some(label));
        }
    }

    /// `[NAME]`.
    fn square(&mut self, at: usize) {
        let name_at = self.past_slash(at + 1);
        let rest = self.skeleton.from(name_at);
        let known = BRACKETED.iter().find(|(look, _)| {
            rest.strip_prefix(look.as_bytes())
                .is_some_and(|rest| rest.starts_with(b"]"))
        });
        if let Some((look, label)) = known {
            let index = self.follows_name(at) && !self.has_capitals(name_at, name_at + look.len());
            if !index {
                self.add(at, name_at + look.len() + 1, Some(label));
            }
        }
    }

    /// `Human:` after an empty line.
    fn speakers(&mut self) {
        for (finder, label) in &FINDERS.speakers {
            let places: Vec<usize> = finder.find_iter(&self.skeleton.looks).collect();
            for from in places {
                let start = self.skeleton.start(from);
                if after_empty_line(self.text.get(..start).unwrap_or_default()) {
                    self.add(from, from + finder.needle().len(), Some(label));
                }
            }
        }
    }

    fn past_slash(&self, at: usize) -> usize {
        at + usize::from(self.skeleton.at(at) == b'/')
    }

    fn name_at(&self, at: usize) -> &[u8] {
        let rest = self.skeleton.from(at);
        let len = rest
            .iter()
            .take(MAX_NAME)
            .take_while(|look| look.is_ascii_alphanumeric())
            .count();
        rest.get(..len).unwrap_or_default()
    }

    /// Whether a tag's name ends before `after`.
    fn ends(&self, after: usize) -> bool {
        let Some(last) = after.checked_sub(1) else {
            return false;
        };
        let next = self.skeleton.at(after);
        let gap = self
            .text
            .get(self.skeleton.end(last)..)
            .and_then(|rest| rest.chars().find(|c| glyph::look(*c) != NOTHING));
        !next.is_ascii_lowercase() && next != b'(' || gap.is_none_or(char::is_whitespace)
    }

    /// No white space between the looks `from..to`.
    fn is_tight(&self, from: usize, to: usize) -> bool {
        let text = self.source(from, to);
        !text.chars().any(|c| glyph::look(c) == SPACE)
    }

    /// No white space, joints or escapes between the looks `from..to`.
    fn is_bare(&self, from: usize, to: usize) -> bool {
        let text = self.source(from, to);
        !text
            .chars()
            .any(|c| matches!(glyph::look(c), SPACE | JOINT) || matches!(c, '&' | '\\' | '%'))
    }

    /// `Vec<ToolCall>` is code and no element.
    fn is_type_parameter(&self, from: usize, name_at: usize, after: usize) -> bool {
        let name = self.source(name_at, after);
        self.follows_name(from)
            && self.has_capitals(name_at, after)
            && name.chars().all(|c| c.is_ascii_alphanumeric())
    }

    fn has_capitals(&self, from: usize, to: usize) -> bool {
        self.source(from, to).chars().any(char::is_uppercase)
    }

    /// The look at `index` stands directly behind a letter, digit or underscore.
    fn follows_name(&self, index: usize) -> bool {
        self.text
            .get(..self.skeleton.start(index))
            .and_then(|before| before.chars().next_back())
            .is_some_and(|c| c.is_alphanumeric() || c == '_')
    }

    fn source(&self, from: usize, to: usize) -> &str {
        let end = to.checked_sub(1).map_or(0, |last| self.skeleton.end(last));
        self.text
            .get(self.skeleton.start(from)..end)
            .unwrap_or_default()
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}
