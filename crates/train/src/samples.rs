//! Rows turned into features, once, for any number of fits.

use crate::row::Row;
use blastshield_detect::Detector;
use blastshield_detect::model::features::Sink;
use rayon::prelude::*;
use std::ops::Range;

/// One row as the model sees it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Feature hashes of all blocks, one after the other.
    features: Vec<u32>,
    /// Where each block ends in `features`.
    ends: Vec<usize>,
    pub(crate) attack: bool,
    pub(crate) source: usize,
}

impl Sample {
    pub(crate) fn blocks(&self) -> usize {
        self.ends.len()
    }

    /// The features of some blocks in a row.
    pub(crate) fn features(&self, blocks: Range<usize>) -> &[u32] {
        let end_of = |block: usize| self.ends.get(block).copied().unwrap_or(self.features.len());
        let start = blocks.start.checked_sub(1).map_or(0, end_of);
        let end = blocks.end.checked_sub(1).map_or(0, end_of);
        self.features.get(start..end).unwrap_or_default()
    }
}

impl Sink for Sample {
    fn feature(&mut self, hash: u32) {
        self.features.push(hash);
    }

    fn block(&mut self, _bytes: Range<usize>) {
        self.ends.push(self.features.len());
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
                    features: Vec::new(),
                    ends: Vec::new(),
                    attack: row.is_attack(),
                    source: sources.binary_search(&row.source).unwrap_or(0),
                };
                let text = row.text.get(..row.text.floor_char_boundary(MAX_TEXT)).unwrap_or_default();
                detector.features(text, &mut sample);
                tick();
                sample
            })
            .collect();
        Self { samples, sources }
    }
}
