//! The worst window of a text, over windows of several sizes.

use std::ops::Range;

/// Sizes of windows, in blocks.
pub const SIZES: [usize; 3] = [4, 12, 36];

/// The weights of some features: how many, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Their sum.
    pub sum: f32,
    /// Their number.
    pub count: u32,
}

impl Sum {
    /// One more feature.
    pub fn add(&mut self, weight: f32) {
        self.sum += weight;
        self.count += 1;
    }

    fn tamed(self, least: u32) -> f32 {
        self.sum / (self.count.max(least) as f32).sqrt()
    }
}

impl std::ops::Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }
}

/// What speaks for and against an attack in a stretch of text. Words are many and concepts are
/// few, so each is tamed by its own number: the concepts must not drown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Words and pieces of words.
    pub words: Sum,
    /// Concepts and rules.
    pub concepts: Sum,
}

impl Evidence {
    /// The score: sums of weights, tamed by the root of their number.
    #[must_use]
    pub fn score(self) -> f32 {
        self.words.tamed(LEAST_WORDS) + self.concepts.tamed(LEAST_CONCEPTS)
    }
}

impl std::ops::Add for Evidence {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            concepts: self.concepts + other.concepts,
        }
    }
}

/// Fewer features than these count as these: a word alone proves nothing.
pub const LEAST_WORDS: u32 = 12;
/// The same for concepts.
pub const LEAST_CONCEPTS: u32 = 3;

/// A block's share of the score.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What it holds.
    pub evidence: Evidence,
    /// Where it stands.
    pub bytes: Range<usize>,
}

/// A run of blocks, first and one past the last.
pub type Window = Range<usize>;

/// Every window of a text of so many blocks, each size by half its length; a short text is one window.
pub fn windows(blocks: usize) -> impl Iterator<Item = Window> {
    SIZES
        .into_iter()
        .enumerate()
        .flat_map(move |(order, size)| {
            let stride = (size / 2).max(1);
            // A text shorter than this size is already a whole window of the smaller one.
            let covered = order > 0
                && SIZES
                    .get(order - 1)
                    .is_some_and(|smaller| blocks <= *smaller);
            let starts = if covered { 0 } else { blocks.max(1) };
            (0..starts)
                .step_by(stride)
                .take_while(move |start| *start == 0 || start + stride < blocks)
                .map(move |start| start..(start + size).min(blocks))
        })
}

/// Lengths of windows that have a bias of their own.
pub const LENGTHS: usize = 6;

/// Which bias a window of so many blocks has: a short one shows less and must be surer.
#[must_use]
pub fn length_class(blocks: usize) -> usize {
    match blocks {
        0 | 1 => 0,
        2 => 1,
        3 | 4 => 2,
        5 | 6 => 3,
        7..=12 => 4,
        _ => 5,
    }
}

/// Lengths of texts that have a block line of their own.
pub const TEXTS: usize = 6;

/// Which block line a text of so many blocks has. A long text has many windows and the worst counts, so it
/// reaches a given logit more often by chance than a short one.
#[must_use]
pub fn text_class(blocks: usize) -> usize {
    match blocks {
        0 | 1 => 0,
        2 => 1,
        3 | 4 => 2,
        5..=12 => 3,
        13..=36 => 4,
        _ => 5,
    }
}

/// The highest logit of any window, and where it stands.
#[must_use]
pub fn worst(blocks: &[Block], biases: &[f32; LENGTHS]) -> (f32, Range<usize>) {
    let mut best = (f32::NEG_INFINITY, 0..0);
    for window in windows(blocks.len()) {
        let bias = biases
            .get(length_class(window.len()))
            .copied()
            .unwrap_or(0.0);
        let inside = blocks.get(window).unwrap_or_default();
        let evidence = inside
            .iter()
            .fold(Evidence::default(), |sum, block| sum + block.evidence);
        let score = evidence.score() + bias;
        if score > best.0 {
            let start = inside.first().map_or(0, |b| b.bytes.start);
            let end = inside.last().map_or(0, |b| b.bytes.end);
            best = (score, start..end);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(sums: &[f32]) -> Vec<Block> {
        let evidence = |sum| Evidence {
            words: Sum { sum, count: 16 },
            concepts: Sum::default(),
        };
        let block = |(i, sum): (usize, &f32)| Block {
            evidence: evidence(*sum),
            bytes: i * 10..(i + 1) * 10,
        };
        sums.iter().enumerate().map(block).collect()
    }

    #[test]
    fn a_short_text_is_one_window() {
        assert_eq!(windows(1).collect::<Vec<_>>(), vec![0..1]);
        assert_eq!(windows(2).collect::<Vec<_>>(), vec![0..2]);
    }

    #[test]
    fn every_block_is_in_a_window_of_every_size_that_fits() {
        for count in 1..100 {
            for block in 0..count {
                let sizes = windows(count).filter(|w| w.contains(&block)).count();
                assert!(sizes >= 1, "block {block} of {count}");
            }
            assert!(windows(count).all(|w| !w.is_empty() && w.end <= count));
        }
    }

    #[test]
    fn the_worst_passage_counts_not_the_length() {
        let mut sums = vec![-10.0; 200];
        sums[150..154].fill(40.0);
        let (score, bytes) = worst(&blocks(&sums), &[0.0; LENGTHS]);
        assert_eq!(bytes, 1500..1540);
        assert_eq!(score, worst(&blocks(&[40.0; 4]), &[0.0; LENGTHS]).0);
    }
}
