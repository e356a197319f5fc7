//! How the wallet stands: what it may do, what today's payments come to, and what it holds.

use crate::payment::whole;
use crate::{Mode, Wallet};
use blastshield_store::StoreError;
use blastshield_upstream::Lnbits;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a balance is told again without asking LNbits.
const BALANCE_FOR: Duration = Duration::from_secs(5);
/// A status does not wait longer than this for the balance.
const BALANCE_WITHIN: Duration = Duration::from_secs(3);

/// How the wallet stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it may do.
    pub mode: Mode,
    /// Today, where the owner lives.
    pub day: String,
    /// Paid today, with fees.
    pub spent_sats: u64,
    /// Set aside for payments that are open or whose outcome is unknown.
    pub reserved_sats: u64,
    /// The most that a day's payments may come to.
    pub limit_sats: u64,
    /// Over this amount the owner repeats the amount.
    pub threshold_sats: u64,
    /// What the wallet holds, if LNbits says.
    pub balance_sats: Option<u64>,
}

impl Status {
    /// What may still be spent today.
    #[must_use]
    pub fn left_sats(&self) -> u64 {
        let used = self.spent_sats.saturating_add(self.reserved_sats);
        self.limit_sats.saturating_sub(used)
    }
}

impl Wallet {
    /// How the wallet stands, and what LNbits says that it holds.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn status(&self) -> Result<Status, StoreError> {
        let mut status = self.today().await?;
        status.balance_sats = self.balance().await;
        Ok(status)
    }

    /// How the wallet stands as far as is known here; LNbits is not asked.
    ///
    /// # Errors
    /// When the store cannot say.
    pub async fn today(&self) -> Result<Status, StoreError> {
        let options = &self.inner.options;
        let day = options.zone.day(self.now_ms());
        let sum = self.inner.store.payments_on(&day).await?;
        Ok(Status {
            mode: self.mode(),
            day,
            spent_sats: whole(sum.spent_sats),
            reserved_sats: whole(sum.reserved_sats),
            limit_sats: options.daily_limit_sats,
            threshold_sats: options.threshold_sats,
            balance_sats: None,
        })
    }

    async fn balance(&self) -> Option<u64> {
        let lnbits = self.inner.lnbits.as_ref()?;
        timeout(BALANCE_WITHIN, self.balance_of(lnbits))
            .await
            .ok()
            .flatten()
    }

    async fn balance_of(&self, lnbits: &Lnbits) -> Option<u64> {
        let mut known = self.inner.balance.lock().await;
        if let Some((at, balance)) = *known
            && at.elapsed() < BALANCE_FOR
        {
            return balance;
        }
        let balance = match lnbits.balance_msat().await {
            // Part of a sat is not there to be spent.
            Ok(msat) => Some(whole(msat) / 1000),
            Err(error) => {
                tracing::warn!(target: "upstream", dependency = "lnbits", %error, "the balance is not known");
                None
            }
        };
        *known = Some((Instant::now(), balance));
        balance
    }
}
