//! A wish to pay, from the invoice to the question to the owner.

use crate::error::PayError;
use crate::invoice::{Invoice, InvoiceError, hex};
use crate::payment::{kept, sats, whole};
use crate::step::mark;
use crate::{Mode, Payment, State, Wallet};
use blastshield_audit::{Event, PaymentStep};
use blastshield_owner::{Action, Ask, Value};
use blastshield_store::{PaymentRecord, Reserved, StoreError};
use blastshield_upstream::Lnbits;

/// Characters of a memo.
pub const MAX_MEMO: usize = 200;
const REASON: &str = "Outgoing payment requires approval";

/// A wish to pay.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    /// The invoice.
    pub bolt11: &'a str,
    /// What it is for, in the requester's words.
    pub memo: Option<&'a str>,
    /// What the requester expects it to cost, in whole sats.
    pub amount_sats: Option<u64>,
    /// Who asks.
    pub requester: &'a str,
}

impl std::fmt::Debug for Wish<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wish(…)")
    }
}

impl Wallet {
    /// Takes a wish to pay: verifies the invoice, sets its sats aside and asks the owner. The same invoice again is the
    /// same payment, wherever that stands.
    ///
    /// # Errors
    /// Why not.
    pub async fn request(&self, wish: &Wish<'_>) -> Result<Payment, PayError> {
        let outcome = self.take(wish).await;
        if let Err(error) = &outcome
            && !matches!(error, PayError::Store(_) | PayError::NoRandom)
        {
            let amount = Invoice::read(wish.bolt11, self.inner.options.network);
            // A refusal stands whether or not it is on record.
            let _ = self.note(&Event::Payment {
                id: "",
                step: PaymentStep::Refused,
                amount_sats: amount.map_or(0, |invoice| invoice.amount_sats()),
                why: error.code(),
            });
        }
        outcome
    }

    async fn take(&self, wish: &Wish<'_>) -> Result<Payment, PayError> {
        let options = &self.inner.options;
        let lnbits = self.permitted()?;
        let memo = wish.memo.map(str::trim);
        if memo.is_some_and(|memo| !is_memo(memo)) {
            return Err(PayError::Memo);
        }
        let invoice = Invoice::read(wish.bolt11, options.network)?;
        let amount_sats = invoice.amount_sats();
        if let Some(wanted_sats) = wish.amount_sats
            && wanted_sats != amount_sats
        {
            return Err(PayError::AmountMismatch {
                invoice_sats: amount_sats,
                wanted_sats,
            });
        }
        let store = &self.inner.store;
        if let Some(known) = store.payment_by_hash(invoice.payment_hash()).await? {
            return join(known, &invoice);
        }
        let now_ms = self.now_ms();
        if invoice.expires_before(now_ms, options.expiry_margin) {
            return Err(InvoiceError::Expired.into());
        }
        let fee_limit_sats = options.fees.limit_sats(invoice.amount_msat());
        let needed_sats = amount_sats.saturating_add(fee_limit_sats);
        let record = PaymentRecord {
            id: format!("pay_{}", random()?),
            payment_hash: invoice.payment_hash().to_owned(),
            invoice: invoice.text().to_owned(),
            invoice_sha256: invoice.sha256(),
            invoice_shown: invoice.shown(),
            invoice_expires_ms: invoice.expires_ms(),
            memo: memo.map(str::to_owned),
            requester: wish.requester.to_owned(),
            backend: lnbits.mark().to_owned(),
            amount_msat: kept(invoice.amount_msat()),
            fee_limit_sats: kept(fee_limit_sats),
            fee_msat: 0,
            confirm: amount_sats > options.threshold_sats,
            day: options.zone.day(now_ms),
            counted_sats: kept(needed_sats),
            state: State::Requested.as_str().to_owned(),
            why: String::new(),
            approval_id: String::new(),
            sender: String::new(),
            created_ms: now_ms,
            changed_ms: now_ms,
        };
        // Nobody else in this process touches it before the owner is asked.
        let turn = self.turn(&record.id);
        let limit = kept(options.daily_limit_sats);
        match store.reserve_payment(record.clone(), limit).await? {
            Reserved::Kept => mark("reserved"),
            Reserved::Known(known) => return join(*known, &invoice),
            Reserved::Full { counted_sats } => {
                return Err(PayError::DailyLimit {
                    needed_sats,
                    left_sats: options.daily_limit_sats.saturating_sub(whole(counted_sats)),
                });
            }
        }
        let id = record.id.clone();
        if let Err(error) = self.ask_owner(&record).await {
            // Nobody was asked, so the same invoice may be tried again.
            store.forget_payment(&id, State::Requested.as_str()).await?;
            return Err(error);
        }
        drop(turn);
        self.wake();
        let record = store.payment(&id).await?.ok_or(StoreError::Corrupt)?;
        Ok(Payment::of(record))
    }

    /// The wallet, if it may spend.
    pub(crate) fn permitted(&self) -> Result<&Lnbits, PayError> {
        match self.mode() {
            Mode::Disabled => Err(PayError::Disabled),
            Mode::Incomplete(missing) => Err(PayError::Incomplete(missing)),
            Mode::ReceiveOnly => Err(PayError::ReceiveOnly),
            Mode::ApprovalGated => self.inner.lnbits.as_ref().ok_or(PayError::Disabled),
        }
    }

    /// What the owner is asked: the same words for the same payment, so that the answer can be held against it.
    pub(crate) fn ask_of(&self, record: &PaymentRecord) -> Result<Ask, InvoiceError> {
        let invoice = Invoice::read(&record.invoice, self.inner.options.network)?;
        let amount_sats = sats(record.amount_msat);
        let mut ask = Ask::new(Action::Payment, REASON, &record.requester)
            .with("amount_sats", Value::Number(kept(amount_sats)))
            .with("invoice", Value::Secret(record.invoice.clone()))
            .with("fees_up_to_sats", Value::Number(record.fee_limit_sats))
            .with("payee", Value::Text(invoice.payee()));
        if !invoice.description().is_empty() {
            ask = ask.with("payee_says", Value::Text(invoice.description().to_owned()));
        }
        if let Some(memo) = &record.memo {
            ask = ask.with("agent_says", Value::Text(memo.clone()));
        }
        ask.confirm = record.confirm.then_some(amount_sats);
        Ok(ask)
    }
}

/// The same invoice is the same payment; another one with its hash is a trick.
fn join(known: PaymentRecord, invoice: &Invoice) -> Result<Payment, PayError> {
    if known.invoice_sha256 == invoice.sha256() {
        Ok(Payment::of(known))
    } else {
        Err(PayError::Conflict)
    }
}

fn is_memo(memo: &str) -> bool {
    let count = memo.chars().count();
    (1..=MAX_MEMO).contains(&count) && !memo.chars().any(char::is_control)
}

/// Sixteen characters that nobody guesses.
pub(crate) fn random() -> Result<String, PayError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|_| PayError::NoRandom)?;
    Ok(hex(&bytes))
}
