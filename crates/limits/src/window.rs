//! A sliding minute, exact to the millisecond: at no time were more events admitted in it than the limit.

use crate::moment::Moment;
use std::collections::VecDeque;
use std::time::Duration;

const MINUTE: u64 = 60_000;

/// The moments of the events that were admitted in the last minute.
///
/// Only the low half of each moment is kept. That is enough: whatever is a minute older than the latest moment is
/// dropped before the next comparison.
#[derive(Default)]
pub(crate) struct Window {
    stamps: VecDeque<u32>,
    latest: Moment,
}

impl Window {
    /// Counts one more event if the limit has room for it, and says how many there are now; else how long until it has.
    pub(crate) fn admit(&mut self, limit: u32, now: Moment) -> Result<u32, Duration> {
        let now = self.advance(now);
        let used = self.len();
        if used < limit {
            self.stamps.push_back(low(now));
            return Ok(used + 1);
        }
        let oldest = self.stamps.front().map_or(0, |stamp| age(now, *stamp));
        Err(Duration::from_millis(MINUTE - oldest.min(MINUTE)))
    }

    /// How many events count at that moment.
    pub(crate) fn used(&self, now: Moment) -> u32 {
        let now = now.max(self.latest);
        if self.has_passed(now) {
            return 0;
        }
        let past = self.stamps.iter().take_while(|s| age(now, **s) >= MINUTE);
        self.len() - u32::try_from(past.count()).unwrap_or(u32::MAX)
    }

    /// Forgets every event.
    pub(crate) fn clear(&mut self) {
        self.stamps.clear();
    }

    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        self.stamps.capacity() * size_of::<u32>()
    }

    fn len(&self) -> u32 {
        u32::try_from(self.stamps.len()).unwrap_or(u32::MAX)
    }

    fn has_passed(&self, now: Moment) -> bool {
        now.millis() - self.latest.millis() >= MINUTE
    }

    fn advance(&mut self, now: Moment) -> Moment {
        let now = now.max(self.latest);
        if self.has_passed(now) {
            self.stamps.clear();
        }
        while self.stamps.front().is_some_and(|s| age(now, *s) >= MINUTE) {
            self.stamps.pop_front();
        }
        self.latest = now;
        now
    }
}

fn low(moment: Moment) -> u32 {
    (moment.millis() & u64::from(u32::MAX)) as u32
}

fn age(now: Moment, stamp: u32) -> u64 {
    u64::from(low(now).wrapping_sub(stamp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::from_millis(millis)
    }

    #[test]
    fn an_event_counts_for_exactly_a_minute() {
        let mut window = Window::default();
        assert_eq!(window.admit(2, at(1_000)), Ok(1));
        assert_eq!(window.admit(2, at(2_000)), Ok(2));
        assert_eq!(window.admit(2, at(60_999)), Err(Duration::from_millis(1)));
        assert_eq!(window.used(at(61_000)), 1);
        assert_eq!(window.admit(2, at(61_000)), Ok(2));
        assert_eq!(window.used(at(1 << 40)), 0);
    }

    #[test]
    fn the_low_half_wraps_unnoticed() {
        let turn = 1_u64 << 32;
        let mut window = Window::default();
        assert_eq!(window.admit(2, at(turn - 10)), Ok(1));
        assert_eq!(window.admit(2, at(turn + 10)), Ok(2));
        assert!(window.admit(2, at(turn + 59_989)).is_err());
        assert_eq!(window.admit(2, at(turn + 59_990)), Ok(2));
        // Exactly one turn later the stamps look the same, and must not count.
        assert_eq!(window.admit(2, at(2 * turn + 59_990)), Ok(1));
    }

    #[test]
    fn a_clock_that_goes_backwards_frees_nothing() {
        let mut window = Window::default();
        assert_eq!(window.admit(1, at(100_000)), Ok(1));
        assert!(window.admit(1, at(0)).is_err());
        assert!(window.admit(1, at(159_999)).is_err());
        assert_eq!(window.admit(1, at(160_000)), Ok(1));
    }
}
