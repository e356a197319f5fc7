//! Payments and what they take from a day's limit.
//!
//! A day's sum is checked and added to in one transaction, and a payment moves from one state to the next only if it is
//! still in the former: of any number of movers one wins.

use crate::{
    Store, StoreError,
    backend::{Arg, Row},
    bounds::is_id,
    owner::text,
    writer::Work,
};
use std::fmt;

const MAX_LABEL: usize = 256;
const MAX_INVOICE: usize = 8 << 10;
const MAX_MEMO: usize = 2 << 10;
const MAX_LIST: u32 = 500;

/// Taken before a sum is looked at. PostgreSQL holds the row until the commit; SQLite has one writer anyway.
const TURN: &str = "UPDATE wallet_turn SET turn = turn + 1 WHERE id = $1";

/// A payment as it is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct PaymentRecord {
    /// Unique.
    pub id: String,
    /// Unique too: what the invoice is known by in the network, in hexadecimal.
    pub payment_hash: String,
    /// The invoice; empty once the payment is over.
    pub invoice: String,
    /// Its hash.
    pub invoice_sha256: String,
    /// What of it may be shown.
    pub invoice_shown: String,
    /// From when on it cannot be paid, in milliseconds since the epoch.
    pub invoice_expires_ms: i64,
    /// What the requester says that it is for.
    pub memo: Option<String>,
    /// Whose request it is.
    pub requester: String,
    /// From which wallet it is paid: a mark, not a key.
    pub backend: String,
    /// How much the invoice asks for.
    pub amount_msat: i64,
    /// The most that may come on top.
    pub fee_limit_sats: i64,
    /// What came on top, once paid.
    pub fee_msat: i64,
    /// Whether the owner has to repeat the amount.
    pub confirm: bool,
    /// The calendar day that it counts for.
    pub day: String,
    /// What it takes from that day's limit.
    pub counted_sats: i64,
    /// Where it stands.
    pub state: String,
    /// Why, in a word; empty when there is nothing to say.
    pub why: String,
    /// The request to the owner; empty before.
    pub approval_id: String,
    /// Who began to send it; empty before.
    pub sender: String,
    /// When it was asked for, in milliseconds since the epoch.
    pub created_ms: i64,
    /// When it got where it stands.
    pub changed_ms: i64,
}

impl fmt::Debug for PaymentRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaymentRecord")
            .field("id", &self.id)
            .field("invoice", &self.invoice_shown)
            .field("state", &self.state)
            .field("why", &self.why)
            .field("counted_sats", &self.counted_sats)
            .finish_non_exhaustive()
    }
}

/// What became of a wish to pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// It is kept, and its sats are set aside.
    Kept,
    /// This payment hash is known: nothing changed.
    Known(Box<PaymentRecord>),
    /// The day has no room for it.
    Full {
        /// What the day's payments take already.
        counted_sats: i64,
    },
}

/// A step of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentStep<'a> {
    /// Which payment.
    pub id: &'a str,
    /// Where it must still be.
    pub from: &'a str,
    /// Where it goes.
    pub to: &'a str,
    /// Why.
    pub why: &'a str,
    /// The request to the owner.
    pub approval_id: &'a str,
    /// What it takes from its day's limit from now on.
    pub counted_sats: i64,
    /// What came on top.
    pub fee_msat: i64,
    /// Whether it is over, so that its invoice is no longer needed.
    pub over: bool,
    /// When.
    pub now_ms: i64,
}

/// What a day's payments come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DaySum {
    /// Paid, with fees.
    pub spent_sats: i64,
    /// Set aside for payments that are not over, or whose outcome is unknown.
    pub reserved_sats: i64,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, payment_hash, invoice, invoice_sha256, invoice_shown, invoice_expires_ms, memo, requester, \
             backend, amount_msat, fee_limit_sats, fee_msat, confirm, day, counted_sats, state, why, approval_id, \
             sender, created_ms, changed_ms FROM payments ",
            $rest
        )
    };
}

impl Store {
    /// Keeps a payment and sets its sats aside, if its day has room for them and its hash is not known. `Ok` means on disk.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] names a field out of bounds. When the database cannot be written, look by the hash whether
    /// it was.
    pub async fn reserve_payment(
        &self,
        record: PaymentRecord,
        limit_sats: i64,
    ) -> Result<Reserved, StoreError> {
        const SQL: &str = "INSERT INTO payments (id, payment_hash, invoice, invoice_sha256, invoice_shown, \
            invoice_expires_ms, memo, requester, backend, amount_msat, fee_limit_sats, fee_msat, confirm, day, \
            counted_sats, state, why, approval_id, sender, created_ms, changed_ms) \
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $13, $14, $15, '', '', '', $16, $16 \
            WHERE (SELECT COALESCE(SUM(counted_sats), 0) FROM payments WHERE day = $13) <= $17 - $14 \
            ON CONFLICT (payment_hash) DO NOTHING";
        check(&record)?;
        let (id, hash, day) = (
            record.id.clone(),
            record.payment_hash.clone(),
            record.day.clone(),
        );
        let args = vec![
            text(record.id),
            text(record.payment_hash),
            text(record.invoice),
            text(record.invoice_sha256),
            text(record.invoice_shown),
            Arg::Int(record.invoice_expires_ms),
            Arg::MaybeText(record.memo.map(Into::into)),
            text(record.requester),
            text(record.backend),
            Arg::Int(record.amount_msat),
            Arg::Int(record.fee_limit_sats),
            Arg::Int(record.confirm.into()),
            text(record.day),
            Arg::Int(record.counted_sats),
            text(record.state),
            Arg::Int(record.created_ms),
            Arg::Int(limit_sats),
        ];
        let work = Work::Statements(vec![(TURN, vec![Arg::Int(1)]), (SQL, args)]);
        self.submit(work, 4096).await?;
        match self.payment_by_hash(&hash).await? {
            Some(kept) if kept.id == id => Ok(Reserved::Kept),
            Some(known) => Ok(Reserved::Known(Box::new(known))),
            None => {
                let sum = self.payments_on(&day).await?;
                Ok(Reserved::Full {
                    counted_sats: sum.spent_sats.saturating_add(sum.reserved_sats),
                })
            }
        }
    }

    /// Forgets a payment for which nobody was asked: whether it was there.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn forget_payment(&self, id: &str, state: &str) -> Result<bool, StoreError> {
        const SQL: &str = "DELETE FROM payments WHERE id = $1 AND state = $2 AND approval_id = ''";
        self.change(SQL, vec![text(id.to_owned()), text(state.to_owned())])
            .await
    }

    /// Moves a payment on if it is where it is thought to be: whether this call moved it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn move_payment(&self, step: PaymentStep<'_>) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE payments SET state = $3, why = $4, approval_id = $5, counted_sats = $6, \
            fee_msat = $7, changed_ms = $8, invoice = CASE WHEN $9 = 1 THEN '' ELSE invoice END \
            WHERE id = $1 AND state = $2";
        let args = vec![
            text(step.id.to_owned()),
            text(step.from.to_owned()),
            text(step.to.to_owned()),
            text(step.why.to_owned()),
            text(step.approval_id.to_owned()),
            Arg::Int(step.counted_sats),
            Arg::Int(step.fee_msat),
            Arg::Int(step.now_ms),
            Arg::Int(step.over.into()),
        ];
        self.change(SQL, args).await
    }

    /// Moves a payment from `from` to `to` in the name of `sender`, if the day on which that happens has room for it:
    /// whether this call moved it. `sender` must be a name that no other call has.
    ///
    /// # Errors
    /// When the database cannot be written; then nobody may send.
    pub async fn send_payment(
        &self,
        (id, from, to): (&str, &str, &str),
        sender: &str,
        (day, limit_sats): (&str, i64),
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE payments SET state = $3, why = '', sender = $4, day = $5, changed_ms = $7 \
            WHERE id = $1 AND state = $2 AND sender = '' AND counted_sats + (SELECT COALESCE(SUM(other.counted_sats), 0) \
            FROM payments AS other WHERE other.day = $5 AND other.id <> $1) <= $6";
        let args = vec![
            text(id.to_owned()),
            text(from.to_owned()),
            text(to.to_owned()),
            text(sender.to_owned()),
            text(day.to_owned()),
            Arg::Int(limit_sats),
            Arg::Int(now_ms),
        ];
        let work = Work::Statements(vec![(TURN, vec![Arg::Int(1)]), (SQL, args)]);
        self.submit(work, 1024).await?;
        let kept = self.payment(id).await?;
        Ok(kept.is_some_and(|kept| kept.state == to && kept.sender == sender))
    }

    /// One payment.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn payment(&self, id: &str) -> Result<Option<PaymentRecord>, StoreError> {
        if !is_id(id) {
            return Ok(None);
        }
        let rows = self
            .read(select!("WHERE id = $1"), vec![Arg::text(id)])
            .await?;
        rows.first().map(payment).transpose()
    }

    /// The payment of an invoice.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn payment_by_hash(&self, hash: &str) -> Result<Option<PaymentRecord>, StoreError> {
        let rows = self
            .read(select!("WHERE payment_hash = $1"), vec![Arg::text(hash)])
            .await?;
        rows.first().map(payment).transpose()
    }

    /// Payments, newest first; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn payments(&self, limit: u32) -> Result<Vec<PaymentRecord>, StoreError> {
        let sql = select!("ORDER BY created_ms DESC, id LIMIT $1");
        let args = vec![Arg::Int(limit.min(MAX_LIST).into())];
        self.read(sql, args).await?.iter().map(payment).collect()
    }

    /// Payments that are not over, from after `after` on in the order in which they were made; 500 at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn open_payments(
        &self,
        after: (i64, &str),
    ) -> Result<Vec<PaymentRecord>, StoreError> {
        let sql = select!(
            "WHERE state IN ('requested', 'asked', 'approved', 'sending', 'unknown') \
             AND (created_ms, id) > ($1, $2) ORDER BY created_ms, id LIMIT 500"
        );
        let args = vec![Arg::Int(after.0), Arg::text(after.1)];
        self.read(sql, args).await?.iter().map(payment).collect()
    }

    /// What the payments of a day come to.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn payments_on(&self, day: &str) -> Result<DaySum, StoreError> {
        const SQL: &str = "SELECT CAST(COALESCE(SUM(CASE WHEN state = 'paid' THEN counted_sats ELSE 0 END), 0) AS BIGINT), \
            CAST(COALESCE(SUM(CASE WHEN state = 'paid' THEN 0 ELSE counted_sats END), 0) AS BIGINT) \
            FROM payments WHERE day = $1";
        let rows = self.read(SQL, vec![Arg::text(day)]).await?;
        let row = rows.first().ok_or(StoreError::Corrupt)?;
        Ok(DaySum {
            spent_sats: row.int(0)?,
            reserved_sats: row.int(1)?,
        })
    }
}

fn check(record: &PaymentRecord) -> Result<(), StoreError> {
    if !is_id(&record.id) {
        return Err(StoreError::Invalid("id"));
    }
    for (field, text, limit) in [
        ("payment_hash", &record.payment_hash, MAX_LABEL),
        ("invoice", &record.invoice, MAX_INVOICE),
        ("invoice_sha256", &record.invoice_sha256, MAX_LABEL),
        ("invoice_shown", &record.invoice_shown, MAX_LABEL),
        ("requester", &record.requester, MAX_LABEL),
        ("backend", &record.backend, MAX_LABEL),
        ("day", &record.day, MAX_LABEL),
        ("state", &record.state, MAX_LABEL),
    ] {
        within(field, text, limit)?;
    }
    if let Some(memo) = &record.memo {
        within("memo", memo, MAX_MEMO)?;
    }
    for (field, number) in [
        ("amount_msat", record.amount_msat),
        ("counted_sats", record.counted_sats),
        ("fee_limit_sats", record.fee_limit_sats),
    ] {
        if number < 0 {
            return Err(StoreError::Invalid(field));
        }
    }
    Ok(())
}

fn within(field: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    if text.is_empty() || text.len() > limit || text.contains('\0') {
        return Err(StoreError::Invalid(field));
    }
    Ok(())
}

fn payment(row: &Row) -> Result<PaymentRecord, StoreError> {
    Ok(PaymentRecord {
        id: row.text(0)?,
        payment_hash: row.text(1)?,
        invoice: row.text(2)?,
        invoice_sha256: row.text(3)?,
        invoice_shown: row.text(4)?,
        invoice_expires_ms: row.int(5)?,
        memo: row.maybe_text(6)?,
        requester: row.text(7)?,
        backend: row.text(8)?,
        amount_msat: row.int(9)?,
        fee_limit_sats: row.int(10)?,
        fee_msat: row.int(11)?,
        confirm: row.int(12)? != 0,
        day: row.text(13)?,
        counted_sats: row.int(14)?,
        state: row.text(15)?,
        why: row.text(16)?,
        approval_id: row.text(17)?,
        sender: row.text(18)?,
        created_ms: row.int(19)?,
        changed_ms: row.int(20)?,
    })
}
