//! Why something was not asked for, awaited or found out.

use crate::invoice::InvoiceError;
use blastshield_owner::AskError;
use blastshield_store::StoreError;

/// A payment was not taken; nothing is set aside and nobody was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayError {
    /// There is no wallet.
    #[error("no wallet is configured")]
    Disabled,
    /// The wallet lacks settings.
    #[error("the wallet may not be used until these are set: {}", .0.join(", "))]
    Incomplete(Vec<String>),
    /// The wallet cannot spend.
    #[error("the wallet can only receive")]
    ReceiveOnly,
    /// The invoice cannot be paid.
    #[error(transparent)]
    Invoice(#[from] InvoiceError),
    /// The requester expects another amount.
    #[error("the invoice asks for {invoice_sats} sats, not for {wanted_sats}")]
    AmountMismatch {
        /// What the invoice says.
        invoice_sats: u64,
        /// What the requester says.
        wanted_sats: u64,
    },
    /// The day has no room for it.
    #[error(
        "with fees this may come to {needed_sats} sats, and the daily limit leaves {left_sats}"
    )]
    DailyLimit {
        /// Amount and fees.
        needed_sats: u64,
        /// What is left.
        left_sats: u64,
    },
    /// Another invoice with the same payment hash is known.
    #[error("another invoice with the same payment hash is known; ask the payee for a new one")]
    Conflict,
    /// The memo is empty, too long or not plain text.
    #[error(
        "the memo must have 1 to {} characters without control characters",
        crate::MAX_MEMO
    )]
    Memo,
    /// The owner could not be asked.
    #[error(transparent)]
    Owner(#[from] AskError),
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no random numbers.
    #[error("no random id could be made")]
    NoRandom,
}

impl PayError {
    /// The word on the wire.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Disabled | Self::Incomplete(_) => "wallet_disabled",
            Self::ReceiveOnly => "receive_only",
            Self::Invoice(InvoiceError::Invalid) => "invoice_invalid",
            Self::Invoice(InvoiceError::Network(_)) => "network_mismatch",
            Self::Invoice(InvoiceError::AmountMissing) => "amount_missing",
            Self::Invoice(InvoiceError::Expired) => "invoice_expired",
            Self::AmountMismatch { .. } => "amount_mismatch",
            Self::DailyLimit { .. } => "daily_limit",
            Self::Conflict => "invoice_conflict",
            Self::Memo => "bad_request",
            Self::Owner(_) => "owner_not_asked",
            Self::Store(_) => "store",
            Self::NoRandom => "internal",
        }
    }
}

/// A payment could not be awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// There is no such payment.
    #[error("there is no payment with this id")]
    Unknown,
    /// Too many wait already.
    #[error("too many wait for payments; ask again without waiting")]
    TooMany,
    /// The store cannot say.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The owner's word changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no such payment.
    #[error("there is no payment with this id")]
    Unknown,
    /// Its outcome is not open.
    #[error("the payment is {}; only one whose outcome is unknown can be settled by hand", .0.as_str())]
    NotOpen(crate::State),
    /// Somebody works on it at this moment.
    #[error("the payment is being looked at; try again in a moment")]
    Busy,
    /// The owner's word could not be written to the audit log.
    #[error("this could not be recorded, so nothing changed")]
    Unrecorded,
    /// The store cannot say.
    #[error(transparent)]
    Store(#[from] StoreError),
}
