//! Time that only goes forward: a clock set back prolongs no request and revives none.

use blastshield_audit::Clock;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// The machine's clock, held to what was already seen: it follows jumps ahead at once, and after a jump back it goes
/// on from where it was at the pace of the time that passes.
pub(crate) struct Steady {
    clock: Arc<dyn Clock>,
    seen: Mutex<(i64, Instant)>,
}

impl Steady {
    pub(crate) fn new(clock: Arc<dyn Clock>, at_least_ms: i64) -> Self {
        Self {
            clock,
            seen: Mutex::new((at_least_ms, Instant::now())),
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        let wall = i64::try_from(self.clock.now().millis()).unwrap_or(i64::MAX);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = i64::try_from(seen.1.elapsed().as_millis()).unwrap_or(i64::MAX);
        let now = wall.max(seen.0.saturating_add(passed));
        if wall == now {
            *seen = (wall, Instant::now());
        }
        now
    }
}
