//! A sliding hour of tokens in buckets of a minute: never counts less than the last hour held, and at most one minute more.

use crate::moment::Moment;
use std::collections::VecDeque;
use std::time::Duration;

const MINUTE: u64 = 60_000;

/// A bucket counts until the last moment that falls into it is an hour old.
const KEPT: u32 = 60;

/// The tokens of the last hour, by minute; minutes without tokens take no room.
#[derive(Default)]
pub(crate) struct Tokens {
    minutes: VecDeque<Minute>,
}

#[derive(Clone, Copy)]
struct Minute {
    number: u32,
    tokens: u32,
}

impl Tokens {
    /// Counts so many tokens if the limit has room for all of them, and says how many there are now; else how long
    /// until it has, if ever.
    pub(crate) fn admit(
        &mut self,
        count: u64,
        limit: u32,
        now: Moment,
    ) -> Result<u32, Option<Duration>> {
        let used = self.used(now);
        match u32::try_from(count).ok().and_then(|c| used.checked_add(c)) {
            Some(total) if total <= limit => {
                self.charge(count, now);
                Ok(total)
            }
            _ => Err(self.wait(count, limit, now)),
        }
    }

    /// Counts so many tokens whatever the limit says.
    pub(crate) fn charge(&mut self, count: u64, now: Moment) {
        let number = self.minute(now);
        let tokens = u32::try_from(count).unwrap_or(u32::MAX);
        while self.minutes.front().is_some_and(|m| past(m, number)) {
            self.minutes.pop_front();
        }
        if tokens == 0 {
            return;
        }
        match self.minutes.back_mut() {
            Some(last) if last.number == number => last.tokens = last.tokens.saturating_add(tokens),
            _ => self.minutes.push_back(Minute { number, tokens }),
        }
    }

    /// How many tokens count at that moment.
    pub(crate) fn used(&self, now: Moment) -> u32 {
        let number = self.minute(now);
        let counting = self.minutes.iter().filter(|m| !past(m, number));
        counting.fold(0, |sum, minute| sum.saturating_add(minute.tokens))
    }

    /// Forgets every token.
    pub(crate) fn clear(&mut self) {
        self.minutes.clear();
    }

    /// Bytes on the heap.
    pub(crate) fn heap(&self) -> usize {
        self.minutes.capacity() * size_of::<Minute>()
    }

    /// The minute that counts: the latest one seen, if the clock has gone backwards.
    fn minute(&self, now: Moment) -> u32 {
        let number = u32::try_from(now.millis() / MINUTE).unwrap_or(u32::MAX);
        number.max(self.minutes.back().map_or(0, |last| last.number))
    }

    fn wait(&self, count: u64, limit: u32, now: Moment) -> Option<Duration> {
        let number = self.minute(now);
        let mut used = u64::from(self.used(now));
        for minute in self.minutes.iter().filter(|m| !past(m, number)) {
            used = used.saturating_sub(u64::from(minute.tokens));
            if used.saturating_add(count) <= u64::from(limit) {
                let end = (u64::from(minute.number) + u64::from(KEPT) + 1) * MINUTE;
                return Some(Moment::from_millis(end).since(now));
            }
        }
        None
    }
}

fn past(minute: &Minute, number: u32) -> bool {
    number.saturating_sub(minute.number) > KEPT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u64, second: u64) -> Moment {
        Moment::from_millis(minute * MINUTE + second * 1000)
    }

    #[test]
    fn tokens_count_for_an_hour_and_at_most_a_minute_more() {
        let mut tokens = Tokens::default();
        assert_eq!(tokens.admit(60, 100, at(10, 59)), Ok(60));
        assert_eq!(tokens.admit(40, 100, at(11, 0)), Ok(100));
        let wait = Some(Duration::from_secs(60 * 60));
        assert_eq!(tokens.admit(60, 100, at(11, 0)), Err(wait));
        assert_eq!(tokens.used(at(70, 59)), 100);
        assert_eq!(tokens.used(at(71, 0)), 40);
        assert_eq!(tokens.admit(60, 100, at(71, 0)), Ok(100));
        assert_eq!(tokens.used(at(72, 0)), 60);
    }

    #[test]
    fn what_can_never_fit_says_so() {
        let mut tokens = Tokens::default();
        assert_eq!(tokens.admit(u64::MAX, u32::MAX, at(1, 0)), Err(None));
        assert_eq!(tokens.admit(1, 0, at(1, 0)), Err(None));
        assert_eq!(tokens.admit(0, 0, at(1, 0)), Ok(0));
    }

    #[test]
    fn never_more_than_sixty_one_buckets() {
        let mut tokens = Tokens::default();
        for minute in 0..10_000 {
            tokens.charge(u64::MAX, at(minute, 0));
            assert!(tokens.minutes.len() <= 61);
        }
        assert_eq!(tokens.used(at(10_000, 0)), u32::MAX);
    }

    #[test]
    fn a_clock_that_goes_backwards_frees_nothing() {
        let mut tokens = Tokens::default();
        assert_eq!(tokens.admit(5, 5, at(500, 0)), Ok(5));
        assert!(tokens.admit(1, 5, at(1, 0)).is_err());
        assert!(tokens.admit(1, 5, at(560, 0)).is_err());
        assert_eq!(tokens.admit(1, 5, at(561, 0)), Ok(1));
    }
}
