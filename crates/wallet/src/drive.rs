//! Goes on with every open payment, without anybody's help, until it is told to stop.

use crate::Wallet;
use crate::step::Next;
use blastshield_store::{PaymentRecord, StoreError};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

/// Payments that are stepped at once.
const AT_ONCE: usize = 16;
/// Payments that the store gives at once.
const PAGE: usize = 500;
/// The longest pause between two tries while somebody waits.
const SLOWEST_RETRY: Duration = Duration::from_secs(30);

/// The driver at work.
#[derive(Debug)]
pub struct Running {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// Begins nothing more, and gives what is under way this long to end. What is cut off is looked at after the next
    /// start.
    pub async fn stop(self, grace: Duration) {
        let _ = self.stop.send(true);
        let cut = self.task.abort_handle();
        if timeout(grace, self.task).await.is_err() {
            tracing::warn!(target: "security", "a payment under way was cut off; its outcome is looked up at the next start");
            cut.abort();
        }
    }
}

/// When a payment is looked at again.
struct Wait {
    tries: u32,
    until: Instant,
}

impl Wallet {
    /// Starts to drive payments: those that a former process left, and new ones.
    #[must_use]
    pub fn start(&self) -> Running {
        let (stop, stopped) = watch::channel(false);
        Running {
            stop,
            task: tokio::spawn(self.clone().run(stopped)),
        }
    }

    async fn run(self, mut stop: watch::Receiver<bool>) {
        let pace = self.inner.options.pace;
        let mut changed = self.changes();
        let mut tasks: JoinSet<(String, Next)> = JoinSet::new();
        let mut waits: HashMap<String, Wait> = HashMap::new();
        while !*stop.borrow() {
            changed.borrow_and_update();
            let pause = match self.open().await {
                Ok(open) => {
                    let ids: HashSet<&str> = open.iter().map(|one| one.id.as_str()).collect();
                    waits.retain(|id, _| ids.contains(id.as_str()));
                    self.begin(&open, &waits, &mut tasks);
                    if open.is_empty() {
                        pace.idle
                    } else {
                        pace.poll
                    }
                }
                Err(error) => {
                    self.warn(error);
                    pace.idle
                }
            };
            tokio::select! {
                _ = stop.changed() => {}
                Some(done) = tasks.join_next(), if !tasks.is_empty() => {
                    if let Ok((id, next)) = done {
                        schedule(&mut waits, id, next, pace.poll, pace.slowest);
                    }
                }
                _ = changed.changed() => {}
                () = sleep(pause) => {}
            }
        }
        while tasks.join_next().await.is_some() {}
    }

    fn begin(
        &self,
        open: &[PaymentRecord],
        waits: &HashMap<String, Wait>,
        tasks: &mut JoinSet<(String, Next)>,
    ) {
        let now = Instant::now();
        for record in open {
            if tasks.len() >= AT_ONCE {
                return;
            }
            if waits.get(&record.id).is_some_and(|wait| wait.until > now) {
                continue;
            }
            let Some(turn) = self.turn(&record.id) else {
                continue;
            };
            let (wallet, id) = (self.clone(), record.id.clone());
            tasks.spawn(async move {
                // What was read before the turn was taken may be old.
                let next = match wallet.inner.store.payment(&id).await {
                    Ok(Some(record)) => wallet.step(&record).await,
                    Ok(None) => Next::Poll,
                    Err(_) => Next::Retry,
                };
                drop(turn);
                (id, next)
            });
        }
    }

    async fn open(&self) -> Result<Vec<PaymentRecord>, StoreError> {
        let mut all: Vec<PaymentRecord> = Vec::new();
        loop {
            let after = all
                .last()
                .map_or((i64::MIN, ""), |last| (last.created_ms, last.id.as_str()));
            let more = self.inner.store.open_payments(after).await?;
            let last = more.len() < PAGE;
            all.extend(more);
            if last {
                return Ok(all);
            }
        }
    }
}

/// Pauses double from the usual pace to the slowest.
fn schedule(
    waits: &mut HashMap<String, Wait>,
    id: String,
    next: Next,
    poll: Duration,
    slowest: Duration,
) {
    let now = Instant::now();
    match next {
        Next::Now => {
            waits.remove(&id);
        }
        Next::Poll => {
            let until = now + poll;
            waits.insert(id, Wait { tries: 0, until });
        }
        Next::Retry | Next::Later => {
            let slowest = if next == Next::Retry {
                slowest.min(SLOWEST_RETRY)
            } else {
                slowest
            };
            let tries = waits.get(&id).map_or(0, |wait| wait.tries);
            let pause = poll.saturating_mul(1 << tries.min(16)).min(slowest);
            let tries = tries.saturating_add(1);
            let until = now + pause;
            waits.insert(id, Wait { tries, until });
        }
    }
}
