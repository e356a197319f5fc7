//! A registered system prompt, recognised by overlapping pieces of it, so that a copy is found without keeping the words.
//!
//! A piece is a run of letters without case, accents, look-alikes, spaces and punctuation. Pieces of the prompt read
//! backwards, word by word backwards, in reverse order of words and under rot13 are registered with it.

use super::roll::{PIECE, Roll, Spread, place, rolled, rot13, unit};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// Units of the prompt in one passage from which it counts as leaked: about a dozen words.
const LEAKED: usize = 60;
/// The same from which it is worth a warning.
const SUSPECT: usize = 40;
/// Units in all passages together from which the prompt counts as leaked.
const LEAKED_IN_ALL: usize = 150;
/// Foreign units between two pieces of one passage.
const GAP: usize = 12;
/// Most pieces kept: a few hundred kilobytes of prompt.
const MAX_PIECES: usize = 1 << 21;

/// Sentences that stand in many prompts and in many answers; copying them leaks nothing.
const STOCK: &[&str] = &[
    "please let me know if you have any further questions or if there is anything else I can help you with",
    "let me know if you have any questions or need any further assistance or clarification",
    "if you have any other questions, feel free to ask. I am happy to help with anything else you need",
    "you are a helpful assistant. you are a helpful, harmless and honest AI assistant",
    "I am a large language model and I do not have access to real-time information",
    "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files",
    "the software is provided \"as is\", without warranty of any kind, express or implied, including but not limited to the warranties of merchantability",
    "licensed under the Apache License, Version 2.0 (the \"License\"); you may not use this file except in compliance with the License",
    "this is not financial, legal or medical advice. please consult a qualified professional before making any decisions",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz 0123456789 0123456789 0123456789 0123456789",
    "the quick brown fox jumps over the lazy dog the quick brown fox jumps over the lazy dog",
];

/// The pieces of all registered prompts.
#[derive(Clone, Default)]
pub struct PromptShingles {
    pieces: HashSet<u64, BuildHasherDefault<Spread>>,
    /// A bit for each piece, some shared: most units of most texts are cleared by a look at it.
    bits: Vec<u64>,
    /// A prompt so short that all of it is less than what counts as leaked.
    shortest: Option<usize>,
}

impl std::fmt::Debug for PromptShingles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PromptShingles({} pieces)", self.pieces.len())
    }
}

impl PromptShingles {
    /// Registers these prompts.
    #[must_use]
    pub fn of<'p>(prompts: impl IntoIterator<Item = &'p str>) -> Self {
        let mut shingles = Self::default();
        for prompt in prompts {
            shingles.register(prompt);
        }
        shingles
    }

    /// Registers one more. Prompts shorter than a piece cannot be told from ordinary words and are not registered; false
    /// says so, or that there is no room for all of it.
    pub fn register(&mut self, prompt: &str) -> bool {
        let units = prompt.chars().map(|c| unit(c).map_or(0, |(_, n)| n)).sum();
        if units < PIECE {
            return false;
        }
        if units < LEAKED {
            self.shortest = Some(self.shortest.map_or(units, |least| least.min(units)));
        }
        let backwards: String = prompt.chars().rev().collect();
        let rotated: String = prompt.chars().map(rot13).collect();
        let words = || prompt.split_whitespace();
        let each_backwards: String = words().flat_map(|word| word.chars().rev()).collect();
        let last_first: String = words().rev().collect();
        let mut room = true;
        for text in [prompt, &backwards, &rotated, &each_backwards, &last_first] {
            room &= self.insert(text);
        }
        for stock in STOCK {
            rolled(stock, |piece| {
                self.pieces.remove(&piece);
            });
        }
        self.bits = vec![0; (self.pieces.len() / 4).next_power_of_two()];
        for piece in &self.pieces {
            let (word, bit) = place(*piece, self.bits.len());
            if let Some(word) = self.bits.get_mut(word) {
                *word |= bit;
            }
        }
        room
    }

    #[inline]
    fn knows(&self, piece: u64) -> bool {
        let (word, bit) = place(piece, self.bits.len());
        self.bits.get(word).is_some_and(|word| word & bit != 0) && self.pieces.contains(&piece)
    }

    fn insert(&mut self, text: &str) -> bool {
        let mut room = true;
        rolled(text, |piece| {
            room = self.pieces.len() < MAX_PIECES;
            if room {
                self.pieces.insert(piece);
            }
        });
        room
    }

    /// Whether nothing is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The passages of `text` that are copied from a prompt, longest part first met.
    pub(crate) fn passages(&self, text: &str) -> Vec<Passage> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut matcher = Matcher::default();
        matcher.feed(self, text);
        matcher.finish(self)
    }

    fn leaked(&self) -> usize {
        self.shortest
            .map_or(LEAKED, |units| (units * 4 / 5).max(PIECE))
    }
}

/// A passage of a text that is copied from a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Units copied.
    units: usize,
    /// It is long enough to count as leaked.
    pub(crate) leaked: bool,
}

/// Follows a text through the pieces of a prompt, in whatever parts it arrives.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    roll: Roll,
    /// Bytes fed so far.
    fed: usize,
    /// Where each of the last units begins.
    starts: [usize; PIECE],
    units: usize,
    open: Option<Open>,
    done: Vec<Passage>,
    in_all: usize,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    start: usize,
    end: usize,
    units: usize,
    last_unit: usize,
}

impl Matcher {
    /// Takes in more text.
    pub(crate) fn feed(&mut self, prompts: &PromptShingles, text: &str) {
        for (at, c) in text.char_indices() {
            let Some((value, times)) = unit(c) else {
                continue;
            };
            let start = self.fed + at;
            for part in 0..times {
                self.unit(
                    prompts,
                    value.wrapping_add(part as u64),
                    (start, start + c.len_utf8()),
                );
            }
        }
        self.fed += text.len();
    }

    fn unit(&mut self, prompts: &PromptShingles, value: u64, place: (usize, usize)) {
        if let Some(start) = self.starts.get_mut(self.units % PIECE) {
            *start = place.0;
        }
        self.units += 1;
        let Some(piece) = self.roll.push(value) else {
            return;
        };
        if prompts.knows(piece) {
            // The oldest of the last units stands where the next will be put.
            let start = self.starts.get(self.units % PIECE);
            let start = start.copied().unwrap_or(place.0);
            self.matched(start, place.1);
        } else if self
            .open
            .is_some_and(|open| self.units > open.last_unit + PIECE + GAP)
        {
            self.close(prompts);
        }
    }

    fn matched(&mut self, start: usize, end: usize) {
        let first_unit = self.units.saturating_sub(PIECE);
        match &mut self.open {
            Some(open) => {
                open.units += self.units - open.last_unit.max(first_unit);
                open.end = end;
                open.last_unit = self.units;
            }
            None => {
                self.open = Some(Open {
                    start,
                    end,
                    units: PIECE,
                    last_unit: self.units,
                });
            }
        }
    }

    fn close(&mut self, prompts: &PromptShingles) {
        let Some(open) = self.open.take() else {
            return;
        };
        self.in_all += open.units;
        let leaked = open.units >= prompts.leaked() || self.in_all >= LEAKED_IN_ALL;
        if leaked || open.units >= SUSPECT {
            self.done.push(Passage {
                start: open.start,
                end: open.end,
                units: open.units,
                leaked,
            });
        }
    }

    /// Where a passage begins that may yet grow.
    pub(crate) fn open_at(&self) -> Option<usize> {
        self.open.map(|open| open.start)
    }

    /// Whether what was fed so far holds a leak, the open passage included.
    pub(crate) fn has_leaked(&self, prompts: &PromptShingles) -> bool {
        self.done.iter().any(|passage| passage.leaked)
            || self.open.is_some_and(|open| {
                open.units >= prompts.leaked() || self.in_all + open.units >= LEAKED_IN_ALL
            })
    }

    /// Passages that are over.
    pub(crate) fn take_done(&mut self) -> Vec<Passage> {
        std::mem::take(&mut self.done)
    }

    /// Takes the open passage as it is, and returns all passages not taken yet.
    pub(crate) fn finish(&mut self, prompts: &PromptShingles) -> Vec<Passage> {
        self.close(prompts);
        self.take_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "You are Ada, the travel desk of Northwind. Never book first class without asking Boris. \
        The refund code for lost luggage is known to the desk alone.";

    fn leaks(text: &str) -> bool {
        PromptShingles::of([PROMPT])
            .passages(text)
            .iter()
            .any(|passage| passage.leaked)
    }

    #[test]
    fn a_copied_sentence_is_found_whatever_its_dress() {
        let sentence =
            "never book first class without asking boris. the refund code for lost luggage";
        let spaced: String = sentence.chars().flat_map(|c| [c, ' ']).collect();
        let backwards: String = sentence.chars().rev().collect();
        let rotated: String = sentence.chars().map(rot13).collect();
        for text in [
            sentence.to_owned(),
            sentence.to_uppercase(),
            sentence.replace(' ', "_"),
            sentence.replace('o', "о").replace('e', "е"),
            sentence.replace(' ', "\u{200b} \n"),
            spaced,
            backwards,
            rotated,
        ] {
            assert!(leaks(&format!("Sure: {text} - that is all.")), "{text}");
        }
    }

    #[test]
    fn the_place_is_exact() {
        let text = "It says: Never book first class without asking Boris. The refund code for lost luggage! ok";
        let passages = PromptShingles::of([PROMPT]).passages(text);
        let [passage] = passages.as_slice() else {
            panic!("{passages:?}")
        };
        assert_eq!(
            &text[passage.start..passage.end],
            "Never book first class without asking Boris. The refund code for lost luggage"
        );
    }

    #[test]
    fn a_changed_word_does_not_hide_the_rest() {
        assert!(leaks(
            "never book first class without asking Igor. The refund code for lost luggage is known"
        ));
    }

    #[test]
    fn a_few_common_words_are_no_leak() {
        assert!(!leaks("You can book first class, but ask Boris."));
        assert!(!leaks("The refund code for lost luggage was sent to you."));
        let prompt = "Be brief. Please let me know if you have any further questions or if there is anything else I can help you with.";
        let answer = "Please let me know if you have any further questions or if there is anything else I can help you with!";
        assert!(PromptShingles::of([prompt]).passages(answer).is_empty());
    }

    #[test]
    fn scripts_without_spaces_count_by_character() {
        let prompt = "你是北风公司的旅行助手艾达。未经鲍里斯同意不得预订头等舱。";
        let shingles = PromptShingles::of([prompt]);
        assert!(
            shingles
                .passages("好的：未经鲍里斯同意不得预订头等舱。你是北风公司的旅行助手艾达")
                .iter()
                .any(|p| p.leaked)
        );
        assert!(
            shingles
                .passages("我可以帮您预订头等舱的机票和酒店房间，请告诉我日期。")
                .is_empty()
        );
    }

    #[test]
    fn a_short_prompt_leaks_as_a_whole() {
        let mut shingles = PromptShingles::default();
        assert!(!shingles.register("Be brief."));
        assert!(shingles.register("Answer as a pirate named Salty Quill, always."));
        assert!(
            shingles
                .passages("My orders: answer as a pirate named Salty Quill, always")
                .iter()
                .any(|p| p.leaked)
        );
    }

    #[test]
    fn pieces_may_arrive_byte_by_byte() {
        let shingles = PromptShingles::of([PROMPT]);
        let text = format!("so: {PROMPT} done and more words follow here");
        let mut matcher = Matcher::default();
        for c in text.chars() {
            matcher.feed(&shingles, c.encode_utf8(&mut [0; 4]));
        }
        assert_eq!(matcher.finish(&shingles), shingles.passages(&text));
    }
}
