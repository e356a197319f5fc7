//! A process killed at any step of a payment, and the next one that goes on: nothing is paid twice, nothing forgotten.
//!
//! The child is this very program. It says how far it got in its trace, and dies there.

use crate::lnbits::Fault;
use crate::*;
use blastshield_audit::SystemClock;
use std::process::{Command, Stdio};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

const FOLDER: &str = "BLASTSHIELD_WALLET_TEST_FOLDER";
const LNBITS: &str = "BLASTSHIELD_WALLET_TEST_LNBITS";
const INVOICE: &str = "BLASTSHIELD_WALLET_TEST_INVOICE";
const DIE_AT: &str = "BLASTSHIELD_WALLET_TEST_DIE_AT";

/// Every step of a payment that succeeds, in order.
const STEPS: [&str; 11] = [
    "reserved", "shown", "asked", "claimed", "approved", "looked", "intended", "recorded",
    "answered", "told", "settled",
];

/// Ends the process at a step, as a kill would.
struct Death(String);

impl Visit for Death {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "step" && value == self.0 {
            std::process::abort();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Death {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "blastshield_wallet::step"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Self(self.0.clone()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Runs [`child`] on a folder: whether it came to its end, and what it said about the payment.
fn run(folder: &Path, lnbits: &str, bolt11: &str, die_at: &str) -> (bool, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::child", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(LNBITS, lnbits)
        .env(INVOICE, bolt11)
        .env(DIE_AT, die_at)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text
        .lines()
        .find_map(|line| line.strip_prefix("ended "))
        .unwrap_or_default();
    let trouble = String::from_utf8_lossy(&output.stderr);
    assert!(!trouble.contains("panicked"), "{trouble}");
    (output.status.success(), said.to_owned())
}

async fn killed_at_each_step(fault: Option<Fault>) {
    let fake = Fake::start().await;
    let mut lives = tokio::task::JoinSet::new();
    for (number, step) in STEPS.into_iter().enumerate() {
        let fake = fake.clone();
        let number = number as u64;
        let now_ms = SystemClock.now().millis();
        let bolt11 = invoice(number, Some(300_000), now_ms, HOUR, Currency::Bitcoin);
        lives.spawn_blocking(move || {
            let folder = tempfile::tempdir().unwrap();
            if let Some(fault) = fault {
                fake.fault("pay", &[fault]);
            }
            let (ended, _) = run(folder.path(), &fake.base, &bolt11, step);
            assert!(!ended, "did not die at {step}");
            let (ended, said) = run(folder.path(), &fake.base, &bolt11, "never");
            assert!(ended, "did not come to an end after dying at {step}");
            let (times, posts) = (fake.times(&bolt11), fake.posts(&bolt11));
            assert!(
                times <= 1 && posts <= 1,
                "{step}: paid {times}, sent {posts}"
            );
            let paid = if times == 1 {
                "paid 302 0"
            } else {
                "unknown 0 303"
            };
            assert_eq!(said, paid, "{step}");
            // Only what died between the intent and the request is left open.
            let lost = matches!(step, "intended" | "recorded");
            assert_eq!(times == 0, lost, "{step}");
            // A third life finds it as it is.
            let (_, again) = run(folder.path(), &fake.base, &bolt11, "never");
            assert_eq!(again, said, "{step}");
        });
    }
    lives.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_each_step_it_pays_at_most_once() {
    killed_at_each_step(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_each_step_after_lost_answers_it_pays_at_most_once() {
    killed_at_each_step(Some(Fault::Lose)).await;
}

/// Not a test of its own: the process that is killed. Its owner says yes to everything.
#[test]
#[ignore = "run by the tests above"]
fn child() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let setting = |name| std::env::var(name).unwrap();
    tracing::subscriber::set_global_default(Death(setting(DIE_AT))).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut options = options();
        options.zone = Zone::utc();
        let owner = owner::Options::default();
        let log: Arc<dyn Recorder> = Arc::new(Log::default());
        let clock = Arc::new(SystemClock);
        let lnbits = Lnbits::new(LnbitsOptions {
            base: setting(LNBITS).parse().unwrap(),
            key: Secret::new(KEY),
            timeout: Duration::from_secs(5),
            pay_timeout: Duration::from_secs(1),
        })
        .unwrap();
        let life = live(Path::new(&folder), lnbits, log, clock, &options, owner).await;
        let saying = tokio::spawn({
            let (approvals, wallet) = (life.approvals.clone(), life.wallet.clone());
            async move {
                loop {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    for payment in wallet.list(9).await.unwrap() {
                        let id = payment.approval_id.unwrap_or_default();
                        let request = approvals.get(&id).await.unwrap();
                        if request.is_some_and(|one| one.state == owner::State::Pending) {
                            say_yes(&approvals, &id, None).await;
                        }
                    }
                }
            }
        });
        // A decision that a former life did not get into the log counts once it is there.
        tokio::spawn(life.approvals.clone().keep_sweeping());
        let payment = life.wallet.request(&wish(&setting(INVOICE))).await.unwrap();
        let ended = life.outcome(&payment.id).await;
        saying.abort();
        let status = life.wallet.status().await.unwrap();
        println!(
            "ended {} {} {}",
            ended.state.as_str(),
            status.spent_sats,
            status.reserved_sats
        );
        life.end().await;
    });
}
