//! Keeps requests to a provider within its rate, with a bounded number of them waiting.

use super::SearchError;
use crate::error::ConfigError;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout_at};

/// How many requests per second a plan allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateClass {
    /// One.
    #[default]
    Free,
    /// Twenty.
    Base,
    /// Fifty.
    Pro,
    /// A number of one's own, up to 1000.
    PerSecond(NonZeroU32),
}

impl RateClass {
    /// Requests per second.
    #[must_use]
    pub fn per_second(self) -> u32 {
        match self {
            Self::Free => 1,
            Self::Base => 20,
            Self::Pro => 50,
            Self::PerSecond(number) => number.get().min(1_000),
        }
    }

    pub(crate) fn interval(self) -> Duration {
        Duration::from_secs(1) / self.per_second()
    }
}

impl FromStr for RateClass {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text.trim() {
            "free" => Ok(Self::Free),
            "base" => Ok(Self::Base),
            "pro" => Ok(Self::Pro),
            number => number
                .parse::<NonZeroU32>()
                .ok()
                .filter(|number| number.get() <= 1_000)
                .map(Self::PerSecond)
                .ok_or(ConfigError::RateClass),
        }
    }
}

/// A queue in front of one provider. Turns are given in order of arrival, `interval` apart; a caller that goes
/// away while waiting leaves no gap behind.
#[derive(Debug)]
pub(crate) struct Pace {
    places: Semaphore,
    head: tokio::sync::Mutex<()>,
    next: Mutex<Instant>,
    interval: Duration,
}

impl Pace {
    /// At most `places` requests waiting or under way.
    pub(crate) fn new(places: usize, interval: Duration) -> Self {
        Self {
            places: Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS)),
            head: tokio::sync::Mutex::new(()),
            next: Mutex::new(Instant::now()),
            interval,
        }
    }

    /// A place in the queue, held until the request is over.
    pub(crate) fn enter(&self) -> Result<SemaphorePermit<'_>, SearchError> {
        self.places
            .try_acquire()
            .map_err(|_| SearchError::QueueFull)
    }

    /// Waits for the next turn, but not beyond `deadline`.
    pub(crate) async fn turn(&self, deadline: Instant) -> Result<(), SearchError> {
        let _head = timeout_at(deadline, self.head.lock())
            .await
            .map_err(|_| SearchError::QueueFull)?;
        loop {
            let at = *self.next();
            if at > deadline {
                return Err(SearchError::QueueFull);
            }
            if at <= Instant::now() {
                break;
            }
            sleep_until(at).await;
        }
        *self.next() = Instant::now() + self.interval;
        Ok(())
    }

    /// Nobody gets a turn for this long.
    pub(crate) fn hold(&self, wait: Duration) {
        let mut next = self.next();
        *next = (*next).max(Instant::now() + wait);
    }

    fn next(&self) -> MutexGuard<'_, Instant> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;

    fn in_ms(ms: u64) -> Instant {
        Instant::now() + Duration::from_millis(ms)
    }

    #[test]
    fn classes_are_read_by_name_or_number() {
        let read = |text: &str| text.parse::<RateClass>().map(RateClass::per_second);
        assert_eq!(read("free"), Ok(1));
        assert_eq!(read(" base "), Ok(20));
        assert_eq!(read("pro"), Ok(50));
        assert_eq!(read("7"), Ok(7));
        for wrong in ["", "0", "-1", "1.5", "1001", "gold", "4294967296"] {
            assert_eq!(read(wrong), Err(ConfigError::RateClass), "{wrong}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn turns_are_an_interval_apart() {
        let pace = Pace::new(100, RateClass::Base.interval());
        let start = Instant::now();
        let turns = join_all((0..21).map(|_| async {
            pace.turn(in_ms(60_000)).await.unwrap();
            start.elapsed().as_millis()
        }))
        .await;
        for (place, at) in turns.iter().enumerate() {
            let due = 50 * place as u128;
            assert!((due..due + 30).contains(at), "turn {place} at {at} ms");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_refuses_at_once_and_opens_again() {
        let pace = Pace::new(2, Duration::ZERO);
        let first = pace.enter().unwrap();
        let _second = pace.enter().unwrap();
        assert_eq!(pace.enter().err(), Some(SearchError::QueueFull));
        drop(first);
        assert!(pace.enter().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_the_deadline() {
        let pace = Pace::new(10, Duration::from_secs(1));
        pace.turn(in_ms(0)).await.unwrap();
        let start = Instant::now();
        assert_eq!(pace.turn(in_ms(500)).await, Err(SearchError::QueueFull));
        assert!(start.elapsed() <= Duration::from_millis(500));
        assert_eq!(pace.turn(in_ms(1_500)).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hold_stops_everyone_even_those_already_waiting() {
        let pace = Pace::new(10, Duration::from_millis(100));
        pace.turn(in_ms(0)).await.unwrap();
        let start = Instant::now();
        let waiting = async {
            pace.turn(in_ms(60_000)).await.unwrap();
            start.elapsed()
        };
        let holding = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            pace.hold(Duration::from_secs(3));
        };
        let (waited, ()) = tokio::join!(waiting, holding);
        assert!(waited >= Duration::from_secs(3), "{waited:?}");
        assert!(waited < Duration::from_secs(4), "{waited:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_that_goes_away_leaves_no_gap() {
        let pace = Pace::new(10, Duration::from_secs(1));
        pace.turn(in_ms(0)).await.unwrap();
        let start = Instant::now();
        let gone = tokio::time::timeout(Duration::from_millis(10), pace.turn(in_ms(60_000)));
        assert!(gone.await.is_err());
        pace.turn(in_ms(60_000)).await.unwrap();
        assert!(start.elapsed() < Duration::from_millis(1_100));
    }
}
