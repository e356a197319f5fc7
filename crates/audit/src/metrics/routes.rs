//! Decisions and their duration by route, for a bounded number of routes.

use super::bounded::Bounded;
use crate::{Decision, Redact};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Upper bounds of the histogram: nanoseconds, and the same as it is shown.
pub(crate) const BOUNDS: [(u64, &str); 15] = [
    (50_000, "0.00005"),
    (100_000, "0.0001"),
    (250_000, "0.00025"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_500_000, "0.0025"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (25_000_000, "0.025"),
    (100_000_000, "0.1"),
    (250_000_000, "0.25"),
    (1_000_000_000, "1"),
    (2_500_000_000, "2.5"),
    (10_000_000_000, "10"),
    (30_000_000_000, "30"),
];

#[derive(Debug, Default)]
pub(crate) struct Route {
    decisions: [AtomicU64; Decision::ALL.len()],
    /// Not cumulative; one more for what is longer than all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

impl Route {
    fn record(&self, decision: Decision, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let place = BOUNDS.partition_point(|(bound, _)| *bound < nanos);
        let of_decision = Decision::ALL.iter().position(|one| *one == decision);
        if let Some(count) = of_decision.and_then(|index| self.decisions.get(index)) {
            count.fetch_add(1, Relaxed);
        }
        if let Some(bucket) = self.buckets.get(place) {
            bucket.fetch_add(1, Relaxed);
        }
        self.nanos.fetch_add(nanos, Relaxed);
    }

    /// How often each decision was made.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = (Decision, u64)> {
        Decision::ALL
            .into_iter()
            .zip(self.decisions.iter().map(|count| count.load(Relaxed)))
    }

    /// Cumulative counts by bound, and of all.
    pub(crate) fn histogram(&self) -> (Vec<(&'static str, u64)>, u64) {
        let mut sum = 0;
        let mut counts = self.buckets.iter().map(|bucket| bucket.load(Relaxed));
        let by_bound = BOUNDS
            .iter()
            .zip(counts.by_ref())
            .map(|((_, shown), count)| {
                sum += count;
                (*shown, sum)
            })
            .collect();
        (by_bound, sum + counts.sum::<u64>())
    }

    /// All durations together.
    pub(crate) fn total(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Relaxed))
    }
}

pub(crate) type Routes = Bounded<Route>;

impl Routes {
    pub(crate) fn record(
        &self,
        redact: &dyn Redact,
        route: &str,
        decision: Decision,
        took: Duration,
    ) {
        self.with(redact, route, |route| route.record(decision, took));
    }
}
