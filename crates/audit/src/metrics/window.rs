//! How many in the last hour, without a lock and without remembering each.

use crate::Time;
use std::sync::atomic::{AtomicU64, Ordering};

/// One slot per minute: this one and the sixty before it.
const SLOTS: usize = 61;

/// A count over the last hour, exact to the minute and never short: it covers 60 to 61 minutes.
///
/// A slot holds its minute in the upper half and its count in the lower.
#[derive(Debug)]
pub(crate) struct Window([AtomicU64; SLOTS]);

impl Window {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; SLOTS])
    }

    pub(crate) fn add(&self, now: Time) {
        let minute = minute(now);
        let Some(slot) = self.0.get((minute % SLOTS as u64) as usize) else {
            return;
        };
        let mut held = slot.load(Ordering::Relaxed);
        loop {
            let (of, count) = (held >> 32, held & u64::from(u32::MAX));
            // A slot of a later minute means that the clock went back: counted there.
            let next = if of < minute {
                minute << 32 | 1
            } else {
                of << 32 | (count + 1).min(u64::from(u32::MAX))
            };
            match slot.compare_exchange_weak(held, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now_held) => held = now_held,
            }
        }
    }

    pub(crate) fn sum(&self, now: Time) -> u64 {
        let minute = minute(now);
        self.0
            .iter()
            .map(|slot| slot.load(Ordering::Relaxed))
            .filter(|held| (held >> 32) + 60 >= minute)
            .map(|held| held & u64::from(u32::MAX))
            .sum()
    }
}

fn minute(time: Time) -> u64 {
    (time.millis() / 60_000).min(u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: u64 = 60_000;

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let window = Window::new();
        let start = 10_000 * MINUTE;
        for minute in 0..200 {
            window.add(Time::from_millis(start + minute * MINUTE));
        }
        assert_eq!(window.sum(Time::from_millis(start + 199 * MINUTE)), 61);
        assert_eq!(window.sum(Time::from_millis(start + 229 * MINUTE)), 31);
        assert_eq!(window.sum(Time::from_millis(start + 300 * MINUTE)), 0);
    }

    #[test]
    fn nothing_is_lost_between_threads() {
        let window = Window::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for step in 0..20_000_u64 {
                        window.add(Time::from_millis(5_000 * MINUTE + step % 50 * MINUTE));
                    }
                });
            }
        });
        assert_eq!(window.sum(Time::from_millis(5_050 * MINUTE)), 80_000);
    }

    proptest! {
        #[test]
        fn agrees_with_remembering_each(mut steps in proptest::collection::vec(0_u64..600_000, 0..200)) {
            let window = Window::new();
            let mut now = 90_000 * MINUTE;
            for step in &mut steps {
                now += *step;
                *step = now;
                window.add(Time::from_millis(now));
            }
            let sum = window.sum(Time::from_millis(now));
            let within = |span: u64| steps.iter().filter(|at| now - **at < span).count() as u64;
            prop_assert!(within(60 * MINUTE) <= sum && sum <= within(61 * MINUTE));
        }
    }
}
