//! The wallet: where it is, what it may spend, and when a day begins.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::values::ConfigError;
use std::time::Duration;
use url::Url;

/// As many sats as there can be, and then some: sixteen digits.
const MOST_SATS: u64 = 9_999_999_999_999_999;

/// On which network the wallet's sats are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalletNetwork {
    /// The real one.
    Mainnet,
    /// A public one for tests.
    Testnet,
    /// A public one for tests, signed.
    Signet,
    /// A private one for tests.
    Regtest,
}

/// The wallet.
#[derive(Clone, Debug)]
pub struct WalletSettings {
    /// Where LNbits is.
    pub lnbits_url: Option<Url>,
    /// The key that can spend.
    pub admin_key: Option<Secret>,
    /// The key that can receive and look.
    pub invoice_key: Option<Secret>,
    /// The most that a day's payments may come to, with fees.
    pub daily_limit_sats: Option<u64>,
    /// Over this amount the owner repeats the amount.
    pub approval_threshold_sats: Option<u64>,
    /// Where a day begins, by its IANA name.
    pub time_zone: String,
    /// The network of its invoices.
    pub network: WalletNetwork,
    /// What fees may add to an amount, in hundredths of a percent.
    pub fee_basis_points: u64,
    /// What fees may add at least.
    pub fee_min_sats: u64,
    /// Longest time for a question to LNbits.
    pub timeout: Duration,
    /// Longest time for a payment.
    pub pay_timeout: Duration,
}

pub(super) fn wallet(read: &Reader<'_>) -> Result<WalletSettings, ConfigError> {
    Ok(WalletSettings {
        lnbits_url: read.optional_url("wallet.lnbits_url")?,
        admin_key: key(read, "wallet.admin_key")?,
        invoice_key: key(read, "wallet.invoice_key")?,
        daily_limit_sats: read.optional_number("wallet.daily_limit_sats", 0..=MOST_SATS)?,
        approval_threshold_sats: read
            .optional_number("wallet.approval_threshold_sats", 0..=MOST_SATS)?,
        time_zone: time_zone(read)?,
        network: read.one_of(
            "wallet.network",
            &[
                ("mainnet", WalletNetwork::Mainnet),
                ("testnet", WalletNetwork::Testnet),
                ("signet", WalletNetwork::Signet),
                ("regtest", WalletNetwork::Regtest),
            ],
        )?,
        fee_basis_points: basis_points(read)?,
        fee_min_sats: read.number("wallet.fee_min_sats", 0..=1_000_000)?,
        timeout: read.millis("wallet.timeout_ms")?,
        pay_timeout: read.millis("wallet.pay_timeout_ms")?,
    })
}

fn key(read: &Reader<'_>, key: &'static str) -> Result<Option<Secret>, ConfigError> {
    let Some(text) = read.optional(key) else {
        return Ok(None);
    };
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(read.bad(key, "32 hexadecimal digits".into()));
    }
    Ok(Some(Secret::new(text.to_owned())))
}

/// Whether there is such a zone is seen when the wallet opens.
fn time_zone(read: &Reader<'_>) -> Result<String, ConfigError> {
    const KEY: &str = "wallet.time_zone";
    let name = read.text(KEY)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+');
    if name.len() > 64 || !name.bytes().all(plain) {
        return Err(read.bad(KEY, "an IANA name, such as Europe/Vienna or UTC".into()));
    }
    Ok(name.to_owned())
}

/// A percentage with at most two digits after the point, in hundredths.
fn basis_points(read: &Reader<'_>) -> Result<u64, ConfigError> {
    const KEY: &str = "wallet.fee_percent";
    let text = read.text(KEY)?;
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let points = digits(whole, 3)
        .then_some(())
        .filter(|()| digits(part, 2))
        .and_then(|()| format!("{whole}{part:0<2}").parse().ok());
    points
        .filter(|points| *points <= 10_000)
        .ok_or_else(|| read.bad(KEY, "a percentage from 0 to 100, such as 0.5".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Values;

    fn settings(variables: &[(&str, &str)]) -> Result<WalletSettings, ConfigError> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let values = Values::read(None, variables.iter().map(owned))?;
        wallet(&Reader { values: &values })
    }

    #[test]
    fn nothing_set_spends_nothing() {
        let wallet = settings(&[]).unwrap();
        assert!(wallet.admin_key.is_none() && wallet.daily_limit_sats.is_none());
        assert_eq!(wallet.network, WalletNetwork::Mainnet);
        assert_eq!((wallet.fee_basis_points, wallet.fee_min_sats), (100, 2));
    }

    #[test]
    fn percentages_are_exact() {
        let points = |text| {
            settings(&[("BLASTSHIELD_WALLET_FEE_PERCENT", text)])
                .map(|wallet| wallet.fee_basis_points)
        };
        for (text, expected) in [
            ("0", 0),
            ("0.5", 50),
            ("0.05", 5),
            ("1", 100),
            ("100.00", 10_000),
        ] {
            assert_eq!(points(text).unwrap(), expected, "{text}");
        }
        for text in ["-1", "1.", ".5", "100.01", "0.005", "1e2", "a"] {
            assert!(points(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_are_what_lnbits_gives_and_never_shown() {
        let key = "0123456789abcdefABCDEF0123456789";
        let wallet = settings(&[("LNBITS_ADMIN_KEY", key)]).unwrap();
        assert!(!format!("{wallet:?}").contains("0123"));
        for bad in ["0123", "g123456789abcdefABCDEF0123456789"] {
            let error = settings(&[("LNBITS_INVOICE_KEY", bad)]).unwrap_err();
            assert!(!error.to_string().contains(bad));
        }
    }
}
