//! What holds between an agent that wants to pay, an owner who decides, and an LNbits that fails in every way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

mod crashes;
mod faults;
mod limits;
mod lnbits;
mod paying;
mod refusals;

use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::secp256k1::{Secp256k1, SecretKey};
use blastshield_audit::{Clock, Event, Time};
use blastshield_leak::Scanner;
use blastshield_owner::{self as owner, Approvals, Recorder, Reply, Scope, Unrecorded, Verdict};
use blastshield_store::{Store, StoreOptions};
use blastshield_upstream::{Lnbits, LnbitsOptions, Secret};
use blastshield_wallet::{Mode, Options, Pace, Payment, Running, State, Wallet, Wish, Zone};
use lightning_invoice::{Currency, InvoiceBuilder, PaymentSecret};
use lnbits::{Fake, KEY};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// 16 November 2026, noon in UTC.
pub(crate) const START_MS: u64 = 1_794_830_400_000;
const HOUR: Duration = Duration::from_secs(3600);

/// Events as text, and whether the disk takes them.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    pub(crate) broken: AtomicBool,
}

impl Recorder for Log {
    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(Unrecorded);
        }
        self.lines.lock().unwrap().push(format!("{event:?}"));
        Ok(())
    }
}

impl Log {
    pub(crate) fn count(&self, words: &[&str]) -> usize {
        let lines = self.lines.lock().unwrap();
        lines
            .iter()
            .filter(|line| words.iter().all(|word| line.contains(word)))
            .count()
    }

    pub(crate) fn all(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}

/// A folder, a clock to turn, an LNbits to disturb, and what was recorded.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<AtomicU64>,
    pub(crate) log: Arc<Log>,
    pub(crate) fake: Fake,
    pub(crate) options: Options,
    pub(crate) owner: owner::Options,
}

/// One life of a process.
pub(crate) struct Life {
    pub(crate) store: Store,
    pub(crate) approvals: Approvals,
    pub(crate) wallet: Wallet,
    running: Option<Running>,
}

impl Life {
    pub(crate) async fn end(mut self) {
        if let Some(running) = self.running.take() {
            running.stop(Duration::from_secs(5)).await;
        }
        self.store.close().await;
    }
}

pub(crate) fn options() -> Options {
    Options {
        mode: Mode::ApprovalGated,
        daily_limit_sats: 100_000,
        threshold_sats: 1_000,
        zone: "Europe/Vienna".parse::<Zone>().unwrap(),
        pace: Pace {
            poll: Duration::from_millis(10),
            idle: Duration::from_millis(20),
            slowest: Duration::from_millis(40),
            adopt_after: Duration::ZERO,
            grace: Duration::from_millis(100),
        },
        max_waiting: 2000,
        ..Options::default()
    }
}

pub(crate) fn client(base: &str, key: &str) -> Lnbits {
    Lnbits::new(LnbitsOptions {
        base: base.parse().unwrap(),
        key: Secret::new(key),
        timeout: Duration::from_millis(500),
        pay_timeout: Duration::from_millis(500),
    })
    .unwrap()
}

pub(crate) async fn live(
    folder: &Path,
    lnbits: Lnbits,
    log: Arc<dyn Recorder>,
    clock: Arc<dyn Clock>,
    options: &Options,
    owner: owner::Options,
) -> Life {
    let store = Store::open(StoreOptions::sqlite(folder.join("store.db")))
        .await
        .unwrap();
    let redact = Arc::new(Scanner::shipped());
    let approvals = Approvals::open(
        store.clone(),
        Arc::clone(&log),
        redact,
        Arc::clone(&clock),
        owner,
    )
    .await
    .unwrap();
    let wallet = Wallet::new(
        store.clone(),
        approvals.clone(),
        log,
        clock,
        Some(lnbits),
        options.clone(),
    );
    Life {
        running: Some(wallet.start()),
        store,
        approvals,
        wallet,
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: Arc::new(AtomicU64::new(START_MS)),
            log: Arc::default(),
            fake: Fake::start().await,
            options: options(),
            owner: owner::Options {
                max_pending: 2000,
                max_per_requester: 2000,
                ..owner::Options::default()
            },
        }
    }

    pub(crate) async fn open(&self) -> Life {
        let clock = Arc::clone(&self.clock);
        let clock = move || Time::from_millis(clock.load(Ordering::SeqCst));
        live(
            self.folder.path(),
            client(&self.fake.base, KEY),
            Arc::clone(&self.log) as Arc<dyn Recorder>,
            Arc::new(clock),
            &self.options,
            self.owner,
        )
        .await
    }

    pub(crate) fn pass(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap();
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    /// An invoice of today over so many sats; the number makes it one of its own.
    pub(crate) fn invoice(&self, number: u64, sats: u64) -> String {
        let now_ms = self.clock.load(Ordering::SeqCst);
        invoice(number, Some(sats * 1000), now_ms, HOUR, Currency::Bitcoin)
    }
}

pub(crate) fn invoice(
    number: u64,
    msat: Option<u64>,
    now_ms: u64,
    expiry: Duration,
    currency: Currency,
) -> String {
    let key = SecretKey::from_slice(&[41; 32]).unwrap();
    let mut builder = InvoiceBuilder::new(currency)
        .description(format!("order {number}"))
        .payment_hash(sha256::Hash::hash(&number.to_be_bytes()))
        .payment_secret(PaymentSecret([42; 32]))
        .duration_since_epoch(Duration::from_secs(now_ms / 1000))
        .min_final_cltv_expiry_delta(144)
        .expiry_time(expiry);
    if let Some(msat) = msat {
        builder = builder.amount_milli_satoshis(msat);
    }
    let secp = Secp256k1::new();
    let signed = builder.build_signed(|hash| secp.sign_ecdsa_recoverable(hash, &key));
    signed.unwrap().to_string()
}

pub(crate) fn wish(bolt11: &str) -> Wish<'_> {
    Wish {
        bolt11,
        memo: None,
        amount_sats: None,
        requester: "agent",
    }
}

pub(crate) async fn say_yes(approvals: &Approvals, id: &str, amount: Option<u64>) {
    let amount = amount.map(|amount| amount.to_string());
    let reply = Reply {
        verdict: Verdict::Approve(Scope::Once),
        shown: None,
        confirm: amount.as_deref(),
    };
    approvals.decide(id, &reply, "test").await.unwrap();
}

impl Life {
    /// The owner says yes to a payment, repeating the amount where that is needed.
    pub(crate) async fn approve(&self, payment: &Payment) {
        let id = payment.approval_id.as_deref().unwrap();
        let amount = payment.must_confirm.then_some(payment.amount_sats);
        say_yes(&self.approvals, id, amount).await;
    }

    /// Asks for a payment, lets the owner approve it, and waits for its end.
    pub(crate) async fn pay(&self, bolt11: &str) -> Payment {
        let payment = self.wallet.request(&wish(bolt11)).await.unwrap();
        self.approve(&payment).await;
        self.outcome(&payment.id).await
    }

    pub(crate) async fn outcome(&self, id: &str) -> Payment {
        let payment = self.wallet.wait(id, Duration::from_secs(20)).await.unwrap();
        assert!(
            payment.state.is_over() || payment.state == State::Unknown,
            "{payment:?}"
        );
        payment
    }

    /// Waits until a payment is where it should be.
    pub(crate) async fn until(&self, id: &str, state: State) -> Payment {
        for _ in 0..2000 {
            let payment = self.wallet.get(id).await.unwrap().unwrap();
            if payment.state == state {
                return payment;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let payment = self.wallet.get(id).await.unwrap();
        panic!("never {state:?}: {payment:?}");
    }
}
