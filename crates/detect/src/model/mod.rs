//! The embedded statistical model: a linear classifier over hashed features.
//!
//! Every window of a text is scored at several sizes and the worst one counts, so a long
//! document is judged by its worst passage and a short order in it is not diluted.

pub mod features;
pub mod windows;

use crate::evidence::Evidence;
use crate::tokens::Memo;
use features::Sink;
use std::borrow::Cow;
use std::ops::Range;
use windows::{Block, Evidence as Weighed, LENGTHS, Sum, TEXTS, text_class, worst};

/// Weights and calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// One signed byte per bucket; a power of two of them. The shipped ones stay where the program's file has them.
    weights: Cow<'static, [u8]>,
    /// What one step of a weight is worth.
    step: f32,
    /// The logit of nothing, for each length of window.
    biases: [f32; LENGTHS],
    /// The logits that stand at the strict block line, and points per logit around it.
    calibration: Calibration,
}

/// How a logit becomes points. Short texts have a lower block line than long ones; the baseline profile's line is the
/// same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// The logit worth ten points, for each length of text; the last is the highest.
    pub block_at: [f32; TEXTS],
    /// Points for each further logit of a long text.
    pub slope: f32,
}

impl Calibration {
    /// The points of a text's logit, from nothing to the top of the scale.
    #[must_use]
    pub fn points(self, logit: f32, class: usize) -> f32 {
        let line = self.block_at.get(class).copied().unwrap_or_default();
        let highest = self.block_at.last().copied().unwrap_or_default();
        // Where a long text has the baseline profile's fourteen points; from there on, length does not matter.
        let common = highest + 4.0 / self.slope;
        let points = if logit >= common {
            14.0 + (logit - common) * self.slope
        } else if logit > line {
            10.0 + (logit - line) * 4.0 / (common - line)
        } else {
            10.0 + (logit - line) * self.slope
        };
        points.clamp(0.0, 20.0)
    }
}

/// A model file is not what it should be.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the model file is damaged or of another version")]
pub struct ModelError;

const MAGIC: &[u8; 8] = b"BSMODEL3";
const HEADER: usize = MAGIC.len() + 4 * (3 + TEXTS + LENGTHS);

/// What a point of the rules adds to a logit. Rules are few and sure, words many and vague:
/// left to training alone, the words would drown them.
const RULE_SHARE: f32 = 0.9;

/// What the model thinks of a text: the worst window.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// The logit of the worst window, rules included.
    pub logit: f32,
    /// The text's length class.
    pub class: usize,
    /// Its points.
    pub points: f32,
    /// Its bytes in the folded text.
    pub bytes: Range<usize>,
}

impl Model {
    /// Quantises trained weights. The number of weights must be a power of two.
    pub fn from_weights(
        weights: &[f32],
        biases: [f32; LENGTHS],
        calibration: Calibration,
    ) -> Result<Self, ModelError> {
        if !weights.len().is_power_of_two() {
            return Err(ModelError);
        }
        let most = weights.iter().fold(0.0_f32, |most, w| most.max(w.abs()));
        let step = if most > 0.0 { most / 127.0 } else { 1.0 };
        let weights = weights
            .iter()
            .map(|w| ((w / step).round().clamp(-127.0, 127.0) as i8).cast_unsigned())
            .collect();
        Ok(Self {
            weights,
            step,
            biases,
            calibration,
        })
    }

    /// Reads a model file.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, ModelError> {
        let bytes = bytes.into();
        let (header, weights) = bytes.split_at_checked(HEADER).ok_or(ModelError)?;
        let fields = header.strip_prefix(MAGIC).ok_or(ModelError)?;
        let mut numbers = fields
            .chunks_exact(4)
            .map(|chunk| chunk.try_into().map(u32::from_le_bytes));
        let mut next = || numbers.next().and_then(Result::ok).ok_or(ModelError);
        let length = usize::try_from(next()?).map_err(|_| ModelError)?;
        let mut float = || next().map(f32::from_bits);
        let (step, slope) = (float()?, float()?);
        let mut block_at = [0.0; TEXTS];
        let mut biases = [0.0; LENGTHS];
        for number in block_at.iter_mut().chain(&mut biases) {
            *number = float()?;
        }
        let sound = [step, slope]
            .iter()
            .chain(&block_at)
            .chain(&biases)
            .all(|f| f.is_finite());
        if !sound || length != weights.len() || !length.is_power_of_two() {
            return Err(ModelError);
        }
        let weights = match bytes {
            Cow::Borrowed(all) => Cow::Borrowed(all.get(HEADER..).unwrap_or_default()),
            Cow::Owned(mut all) => Cow::Owned(all.split_off(HEADER)),
        };
        Ok(Self {
            weights,
            step,
            biases,
            calibration: Calibration { block_at, slope },
        })
    }

    /// Writes a model file; the same model gives the same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let length = u32::try_from(self.weights.len()).unwrap_or(0);
        bytes.extend(length.to_le_bytes());
        let numbers = [self.step, self.calibration.slope];
        for float in numbers
            .iter()
            .chain(&self.calibration.block_at)
            .chain(&self.biases)
        {
            bytes.extend(float.to_le_bytes());
        }
        bytes.extend_from_slice(&self.weights);
        bytes
    }

    /// The same weights with another calibration.
    #[must_use]
    pub fn calibrated(self, calibration: Calibration) -> Self {
        Self {
            calibration,
            ..self
        }
    }

    pub(crate) fn opinion(&self, text: &str, evidence: &Evidence, by_rules: f32) -> Opinion {
        let mut sums = Sums {
            weights: &self.weights,
            step: self.step,
            spellings: Memo::new(evidence.tokens.len()),
            words: Tally::default(),
            concepts: Tally::default(),
            blocks: Vec::with_capacity(evidence.tokens.len() / features::BLOCK_TOKENS + 1),
        };
        features::extract(text, evidence, &mut sums);
        let (logit, bytes) = worst(&sums.blocks, &self.biases);
        let logit = logit + by_rules * RULE_SHARE;
        let class = text_class(sums.blocks.len());
        Opinion {
            logit,
            class,
            points: self.calibration.points(logit, class),
            bytes,
        }
    }
}

/// Adds up the weights of each block.
struct Sums<'m> {
    weights: &'m [u8],
    step: f32,
    /// What the features of a word's spelling come to.
    spellings: Memo<Tally>,
    words: Tally,
    concepts: Tally,
    blocks: Vec<Block>,
}

/// Steps of weights, added up: whole numbers, so that no order of adding matters.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    steps: i32,
    count: u32,
}

impl Tally {
    #[inline]
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.count += other.count;
    }

    fn sum(self, step: f32) -> Sum {
        Sum {
            sum: self.steps as f32 * step,
            count: self.count,
        }
    }
}

impl Sums<'_> {
    #[inline]
    fn weight(&self, hash: u32) -> Tally {
        let place = hash as usize & (self.weights.len() - 1);
        let weight = self.weights.get(place);
        Tally {
            steps: weight.map_or(0, |weight| i32::from(weight.cast_signed())),
            count: 1,
        }
    }
}

impl Sink for Sums<'_> {
    #[inline]
    fn word(&mut self, hash: u32) {
        let weight = self.weight(hash);
        self.words.add(weight);
    }

    #[inline]
    fn spelling(&mut self, word: u64, features: impl FnOnce(&mut Self)) {
        if let Some(known) = self.spellings.get(word) {
            self.words.add(known);
            return;
        }
        let before = std::mem::take(&mut self.words);
        features(self);
        self.spellings.put(word, self.words);
        self.words.add(before);
    }

    fn concept(&mut self, hash: u32) {
        let weight = self.weight(hash);
        self.concepts.add(weight);
    }

    fn block(&mut self, bytes: Range<usize>) {
        let step = self.step;
        self.blocks.push(Block {
            evidence: Weighed {
                words: std::mem::take(&mut self.words).sum(step),
                concepts: std::mem::take(&mut self.concepts).sum(step),
            },
            bytes,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let weights: Vec<f32> = (0..1024).map(|i| (i as f32 - 512.0) / 100.0).collect();
        Model::from_weights(
            &weights,
            [-0.5; LENGTHS],
            Calibration {
                block_at: [1.0; TEXTS],
                slope: 2.0,
            },
        )
        .unwrap()
    }

    #[test]
    fn a_model_survives_its_file() {
        assert_eq!(Model::from_bytes(model().to_bytes()), Ok(model()));
    }

    #[test]
    fn damaged_files_are_refused() {
        let bytes = model().to_bytes();
        assert_eq!(
            Model::from_bytes(bytes[..bytes.len() - 1].to_vec()),
            Err(ModelError)
        );
        assert_eq!(Model::from_bytes(b"BSMODEL0".as_slice()), Err(ModelError));
        assert_eq!(Model::from_bytes(Vec::new()), Err(ModelError));
        let mut broken = bytes;
        broken[12..16].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(Model::from_bytes(broken), Err(ModelError));
    }

    #[test]
    fn short_texts_have_their_own_block_line_and_the_common_baseline() {
        let calibration = Calibration {
            block_at: [1.0, 1.0, 2.0, 2.0, 2.0, 3.0],
            slope: 2.0,
        };
        assert_eq!(calibration.points(1.0, 0), 10.0);
        assert_eq!(calibration.points(3.0, 5), 10.0);
        for class in 0..TEXTS {
            assert_eq!(calibration.points(5.0, class), 14.0);
            assert_eq!(calibration.points(6.0, class), 16.0);
        }
        assert_eq!(calibration.points(0.0, 0), 8.0);
    }

    #[test]
    fn points_are_bounded() {
        let calibration = Calibration {
            block_at: [1.0; TEXTS],
            slope: 2.0,
        };
        assert_eq!(calibration.points(1.0, 0), 10.0);
        assert_eq!(calibration.points(1e9, 5), 20.0);
        assert_eq!(calibration.points(-1e9, 3), 0.0);
    }
}
