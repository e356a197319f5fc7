//! Limits and times.

use crate::{Mode, Network, Zone};
use std::time::Duration;

/// What may come on top of an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    /// Hundredths of a percent of the amount.
    pub basis_points: u64,
    /// At least this much, since small amounts have fees too.
    pub at_least_sats: u64,
}

impl Default for Fees {
    /// What LNbits allows by itself: one percent, at least two sats.
    fn default() -> Self {
        Self {
            basis_points: 100,
            at_least_sats: 2,
        }
    }
}

impl Fees {
    /// The most that may come on top of this amount, in whole sats.
    #[must_use]
    pub fn limit_sats(&self, amount_msat: u64) -> u64 {
        let msat = u128::from(amount_msat) * u128::from(self.basis_points);
        let share = u64::try_from(msat.div_ceil(10_000_000)).unwrap_or(u64::MAX);
        share.max(self.at_least_sats)
    }
}

/// How often things are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// While something is open.
    pub poll: Duration,
    /// While nothing is.
    pub idle: Duration,
    /// The longest pause between two looks at what does not get clear.
    pub slowest: Duration,
    /// How long a request may be without having been shown to the owner before another process takes it over.
    pub adopt_after: Duration,
    /// What a request may need to be done with beyond the time that its sender waits.
    pub grace: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(1),
            idle: Duration::from_secs(5),
            slowest: Duration::from_secs(900),
            adopt_after: Duration::from_secs(15),
            grace: Duration::from_secs(5),
        }
    }
}

/// What the operator has set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the wallet may do.
    pub mode: Mode,
    /// The network of its invoices.
    pub network: Network,
    /// The most that a day's payments may come to, with fees.
    pub daily_limit_sats: u64,
    /// Over this amount the owner repeats the amount.
    pub threshold_sats: u64,
    /// Where a day begins.
    pub zone: Zone,
    /// What may come on top.
    pub fees: Fees,
    /// An invoice must be payable for this long.
    pub expiry_margin: Duration,
    /// What was approved and could not be sent for this long is not sent any more.
    pub send_within: Duration,
    /// How long LNbits may say that a payment is on its way before that counts as unknown.
    pub settle_within: Duration,
    /// How often things are looked at.
    pub pace: Pace,
    /// Callers that wait for a payment at the same time.
    pub max_waiting: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Disabled,
            network: Network::Mainnet,
            daily_limit_sats: 0,
            threshold_sats: 0,
            zone: Zone::utc(),
            fees: Fees::default(),
            expiry_margin: Duration::from_secs(30),
            send_within: Duration::from_secs(600),
            settle_within: Duration::from_secs(120),
            pace: Pace::default(),
            max_waiting: 256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fees_are_a_share_and_at_least_something() {
        let fees = Fees::default();
        assert_eq!(fees.limit_sats(1000), 2);
        assert_eq!(fees.limit_sats(2_000_000), 20);
        assert_eq!(fees.limit_sats(2_000_001), 21);
        assert_eq!(fees.limit_sats(u64::MAX), 184_467_440_737_096);
        let none = Fees {
            basis_points: 0,
            at_least_sats: 0,
        };
        assert_eq!(none.limit_sats(5_000_000), 0);
    }
}
