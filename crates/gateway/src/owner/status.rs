//! The status: modes, channels, open requests, the wallet, the end of the audit log, alerts. Written as a file that is replaced
//! whole, and told to the owner.

use crate::clock::now_ms;
use crate::state::App;
use blastshield_audit::{Time, status};
use blastshield_owner::{Approvals, ChannelStatus};
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Alerts that the status holds.
const ALERTS: usize = 20;
/// Several changes at once are written once.
const SETTLE: Duration = Duration::from_millis(200);

/// Everything that the status says; no secret is in it, and it is redacted all the same before it is written.
pub(super) async fn compose(app: &App) -> Map<String, Value> {
    let owner = &app.owner;
    let report = owner.requirements();
    let approvals = owner.approvals();
    let mut status = Map::new();
    let mut put = |name: &str, value: Value| status.insert(name.to_owned(), value);
    put("format", json!(1));
    put("time", time(now_ms()));
    put("started", time(started_ms()));
    put("version", json!(env!("CARGO_PKG_VERSION")));
    put("modes", json!(report.modes));
    put(
        "environment",
        serde_json::to_value(&*report).unwrap_or_default(),
    );
    put("environment_fault", json!(owner.environment.fault()));
    put("channels", channels(approvals).await);
    let reachable = approvals
        .channels()
        .iter()
        .any(|channel| channel.delivers && channel.state != blastshield_owner::ChannelState::Down);
    let pending = approvals.pending().await;
    put(
        "approvals",
        match pending {
            Ok(open) => json!({
                "pending": open.len(),
                "oldest": open.first().map(|request| time(request.created_ms)),
                "owner_can_be_reached": reachable,
                "posts_need_approval": app.settings.approvals.posts,
            }),
            Err(error) => json!({"unreadable": error.to_string()}),
        },
    );
    put("wallet", wallet(app).await);
    put(
        "audit",
        app.guard.log_head().map_or(
            Value::Null,
            |head| json!({"entries": head.seq, "head": head.hash.to_string()}),
        ),
    );
    let mut alerts = app.guard.recent_alerts();
    let raised = alerts.len();
    alerts.truncate(ALERTS);
    put("alerts", json!({"recent": alerts, "kept": raised}));
    put("lockdown", json!(app.exits.lockdown.is_on()));
    status
}

/// What may be spent, and what was today; what the wallet holds is told by `/v1/wallet`, which asks LNbits.
async fn wallet(app: &App) -> Value {
    match app.purse.wallet().today().await {
        Ok(today) => json!({
            "mode": today.mode.as_str(), "missing": today.mode.missing(), "day": today.day,
            "spent_sats": today.spent_sats, "reserved_sats": today.reserved_sats,
            "daily_limit_sats": today.limit_sats, "left_sats": today.left_sats(),
            "approval_threshold_sats": today.threshold_sats,
        }),
        Err(error) => json!({"unreadable": error.to_string()}),
    }
}

async fn channels(approvals: &Approvals) -> Value {
    let mut all = Vec::new();
    for channel in approvals.channels() {
        let waiting = approvals.waiting_alerts(&channel).await.ok().flatten();
        all.push(self::channel(&channel, waiting));
    }
    all.into()
}

fn channel(channel: &ChannelStatus, waiting: Option<u64>) -> Value {
    json!({
        "name": channel.name, "state": channel.state.as_str(), "delivers": channel.delivers,
        "since": time(channel.since_ms), "why": channel.why, "delivered": channel.delivered,
        "alerts_waiting": waiting,
    })
}

fn time(ms: i64) -> Value {
    Value::from(Time::from_millis(u64::try_from(ms).unwrap_or(0)).to_string())
}

/// When this process was first asked for its status, which it is at its start.
fn started_ms() -> i64 {
    static STARTED: OnceLock<i64> = OnceLock::new();
    *STARTED.get_or_init(now_ms)
}

/// Writes the status at once, whenever something changes, and every so often, for ever.
pub(super) async fn keep_writing(app: Arc<App>) {
    let mut changed = app.owner.approvals().changes();
    let mut paid = app.purse.wallet().changes();
    let mut failing = false;
    loop {
        changed.borrow_and_update();
        paid.borrow_and_update();
        let status = compose(&app).await;
        let written = tokio::task::spawn_blocking({
            let app = Arc::clone(&app);
            move || {
                status::write(
                    &app.settings.status.dir,
                    app.guard.redactor().as_ref(),
                    &status,
                )
            }
        })
        .await;
        match written {
            Ok(Ok(())) => failing = false,
            Ok(Err(error)) if !failing => {
                failing = true;
                tracing::error!(target: "security", %error, "the status file cannot be written");
            }
            _ => {}
        }
        tokio::time::sleep(SETTLE).await;
        let _ = tokio::time::timeout(app.settings.status.every, async {
            tokio::select! {
                _ = changed.changed() => {}
                _ = paid.changed() => {}
                () = app.owner.again.notified() => {}
            }
        })
        .await;
    }
}
