//! Two processes on one data folder: one writes the audit log and speaks with the owner, the other tells and asks through
//! it.

use crate::state::{App, StartError};
use blastshield_audit::{Recorder, Relay};
use blastshield_owner::Approvals;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked for events of other processes.
const TAKE_IN_EVERY: Duration = Duration::from_millis(250);

/// Takes in what other processes laid down, and wakes the channels: it may be a request to the owner.
pub(crate) async fn take_in(logs: PathBuf, recorder: Arc<dyn Recorder>, approvals: Approvals) {
    let mut ticks = tokio::time::interval(TAKE_IN_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (logs, recorder) = (logs.clone(), Arc::clone(&recorder));
        let take = move || blastshield_audit::take_in(&logs, recorder.as_ref());
        if let Ok(Ok(1..)) = tokio::task::spawn_blocking(take).await {
            approvals.wake();
        }
    }
}

/// How a proxy writes down what happens, and asks. Where another process writes the log of this data folder, and so speaks
/// with the owner, that one is told and its channels carry the questions.
pub(crate) struct Voice {
    pub(crate) recorder: Arc<dyn Recorder>,
    pub(crate) approvals: Approvals,
}

impl Voice {
    pub(crate) async fn of(app: &App) -> Result<Self, StartError> {
        if app.guard.records() {
            return Ok(Self {
                recorder: app.guard.recorder(),
                approvals: app.owner.approvals().clone(),
            });
        }
        let logs = &app.settings.logs.dir;
        let relay = Relay::open(logs, app.guard.redactor());
        let relay = relay.map_err(|error| StartError::Logs(error.kind()))?;
        let recorder: Arc<dyn Recorder> = Arc::new(relay);
        let (settings, to) = (&app.settings, Arc::clone(&recorder));
        Ok(Self {
            approvals: crate::owner::requests(settings, &app.guard, &app.store, to).await?,
            recorder,
        })
    }
}
