//! The time of day, read in one place.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch; 0 when the clock stands before it.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}
