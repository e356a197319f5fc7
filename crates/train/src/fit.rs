//! Logistic regression over windows: each row is judged by its worst window.
//!
//! Three things keep it from learning its sources instead of attacks: no source weighs more
//! than a cap, a feature may speak for an attack only when several sources show it, and a
//! share of the features is left out at random in each step.

use crate::random::Random;
use crate::samples::{Sample, Samples};
use blastshield_detect::model::windows::{
    Evidence, LEAST_CONCEPTS, LEAST_WORDS, LENGTHS, length_class, windows,
};
use std::ops::Range;

/// How to train.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// Buckets for features, as a power of two.
    pub bits: u32,
    /// Passes over the rows.
    pub epochs: usize,
    /// The last passes, whose weights are averaged: the last step of each row must not decide alone.
    pub averaged: usize,
    /// Step size.
    pub rate: f32,
    /// Shrinks weights, per pass.
    pub decay: f32,
    /// Percent of features left out in a step.
    pub dropout: usize,
    /// Rows of attack that one source counts for at most.
    pub attack_cap: f32,
    /// Benign rows that one source counts for at most.
    pub benign_cap: f32,
    /// Sources that must show a feature before it may speak for an attack.
    pub witnesses: u32,
    /// Where the random sequence starts.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            bits: 21,
            epochs: 16,
            averaged: 8,
            rate: 0.35,
            decay: 0.02,
            dropout: 25,
            attack_cap: 8_000.0,
            benign_cap: 8_000.0,
            witnesses: 2,
            seed: 7,
        }
    }
}

/// Trained weights and bias.
#[derive(Clone, Debug)]
pub struct Weights {
    /// One weight a bucket.
    pub weights: Vec<f32>,
    /// The logit of nothing, for each length of window.
    pub biases: [f32; LENGTHS],
}

/// Fits weights to the samples of the sources that `keep` lets through.
#[must_use]
pub fn fit(samples: &Samples, keep: impl Fn(&str) -> bool, options: &FitOptions) -> Weights {
    let kept: Vec<bool> = samples.sources.iter().map(|source| keep(source)).collect();
    let chosen: Vec<&Sample> = samples
        .samples
        .iter()
        .filter(|s| kept.get(s.source).copied().unwrap_or(false))
        .collect();
    let mut fitting = Fitting::new(&chosen, samples.sources.len(), options);
    let mut mean = Mean::new(fitting.weights.len());
    for epoch in 0..options.epochs {
        fitting.pass(&chosen, epoch);
        if epoch + options.averaged.max(1) >= options.epochs {
            mean.add(&fitting.weights, &fitting.biases);
        }
    }
    mean.weights()
}

/// The mean of the weights after several passes.
struct Mean {
    passes: f32,
    weights: Vec<f32>,
    biases: [f32; LENGTHS],
}

impl Mean {
    fn new(buckets: usize) -> Self {
        Self {
            passes: 0.0,
            weights: vec![0.0; buckets],
            biases: [0.0; LENGTHS],
        }
    }

    fn add(&mut self, weights: &[f32], biases: &[f32]) {
        self.passes += 1.0;
        let sums = self.weights.iter_mut().chain(&mut self.biases);
        for (sum, now) in sums.zip(weights.iter().chain(biases)) {
            *sum += now;
        }
    }

    fn weights(mut self) -> Weights {
        let passes = self.passes.max(1.0);
        let sums = self.weights.iter_mut().chain(&mut self.biases);
        sums.for_each(|sum| *sum /= passes);
        Weights {
            weights: self.weights,
            biases: self.biases,
        }
    }
}

struct Fitting<'o> {
    options: &'o FitOptions,
    weights: Vec<f32>,
    /// Sums of squared gradients: the step shrinks where much was learned.
    seen: Vec<f32>,
    /// Whether a feature may speak for an attack.
    may_accuse: Vec<bool>,
    biases: [f32; LENGTHS],
    biases_seen: [f32; LENGTHS],
    /// What a row of each source counts, (benign, attack).
    shares: Vec<(f32, f32)>,
    random: Random,
}

impl<'o> Fitting<'o> {
    fn new(chosen: &[&Sample], sources: usize, options: &'o FitOptions) -> Self {
        let buckets = 1_usize << options.bits;
        Self {
            options,
            weights: vec![0.0; buckets],
            seen: vec![1e-3; buckets],
            may_accuse: witnessed(chosen, buckets, options.witnesses),
            biases: [0.0; LENGTHS],
            biases_seen: [1e-3; LENGTHS],
            shares: shares(chosen, sources, options),
            random: Random::new(options.seed),
        }
    }

    fn pass(&mut self, chosen: &[&Sample], epoch: usize) {
        let mut order: Vec<usize> = (0..chosen.len()).collect();
        self.random.shuffle(&mut order);
        for number in order {
            let Some(sample) = chosen.get(number) else {
                continue;
            };
            let window = if epoch == 0 {
                self.any_window(sample)
            } else {
                self.worst_window(sample)
            };
            self.learn(sample, window);
            if !sample.attack && sample.blocks() > 4 {
                let window = self.any_window(sample);
                self.learn(sample, window);
            }
        }
        let keep = 1.0 - self.options.decay;
        self.weights.iter_mut().for_each(|w| *w *= keep);
    }

    fn any_window(&mut self, sample: &Sample) -> Range<usize> {
        let all: Vec<Range<usize>> = windows(sample.blocks()).collect();
        self.random.pick(&all).cloned().unwrap_or(0..0)
    }

    fn worst_window(&self, sample: &Sample) -> Range<usize> {
        let blocks: Vec<Evidence> = (0..sample.blocks())
            .map(|block| {
                self.weigh(
                    sample.words(block..block + 1),
                    sample.concepts(block..block + 1),
                )
            })
            .collect();
        let mut worst = (f32::NEG_INFINITY, 0..0);
        for window in windows(sample.blocks()) {
            let inside = blocks.get(window.clone()).unwrap_or_default();
            let logit = inside
                .iter()
                .fold(Evidence::default(), |sum, block| sum + *block)
                .score()
                + self.bias(&window);
            if logit > worst.0 {
                worst = (logit, window);
            }
        }
        worst.1
    }

    fn weigh(&self, words: &[u32], concepts: &[u32]) -> Evidence {
        let mut evidence = Evidence::default();
        words
            .iter()
            .for_each(|hash| evidence.words.add(self.weight(*hash)));
        concepts
            .iter()
            .for_each(|hash| evidence.concepts.add(self.weight(*hash)));
        evidence
    }

    fn bias(&self, window: &Range<usize>) -> f32 {
        self.biases
            .get(length_class(window.len()))
            .copied()
            .unwrap_or(0.0)
    }

    fn learn(&mut self, sample: &Sample, window: Range<usize>) {
        let words = self.thin_out(sample.words(window.clone()));
        let concepts = self.thin_out(sample.concepts(window.clone()));
        let evidence = self.weigh(&words, &concepts);
        let logit = evidence.score() + self.bias(&window);
        let target = if sample.attack { 1.0 } else { 0.0 };
        let (benign, attack) = self
            .shares
            .get(sample.source)
            .copied()
            .unwrap_or((1.0, 1.0));
        let error =
            (1.0 / (1.0 + (-logit).exp()) - target) * if sample.attack { attack } else { benign };
        let tame = |count: u32, least: u32| error / (count.max(least) as f32).sqrt();
        let (word_step, concept_step) = (
            tame(evidence.words.count, LEAST_WORDS),
            tame(evidence.concepts.count, LEAST_CONCEPTS),
        );
        words.iter().for_each(|hash| self.nudge(*hash, word_step));
        concepts
            .iter()
            .for_each(|hash| self.nudge(*hash, concept_step));
        let class = length_class(window.len());
        if let (Some(bias), Some(seen)) =
            (self.biases.get_mut(class), self.biases_seen.get_mut(class))
        {
            *seen += error * error;
            *bias -= self.options.rate * error / seen.sqrt();
        }
    }

    fn thin_out(&mut self, hashes: &[u32]) -> Vec<u32> {
        hashes
            .iter()
            .copied()
            .filter(|_| !self.random.chance(self.options.dropout))
            .collect()
    }

    fn nudge(&mut self, feature: u32, gradient: f32) {
        let bucket = self.bucket(feature);
        let (Some(weight), Some(seen)) = (self.weights.get_mut(bucket), self.seen.get_mut(bucket))
        else {
            return;
        };
        *seen += gradient * gradient;
        *weight -= self.options.rate * gradient / seen.sqrt();
        if *weight > 0.0 && !self.may_accuse.get(bucket).copied().unwrap_or(false) {
            *weight = 0.0;
        }
    }

    fn bucket(&self, feature: u32) -> usize {
        feature as usize & (self.weights.len() - 1)
    }

    fn weight(&self, feature: u32) -> f32 {
        self.weights
            .get(self.bucket(feature))
            .copied()
            .unwrap_or(0.0)
    }
}

/// Which features at least so many sources show in attacks.
fn witnessed(chosen: &[&Sample], buckets: usize, witnesses: u32) -> Vec<bool> {
    let mut sources = vec![0_u128; buckets];
    for sample in chosen.iter().filter(|s| s.attack) {
        let bit = 1_u128 << (sample.source % 128);
        let all = 0..sample.blocks();
        for feature in sample.words(all.clone()).iter().chain(sample.concepts(all)) {
            if let Some(mask) = sources.get_mut(*feature as usize & (buckets - 1)) {
                *mask |= bit;
            }
        }
    }
    sources
        .iter()
        .map(|mask| mask.count_ones() >= witnesses)
        .collect()
}

/// What one row of each source counts, so that no source outweighs the others.
fn shares(chosen: &[&Sample], sources: usize, options: &FitOptions) -> Vec<(f32, f32)> {
    let mut counts = vec![(0.0_f32, 0.0_f32); sources];
    for sample in chosen {
        if let Some((benign, attack)) = counts.get_mut(sample.source) {
            if sample.attack {
                *attack += 1.0;
            } else {
                *benign += 1.0;
            }
        }
    }
    let share = |count: f32, cap: f32| if count > cap { cap / count } else { 1.0 };
    counts
        .iter()
        .map(|(benign, attack)| {
            (
                share(*benign, options.benign_cap),
                share(*attack, options.attack_cap),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_count_alike_in_the_mean() {
        let mut mean = Mean::new(2);
        mean.add(&[1.0, -2.0], &[3.0; LENGTHS]);
        mean.add(&[2.0, 0.0], &[1.0; LENGTHS]);
        let Weights { weights, biases } = mean.weights();
        assert_eq!(weights, [1.5, -1.0]);
        assert_eq!(biases, [2.0; LENGTHS]);
    }

    #[test]
    fn without_passes_nothing_is_weighed() {
        assert_eq!(Mean::new(1).weights().weights, [0.0]);
    }
}
