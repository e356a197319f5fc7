//! A payment as others see it.
//!
//! requested → asked → approved → sending → paid | failed | unknown. The owner's no ends it as denied, silence as expired;
//! what cannot be sent any more fails before it is sent. Unknown becomes paid or failed by looking, or by the owner's word;
//! nothing goes back.

use blastshield_store::PaymentRecord;

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Its sats are set aside; the owner is about to be asked.
    Requested,
    /// The owner is asked.
    Asked,
    /// The owner said yes, and that yes is used up for this payment.
    Approved,
    /// It is about to be sent, or was: from here on it is only looked at.
    Sending,
    /// It went out.
    Paid,
    /// It did not go out and will not.
    Failed,
    /// The owner said no.
    Denied,
    /// The owner did not answer in time.
    Expired,
    /// Nobody can say whether it went out. Its sats stay set aside.
    Unknown,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Requested,
        Self::Asked,
        Self::Approved,
        Self::Sending,
        Self::Paid,
        Self::Failed,
        Self::Denied,
        Self::Expired,
        Self::Unknown,
    ];

    /// The word on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Asked => "asked",
            Self::Approved => "approved",
            Self::Sending => "sending",
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Unknown => "unknown",
        }
    }

    /// What the store says; a word that is not known is no state that moves.
    pub(crate) fn parse(word: &str) -> Self {
        let known = Self::ALL.into_iter().find(|state| state.as_str() == word);
        known.unwrap_or(Self::Unknown)
    }

    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(
            self,
            Self::Paid | Self::Failed | Self::Denied | Self::Expired
        )
    }
}

/// The owner's word on what nobody else can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It went out.
    Paid,
    /// It did not.
    Failed,
}

/// A payment and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Its name.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// Why, in a word; empty when there is nothing to say.
    pub why: String,
    /// What of the invoice may be shown.
    pub invoice: String,
    /// What the network knows it by.
    pub payment_hash: String,
    /// How much, in whole sats.
    pub amount_sats: u64,
    /// The most that may come on top.
    pub fee_limit_sats: u64,
    /// What came on top, once paid.
    pub fee_sats: Option<u64>,
    /// What it takes from its day's limit.
    pub counted_sats: u64,
    /// That day.
    pub day: String,
    /// What the requester says that it is for.
    pub memo: Option<String>,
    /// The request to the owner.
    pub approval_id: Option<String>,
    /// Whether the owner has to repeat the amount.
    pub must_confirm: bool,
    /// From when on the invoice cannot be paid, in milliseconds since the epoch.
    pub expires_ms: i64,
    /// When it was asked for.
    pub created_ms: i64,
    /// When it got where it stands.
    pub changed_ms: i64,
}

impl Payment {
    pub(crate) fn of(record: PaymentRecord) -> Self {
        let state = State::parse(&record.state);
        Self {
            amount_sats: sats(record.amount_msat),
            fee_limit_sats: whole(record.fee_limit_sats),
            fee_sats: (state == State::Paid).then(|| sats(record.fee_msat)),
            counted_sats: whole(record.counted_sats),
            state,
            why: record.why,
            invoice: record.invoice_shown,
            payment_hash: record.payment_hash,
            day: record.day,
            memo: record.memo,
            approval_id: Some(record.approval_id).filter(|id| !id.is_empty()),
            must_confirm: record.confirm,
            expires_ms: record.invoice_expires_ms,
            created_ms: record.created_ms,
            changed_ms: record.changed_ms,
            id: record.id,
        }
    }
}

/// Whole sats; a part of one counts as one.
pub(crate) fn sats(msat: i64) -> u64 {
    whole(msat).div_ceil(1000)
}

pub(crate) fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A number for the store.
pub(crate) fn kept(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
