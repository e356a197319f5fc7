//! What LNbits' answers say, and what they are worth.

use super::{LnbitsError, PayAnswer, PaymentStatus};
use reqwest::StatusCode;
use serde::Deserialize;

/// What LNbits answers when a payment does not succeed.
const PAYMENT_ERROR: u16 = 520;

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

pub(super) fn parse<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, LnbitsError> {
    serde_json::from_slice(body).map_err(|_| LnbitsError::Nonsense)
}

/// Whether it is LNbits that knows no such payment, and not something before it that knows no such page.
pub(super) fn says_absent(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Complaint {
        detail: String,
    }
    parse(body).is_ok_and(|complaint: Complaint| complaint.detail == "Payment does not exist.")
}

pub(super) fn status(body: &[u8], payment_hash: &str) -> Result<PaymentStatus, LnbitsError> {
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

pub(super) fn answer(status: StatusCode, body: &[u8], payment_hash: &str) -> PayAnswer {
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
    use serde_json::json;

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
}
