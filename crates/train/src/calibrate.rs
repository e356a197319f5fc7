//! Where a model's logits stand on the scale of points.

use blastshield_detect::model::Calibration;

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

/// Puts the block line where one benign text in `1 / block_rate` from unseen sources reaches it,
/// and the baseline profile's line (14) where one in `1 / baseline_rate` does.
#[must_use]
pub fn calibrate(benign: &[f32], block_rate: f64, baseline_rate: f64) -> Calibration {
    let block_at = threshold_at(benign, block_rate);
    let baseline_at = threshold_at(benign, baseline_rate);
    let apart = (baseline_at - block_at).max(0.2);
    Calibration {
        block_at,
        slope: 4.0 / apart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let benign: Vec<f32> = (0..10_000).map(|i| i as f32 / 1_000.0).collect();
        let calibration = calibrate(&benign, 0.01, 0.001);
        assert!((calibration.points(9.9) - 10.0).abs() < 0.1);
        assert!((calibration.points(9.99) - 14.0).abs() < 4.0);
    }
}
