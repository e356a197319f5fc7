//! An invoice as far as a payment needs it: verified, with an amount, for the right network.

use blastshield_leak::fingerprint;
use lightning_invoice::{Currency, SignedRawBolt11Invoice, TaggedField};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::time::Duration;

/// Bytes of an invoice; none in use is longer.
pub const MAX_INVOICE: usize = 4096;
/// All bitcoin there can be, in thousandths of a sat.
const ALL_MSAT: u64 = 2_100_000_000_000_000_000;
/// How long an invoice lives that does not say.
const DEFAULT_EXPIRY: Duration = Duration::from_secs(3600);
/// Characters of a description that are kept.
const MAX_DESCRIPTION: usize = 640;

/// On which network sats are worth something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// The real one.
    #[default]
    Mainnet,
    /// For tests, public.
    Testnet,
    /// For tests, public and signed.
    Signet,
    /// For tests, private.
    Regtest,
}

impl Network {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Mainnet, Self::Testnet, Self::Signet, Self::Regtest];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Testnet => "testnet",
            Self::Signet => "signet",
            Self::Regtest => "regtest",
        }
    }

    fn of(currency: &Currency) -> Option<Self> {
        match currency {
            Currency::Bitcoin => Some(Self::Mainnet),
            Currency::BitcoinTestnet => Some(Self::Testnet),
            Currency::Signet => Some(Self::Signet),
            Currency::Regtest => Some(Self::Regtest),
            Currency::Simnet => None,
        }
    }
}

/// Why an invoice cannot be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvoiceError {
    /// Not an invoice, or one whose signature or fields are wrong.
    #[error("this is not a valid BOLT 11 invoice")]
    Invalid,
    /// For another network.
    #[error("the invoice is for another network than {}", .0.as_str())]
    Network(Network),
    /// Without an amount.
    #[error("the invoice names no amount; ask the payee for one that does")]
    AmountMissing,
    /// It can no longer be paid, or not for long enough.
    #[error("the invoice has expired, or is about to; ask the payee for a new one")]
    Expired,
}

/// A verified invoice. It shows itself as a fingerprint only.
#[derive(Clone, PartialEq, Eq)]
pub struct Invoice {
    text: String,
    payment_hash: String,
    amount_msat: u64,
    expires_ms: i64,
    description: String,
    payee: String,
}

impl Invoice {
    /// Reads an invoice: its checksum, its signature and its fields are right, it is for this network, and it names an
    /// amount. Whether it can still be paid is another question: [`expires_before`](Self::expires_before).
    ///
    /// # Errors
    /// Why not.
    pub fn read(text: &str, network: Network) -> Result<Self, InvoiceError> {
        let text = text.trim();
        if text.len() > MAX_INVOICE {
            return Err(InvoiceError::Invalid);
        }
        let text = match text.split_at_checked("lightning:".len()) {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("lightning:") => rest,
            _ => text,
        };
        let signed: SignedRawBolt11Invoice = text.parse().map_err(|_| InvoiceError::Invalid)?;
        if Network::of(&signed.currency()) != Some(network) {
            return Err(InvoiceError::Network(network));
        }
        // Upper case is allowed for the sake of QR codes; one form is kept.
        verified(&signed, text.to_ascii_lowercase())
    }

    /// The invoice itself.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Hash of the invoice itself, in hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        hex(&Sha256::digest(&self.text))
    }

    /// What of it may be shown.
    #[must_use]
    pub fn shown(&self) -> String {
        fingerprint(&self.text)
    }

    /// What the network knows it by, in hexadecimal.
    #[must_use]
    pub fn payment_hash(&self) -> &str {
        &self.payment_hash
    }

    /// How much it asks for, in thousandths of a sat.
    #[must_use]
    pub fn amount_msat(&self) -> u64 {
        self.amount_msat
    }

    /// How much it asks for in whole sats; a part of a sat counts as one.
    #[must_use]
    pub fn amount_sats(&self) -> u64 {
        self.amount_msat.div_ceil(1000)
    }

    /// From when on it cannot be paid, in milliseconds since the epoch.
    #[must_use]
    pub fn expires_ms(&self) -> i64 {
        self.expires_ms
    }

    /// Whether it cannot be paid any more `margin` after `now_ms`.
    #[must_use]
    pub fn expires_before(&self, now_ms: i64, margin: Duration) -> bool {
        let margin = i64::try_from(margin.as_millis()).unwrap_or(i64::MAX);
        now_ms.saturating_add(margin) >= self.expires_ms
    }

    /// What the payee says that it is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The payee's key, shortened.
    pub(crate) fn payee(&self) -> String {
        let end = self.payee.len().saturating_sub(6);
        let part = |from: usize, to: usize| self.payee.get(from..to).unwrap_or_default();
        format!("{}…{}", part(0, 10), part(end, self.payee.len()))
    }
}

/// What the specification asks of a reader, but for what only a node can judge: without feature bits, as some test
/// backends make them, an invoice is just as well verified, and whoever cannot pay it will say so.
fn verified(signed: &SignedRawBolt11Invoice, text: String) -> Result<Invoice, InvoiceError> {
    let count = |kind: fn(&TaggedField) -> bool| {
        let fields = signed.known_tagged_fields();
        fields.filter(|field| kind(field)).count()
    };
    let hashes = count(|field| matches!(field, TaggedField::PaymentHash(_)));
    let descriptions = count(|field| {
        matches!(
            field,
            TaggedField::Description(_) | TaggedField::DescriptionHash(_)
        )
    });
    let secrets = count(|field| matches!(field, TaggedField::PaymentSecret(_)));
    let strange = signed
        .features()
        .is_some_and(|features| features.requires_unknown_bits());
    if (hashes, descriptions, secrets) != (1, 1, 1) || strange || !signed.check_signature() {
        return Err(InvoiceError::Invalid);
    }
    let payee = match signed.payee_pub_key() {
        Some(key) => key.0.to_string(),
        None => signed
            .recover_payee_pub_key()
            .map_err(|_| InvoiceError::Invalid)?
            .0
            .to_string(),
    };
    let payment_hash = signed.payment_hash().ok_or(InvoiceError::Invalid)?;
    let lives = signed
        .expiry_time()
        .map_or(DEFAULT_EXPIRY, |time| *time.as_duration());
    let expires = signed
        .raw_invoice()
        .data
        .timestamp
        .as_duration_since_epoch()
        .checked_add(lives);
    let description = signed
        .description()
        .map(|words| words.as_inner().0.chars().take(MAX_DESCRIPTION).collect());
    Ok(Invoice {
        text,
        payment_hash: payment_hash.0.to_string(),
        amount_msat: amount_msat(signed)?,
        expires_ms: expires
            .and_then(|at| i64::try_from(at.as_millis()).ok())
            .ok_or(InvoiceError::Invalid)?,
        description: description.unwrap_or_default(),
        payee,
    })
}

fn amount_msat(signed: &SignedRawBolt11Invoice) -> Result<u64, InvoiceError> {
    if matches!(signed.raw_invoice().hrp.raw_amount, None | Some(0)) {
        return Err(InvoiceError::AmountMissing);
    }
    let pico_btc = signed.amount_pico_btc().ok_or(InvoiceError::Invalid)?;
    let msat = pico_btc / 10;
    if pico_btc % 10 != 0 || msat > ALL_MSAT {
        return Err(InvoiceError::Invalid);
    }
    Ok(msat)
}

impl fmt::Debug for Invoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From the specification: 2500 μBTC for "1 cup coffee", expiring after a minute; and a donation without amount.
    const COFFEE: &str = "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh";
    const DONATION: &str = "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql";

    #[test]
    fn a_known_invoice_is_read() {
        let invoice = Invoice::read(COFFEE, Network::Mainnet).unwrap();
        assert_eq!(invoice.amount_sats(), 250_000);
        assert_eq!(invoice.description(), "1 cup coffee");
        assert_eq!(invoice.payment_hash().len(), 64);
        assert!(invoice.payment_hash().starts_with("0001020304"));
        assert_eq!(invoice.expires_ms(), (1_496_314_658 + 60) * 1000);
        assert!(invoice.payee().starts_with("03e7156ae3…"));
        for dress in [
            COFFEE.to_uppercase(),
            format!(" lightning:{COFFEE}\n"),
            format!("LIGHTNING:{}", COFFEE.to_uppercase()),
        ] {
            assert_eq!(Invoice::read(&dress, Network::Mainnet), Ok(invoice.clone()));
        }
    }

    /// As LNbits' FakeWallet makes them.
    #[test]
    fn an_invoice_without_feature_bits_is_read() {
        let plain = "lnbc4u1p4042w3pp5tkf99eeamc36uexk679ey7cu20twke3d2qrzmrjg9dm5t2r5srhssp58qkn65aw3v746mgl9n2su425z9ndjc7aawvwc7skv65adsd57szqdq0v4k8xethdpjhyegcqzysxqrrssj3zpx4k4avx3ez2x22fugem4e3w0mkzcmpf7p9dxfl4dudrmwzf5dh7l2wpujht5zql3qnl5pdgegsasqewlh2nrh9a5ydvtmtdjwscp5awff3";
        let invoice = Invoice::read(plain, Network::Mainnet).unwrap();
        assert_eq!(
            (invoice.amount_sats(), invoice.description()),
            (400, "elsewhere")
        );
    }

    #[test]
    fn only_a_fingerprint_shows() {
        let invoice = Invoice::read(COFFEE, Network::Mainnet).unwrap();
        assert_eq!(invoice.shown(), "lnbc...[redacted]...a3rh");
        assert_eq!(format!("{invoice:?}"), invoice.shown());
    }

    #[test]
    fn without_an_amount_it_is_refused() {
        assert_eq!(
            Invoice::read(DONATION, Network::Mainnet),
            Err(InvoiceError::AmountMissing)
        );
    }

    #[test]
    fn another_network_is_refused() {
        for network in [Network::Testnet, Network::Signet, Network::Regtest] {
            assert_eq!(
                Invoice::read(COFFEE, network),
                Err(InvoiceError::Network(network))
            );
        }
    }

    #[test]
    fn any_changed_character_is_noticed() {
        for at in 4..COFFEE.len() {
            let other = if COFFEE[at..].starts_with('q') {
                "p"
            } else {
                "q"
            };
            let changed = format!("{}{other}{}", &COFFEE[..at], &COFFEE[at + 1..]);
            assert!(Invoice::read(&changed, Network::Mainnet).is_err(), "{at}");
        }
    }

    #[test]
    fn the_margin_counts() {
        let invoice = Invoice::read(COFFEE, Network::Mainnet).unwrap();
        let at = invoice.expires_ms();
        assert!(invoice.expires_before(at, Duration::ZERO));
        assert!(!invoice.expires_before(at - 1, Duration::ZERO));
        assert!(invoice.expires_before(at - 1000, Duration::from_secs(1)));
        assert!(invoice.expires_before(i64::MAX, Duration::MAX));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,200}", cut in 0_usize..300) {
            let _ = Invoice::read(&text, Network::Mainnet);
            let _ = Invoice::read(&format!("lnbc{text}"), Network::Mainnet);
            let _ = Invoice::read(&COFFEE[..cut.min(COFFEE.len())], Network::Mainnet);
        }
    }
}
