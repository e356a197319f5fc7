//! From findings to points: the worst passage counts, not the sum.

/// A finding's place and weight, in bytes of its view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) weight: f32,
    pub(crate) rule: usize,
    pub(crate) category: usize,
}

/// The top of the scale.
pub(crate) const MOST: f32 = 20.0;
/// Findings this near each other make one passage.
const PASSAGE: usize = 600;
/// What each further technique in a passage adds.
const SHARES: [f32; 5] = [1.0, 0.5, 0.3, 0.2, 0.1];

/// The score of the worst passage.
pub(crate) fn worst_passage(points: &[Point]) -> f32 {
    let mut sorted: Vec<Point> = points.to_vec();
    sorted.sort_by_key(|p| (p.start, p.end, p.rule));
    let mut worst = 0.0_f32;
    let mut from = 0;
    let mut last = usize::MAX;
    // Passages begin at multiples of half their length, so each finding is in at most two.
    for point in &sorted {
        let begin = (point.start / (PASSAGE / 2)).saturating_sub(1) * (PASSAGE / 2);
        for begin in [begin, begin + PASSAGE / 2] {
            if last != usize::MAX && begin <= last {
                continue;
            }
            last = begin;
            while sorted.get(from).is_some_and(|p| p.start < begin) {
                from += 1;
            }
            let rest = sorted.get(from..).unwrap_or_default();
            let length = rest.partition_point(|p| p.start < begin + PASSAGE);
            worst = worst.max(passage(rest.get(..length).unwrap_or_default()));
        }
    }
    worst.min(MOST)
}

/// The heaviest techniques of a passage; overlapping findings of one category are one technique.
fn passage(points: &[Point]) -> f32 {
    let mut heaviest: Vec<Point> = points.to_vec();
    heaviest.sort_by(|a, b| {
        b.weight
            .total_cmp(&a.weight)
            .then(a.rule.cmp(&b.rule))
            .then(a.start.cmp(&b.start))
    });
    let mut techniques: Vec<Point> = Vec::with_capacity(SHARES.len());
    for point in heaviest {
        let same = |t: &Point| {
            t.rule == point.rule
                || (t.category == point.category && t.start < point.end && point.start < t.end)
        };
        if !techniques.iter().any(same) {
            techniques.push(point);
        }
        if techniques.len() == SHARES.len() {
            break;
        }
    }
    techniques
        .iter()
        .zip(SHARES)
        .map(|(t, share)| t.weight * share)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(start: usize, weight: f32, rule: usize) -> Point {
        Point {
            start,
            end: start + 10,
            weight,
            rule,
            category: rule,
        }
    }

    #[test]
    fn nothing_scores_nothing() {
        assert_eq!(worst_passage(&[]), 0.0);
    }

    #[test]
    fn techniques_in_one_passage_add_up() {
        assert_eq!(worst_passage(&[point(0, 8.0, 1), point(100, 4.0, 2)]), 10.0);
    }

    #[test]
    fn far_apart_they_do_not() {
        assert_eq!(
            worst_passage(&[point(0, 8.0, 1), point(5_000, 4.0, 2)]),
            8.0
        );
    }

    #[test]
    fn length_is_not_punished() {
        let many: Vec<Point> = (0..1_000).map(|i| point(i * 2_000, 3.0, i % 7)).collect();
        assert_eq!(worst_passage(&many), 3.0);
    }

    #[test]
    fn a_rule_repeated_counts_once() {
        assert_eq!(worst_passage(&[point(0, 5.0, 1), point(50, 5.0, 1)]), 5.0);
    }

    #[test]
    fn neighbours_across_any_boundary_meet() {
        for shift in 0..1_200 {
            let score = worst_passage(&[point(shift, 8.0, 1), point(shift + 200, 4.0, 2)]);
            assert_eq!(score, 10.0, "at {shift}");
        }
    }
}
