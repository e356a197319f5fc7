//! The wallet of this gateway, built from the settings, and the driver that goes on with payments by itself.

use crate::error::ApiError;
use crate::guard::Guard;
use crate::owner::Owner;
use crate::state::App;
use axum::http::StatusCode;
use blastshield_audit::SystemClock;
use blastshield_config::{Secret, Settings, WalletNetwork, WalletSettings};
use blastshield_requirements::{Requirements, SchemaError};
use blastshield_store::Store;
use blastshield_upstream::{self as upstream, Lnbits, LnbitsOptions};
use blastshield_wallet::{
    Fees, MAX_MEMO, Mode, Network, Options, PayError, ResolveError, Running, WaitError, Wallet,
    Zone, ZoneError,
};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Time that a payment under way has to end at shutdown. What is cut off is looked up after the next start.
const GRACE: Duration = Duration::from_secs(5);

/// No such payment.
pub(crate) const UNKNOWN: ApiError = ApiError::NotFound("there is no payment with this id");

/// The wallet cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalletError {
    /// The time zone.
    #[error("wallet.time_zone: {0}")]
    Zone(#[from] ZoneError),
    /// LNbits.
    #[error("the wallet: {0}")]
    Lnbits(#[from] upstream::ConfigError),
    /// The requirements.
    #[error("the wallet's requirements cannot be used: {0}")]
    Schema(#[from] SchemaError),
}

/// The wallet and whoever drives it.
pub(crate) struct Purse {
    wallet: Wallet,
    running: Mutex<Option<Running>>,
}

impl Purse {
    /// Opens the wallet. Nothing is sent before [`Purse::start`].
    pub(crate) fn open(
        settings: &Settings,
        guard: &Guard,
        owner: &Owner,
        store: &Store,
    ) -> Result<Self, WalletError> {
        let options = options(&settings.wallet)?;
        let wallet = Wallet::new(
            store.clone(),
            owner.approvals().clone(),
            guard.recorder(),
            Arc::new(SystemClock),
            lnbits(&settings.wallet, &options.mode)?,
            options,
        );
        Ok(Self {
            wallet,
            running: Mutex::default(),
        })
    }

    pub(crate) fn wallet(&self) -> &Wallet {
        &self.wallet
    }

    /// Starts to drive payments. For the one process that serves.
    pub(crate) fn start(&self, app: &Arc<App>) {
        // What the environment stops to hold while this runs counts at once; what only the file of settings holds is not
        // in the environment, and not missed there.
        if Mode::of(&app.owner.requirements()) == Mode::ApprovalGated {
            let app: Weak<App> = Arc::downgrade(app);
            self.wallet.narrow_by(move || {
                app.upgrade()
                    .map_or(Mode::Disabled, |app| Mode::of(&app.owner.requirements()))
            });
        }
        *self.running() = Some(self.wallet.start());
    }

    pub(crate) async fn close(&self) {
        let running = self.running().take();
        if let Some(running) = running {
            running.stop(GRACE).await;
        }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn options(settings: &WalletSettings) -> Result<Options, WalletError> {
    Ok(Options {
        mode: mode(settings)?,
        network: match settings.network {
            WalletNetwork::Mainnet => Network::Mainnet,
            WalletNetwork::Testnet => Network::Testnet,
            WalletNetwork::Signet => Network::Signet,
            WalletNetwork::Regtest => Network::Regtest,
        },
        // Without limits the mode is none that spends.
        daily_limit_sats: settings.daily_limit_sats.unwrap_or(0),
        threshold_sats: settings.approval_threshold_sats.unwrap_or(0),
        zone: settings.time_zone.parse::<Zone>()?,
        fees: Fees {
            basis_points: settings.fee_basis_points,
            at_least_sats: settings.fee_min_sats,
        },
        ..Options::default()
    })
}

/// What the requirements make of the settings, wherever these come from.
fn mode(settings: &WalletSettings) -> Result<Mode, WalletError> {
    let key = |key: &Option<Secret>| key.as_ref().map(|key| key.reveal().to_owned());
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let report = Requirements::shipped()?.check(|name| match name {
        "LNBITS_URL" => settings.lnbits_url.as_ref().map(ToString::to_string),
        "LNBITS_ADMIN_KEY" => key(&settings.admin_key),
        "LNBITS_INVOICE_KEY" => key(&settings.invoice_key),
        "WALLET_DAILY_LIMIT_SATS" => number(settings.daily_limit_sats),
        "WALLET_APPROVAL_THRESHOLD_SATS" => number(settings.approval_threshold_sats),
        _ => None,
    });
    Ok(Mode::of(&report))
}

fn lnbits(settings: &WalletSettings, mode: &Mode) -> Result<Option<Lnbits>, WalletError> {
    let key = match mode {
        Mode::ApprovalGated => &settings.admin_key,
        Mode::ReceiveOnly => &settings.invoice_key,
        Mode::Disabled | Mode::Incomplete(_) => return Ok(None),
    };
    let (Some(url), Some(key)) = (&settings.lnbits_url, key) else {
        return Ok(None);
    };
    let lnbits = Lnbits::new(LnbitsOptions {
        base: url.as_str().parse()?,
        key: upstream::Secret::new(key.reveal()),
        timeout: settings.timeout,
        pay_timeout: settings.pay_timeout,
    })?;
    Ok(Some(lnbits))
}

impl From<PayError> for ApiError {
    fn from(error: PayError) -> Self {
        let (status, details) = match &error {
            PayError::Memo => {
                let message = format!("the memo must have 1 to {MAX_MEMO} characters in one line");
                return Self::field("memo", message);
            }
            PayError::Owner(refused) => return (*refused).into(),
            PayError::Store(error) => return (*error).into(),
            PayError::NoRandom => return Self::Internal,
            PayError::Incomplete(missing) => {
                (StatusCode::FORBIDDEN, Some(json!({"missing": missing})))
            }
            PayError::Disabled | PayError::ReceiveOnly => (StatusCode::FORBIDDEN, None),
            PayError::DailyLimit {
                needed_sats,
                left_sats,
            } => (
                StatusCode::FORBIDDEN,
                Some(json!({"needed_sats": needed_sats, "left_sats": left_sats})),
            ),
            PayError::Conflict => (StatusCode::CONFLICT, None),
            PayError::Invoice(_) => (StatusCode::BAD_REQUEST, Some(json!({"field": "bolt11"}))),
            PayError::AmountMismatch { invoice_sats, .. } => (
                StatusCode::BAD_REQUEST,
                Some(json!({"field": "amount_sats", "invoice_sats": invoice_sats})),
            ),
        };
        Self::Refused {
            status,
            code: error.code(),
            message: error.to_string(),
            details,
        }
    }
}

impl From<WaitError> for ApiError {
    fn from(error: WaitError) -> Self {
        match error {
            WaitError::Unknown => UNKNOWN,
            WaitError::TooMany => {
                Self::TooMany("too many wait for payments; ask again without waiting")
            }
            WaitError::Store(error) => error.into(),
        }
    }
}

impl From<ResolveError> for ApiError {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::Unknown => UNKNOWN,
            ResolveError::NotOpen(_) => Self::Conflict {
                code: "not_unknown",
                message: error.to_string(),
            },
            ResolveError::Busy => Self::Busy("the payment is being looked at; try again"),
            ResolveError::Unrecorded => Self::Busy("this could not be recorded; try again"),
            ResolveError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blastshield_config::Values;

    fn settings(variables: &[(&str, &str)]) -> WalletSettings {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let values = Values::read(None, variables.iter().map(owned)).unwrap();
        Settings::from_values(&values).unwrap().wallet
    }

    #[test]
    fn the_mode_follows_from_the_settings() {
        let key = "0123456789abcdef".repeat(2);
        let full = [
            ("LNBITS_URL", "http://127.0.0.1:5000"),
            ("LNBITS_ADMIN_KEY", &*key),
            ("WALLET_DAILY_LIMIT_SATS", "0"),
            ("WALLET_APPROVAL_THRESHOLD_SATS", "0"),
        ];
        assert_eq!(mode(&settings(&[])), Ok(Mode::Disabled));
        assert_eq!(mode(&settings(&full)), Ok(Mode::ApprovalGated));
        let Ok(Mode::Incomplete(missing)) = mode(&settings(&full[..3])) else {
            panic!("spends without a threshold");
        };
        assert_eq!(missing, ["WALLET_APPROVAL_THRESHOLD_SATS"]);
        let mut plain = full;
        plain[0].1 = "http://lnbits.example";
        assert_eq!(mode(&settings(&plain)).unwrap().missing(), ["LNBITS_URL"]);
        let receive = [full[0], ("LNBITS_INVOICE_KEY", &*key)];
        assert_eq!(mode(&settings(&receive)), Ok(Mode::ReceiveOnly));
    }

    #[test]
    fn an_unknown_time_zone_stops_the_start() {
        let moon = settings(&[("BLASTSHIELD_WALLET_TIME_ZONE", "Moon/Tycho")]);
        assert_eq!(options(&moon), Err(WalletError::Zone(ZoneError)));
    }
}
