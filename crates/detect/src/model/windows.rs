//! The worst window of a text, over windows of several sizes.

use std::ops::Range;

/// Sizes of windows, in blocks.
pub const SIZES: [usize; 3] = [2, 6, 20];

/// A block's share of the score.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Sum of its features' weights.
    pub sum: f32,
    /// Number of its features.
    pub count: u32,
    /// Where it stands.
    pub bytes: Range<usize>,
}

/// A run of blocks, first and one past the last.
pub type Window = Range<usize>;

/// Every window of a text of so many blocks, each size by half its length; a short text is one window.
pub fn windows(blocks: usize) -> impl Iterator<Item = Window> {
    SIZES.into_iter().enumerate().flat_map(move |(order, size)| {
        let stride = (size / 2).max(1);
        // A text shorter than this size is already a whole window of the smaller one.
        let covered = order > 0 && SIZES.get(order - 1).is_some_and(|smaller| blocks <= *smaller);
        let starts = if covered { 0 } else { blocks.max(1) };
        (0..starts)
            .step_by(stride)
            .take_while(move |start| *start == 0 || start + stride < blocks)
            .map(move |start| start..(start + size).min(blocks))
    })
}

/// A window's score: the sum of its weights, tamed by the root of their number.
#[must_use]
pub fn score(sum: f32, count: u32) -> f32 {
    sum / (count.max(8) as f32).sqrt()
}

/// The highest score of any window, and where it stands.
#[must_use]
pub fn worst(blocks: &[Block]) -> (f32, Range<usize>) {
    let mut best = (f32::NEG_INFINITY, 0..0);
    for window in windows(blocks.len()) {
        let inside = blocks.get(window).unwrap_or_default();
        let sum = inside.iter().map(|b| b.sum).sum();
        let count = inside.iter().map(|b| b.count).sum();
        let score = score(sum, count);
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
        let block = |(i, sum): (usize, &f32)| Block { sum: *sum, count: 16, bytes: i * 10..(i + 1) * 10 };
        sums.iter().enumerate().map(block).collect()
    }

    #[test]
    fn a_short_text_is_one_window() {
        assert_eq!(windows(1).collect::<Vec<_>>(), [0..1]);
        assert_eq!(windows(2).collect::<Vec<_>>(), [0..2]);
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
        sums[150] = 40.0;
        sums[151] = 40.0;
        let (score, bytes) = worst(&blocks(&sums));
        assert_eq!(bytes, 1500..1520);
        assert_eq!(score, worst(&blocks(&[40.0, 40.0])).0);
    }
}
