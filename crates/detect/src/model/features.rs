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
}

impl Words {
    fn push(&mut self, token: &Token, bytes: &[u8], sink: &mut impl Sink) {
        let value = value(token);
        let word = bytes.get(token.bytes()).unwrap_or_default();
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
        if token.kind == Kind::Marks && word.len() == 1 {
            return;
        }
        let pair = value ^ self.last.rotate_left(7);
        sink.word(mix(pair, 2));
        sink.word(mix(pair ^ self.before.rotate_left(14), 3));
        self.before = self.last;
        self.last = value;
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
        }
    }

    fn flush(&mut self, to: usize, sink: &mut impl Sink) {
        self.flush_rules(to, sink);
        while let Some(hit) = self.hits.get(self.next) {
            if hit.start >= to {
                return;
            }
            let concept = u32::from(hit.concept.0);
            sink.concept(mix(concept, 5));
            let earlier = self.hits.get(..self.next).unwrap_or_default();
            for partner in earlier.iter().rev().take(PARTNERS) {
                let apart = hit.at.saturating_sub(partner.until);
                let common = !partner.languages.and(hit.languages).is_empty();
                if partner.end <= hit.start && apart <= MOST_HALF_WORDS_APART && common {
                    let pair = concept << 8 | u32::from(partner.concept.0);
                    sink.concept(mix(pair, 6));
                    sink.concept(mix(pair << 1 | u32::from(apart > 6), 7));
                }
            }
            self.next += 1;
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
