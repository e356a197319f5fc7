//! What the wallet may do, by what the operator has set.

use blastshield_requirements::Report;

const FEATURE: &str = "wallet";

/// What the wallet may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// There is no wallet.
    Disabled,
    /// There is one, but it lacks settings without which it may not be used.
    Incomplete(Vec<String>),
    /// It can receive, and nothing can be spent.
    ReceiveOnly,
    /// The owner approves each payment, within the daily limit.
    ApprovalGated,
}

impl Mode {
    /// The mode that is in force by a check of the requirements.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let lacking = || report.unmet.get(FEATURE).cloned().unwrap_or_default();
        match report.mode(FEATURE) {
            Some("approval-gated") if report.in_force(FEATURE, "approval-gated") => {
                Self::ApprovalGated
            }
            Some("receive-only") if report.in_force(FEATURE, "receive-only") => Self::ReceiveOnly,
            Some("approval-gated" | "receive-only") => Self::Incomplete(lacking()),
            _ => Self::Disabled,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled | Self::Incomplete(_) => "disabled",
            Self::ReceiveOnly => "receive-only",
            Self::ApprovalGated => "approval-gated",
        }
    }

    /// The one of the two that allows less.
    #[must_use]
    pub fn narrower(self, other: Self) -> Self {
        if other.reach() < self.reach() {
            other
        } else {
            self
        }
    }

    const fn reach(&self) -> u8 {
        match self {
            Self::Disabled => 0,
            Self::Incomplete(_) => 1,
            Self::ReceiveOnly => 2,
            Self::ApprovalGated => 3,
        }
    }

    /// Variables that are missing or malformed.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        match self {
            Self::Incomplete(names) => names,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blastshield_requirements::Requirements;

    fn mode(set: &[(&str, &str)]) -> Mode {
        let report = Requirements::shipped().unwrap().check(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        Mode::of(&report)
    }

    #[test]
    fn the_keys_decide() {
        let key = "0123456789abcdef".repeat(2);
        let (admin, invoice) = (("LNBITS_ADMIN_KEY", &*key), ("LNBITS_INVOICE_KEY", &*key));
        let url = ("LNBITS_URL", "https://legend.lnbits.com");
        let limits = [
            ("WALLET_DAILY_LIMIT_SATS", "10000"),
            ("WALLET_APPROVAL_THRESHOLD_SATS", "1000"),
        ];
        assert_eq!(mode(&[]), Mode::Disabled);
        assert_eq!(mode(&[url, invoice]), Mode::ReceiveOnly);
        assert_eq!(
            mode(&[url, admin, limits[0], limits[1]]),
            Mode::ApprovalGated
        );
        let incomplete = mode(&[url, admin, limits[0]]);
        assert_eq!(incomplete.as_str(), "disabled");
        assert_eq!(incomplete.missing(), ["WALLET_APPROVAL_THRESHOLD_SATS"]);
        assert_eq!(mode(&[invoice]).missing(), ["LNBITS_URL"]);
    }
}
