//! Where a model's logits stand on the scale of points.

use blastshield_detect::model::Calibration;
use blastshield_detect::model::windows::TEXTS;

/// The lowest threshold that at most `rate` of the benign values reach.
#[must_use]
pub fn threshold_at(benign: &[f32], rate: f64) -> f32 {
    let mut sorted: Vec<f32> = benign.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let allowed = (sorted.len() as f64 * rate).floor() as usize;
    // The first value that must stay below the threshold, and the next float above it.
    sorted
        .get(allowed)
        .map_or(f32::NEG_INFINITY, |value| value.next_up())
}

/// Fewer benign texts than these say nothing about the line of their length.
const ENOUGH: usize = 500;

/// Shares of benign texts from unseen sources that may reach a line.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// The block line, of all texts.
    pub block: f64,
    /// The block line, of texts of one length.
    pub block_of_length: f64,
    /// The baseline profile's line.
    pub baseline: f64,
}

/// Puts the common block line where its share of benign texts reaches it. Short texts, which reach it more seldom, get
/// a line half the way down to where their own share does; long ones keep the common line, so that nothing is gained by
/// hiding in a long document. A longer text never has a lower line. The baseline profile's line (14) stands about
/// where its share does. Takes logits with their text's length class.
#[must_use]
pub fn calibrate(benign: &[(f32, usize)], rates: Rates) -> Calibration {
    let all: Vec<f32> = benign.iter().map(|(logit, _)| *logit).collect();
    let common = threshold_at(&all, rates.block);
    let apart = (threshold_at(&all, rates.baseline) - common).max(0.2);
    let lines: Vec<(f32, usize)> = (0..TEXTS)
        .map(|class| {
            let of_class = benign.iter().filter(|(_, c)| *c == class);
            let logits: Vec<f32> = of_class.map(|(logit, _)| *logit).collect();
            if logits.len() < ENOUGH {
                (common, logits.len())
            } else {
                let own = threshold_at(&logits, rates.block_of_length);
                (f32::midpoint(own, common).min(common), logits.len())
            }
        })
        .collect();
    let mut block_at = [common; TEXTS];
    for (line, rising) in block_at.iter_mut().zip(rising(&lines)) {
        *line = rising;
    }
    Calibration {
        block_at,
        slope: 4.0 / apart,
    }
}

/// The nearest values that never fall: neighbours that do are averaged by their weights.
fn rising(values: &[(f32, usize)]) -> Vec<f32> {
    let mut pools: Vec<(f32, usize, usize)> = Vec::new();
    for (value, weight) in values {
        let mut pool = (*value, (*weight).max(1), 1);
        while let Some(last) = pools.pop_if(|last| last.0 > pool.0) {
            let weight = last.1 + pool.1;
            let sum = last.0 * last.1 as f32 + pool.0 * pool.1 as f32;
            pool = (sum / weight as f32, weight, last.2 + pool.2);
        }
        pools.push(pool);
    }
    pools
        .into_iter()
        .flat_map(|(value, _, times)| std::iter::repeat_n(value, times))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates {
        block: 0.01,
        block_of_length: 0.01,
        baseline: 0.001,
    };

    #[test]
    fn at_most_the_rate_reaches_the_threshold() {
        let benign: Vec<f32> = (0..1_000).map(|i| i as f32).collect();
        let threshold = threshold_at(&benign, 0.01);
        assert_eq!(benign.iter().filter(|v| **v >= threshold).count(), 10);
    }

    #[test]
    fn ties_never_exceed_the_rate() {
        let threshold = threshold_at(&[5.0; 100], 0.01);
        assert!(threshold > 5.0);
    }

    #[test]
    fn the_lines_stand_where_they_should() {
        let benign: Vec<(f32, usize)> = (0..10_000).map(|i| (i as f32 / 1_000.0, 2)).collect();
        let calibration = calibrate(&benign, RATES);
        assert!((calibration.points(9.9, 2) - 10.0).abs() < 0.1);
        assert!((calibration.points(9.99, 2) - 14.0).abs() < 4.0);
    }

    #[test]
    fn longer_texts_never_have_a_lower_line() {
        let values = [(1.0, 5), (3.0, 1), (2.0, 3), (4.0, 1), (4.0, 1), (0.0, 2)];
        assert_eq!(rising(&values), [1.0, 2.125, 2.125, 2.125, 2.125, 2.125]);
        let short = (0..1_000).map(|i| (i as f32 / 1_000.0, 0));
        let long = (0..1_000).map(|i| (i as f32 / 100.0, 5));
        let calibration = calibrate(&short.chain(long).collect::<Vec<_>>(), RATES);
        assert!(calibration.block_at[0] < calibration.block_at[5] - 4.0);
        assert_eq!(calibration.block_at[5], calibration.block_at[4]);
        assert!(calibration.block_at.is_sorted());
    }
}
