//! The time of day, read in one place.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch; 0 when the clock stands before it.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}

/// Milliseconds since the epoch by a clock that never jumps: the time of day when it was first asked, and what has
/// passed since.
pub(crate) fn steady_ms() -> u64 {
    static START: OnceLock<(u64, Instant)> = OnceLock::new();
    let (wall, since) =
        START.get_or_init(|| (u64::try_from(now_ms()).unwrap_or(0), Instant::now()));
    let passed = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
    wall.saturating_add(passed)
}
