//! So much of what does not count is written down one by one; the rest of a flood is a number.

/// Ignored messages that are recorded one by one each minute.
const RECORDED_PER_MINUTE: u32 = 20;
const MINUTE_MS: i64 = 60_000;

/// So many records a minute, and a count of the others.
#[derive(Default)]
pub(super) struct Quota {
    since_ms: i64,
    count: u32,
    missed: u64,
}

impl Quota {
    /// Whether to record this one, and how many were not recorded in the minute that is over.
    pub(super) fn take(&mut self, now_ms: i64) -> (bool, u64) {
        let mut missed = 0;
        if now_ms.saturating_sub(self.since_ms) >= MINUTE_MS {
            missed = std::mem::take(&mut self.missed);
            (self.since_ms, self.count) = (now_ms, 0);
        }
        self.count = self.count.saturating_add(1);
        let record = self.count <= RECORDED_PER_MINUTE;
        self.missed += u64::from(!record);
        (record, missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_not_recorded_one_by_one() {
        let mut quota = Quota::default();
        let recorded = (0..1000).filter(|_| quota.take(100_000).0).count();
        assert_eq!(recorded, 20);
        assert_eq!(quota.take(160_000), (true, 980));
        assert_eq!(quota.take(160_001), (true, 0));
    }
}
