//! What cuts tasks short from outside: core goes, or the owner closes all ways out.

use crate::protocol::Ending;
use tokio::sync::watch;

/// Both, watched.
pub(super) struct Cuts {
    pub(super) closing: watch::Receiver<bool>,
    pub(super) stop: watch::Receiver<bool>,
}

impl Cuts {
    /// Returns when one of them comes, or is there already.
    pub(super) async fn comes(&mut self) -> Ending {
        tokio::select! {
            biased;
            () = on(&mut self.stop) => Ending::OwnerStop,
            () = on(&mut self.closing) => Ending::Shutdown,
        }
    }

    /// Returns when the owner closes all ways out, once for each time.
    pub(super) async fn next_stop(&mut self) {
        loop {
            if self.stop.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            if *self.stop.borrow_and_update() {
                return;
            }
        }
    }
}

async fn on(switch: &mut watch::Receiver<bool>) {
    // A switch whose owner is gone is never thrown.
    if switch.wait_for(|on| *on).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Why a task came to nothing that was cut short.
pub(super) const fn why(ending: Ending) -> (&'static str, &'static str) {
    match ending {
        Ending::TimeOut => ("exception", "the task took too long"),
        Ending::Shutdown => ("closing", "core is shutting down; ask again"),
        Ending::OwnerStop => ("stopped", "the owner has closed all ways out"),
    }
}
