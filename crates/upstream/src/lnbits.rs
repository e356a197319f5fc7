//! A thin client of an LNbits wallet: its balance, one payment, and what became of it.
//!
//! Whatever the answer to a payment was, only [`Lnbits::look`] says what is true; [`PayAnswer`] tells what the answer is
//! worth. LNbits' own words are not passed on.

use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError};
use crate::secret::Secret;
use crate::transport::{Limits, Reply, Transport, judge_status};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Request, StatusCode};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::time::Duration;
use url::Url;

const KEY: HeaderName = HeaderName::from_static("x-api-key");
const ANSWER_BYTES: usize = 256 * 1024;
/// What LNbits answers when a payment does not succeed.
const PAYMENT_ERROR: u16 = 520;

/// How the wallet is reached.
#[derive(Clone, Debug)]
pub struct LnbitsOptions {
    /// LNbits' address.
    pub base: BaseUrl,
    /// The wallet's key; paying needs the admin key.
    pub key: Secret,
    /// Time for a question.
    pub timeout: Duration,
    /// Time for a payment.
    pub pay_timeout: Duration,
}

/// No usable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LnbitsError {
    /// No usable exchange.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The answer is not what the API promises.
    #[error("LNbits' answer is not understood")]
    Nonsense,
}

/// What LNbits knows of a payment of this wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentStatus {
    /// It went out.
    Paid {
        /// How much.
        amount_msat: u64,
        /// What came on top.
        fee_msat: u64,
    },
    /// It is on its way, or nobody can say yet.
    Pending,
    /// It did not go out and will not.
    Failed,
    /// This wallet has no such payment.
    Absent,
}

/// What the answer to a payment is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayAnswer {
    /// LNbits says that it is paid.
    Paid {
        /// How much.
        amount_msat: u64,
        /// What came on top.
        fee_msat: u64,
    },
    /// LNbits took it, and it is on its way.
    Pending,
    /// LNbits came to an end with it and says that it did not pay.
    Refused {
        /// Because the wallet holds too little.
        too_little: bool,
    },
    /// It did not leave this machine.
    NotSent,
    /// No answer, or one that leaves the outcome open.
    Unclear,
}

/// A wallet.
#[derive(Clone)]
pub struct Lnbits {
    transport: Transport,
    options: LnbitsOptions,
    key: HeaderValue,
    mark: String,
}

impl fmt::Debug for Lnbits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lnbits(…)")
    }
}

impl Lnbits {
    /// A client with these options.
    ///
    /// # Errors
    /// A key that is empty or cannot be one.
    pub fn new(options: LnbitsOptions) -> Result<Self, ConfigError> {
        let mut hash = Sha256::new();
        hash.update(options.base.join(&[]).as_str());
        hash.update([0]);
        hash.update(options.key.expose());
        let mark = hash.finalize();
        Ok(Self {
            transport: Transport::new()?,
            key: options.key.header("", "the LNbits key")?,
            mark: mark.iter().take(8).map(|b| format!("{b:02x}")).collect(),
            options,
        })
    }

    /// A mark of this server and key: another mark, another wallet.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// How long a payment may take before its answer is given up.
    #[must_use]
    pub fn pay_timeout(&self) -> Duration {
        self.options.pay_timeout
    }

    /// What the wallet holds.
    ///
    /// # Errors
    /// When LNbits does not say.
    pub async fn balance_msat(&self) -> Result<i64, LnbitsError> {
        #[derive(Deserialize)]
        struct Wallet {
            balance: i64,
        }
        let url = self.options.base.join(&["api", "v1", "wallet"]);
        let wallet: Wallet = parse(&self.get(url).await?)?;
        Ok(wallet.balance)
    }

    /// The most that LNbits lets fees add to this invoice; nothing when this LNbits does not say.
    ///
    /// # Errors
    /// When LNbits cannot be asked.
    pub async fn fee_limit_msat(&self, bolt11: &str) -> Result<Option<u64>, LnbitsError> {
        #[derive(Deserialize)]
        struct Reserve {
            fee_reserve: u64,
        }
        let path = ["api", "v1", "payments", "fee-reserve"];
        let mut url = self.options.base.join(&path);
        url.query_pairs_mut().append_pair("invoice", bolt11);
        match self.get(url).await {
            Ok(reply) => parse(&reply).map(|reserve: Reserve| Some(reserve.fee_reserve)),
            Err(CallError::Rejected { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Pays an invoice: one request, never repeated here.
    pub async fn pay(&self, bolt11: &str, payment_hash: &str) -> PayAnswer {
        let mut request = Request::new(
            Method::POST,
            self.options.base.join(&["api", "v1", "payments"]),
        );
        let headers = request.headers_mut();
        headers.insert(KEY, self.key.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(json!({"out": true, "bolt11": bolt11}).to_string().into());
        let limits = Limits {
            deadline: self.options.pay_timeout,
            max_bytes: ANSWER_BYTES,
        };
        match self.transport.exchange(request, limits).await {
            Ok((status, reply)) => answer(status, &reply.body, payment_hash),
            Err(CallError::Unreachable) => PayAnswer::NotSent,
            Err(_) => PayAnswer::Unclear,
        }
    }

    /// What became of a payment of this wallet.
    ///
    /// # Errors
    /// When LNbits does not say.
    pub async fn look(&self, payment_hash: &str) -> Result<PaymentStatus, LnbitsError> {
        let path = ["api", "v1", "payments", payment_hash];
        let (code, reply) = self.ask(self.options.base.join(&path)).await?;
        if code == StatusCode::NOT_FOUND && says_absent(&reply.body) {
            return Ok(PaymentStatus::Absent);
        }
        judge_status(code, &reply.headers)?;
        status(&reply.body, payment_hash)
    }

    async fn get(&self, url: Url) -> Result<Vec<u8>, CallError> {
        let (status, reply) = self.ask(url).await?;
        judge_status(status, &reply.headers)?;
        Ok(reply.body)
    }

    async fn ask(&self, url: Url) -> Result<(StatusCode, Reply), CallError> {
        let mut request = Request::new(Method::GET, url);
        request.headers_mut().insert(KEY, self.key.clone());
        let limits = Limits {
            deadline: self.options.timeout,
            max_bytes: ANSWER_BYTES,
        };
        self.transport.exchange(request, limits).await
    }
}

/// A payment as LNbits describes it.
#[derive(Deserialize)]
struct Entry {
    payment_hash: String,
    /// Negative for what goes out.
    amount: i64,
    fee: i64,
    #[serde(default)]
    status: Option<String>,
    /// Of versions before 1.0.
    #[serde(default)]
    pending: Option<bool>,
}

impl Entry {
    fn outgoing(&self, payment_hash: &str) -> bool {
        self.amount < 0 && self.payment_hash.eq_ignore_ascii_case(payment_hash)
    }
}

fn parse<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, LnbitsError> {
    serde_json::from_slice(body).map_err(|_| LnbitsError::Nonsense)
}

/// Whether it is LNbits that knows no such payment, and not something before it that knows no such page.
fn says_absent(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Complaint {
        detail: String,
    }
    parse(body).is_ok_and(|complaint: Complaint| complaint.detail == "Payment does not exist.")
}

fn status(body: &[u8], payment_hash: &str) -> Result<PaymentStatus, LnbitsError> {
    #[derive(Deserialize)]
    struct Answer {
        paid: bool,
        #[serde(default)]
        status: Option<String>,
        #[serde(default)]
        details: Option<Entry>,
    }
    let answer: Answer = parse(body)?;
    // Without details it is not about this wallet: a key that LNbits does not know is told of anybody's payment.
    let entry = answer.details.ok_or(LnbitsError::Nonsense)?;
    if !entry.payment_hash.eq_ignore_ascii_case(payment_hash) {
        return Err(LnbitsError::Nonsense);
    }
    if entry.amount >= 0 {
        // The wallet's own invoice; what goes out is listed first.
        return Ok(PaymentStatus::Absent);
    }
    let says = |word: &str| {
        [&answer.status, &entry.status]
            .into_iter()
            .flatten()
            .any(|status| status == word)
    };
    match answer.paid {
        true if says("failed") || says("pending") => Err(LnbitsError::Nonsense),
        true => Ok(PaymentStatus::Paid {
            amount_msat: entry.amount.unsigned_abs(),
            fee_msat: entry.fee.unsigned_abs(),
        }),
        false if says("success") => Err(LnbitsError::Nonsense),
        false if says("failed") => Ok(PaymentStatus::Failed),
        false => Ok(PaymentStatus::Pending),
    }
}

fn answer(status: StatusCode, body: &[u8], payment_hash: &str) -> PayAnswer {
    #[derive(Deserialize)]
    struct Complaint {
        detail: serde_json::Value,
        #[serde(default)]
        status: Option<String>,
    }
    if status.is_success() {
        let Ok(entry) = serde_json::from_slice::<Entry>(body) else {
            return PayAnswer::Unclear;
        };
        return match entry.status.as_deref() {
            _ if !entry.outgoing(payment_hash) => PayAnswer::Unclear,
            Some("success") if entry.pending != Some(true) => PayAnswer::Paid {
                amount_msat: entry.amount.unsigned_abs(),
                fee_msat: entry.fee.unsigned_abs(),
            },
            Some("pending") => PayAnswer::Pending,
            _ => PayAnswer::Unclear,
        };
    }
    // Only LNbits' own complaint is one: anything between us and it may answer in its place while it still pays.
    let Ok(complaint) = serde_json::from_slice::<Complaint>(body) else {
        return PayAnswer::Unclear;
    };
    let too_little = complaint
        .detail
        .as_str()
        .is_some_and(|text| text.starts_with("Insufficient balance"));
    match (status.as_u16(), complaint.status.as_deref()) {
        (PAYMENT_ERROR, Some("failed")) | (400 | 401 | 403 | 422, _) => {
            PayAnswer::Refused { too_little }
        }
        _ => PayAnswer::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn entry(amount: i64, fee: i64, status: &str) -> serde_json::Value {
        json!({"checking_id": "x", "payment_hash": HASH, "wallet_id": "w", "amount": amount, "fee": fee, "status": status})
    }

    fn looked(body: &serde_json::Value) -> Result<PaymentStatus, LnbitsError> {
        status(body.to_string().as_bytes(), HASH)
    }

    fn answered(code: u16, body: &str) -> PayAnswer {
        answer(StatusCode::from_u16(code).unwrap(), body.as_bytes(), HASH)
    }

    #[test]
    fn only_what_went_out_of_this_wallet_is_paid() {
        let paid = PaymentStatus::Paid {
            amount_msat: 2_000_000,
            fee_msat: 1500,
        };
        let went = json!({"paid": true, "details": entry(-2_000_000, -1500, "success")});
        assert_eq!(looked(&went), Ok(paid));
        let came = json!({"paid": true, "details": entry(2_000_000, 0, "success")});
        assert_eq!(looked(&came), Ok(PaymentStatus::Absent));
        for strange in [
            json!({"paid": true}),
            json!({"paid": true, "details": entry(-1, 0, "failed")}),
            json!({"paid": false, "details": entry(-1, 0, "success")}),
            json!({"details": entry(-1, 0, "success")}),
        ] {
            assert_eq!(looked(&strange), Err(LnbitsError::Nonsense), "{strange}");
        }
        let mut other = entry(-1, 0, "success");
        other["payment_hash"] = "ff".into();
        assert_eq!(
            looked(&json!({"paid": true, "details": other})),
            Err(LnbitsError::Nonsense)
        );
    }

    #[test]
    fn a_page_that_is_missing_is_not_a_payment_that_is() {
        assert!(says_absent(br#"{"detail": "Payment does not exist."}"#));
        for other in ["", "<html>", r#"{"detail": "Not Found"}"#, "{}", "[]"] {
            assert!(!says_absent(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn pending_and_failed_are_told_apart() {
        let told = |status: &str| {
            looked(&json!({"paid": false, "status": status, "details": entry(-1, 0, status)}))
        };
        assert_eq!(told("failed"), Ok(PaymentStatus::Failed));
        assert_eq!(told("pending"), Ok(PaymentStatus::Pending));
        assert_eq!(
            looked(&json!({"paid": false, "details": entry(-1, 0, "pending")})),
            Ok(PaymentStatus::Pending)
        );
    }

    #[test]
    fn an_answer_is_believed_only_where_nothing_is_left_open() {
        let success = entry(-2_000_000, 0, "success").to_string();
        assert_eq!(
            answered(201, &success),
            PayAnswer::Paid {
                amount_msat: 2_000_000,
                fee_msat: 0
            }
        );
        assert_eq!(
            answered(201, &entry(-5, 0, "pending").to_string()),
            PayAnswer::Pending
        );
        let refused = |too_little| PayAnswer::Refused { too_little };
        assert_eq!(
            answered(
                520,
                r#"{"detail": "Insufficient balance.", "status": "failed"}"#
            ),
            refused(true)
        );
        assert_eq!(
            answered(400, r#"{"detail": "Bolt11 decoding failed."}"#),
            refused(false)
        );
        for (code, body) in [
            (201, ""),
            (201, "{}"),
            (201, &*entry(5, 0, "success").to_string()),
            (
                520,
                r#"{"detail": "Payment already paid.", "status": "success"}"#,
            ),
            (
                520,
                r#"{"detail": "Payment is still pending.", "status": "pending"}"#,
            ),
            (520, "<html>a proxy</html>"),
            (500, r#"{"detail": "Unexpected error!"}"#),
            (502, ""),
            (504, ""),
            (404, "not here"),
            (429, r#"{"detail": "slow down"}"#),
            (302, ""),
        ] {
            assert_eq!(answered(code, body), PayAnswer::Unclear, "{code} {body}");
        }
    }

    #[test]
    fn neither_key_nor_address_shows() {
        let key = "0123456789abcdef0123456789abcdef";
        let made = |key: &str| {
            Lnbits::new(LnbitsOptions {
                base: "https://lnbits.example".parse().unwrap(),
                key: Secret::new(key),
                timeout: Duration::from_secs(1),
                pay_timeout: Duration::from_secs(1),
            })
        };
        let wallet = made(key).unwrap();
        assert!(!format!("{wallet:?} {}", wallet.mark()).contains("0123456789"));
        assert_ne!(wallet.mark(), made("another").unwrap().mark());
        assert!(made("").is_err());
        assert!(made("a\nb").is_err());
    }
}
