//! The steps of a payment up to the moment when it leaves, each on disk before the next.

use crate::error::PayError;
use crate::invoice::Invoice;
use crate::payment::{kept, sats, whole};
use crate::request::random;
use crate::{State, Wallet};
use blastshield_audit::{Event, PaymentStep as Step};
use blastshield_owner::{AskError, ClaimError, State as Answer};
use blastshield_store::{PaymentRecord, PaymentStep, StoreError};
use blastshield_upstream::{Lnbits, LnbitsError, PaymentStatus};
use std::time::Duration;

/// When a payment is to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// At once: it moved.
    Now,
    /// At the usual pace: somebody thinks about it.
    Poll,
    /// After a short pause that grows: something does not work, and somebody waits.
    Retry,
    /// After a pause that grows: it does not get clear.
    Later,
}

/// Says in the log how far a payment got. What it names is done and on disk.
pub(crate) fn mark(step: &'static str) {
    tracing::trace!(target: "blastshield_wallet::step", step);
}

impl Wallet {
    /// Brings a payment one step on. Whoever calls this has its turn.
    pub(crate) async fn step(&self, record: &PaymentRecord) -> Next {
        match State::parse(&record.state) {
            State::Requested => self.ask_again(record).await,
            State::Asked => self.hear(record).await,
            State::Approved => self.send(record).await,
            State::Sending | State::Unknown => self.find_out(record, None).await,
            State::Paid | State::Failed | State::Denied | State::Expired => Next::Poll,
        }
    }

    /// Shows a request to the owner.
    pub(crate) async fn ask_owner(&self, record: &PaymentRecord) -> Result<(), PayError> {
        let mut ask = self.ask_of(record)?;
        let margin = kept_millis(self.inner.options.expiry_margin);
        let left_ms = record
            .invoice_expires_ms
            .saturating_sub(self.now_ms())
            .saturating_sub(margin);
        ask.timeout = Some(Duration::from_millis(whole(left_ms).max(1)));
        let request = self.inner.approvals.ask(&ask).await?;
        mark("shown");
        let mut step = moved(record, State::Asked, "", self.now_ms());
        step.approval_id = request.id.as_str();
        if self.inner.store.move_payment(step).await? {
            mark("asked");
        }
        Ok(())
    }

    /// A request that nobody brought to the owner: its process died on the way.
    async fn ask_again(&self, record: &PaymentRecord) -> Next {
        let age = self.now_ms().saturating_sub(record.changed_ms);
        if age < kept_millis(self.inner.options.pace.adopt_after) {
            return Next::Poll;
        }
        if self.permitted().is_err() {
            return self.fail(record, "wallet_disabled").await;
        }
        match self.ask_owner(record).await {
            Ok(()) => Next::Now,
            Err(PayError::Owner(AskError::Invalid(_)) | PayError::Invoice(_)) => {
                self.fail(record, "not_asked").await
            }
            Err(_) => Next::Retry,
        }
    }

    /// Listens for the owner's answer, and uses a yes up.
    async fn hear(&self, record: &PaymentRecord) -> Next {
        let approvals = &self.inner.approvals;
        let answer = match approvals.get(&record.approval_id).await {
            Ok(Some(request)) => request.state,
            Ok(None) => return self.fail(record, "approval_lost").await,
            Err(_) => return Next::Retry,
        };
        match answer {
            Answer::Pending => return Next::Poll,
            Answer::Denied => return self.end(record, State::Denied, "owner_denied").await,
            Answer::Expired => return self.end(record, State::Expired, "owner_timeout").await,
            Answer::Approved => {}
        }
        let Ok(ask) = self.ask_of(record) else {
            return self.fail(record, "invoice_invalid").await;
        };
        match approvals.claim(&record.approval_id, &ask).await {
            Ok(()) => mark("claimed"),
            // Used by this payment before its process died: no other payment has this approval, and the move below
            // lets one go on.
            Err(ClaimError::Used) => {}
            Err(ClaimError::Not(_)) => return Next::Poll,
            Err(ClaimError::Store(_)) => return Next::Retry,
            Err(ClaimError::Old) => return self.fail(record, "approval_old").await,
            Err(ClaimError::Unrecorded) => return self.fail(record, "unrecorded").await,
            Err(ClaimError::Changed | ClaimError::Unknown) => {
                return self.fail(record, "approval_changed").await;
            }
        }
        let step = moved(record, State::Approved, "", self.now_ms());
        let next = self.go(step).await;
        mark("approved");
        next
    }

    /// Sends what is approved: the intent first, then one request.
    async fn send(&self, record: &PaymentRecord) -> Next {
        let options = &self.inner.options;
        let now_ms = self.now_ms();
        let lnbits = match self.permitted() {
            Ok(lnbits) if lnbits.mark() == record.backend => lnbits,
            Ok(_) => return self.fail(record, "wallet_changed").await,
            Err(_) => return self.fail(record, "wallet_disabled").await,
        };
        let Ok(invoice) = Invoice::read(&record.invoice, options.network) else {
            return self.fail(record, "invoice_invalid").await;
        };
        if invoice.expires_before(now_ms, options.expiry_margin) {
            return self.fail(record, "invoice_expired").await;
        }
        if now_ms.saturating_sub(record.changed_ms) > kept_millis(options.send_within) {
            return self.fail(record, "not_sent_in_time").await;
        }
        match self.clear(lnbits, record).await {
            Ok(Clear::Yes) => mark("looked"),
            Ok(Clear::Paid {
                amount_msat,
                fee_msat,
            }) => {
                let why = "paid_before";
                return self.end_paid(record, amount_msat, fee_msat, why).await;
            }
            Ok(Clear::No(why)) => return self.fail(record, why).await,
            Err(error) => {
                tracing::warn!(target: "upstream", dependency = "lnbits", %error, "a payment waits");
                return Next::Retry;
            }
        }
        let sending = match self.intend(record).await {
            Ok(Some(sending)) => sending,
            Ok(None) => return self.crowded_out(record).await,
            Err(error) => {
                self.warn(error);
                return Next::Retry;
            }
        };
        let recorded = self.note(&Event::Payment {
            id: &sending.id,
            step: Step::Intended,
            amount_sats: sats(sending.amount_msat),
            why: "",
        });
        if recorded.is_err() {
            return self.fail(&sending, "unrecorded").await;
        }
        mark("recorded");
        let answer = lnbits.pay(&sending.invoice, &sending.payment_hash).await;
        mark("answered");
        self.hear_answer(&sending, answer).await
    }

    /// Whether LNbits knows nothing of this payment, and lets fees add no more than was set aside.
    async fn clear(&self, lnbits: &Lnbits, record: &PaymentRecord) -> Result<Clear, LnbitsError> {
        match lnbits.look(&record.payment_hash).await? {
            PaymentStatus::Absent => {}
            PaymentStatus::Paid {
                amount_msat,
                fee_msat,
            } => {
                return Ok(Clear::Paid {
                    amount_msat,
                    fee_msat,
                });
            }
            // What was tried past us is not tried again: its end could not be told from that of ours.
            PaymentStatus::Pending | PaymentStatus::Failed => return Ok(Clear::No("tried_before")),
        }
        let fees = lnbits.fee_limit_msat(&record.invoice).await?;
        let allowed = whole(record.fee_limit_sats).saturating_mul(1000);
        Ok(match fees {
            Some(fees) if fees > allowed => Clear::No("fee_too_high"),
            _ => Clear::Yes,
        })
    }

    /// Writes down that it is about to be sent; of all who try, one gets it. The day on which it is sent must have room.
    async fn intend(&self, record: &PaymentRecord) -> Result<Option<PaymentRecord>, StoreError> {
        let options = &self.inner.options;
        let now_ms = self.now_ms();
        let sender = random().map_err(|_| StoreError::Internal)?;
        let day = options.zone.day(now_ms);
        let limit = kept(options.daily_limit_sats);
        let sending = State::Sending.as_str();
        let way = (record.id.as_str(), record.state.as_str(), sending);
        let store = &self.inner.store;
        if !store
            .send_payment(way, &sender, (&day, limit), now_ms)
            .await?
        {
            return Ok(None);
        }
        mark("intended");
        self.wake();
        Ok(Some(PaymentRecord {
            state: sending.to_owned(),
            sender,
            day,
            changed_ms: now_ms,
            ..record.clone()
        }))
    }

    /// It could not be sent: the day has no room for it, or somebody else sends it.
    async fn crowded_out(&self, record: &PaymentRecord) -> Next {
        match self.inner.store.payment(&record.id).await {
            Ok(Some(now)) if now.state == record.state => self.fail(&now, "daily_limit").await,
            Ok(_) => Next::Now,
            Err(_) => Next::Retry,
        }
    }

    /// Takes a step; when somebody else moved the payment, it is looked at anew.
    pub(crate) async fn go(&self, step: PaymentStep<'_>) -> Next {
        match self.inner.store.move_payment(step).await {
            Ok(_) => {
                self.wake();
                Next::Now
            }
            Err(error) => {
                self.warn(error);
                Next::Retry
            }
        }
    }

    pub(crate) fn warn(&self, error: StoreError) {
        tracing::warn!(target: "upstream", dependency = "store", %error, "a payment waits for the store");
    }
}

enum Clear {
    Yes,
    Paid { amount_msat: u64, fee_msat: u64 },
    No(&'static str),
}

/// A step that leaves everything as it is but where the payment stands.
pub(crate) fn moved<'a>(
    record: &'a PaymentRecord,
    to: State,
    why: &'a str,
    now_ms: i64,
) -> PaymentStep<'a> {
    PaymentStep {
        id: &record.id,
        from: &record.state,
        to: to.as_str(),
        why,
        approval_id: &record.approval_id,
        counted_sats: record.counted_sats,
        fee_msat: record.fee_msat,
        over: to.is_over(),
        now_ms,
    }
}

pub(crate) fn kept_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
