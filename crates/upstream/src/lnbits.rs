//! A thin client of an LNbits wallet: its balance, one payment, and what became of it.
//!
//! Whatever the answer to a payment was, only [`Lnbits::look`] says what is true; [`PayAnswer`] tells what the answer is
//! worth. LNbits' own words are not passed on.

mod answer;

use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError};
use crate::secret::Secret;
use crate::transport::{Limits, Reply, Transport, judge_status};
use answer::{answer, parse, says_absent, status};
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

#[cfg(test)]
mod tests {
    use super::*;

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
