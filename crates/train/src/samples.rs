//! Rows turned into features, once, for any number of fits.

use crate::row::Row;
use blastshield_detect::Detector;
use blastshield_detect::model::features::Sink;
use rayon::prelude::*;
use std::ops::Range;

/// One row as the model sees it.
#[derive(Clone, Debug)]
pub struct Sample {
    words: Hashes,
    concepts: Hashes,
    pub(crate) attack: bool,
    pub(crate) source: usize,
}

/// Feature hashes of all blocks, one after the other.
#[derive(Clone, Debug, Default)]
struct Hashes {
    hashes: Vec<u32>,
    /// Where each block ends.
    ends: Vec<usize>,
}

impl Hashes {
    fn of(&self, blocks: Range<usize>) -> &[u32] {
        let end_of = |block: usize| self.ends.get(block).copied().unwrap_or(self.hashes.len());
        let start = blocks.start.checked_sub(1).map_or(0, end_of);
        let end = blocks.end.checked_sub(1).map_or(0, end_of);
        self.hashes.get(start..end).unwrap_or_default()
    }

    fn end_block(&mut self) {
        self.ends.push(self.hashes.len());
    }
}

impl Sample {
    pub(crate) fn blocks(&self) -> usize {
        self.words.ends.len()
    }

    /// The words of some blocks in a row.
    pub(crate) fn words(&self, blocks: Range<usize>) -> &[u32] {
        self.words.of(blocks)
    }

    /// The concepts of some blocks in a row.
    pub(crate) fn concepts(&self, blocks: Range<usize>) -> &[u32] {
        self.concepts.of(blocks)
    }
}

impl Sink for Sample {
    fn word(&mut self, hash: u32) {
        self.words.hashes.push(hash);
    }

    fn concept(&mut self, hash: u32) {
        self.concepts.hashes.push(hash);
    }

    fn block(&mut self, _bytes: Range<usize>) {
        self.words.end_block();
        self.concepts.end_block();
    }
}

/// All rows of a training set.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    pub(crate) samples: Vec<Sample>,
    pub(crate) sources: Vec<String>,
}

/// Longer texts are cut: more of the same document teaches nothing new.
const MAX_TEXT: usize = 40_000;

impl Samples {
    /// Extracts the features of all rows, on all cores; `tick` is called once a row.
    pub fn extract(rows: &[Row], detector: &Detector, tick: impl Fn() + Sync) -> Self {
        let mut sources: Vec<String> = rows.iter().map(|row| row.source.clone()).collect();
        sources.sort();
        sources.dedup();
        let samples = rows
            .par_iter()
            .map(|row| {
                let mut sample = Sample {
                    words: Hashes::default(),
                    concepts: Hashes::default(),
                    attack: row.is_attack(),
                    source: sources.binary_search(&row.source).unwrap_or(0),
                };
                let text = row
                    .text
                    .get(..row.text.floor_char_boundary(MAX_TEXT))
                    .unwrap_or_default();
                detector.features(text, &mut sample);
                tick();
                sample
            })
            .collect();
        Self { samples, sources }
    }
}
