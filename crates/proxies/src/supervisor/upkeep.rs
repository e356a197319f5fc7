//! What core does without being asked: ends holds whose cause it can see to itself, lets idle workers go, reminds of old
//! credentials, takes backups.

use super::Inner;
use super::service::Service;
use crate::broker::wall_ms;
use blastshield_audit::{Category, Event, Severity};
use blastshield_recovery::{Hold, Recovery};
use blastshield_store::ProxyHold;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

const EVERY: Duration = Duration::from_secs(20);
/// Ticks between looks at backups and credentials.
const SELDOM: u64 = 30;
/// An investigation starts a worker in the sandbox and sees that it gets ready.
const INVESTIGATED: &str = "the workspace is whole and a worker starts";
const WAITED: &str = "waited, the service gets another try";

impl Inner {
    /// Whether core itself could end this hold. An attack or a pattern is the owner's to end. A known cause, such as a
    /// service that was too slow or answered in another shape, is given the breaker's first pause; after it, or after
    /// the definition was mended and core restarted, the service gets another try. An unknown cause is looked into:
    /// the workspace must be whole and a fresh worker must start.
    pub(super) async fn settled(&self, service: &Service, hold: &ProxyHold) -> bool {
        let kind = Hold::parse(&hold.kind);
        if kind.needs_owner() {
            return false;
        }
        let at = u64::try_from(hold.at_ms).unwrap_or(0);
        let waited = wall_ms().saturating_sub(at) >= service.definition.limits.cb_base_ms;
        let mended = at < self.opened_ms;
        if !waited && !mended {
            return false;
        }
        let what = if kind == Hold::Investigate {
            match service.recipe.start().await {
                Ok(hand) => drop(hand),
                Err(_) => return false,
            }
            INVESTIGATED
        } else {
            WAITED
        };
        self.recovery.settle(&hold.id, what).await.is_ok()
    }

    /// Looks after everything, for ever.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut count = 0_u64;
        let mut cuts = self.cuts();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = cuts.next_stop() => {
                    self.send_home();
                    continue;
                }
            }
            for service in self.services.values() {
                service.ready.drop_older(self.config.ready_idle);
                if count.is_multiple_of(SELDOM) {
                    self.remind(service);
                    back_up(&self.recovery, service).await;
                }
            }
            if count.is_multiple_of(SELDOM) {
                self.trim().await;
            }
            count = count.wrapping_add(1);
        }
    }

    /// Workers that wait for a task go, when nothing may run.
    fn send_home(&self) {
        for service in self.services.values() {
            service.ready.drop_older(Duration::ZERO);
        }
    }

    /// Tells the owner when a credential is old.
    pub(super) fn remind(&self, service: &Service) {
        let days = match service.rotation_due() {
            Ok(Some(days)) => days,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(target: "security", kind = %error.kind(), "the age of a credential cannot be kept");
                return;
            }
        };
        let variable = service
            .definition
            .credential
            .as_ref()
            .map(|credential| credential.variable.as_str());
        let details = json!({
            "proxy": service.definition.name, "variable": variable, "days": days,
            "todo": "replace the token at the service, set the variable, restart",
        });
        self.record(&Event::Note {
            severity: Severity::Critical,
            category: Category::Proxy,
            name: "token_rotation_due",
            message: "A proxy's credential should be replaced",
            details: details.as_object().cloned().unwrap_or_default(),
        });
    }
}

/// Takes the day's backup, if there is something to keep. What stands in the way now is tried again.
async fn back_up(recovery: &Recovery, service: &Service) {
    match recovery.backup_due(&service.name) {
        Ok(true) => {}
        _ => return,
    }
    if let Err(error) = recovery.backup(&service.name, &[]).await {
        tracing::info!(target: "security", %error, service = %service.name, "no backup for now");
    }
}
