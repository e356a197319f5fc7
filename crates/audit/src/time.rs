//! Moments in UTC, and where they come from.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400_000;
/// The last millisecond of the year 9999: beyond it RFC 3339 has no words.
const LAST: u64 = 253_402_300_799_999;

/// A moment, in milliseconds since 1970 (UTC), at most the end of the year 9999. Shown as RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// From milliseconds since 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(if millis > LAST { LAST } else { millis })
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Whole days since 1970.
    #[must_use]
    pub const fn day(self) -> u64 {
        self.0 / DAY
    }

    /// The start of a day counted from 1970.
    #[must_use]
    pub const fn of_day(day: u64) -> Self {
        Self::from_millis(day.saturating_mul(DAY))
    }

    /// This much later.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self::from_millis(
            self.0
                .saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)),
        )
    }

    /// How long after `earlier`; nothing when the clock went back.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// `2026-11-16`.
    #[must_use]
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.day());
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Reads RFC 3339 with any offset, or a date alone, which is its midnight in UTC.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let year = digits(&mut rest, 4)?;
        let month = digits(after(&mut rest, '-')?, 2)?;
        let day = digits(after(&mut rest, '-')?, 2)?;
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        let days = days(year, month, day);
        if civil(days) != (year, month, day) {
            return None;
        }
        let midnight = days * DAY;
        if rest.is_empty() {
            return Some(Self::from_millis(midnight));
        }
        rest = rest.strip_prefix(['T', 't', ' '])?;
        let hour = digits(&mut rest, 2)?;
        let minute = digits(after(&mut rest, ':')?, 2)?;
        let second = digits(after(&mut rest, ':')?, 2)?;
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let mut millis = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let end = fraction
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(fraction.len());
            let (figures, tail) = fraction.split_at_checked(end)?;
            if !(1..=9).contains(&figures.len()) {
                return None;
            }
            let padded: String = figures.chars().chain("00".chars()).take(3).collect();
            millis = padded.parse().ok()?;
            rest = tail;
        }
        let local = midnight + (hour * 3600 + minute * 60 + second) * 1000 + millis;
        if rest.eq_ignore_ascii_case("z") {
            return Some(Self::from_millis(local));
        }
        let east = rest.starts_with('+');
        rest = rest.strip_prefix(['+', '-'])?;
        let hours = digits(&mut rest, 2)?;
        let minutes = digits(after(&mut rest, ':')?, 2)?;
        if !rest.is_empty() || hours > 23 || minutes > 59 {
            return None;
        }
        let offset = (hours * 60 + minutes) * 60_000;
        let utc = if east {
            local.checked_sub(offset)?
        } else {
            local.checked_add(offset)?
        };
        Some(Self::from_millis(utc))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.day());
        let of_day = self.0 % DAY;
        let (seconds, millis) = (of_day / 1000, of_day % 1000);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

/// Where the time comes from; any `Fn() -> Time` is one.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> Time;
}

impl<F: Fn() -> Time + Send + Sync> Clock for F {
    fn now(&self) -> Time {
        self()
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Time::default().plus(since)
    }
}

fn after<'a, 't>(rest: &'a mut &'t str, mark: char) -> Option<&'a mut &'t str> {
    *rest = rest.strip_prefix(mark)?;
    Some(rest)
}

fn digits(rest: &mut &str, count: usize) -> Option<u64> {
    let (number, tail) = rest.split_at_checked(count)?;
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    *rest = tail;
    number.parse().ok()
}

/// Year, month and day of a count of days since 1970, by eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

/// The reverse of [`civil`], from 1970 on.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_moments() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_763_262_267_123, "2025-11-16T03:04:27.123Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (LAST, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Time::from_millis(millis).to_string(), text);
            assert_eq!(Time::parse(text), Some(Time::from_millis(millis)));
        }
        assert_eq!(
            Time::parse("2025-11-16T05:04:27.1239+02:00"),
            Time::parse("2025-11-16T03:04:27.123Z")
        );
        assert_eq!(
            Time::parse("2025-11-16"),
            Time::parse("2025-11-16T00:00:00Z")
        );
        assert_eq!(Time::from_millis(u64::MAX).millis(), LAST);
    }

    #[test]
    fn nonsense_is_no_moment() {
        for text in [
            "",
            "yesterday",
            "2025-02-29",
            "2100-02-29",
            "2025-13-01",
            "2025-00-01",
            "2025-01-00",
            "1969-12-31",
            "2025-11-16T",
            "2025-11-16T25:00:00Z",
            "2025-11-16T03:04:27",
            "2025-11-16T03:04:27.Z",
            "2025-11-16T03:04:27Zz",
            "1970-01-01T00:00:00+01:00",
            "２０２５-11-16",
            "+025-11-16",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(millis in 0..=LAST) {
            let time = Time::from_millis(millis);
            prop_assert_eq!(Time::parse(&time.to_string()), Some(time));
            prop_assert_eq!(Time::parse(&time.date()), Some(Time::of_day(time.day())));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            let _ = Time::parse(&text);
        }
    }
}
