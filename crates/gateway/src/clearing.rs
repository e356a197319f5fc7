//! Asks the owner about security proxies that wait: a yes, through whatever channel, clears the hold.

use crate::clock::now_ms;
use crate::state::App;
use blastshield_owner::{Action, Approvals, Ask, ClaimError, Request, State, Value};
use blastshield_recovery::{Hold, HoldView, Recovery};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How often holds are looked at when no decision comes.
const EVERY: Duration = Duration::from_secs(5);
/// A request that nobody answered is made again after this long; a no is a no.
const AGAIN_MS: i64 = 6 * 3_600_000;
/// In whose name the owner is asked; no agent may look at these requests.
const REQUESTER: &str = "core/quarantine";
/// Requests that are looked through for those about holds.
const RECENT: u32 = 500;
/// Names that are shown.
const NAMED: usize = 20;

/// Asks and clears, for ever. For the one process that serves.
pub(crate) async fn keep_asking(app: Arc<App>) {
    let approvals = app.owner.approvals();
    let mut changes = approvals.changes();
    loop {
        if let Ok(proxies) = app.proxies.get(&app).await {
            look(approvals, proxies.recovery()).await;
        }
        let _ = timeout(EVERY, changes.changed()).await;
    }
}

/// What fails is in the log, and tried again.
async fn look(approvals: &Approvals, recovery: &Recovery) {
    let holds = match recovery.list(false).await {
        Ok(holds) => holds,
        Err(error) => {
            tracing::warn!(target: "security", %error, "holds cannot be looked at");
            return;
        }
    };
    let open: Vec<HoldView> = holds.into_iter().filter(is_the_owners).collect();
    if open.is_empty() {
        return;
    }
    let Ok(requests) = approvals.list(RECENT).await else {
        return;
    };
    for hold in &open {
        let about = |request: &&Request| {
            request.requester == REQUESTER && request.session.as_deref() == Some(&hold.id)
        };
        // Newest first.
        match requests.iter().find(about) {
            Some(request) if request.state == State::Approved && !request.used => {
                clear(approvals, recovery, hold, request).await;
            }
            Some(request) if !is_over(request) => {}
            _ => again(approvals, hold).await,
        }
    }
}

/// Whether only a person ends it, and whatever is to be done to the workspace first is done.
fn is_the_owners(hold: &HoldView) -> bool {
    let complete = hold
        .quarantine
        .as_ref()
        .is_none_or(|one| one.step == "placed");
    Hold::parse(hold.kind).needs_owner() && complete
}

/// Whether it is time to ask anew: nobody answered, or core died between the yes and the clear.
fn is_over(request: &Request) -> bool {
    match request.state {
        State::Expired => now_ms().saturating_sub(request.created_ms) >= AGAIN_MS,
        State::Approved => request.used,
        State::Pending | State::Denied => false,
    }
}

/// Exactly the same for the same hold: a yes is bound to it.
fn ask(hold: &HoldView) -> Ask {
    let text = |text: &str| Value::Text(text.chars().take(300).collect());
    let number = |number: u64| Value::Number(i64::try_from(number).unwrap_or(i64::MAX));
    let mut ask = Ask::new(
        Action::Custom,
        format!("{}: it may run again", hold.question()),
        REQUESTER,
    )
    .with("service", text(&hold.service))
    .with("trigger", text(&hold.trigger))
    .with("why", text(&hold.reason))
    .with("since", text(&hold.since))
    .with("requests", number(hold.requests))
    .with("files_written", number(hold.files_written));
    if let Some(one) = &hold.quarantine {
        let restored = one
            .restored
            .as_deref()
            .unwrap_or("nothing, no known-good backup");
        let names: Vec<&str> = one.review.iter().map(String::as_str).take(NAMED).collect();
        ask = ask
            .with("put_aside", text(&one.folder))
            .with("restored", text(restored));
        if !names.is_empty() {
            ask = ask.with("to_review", text(&names.join(", ")));
        }
    }
    ask.session = Some(hold.id.clone());
    ask
}

async fn again(approvals: &Approvals, hold: &HoldView) {
    if let Err(error) = approvals.ask(&ask(hold)).await {
        tracing::warn!(target: "security", %error, "the owner could not be asked about a hold");
    }
}

async fn clear(approvals: &Approvals, recovery: &Recovery, hold: &HoldView, request: &Request) {
    match approvals.claim(request.id.as_str(), &ask(hold)).await {
        Ok(()) => {}
        Err(ClaimError::Store(_)) => return,
        Err(error) => {
            tracing::warn!(target: "security", %error, "the owner's yes to a clear cannot be used");
            return again(approvals, hold).await;
        }
    }
    let channel = request.decided_by.as_deref().unwrap_or("a channel");
    let by = format!("owner ({channel})");
    match recovery.clear(&hold.id, &by, false).await {
        Ok(_) => tracing::info!(target: "security", service = hold.service, "a hold was cleared"),
        Err(error) => {
            tracing::error!(target: "security", %error, "a hold could not be cleared; the owner is asked again");
        }
    }
}
