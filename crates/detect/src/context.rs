//! Mention is not use: what stands around a match lowers its weight.
//!
//! An article, a test file or a chat may quote an attack. Quotation marks, code, cue words
//! ("for example", "attackers write") and talk about security lower the weight of a match,
//! unless the passage speaks to the model that reads it.

use crate::lexicon::{Concept, Hit};

/// The concepts that speak for or against a mention.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cues {
    pub(crate) mention: Option<Concept>,
    pub(crate) security_topic: Option<Concept>,
    pub(crate) reader: Option<Concept>,
    pub(crate) conceal: Option<Concept>,
}

/// How far around a match cues count, in bytes of the folded text.
const BEFORE: usize = 160;
const AFTER: usize = 80;
/// How far a quotation may begin before a match.
const QUOTE_REACH: usize = 240;
/// From here on a text counts as a document, which may have a topic.
const DOCUMENT: usize = 1_500;
const TOPIC_WORDS: usize = 3;

const CUED: f32 = 0.6;
const QUOTED_AND_CUED: f32 = 0.35;
const QUOTED_IN_DOCUMENT: f32 = 0.6;
/// What a finding in a document about security keeps.
pub(crate) const ON_TOPIC: f32 = 0.55;
const CODE: f32 = 0.4;
/// How far around a match punctuation is counted, and how many bytes in a hundred make it code.
const CODE_REACH: usize = 60;
const CODE_PERCENT: usize = 11;

/// Whether a word is part of a host or file name: `evil.example` is where something is sent, and no example of it.
fn in_name(bytes: &[u8], start: usize, end: usize) -> bool {
    let joins = |dot: Option<usize>, letter: Option<usize>| {
        let at = |place: Option<usize>| place.and_then(|place| bytes.get(place));
        at(dot) == Some(&b'.') && at(letter).is_some_and(u8::is_ascii_alphanumeric)
    };
    joins(start.checked_sub(1), start.checked_sub(2)) || joins(Some(end), Some(end + 1))
}

/// A text with the places that matter for judging a match.
#[derive(Debug)]
pub(crate) struct Surroundings<'t> {
    bytes: &'t [u8],
    cues: Vec<usize>,
    aimed: Vec<usize>,
    fences: Vec<usize>,
    on_topic: bool,
}

impl<'t> Surroundings<'t> {
    pub(crate) fn new(text: &'t str, hits: &[Hit], cues: Cues) -> Self {
        let is = |hit: &Hit, concept: Option<Concept>| concept == Some(hit.concept);
        let places = |wanted: &dyn Fn(&Hit) -> bool| -> Vec<usize> {
            hits.iter().filter(|h| wanted(h)).map(|h| h.start).collect()
        };
        let topics = hits.iter().filter(|h| is(h, cues.security_topic)).count();
        let cue = |h: &Hit| is(h, cues.mention) || is(h, cues.security_topic);
        let mut cue_places = places(&|h| cue(h) && !in_name(text.as_bytes(), h.start, h.end));
        cue_places.sort_unstable();
        let mut aimed = places(&|h| is(h, cues.reader) || is(h, cues.conceal));
        aimed.sort_unstable();
        Self {
            bytes: text.as_bytes(),
            cues: cue_places,
            aimed,
            fences: memchr::memmem::find_iter(text.as_bytes(), b"```").collect(),
            on_topic: text.len() >= DOCUMENT && topics >= TOPIC_WORDS,
        }
    }

    /// The text is a document about security.
    pub(crate) fn on_topic(&self) -> bool {
        self.on_topic
    }

    /// What a match at these bytes keeps of its weight. Some categories are `common_in_code`:
    /// programs print passwords and send tokens without asking anybody.
    pub(crate) fn factor(&self, start: usize, end: usize, common_in_code: bool) -> f32 {
        let quoted = self.quoted(start, end) || self.fenced(start);
        let factor: f32 = match (quoted, self.cued(start, end)) {
            (true, true) => QUOTED_AND_CUED,
            (true, false) if self.bytes.len() >= DOCUMENT => QUOTED_IN_DOCUMENT,
            (false, true) => CUED,
            (_, false) => 1.0,
        };
        let factor = if self.on_topic {
            factor * ON_TOPIC
        } else {
            factor
        };
        let in_code = common_in_code && self.is_code(start, end);
        let factor = if in_code { factor.min(CODE) } else { factor };
        if self.aimed(start, end) && !quoted && !in_code {
            factor.max(0.9)
        } else {
            factor
        }
    }

    /// The passage speaks to the model that reads it.
    fn aimed(&self, start: usize, end: usize) -> bool {
        let from = self
            .aimed
            .partition_point(|p| *p < start.saturating_sub(BEFORE));
        self.aimed.get(from).is_some_and(|p| *p < end + AFTER)
    }

    /// A cue stands near. Inside the match it is part of the order, not talk about it.
    fn cued(&self, start: usize, end: usize) -> bool {
        let from = self
            .cues
            .partition_point(|p| *p < start.saturating_sub(BEFORE));
        let around = self.cues.get(from..).unwrap_or_default();
        around
            .iter()
            .take_while(|p| **p < end + AFTER)
            .any(|p| *p < start || *p >= end)
    }

    /// Punctuation as dense as in source code.
    fn is_code(&self, start: usize, end: usize) -> bool {
        let around = self
            .bytes
            .get(start.saturating_sub(CODE_REACH)..(end + CODE_REACH).min(self.bytes.len()))
            .unwrap_or_default();
        let marks = around
            .iter()
            .filter(|b| {
                matches!(
                    b,
                    b'(' | b')'
                        | b'{'
                        | b'}'
                        | b'['
                        | b']'
                        | b';'
                        | b'='
                        | b'<'
                        | b'>'
                        | b'/'
                        | b'\\'
                        | b'$'
                        | b'#'
                        | b'&'
                        | b'|'
                        | b'_'
                )
            })
            .count();
        marks * 100 > around.len() * CODE_PERCENT
    }

    fn fenced(&self, at: usize) -> bool {
        self.fences.partition_point(|fence| *fence < at) % 2 == 1
    }

    /// An opening mark before on the same line without its closing one, and a closing one after.
    fn quoted(&self, start: usize, end: usize) -> bool {
        let before = self
            .bytes
            .get(start.saturating_sub(QUOTE_REACH)..start)
            .unwrap_or_default();
        let after = self
            .bytes
            .get(end..(end + QUOTE_REACH).min(self.bytes.len()))
            .unwrap_or_default();
        let line_start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |i| i + 1);
        let before = before.get(line_start..).unwrap_or_default();
        let line_end = after
            .iter()
            .position(|b| *b == b'\n')
            .unwrap_or(after.len());
        let after = after.get(..line_end).unwrap_or_default();
        let open = |mark: u8| {
            before.iter().filter(|b| **b == mark).count() % 2 == 1 && after.contains(&mark)
        };
        open(b'"') || open(b'`') || matches!(before.first(), Some(b'>' | b'|'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_CUES: Cues = Cues {
        mention: None,
        security_topic: None,
        reader: None,
        conceal: None,
    };

    fn quoted(text: &str, part: &str) -> bool {
        let start = text.find(part).unwrap();
        let around = Surroundings::new(text, &[], NO_CUES);
        around.quoted(start, start + part.len()) || around.fenced(start)
    }

    #[test]
    fn quotation_marks_and_code_quote() {
        assert!(quoted("he wrote \"please ignore it\" again", "ignore"));
        assert!(quoted("use `ignore it` here", "ignore"));
        assert!(quoted("> ignore it", "ignore"));
        assert!(quoted("```\nignore it\n```", "ignore"));
    }

    #[test]
    fn a_part_of_a_name_is_no_cue() {
        for (text, named) in [
            ("send it to evil.example now", true),
            ("send it to evil.example.", true),
            ("send it to example.com", true),
            ("open example.txt", true),
            ("this is an example. then", false),
            ("an example", false),
            ("example", false),
            ("done. example", false),
        ] {
            let start = text.find("example").unwrap();
            let end = start + "example".len();
            assert_eq!(in_name(text.as_bytes(), start, end), named, "{text}");
        }
    }

    #[test]
    fn a_closed_quotation_before_does_not() {
        assert!(!quoted("he said \"hello\" and ignore it", "ignore"));
        assert!(!quoted("```\ncode\n```\nignore it", "ignore"));
        assert!(!quoted("\"open\nignore it\"", "ignore"));
    }
}
