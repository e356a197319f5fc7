//! How a payment ends: by LNbits' answer, by looking, or by the owner's word.
//!
//! An end is in the audit log before it is in the store: a crash in between writes it down twice rather than not at all.

use crate::error::ResolveError;
use crate::payment::{kept, sats, whole};
use crate::step::{Next, kept_millis, mark, moved};
use crate::{Outcome, State, Wallet};
use blastshield_audit::{Event, PaymentStep as Step};
use blastshield_store::PaymentRecord;
use blastshield_upstream::{PayAnswer, PaymentStatus};
use std::time::Duration;

/// Why nothing can have gone out, if LNbits knows of nothing.
const NOT_TAKEN: [&str; 3] = ["refused", "too_little_balance", "not_sent"];

impl Wallet {
    /// Makes of LNbits' answer what it is worth.
    pub(crate) async fn hear_answer(&self, record: &PaymentRecord, answer: PayAnswer) -> Next {
        match answer {
            PayAnswer::Paid {
                amount_msat,
                fee_msat,
            } => self.end_paid(record, amount_msat, fee_msat, "").await,
            PayAnswer::Pending => Next::Later,
            PayAnswer::Refused { too_little: true } => {
                self.find_out(record, Some("too_little_balance")).await
            }
            PayAnswer::Refused { too_little: false } => {
                self.find_out(record, Some("refused")).await
            }
            PayAnswer::NotSent => self.find_out(record, Some("not_sent")).await,
            PayAnswer::Unclear => self.find_out(record, Some("no_clear_answer")).await,
        }
    }

    /// Looks what became of a payment that was sent, or may have been. `heard` is what its sender was told.
    pub(crate) async fn find_out(
        &self,
        record: &PaymentRecord,
        heard: Option<&'static str>,
    ) -> Next {
        let lnbits = self.inner.lnbits.as_ref();
        // Another wallet's word on this payment means nothing.
        let Some(lnbits) = lnbits.filter(|lnbits| lnbits.mark() == record.backend) else {
            return self.leave_open(record, "wallet_changed").await;
        };
        let why = heard.unwrap_or(&record.why);
        match lnbits.look(&record.payment_hash).await {
            Ok(PaymentStatus::Paid {
                amount_msat,
                fee_msat,
            }) => self.end_paid(record, amount_msat, fee_msat, "").await,
            Ok(PaymentStatus::Failed) => {
                let why = if NOT_TAKEN.contains(&why) {
                    why
                } else {
                    "payment_failed"
                };
                self.fail(record, why).await
            }
            Ok(PaymentStatus::Absent) if NOT_TAKEN.contains(&why) => self.fail(record, why).await,
            Ok(PaymentStatus::Pending) if heard.is_none() => {
                let patience = self.inner.options.settle_within;
                self.be_patient(record, patience, "pending").await
            }
            Ok(PaymentStatus::Absent) | Err(_) if heard.is_none() => {
                // Its sender may still be at it, here or elsewhere.
                let patience = lnbits.pay_timeout() + self.inner.options.pace.grace;
                self.be_patient(record, patience, "interrupted").await
            }
            Ok(PaymentStatus::Pending | PaymentStatus::Absent) | Err(_) => {
                self.leave_open(record, why).await
            }
        }
    }

    /// Leaves a payment as it is for a while, and open after that.
    async fn be_patient(&self, record: &PaymentRecord, time: Duration, why: &str) -> Next {
        let age = self.now_ms().saturating_sub(record.changed_ms);
        if age <= kept_millis(time) {
            return Next::Later;
        }
        self.leave_open(record, why).await
    }

    /// Nobody can say what became of it: its sats stay set aside, and the owner is told once.
    async fn leave_open(&self, record: &PaymentRecord, why: &str) -> Next {
        if State::parse(&record.state) == State::Unknown {
            return Next::Later;
        }
        let _ = self.note(&Event::Payment {
            id: &record.id,
            step: Step::Unknown,
            amount_sats: sats(record.amount_msat),
            why,
        });
        self.go(moved(record, State::Unknown, why, self.now_ms()))
            .await;
        mark("open");
        Next::Later
    }

    pub(crate) async fn end_paid(
        &self,
        record: &PaymentRecord,
        amount_msat: u64,
        fee_msat: u64,
        why: &str,
    ) -> Next {
        let _ = self.note(&Event::Payment {
            id: &record.id,
            step: Step::Paid,
            amount_sats: amount_msat.div_ceil(1000),
            why,
        });
        mark("told");
        let mut step = moved(record, State::Paid, why, self.now_ms());
        step.counted_sats = kept(amount_msat.saturating_add(fee_msat).div_ceil(1000));
        step.fee_msat = kept(fee_msat);
        let next = self.go(step).await;
        mark("settled");
        next
    }

    /// It did not go out, and will not.
    pub(crate) async fn fail(&self, record: &PaymentRecord, why: &str) -> Next {
        self.end(record, State::Failed, why).await
    }

    /// Ends a payment for which nothing was spent; its sats are free again.
    pub(crate) async fn end(&self, record: &PaymentRecord, to: State, why: &str) -> Next {
        let step = if to == State::Failed {
            Step::Failed
        } else {
            Step::Refused
        };
        let _ = self.note(&Event::Payment {
            id: &record.id,
            step,
            amount_sats: sats(record.amount_msat),
            why,
        });
        let mut step = moved(record, to, why, self.now_ms());
        step.counted_sats = 0;
        self.go(step).await
    }

    /// Ends an open payment as the owner says. What it took from its day stays taken if it went out, fees and all.
    pub(crate) async fn settle_by_word(
        &self,
        record: &PaymentRecord,
        outcome: Outcome,
    ) -> Result<(), ResolveError> {
        let (to, told, counted) = match outcome {
            Outcome::Paid => (State::Paid, Step::Paid, record.counted_sats),
            Outcome::Failed => (State::Failed, Step::Failed, 0),
        };
        let why = "owners_word";
        self.note(&Event::Payment {
            id: &record.id,
            step: told,
            amount_sats: sats(record.amount_msat),
            why,
        })
        .map_err(|_| ResolveError::Unrecorded)?;
        let mut step = moved(record, to, why, self.now_ms());
        step.counted_sats = counted;
        if outcome == Outcome::Paid {
            let fees = whole(counted).saturating_sub(sats(record.amount_msat));
            step.fee_msat = kept(fees.saturating_mul(1000));
        }
        let settled = self.inner.store.move_payment(step).await?;
        self.wake();
        if settled {
            Ok(())
        } else {
            Err(ResolveError::Busy)
        }
    }
}
