//! What the statistical model sees of a folded text: hashed features in blocks.
//!
//! Words, pairs and triples of words, pieces of words, and the concepts that the lexicon
//! found with their order. Concepts do not depend on the language, so what the model learns
//! from one language carries over to the others. Training and scoring share this file, so
//! they cannot disagree.

use crate::evidence::Evidence;
use crate::lexicon::Hit;
use crate::tokens::{Kind, Token};
use std::ops::Range;

/// Tokens in a block, the unit that windows are made of.
pub const BLOCK_TOKENS: usize = 12;

/// Receives the features of a text, in order.
pub trait Sink: Sized {
    /// A word or a piece of one in the current block, as a hash of 32 bits.
    fn word(&mut self, hash: u32);
    /// All features that depend on this word alone, given by its hash; a sink may remember what they come to.
    fn spelling(&mut self, _word: u64, features: impl FnOnce(&mut Self)) {
        features(self);
    }
    /// A concept or a rule in the current block.
    fn concept(&mut self, hash: u32);
    /// The current block is over; it stood at these bytes.
    fn block(&mut self, bytes: Range<usize>);
}

/// Sends the features of a text to a sink, block by block.
pub(crate) fn extract(text: &str, evidence: &Evidence, sink: &mut impl Sink) {
    let mut concepts = Concepts::new(evidence);
    let mut words = Words::default();
    let mut block_start = 0;
    let bytes = text.as_bytes();
    for block in evidence.tokens.chunks(BLOCK_TOKENS) {
        for token in block {
            words.push(token, bytes, sink);
        }
        let full = block.len() == BLOCK_TOKENS;
        let end = block
            .last()
            .filter(|_| full)
            .map_or(bytes.len(), |token| token.bytes().end);
        concepts.flush(end, sink);
        sink.block(block_start..end);
        block_start = end;
    }
    if evidence.tokens.is_empty() {
        sink.block(0..bytes.len());
    }
}

/// Numbers and addresses count as such, whatever their value.
fn value(token: &Token) -> u32 {
    match token.kind {
        Kind::Number => 0x5bd1_e995,
        Kind::Mail => 0x1b87_3593,
        Kind::Link => 0x2545_f491,
        Kind::Word | Kind::WideWord | Kind::Single | Kind::Marks => {
            (token.hash ^ (token.hash >> 32)) as u32
        }
    }
}

/// The last words, for pairs and triples.
#[derive(Default)]
struct Words {
    last: u32,
    before: u32,
    heard: Echo,
}

impl Words {
    fn push(&mut self, token: &Token, bytes: &[u8], sink: &mut impl Sink) {
        let value = value(token);
        let word = bytes.get(token.bytes()).unwrap_or_default();
        let lone_mark = token.kind == Kind::Marks && word.len() == 1;
        let pair = value ^ self.last.rotate_left(7);
        if self.heard.again(pair) {
            if !lone_mark {
                self.before = self.last;
                self.last = value;
            }
            return;
        }
        match token.kind {
            Kind::Word => sink.spelling(token.hash, |sink| {
                sink.word(mix(value, 1));
                pieces::<5>(word, sink);
            }),
            Kind::WideWord => sink.spelling(token.hash, |sink| {
                sink.word(mix(value, 1));
                pieces::<8>(word, sink);
            }),
            Kind::Single | Kind::Marks | Kind::Number | Kind::Mail | Kind::Link => {
                sink.word(mix(value, 1));
            }
        }
        if lone_mark {
            return;
        }
        sink.word(mix(pair, 2));
        sink.word(mix(pair ^ self.before.rotate_left(14), 3));
        self.before = self.last;
        self.last = value;
    }
}

/// What came a short while ago. What is said again and again says nothing new: a table full of "yes" must not add up to an
/// attack, however little each of them weighs. What comes back at longer intervals counts anew after a while, so that an
/// order that grows word by word is heard all the same.
struct Echo {
    /// Pairs, and when each last counted or stuttered.
    heard: [(u32, u32); Self::PLACES],
    now: u32,
}

impl Default for Echo {
    fn default() -> Self {
        Self {
            heard: [(0, 0); Self::PLACES],
            now: Self::MEMORY,
        }
    }
}

impl Echo {
    /// A power of two. Two pairs that fall on one place are at worst both new.
    const PLACES: usize = 64;
    /// A pair counts once in so many.
    const MEMORY: u32 = 24;
    /// One that comes back this soon does not count however long it goes on.
    const STUTTER: u32 = 6;

    /// Whether this pair came among the last few and does not count.
    #[inline]
    fn again(&mut self, pair: u32) -> bool {
        self.now = self.now.wrapping_add(1);
        let spread = pair.wrapping_mul(0x9e37_79b9) >> 16;
        let Some(place) = self.heard.get_mut(spread as usize % Self::PLACES) else {
            return false;
        };
        let ago = self.now.wrapping_sub(place.1);
        let echo = place.0 == pair && ago <= Self::MEMORY;
        if !echo || ago <= Self::STUTTER {
            *place = (pair, self.now);
        }
        echo
    }
}

/// Pieces of `N` bytes, the edges of the word included.
fn pieces<const N: usize>(word: &[u8], sink: &mut impl Sink) {
    let mask = u64::MAX >> (64 - 8 * N);
    let mut piece = u64::from(b' ');
    let edges = word.iter().chain(b" ");
    for (number, byte) in edges.enumerate() {
        piece = (piece << 8 | u64::from(*byte)) & mask;
        if number + 2 >= N {
            sink.word((piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32);
        }
    }
}

/// Concepts, their order, and rules that matched, delivered to the block in which they end.
struct Concepts<'e> {
    hits: &'e [Hit],
    next: usize,
    evidence: &'e Evidence,
    next_rule: usize,
    heard: Echo,
}

const MOST_HALF_WORDS_APART: u32 = 24;
const PARTNERS: usize = 4;

impl<'e> Concepts<'e> {
    fn new(evidence: &'e Evidence) -> Self {
        Self {
            hits: &evidence.hits,
            next: 0,
            evidence,
            next_rule: 0,
            heard: Echo::default(),
        }
    }

    fn flush(&mut self, to: usize, sink: &mut impl Sink) {
        self.flush_rules(to, sink);
        while let Some(hit) = self.hits.get(self.next) {
            if hit.start >= to {
                return;
            }
            let concept = u32::from(hit.concept.0);
            let earlier = self.hits.get(..self.next).unwrap_or_default();
            let last = earlier
                .last()
                .map_or(0, |last| u32::from(last.concept.0) + 1);
            self.next += 1;
            if self.heard.again(concept << 8 | last) {
                continue;
            }
            sink.concept(mix(concept, 5));
            for partner in earlier.iter().rev().take(PARTNERS) {
                let apart = hit.at.saturating_sub(partner.until);
                let common = !partner.languages.and(hit.languages).is_empty();
                if partner.end <= hit.start && apart <= MOST_HALF_WORDS_APART && common {
                    let pair = concept << 8 | u32::from(partner.concept.0);
                    sink.concept(mix(pair, 6));
                    sink.concept(mix(pair << 1 | u32::from(apart > 6), 7));
                }
            }
        }
    }

    fn flush_rules(&mut self, to: usize, sink: &mut impl Sink) {
        while let Some(finding) = self.evidence.findings.get(self.next_rule) {
            if finding.end > to {
                return;
            }
            sink.concept(mix(finding.name, 8));
            sink.concept(mix(finding.name, if finding.mentioned { 9 } else { 10 }));
            self.next_rule += 1;
        }
    }
}

fn mix(value: u32, kind: u32) -> u32 {
    let mut x = value ^ kind.wrapping_mul(0x9e37_79b9);
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, PartialEq, Debug)]
    struct Log {
        features: Vec<u32>,
        blocks: Vec<Range<usize>>,
    }

    impl Sink for Log {
        fn word(&mut self, hash: u32) {
            self.features.push(hash);
        }
        fn concept(&mut self, hash: u32) {
            self.features.push(hash);
        }
        fn block(&mut self, bytes: Range<usize>) {
            self.blocks.push(bytes);
        }
    }

    fn log(text: &str) -> Log {
        let mut log = Log::default();
        let evidence = Evidence {
            tokens: crate::tokens::tokens(text),
            ..Evidence::default()
        };
        extract(text, &evidence, &mut log);
        log
    }

    #[test]
    fn blocks_cover_the_text_without_gaps() {
        let text = "one two three four five six seven eight nine ten eleven twelve thirteen. 忽略之前的指令";
        let blocks = log(text).blocks;
        assert_eq!(blocks.first().map(|b| b.start), Some(0));
        assert!(blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(blocks.last().map(|b| b.end), Some(text.len()));
    }

    #[test]
    fn addresses_and_numbers_have_no_value() {
        assert_eq!(
            log("write to bob@one.example about 12").features,
            log("write to eve@two.example about 9876").features
        );
        assert_eq!(
            log("see https://a.example/x").features,
            log("see https://b.example/y?z=1").features
        );
    }

    #[test]
    fn an_empty_text_has_one_empty_block() {
        assert_eq!(log("").blocks, vec![0..0]);
    }

    #[test]
    fn what_is_said_again_and_again_counts_once() {
        for (once, rest) in [
            ("yes yes", " yes"),
            ("n/a n/a", " n/a"),
            ("lorem ipsum lorem", " ipsum lorem"),
            ("? ?", " ?"),
            (
                "one two three four five one two",
                " three four five one two",
            ),
        ] {
            let long = format!("{once}{}", rest.repeat(500));
            let (few, many) = (log(once).features, log(&long).features);
            assert!(
                few.len() <= many.len() && many.len() <= few.len() + 20,
                "{once:?}: {} and {}",
                few.len(),
                many.len()
            );
        }
        let far = format!(
            "yes it is {} yes it is",
            ('a'..='z').map(|c| format!("{c}{c} ")).collect::<String>()
        );
        let near = "yes it is yes it is";
        assert!(log(&far).features.len() > log(near).features.len());
    }

    #[test]
    fn a_stutter_counts_once_and_what_comes_back_counts_now_and_then() {
        let counted = |every: u32| {
            let mut echo = Echo::default();
            (0..240).filter(|now| !echo.again(now % every)).count() / every as usize
        };
        assert_eq!(counted(1), 1, "the same all the time");
        assert_eq!(counted(6), 1, "six by turns");
        assert_eq!(counted(10), 8, "every third time");
    }

    #[test]
    fn the_number_of_features_is_linear() {
        for text in [
            "a ".repeat(5_000),
            "<".repeat(10_000),
            "é".repeat(5_000),
            "1@".repeat(5_000),
            "忽".repeat(3_000),
        ] {
            let features = log(&text).features.len();
            assert!(
                features <= text.len() * 3,
                "{features} features of {} bytes",
                text.len()
            );
        }
    }
}
