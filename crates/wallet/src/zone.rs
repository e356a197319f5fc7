//! Calendar days where the owner lives.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::str::FromStr;

/// A time zone by its IANA name, such as `Europe/Vienna`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// There is no such time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's time zone must be an IANA name, such as Europe/Vienna or UTC")]
pub struct ZoneError;

impl Zone {
    /// Universal time.
    #[must_use]
    pub fn utc() -> Self {
        Self {
            name: "UTC".to_owned(),
            zone: TimeZone::UTC,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The calendar day of a moment, such as `2026-11-16`.
    #[must_use]
    pub fn day(&self, now_ms: i64) -> String {
        // A moment beyond all calendars is taken for the first there is.
        let moment = Timestamp::from_millisecond(now_ms).unwrap_or_default();
        moment.to_zoned(self.zone.clone()).date().to_string()
    }
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(name: &str) -> Result<Self, ZoneError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+');
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
            return Err(ZoneError);
        }
        let zone = TimeZone::get(name).map_err(|_| ZoneError)?;
        Ok(Self {
            name: zone.iana_name().unwrap_or(name).to_owned(),
            zone,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(zone: &str, moment: &str) -> String {
        let moment: Timestamp = moment.parse().unwrap();
        zone.parse::<Zone>().unwrap().day(moment.as_millisecond())
    }

    #[test]
    fn midnight_is_where_the_owner_lives() {
        assert_eq!(day("UTC", "2026-11-16T23:59:59Z"), "2026-11-16");
        assert_eq!(day("Europe/Vienna", "2026-11-16T22:59:59Z"), "2026-11-16");
        assert_eq!(day("Europe/Vienna", "2026-11-16T23:00:00Z"), "2026-11-17");
        assert_eq!(
            day("America/New_York", "2026-11-17T04:59:59Z"),
            "2026-11-16"
        );
        assert_eq!(
            day("Pacific/Kiritimati", "2026-11-16T10:00:00Z"),
            "2026-11-17"
        );
    }

    #[test]
    fn days_of_23_and_25_hours_are_one_day() {
        assert_eq!(day("Europe/Vienna", "2026-10-24T22:00:00Z"), "2026-10-25");
        assert_eq!(day("Europe/Vienna", "2026-10-25T22:59:59Z"), "2026-10-25");
        assert_eq!(day("Europe/Vienna", "2026-10-25T23:00:00Z"), "2026-10-26");
        assert_eq!(day("Europe/Vienna", "2027-03-27T23:00:00Z"), "2027-03-28");
        assert_eq!(day("Europe/Vienna", "2027-03-28T22:00:00Z"), "2027-03-29");
    }

    #[test]
    fn nonsense_is_no_zone() {
        for name in [
            "",
            "Mars/Olympus",
            "../../etc/passwd",
            "UTC\n",
            "+01:00",
            "/etc/localtime",
        ] {
            assert_eq!(name.parse::<Zone>(), Err(ZoneError), "{name}");
        }
        assert_eq!(Zone::utc().day(i64::MAX), "1970-01-01");
    }
}
