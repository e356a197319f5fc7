//! How much decoding one input may cause, and the purse it is paid from.

/// What `Views::with_limits` may spend on one input. The plain view is always made and costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many decodings may be stacked on each other.
    pub max_depth: u8,
    /// Bytes that all views but the plain one may hold together.
    pub max_decoded: usize,
    /// The same, relative to the input: at most `decoded_ratio` × input + 64 KiB.
    pub decoded_ratio: usize,
    /// How many views there may be besides the plain one.
    pub max_views: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_depth: 4,
            max_decoded: 1 << 20,
            decoded_ratio: 2,
            max_views: 512,
        }
    }
}

/// Slack that lets short inputs be decoded several times over.
const DECODED_FLOOR: usize = 64 << 10;

/// What is left of the limits while an input is explored.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: usize,
    views: usize,
    max_depth: u8,
    truncated: bool,
    /// Bytes looked at so far: what tests of linear growth compare.
    pub(crate) work: usize,
}

impl Budget {
    pub(crate) fn new(limits: &Limits, input_len: usize) -> Budget {
        let relative = input_len
            .saturating_mul(limits.decoded_ratio)
            .saturating_add(DECODED_FLOOR);
        Budget {
            bytes: limits.max_decoded.min(relative),
            views: limits.max_views,
            max_depth: limits.max_depth,
            truncated: false,
            work: 0,
        }
    }

    /// Whether a text at `depth` may give rise to further views.
    pub(crate) fn deeper(&self, depth: u8) -> bool {
        depth < self.max_depth
    }

    /// Pays for one view of `bytes`; false means it must not be made.
    pub(crate) fn take_view(&mut self, bytes: usize) -> bool {
        if self.views == 0 || !self.take_bytes(bytes) {
            self.truncated = true;
            return false;
        }
        self.views -= 1;
        true
    }

    pub(crate) fn take_bytes(&mut self, bytes: usize) -> bool {
        let Some(left) = self.bytes.checked_sub(bytes) else {
            self.truncated = true;
            return false;
        };
        self.bytes = left;
        true
    }

    /// The largest decoded text that can still be paid for.
    pub(crate) fn bytes_left(&self) -> usize {
        if self.views == 0 { 0 } else { self.bytes }
    }

    /// Something was left undecoded.
    pub(crate) fn mark_truncated(&mut self) {
        self.truncated = true;
    }

    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_cap_wins() {
        let limits = Limits {
            max_decoded: 100_000,
            ..Limits::default()
        };
        assert_eq!(Budget::new(&limits, 0).bytes_left(), 64 << 10);
        assert_eq!(Budget::new(&limits, 1 << 30).bytes_left(), 100_000);
        assert_eq!(Budget::new(&limits, usize::MAX).bytes_left(), 100_000);
    }

    #[test]
    fn an_unpaid_view_marks_truncation_and_takes_nothing() {
        let limits = Limits {
            max_decoded: 10,
            ..Limits::default()
        };
        let mut budget = Budget::new(&limits, 100);
        assert!(budget.take_view(6));
        assert!(!budget.truncated());
        assert!(!budget.take_view(6));
        assert!(budget.truncated());
        assert!(budget.take_view(4));
    }

    #[test]
    fn views_are_counted() {
        let mut budget = Budget::new(
            &Limits {
                max_views: 1,
                ..Limits::default()
            },
            100,
        );
        assert!(budget.take_view(1));
        assert!(!budget.take_view(1));
        assert_eq!(budget.bytes_left(), 0);
    }
}
