//! Another program that polls for the same bot. Telegram gives each update to whoever asks first, so what may be meant for
//! the other is not confirmed for a while: then the other gets it too.

use std::collections::VecDeque;

/// So long after the latest conflict the other counts as there; longer than a program pauses between two tries.
const THERE_MS: i64 = 120_000;
/// Updates that are left at the same time.
const LEFT: usize = 256;

/// What is known of another program.
#[derive(Default)]
pub(super) struct Others {
    met_ms: Option<i64>,
    /// Left for it, and until when.
    left: VecDeque<(i64, i64)>,
}

impl Others {
    /// Telegram says that another program polls.
    pub(super) const fn meet(&mut self, now_ms: i64) {
        self.met_ms = Some(now_ms);
    }

    pub(super) fn are_there(&self, now_ms: i64) -> bool {
        self.met_ms
            .is_some_and(|met_ms| now_ms.saturating_sub(met_ms) < THERE_MS)
    }

    /// Leaves an update for the other, if there is one.
    pub(super) fn leave(&mut self, id: i64, now_ms: i64) {
        if self.are_there(now_ms) && self.left.len() < LEFT {
            self.left.push_back((id, now_ms.saturating_add(THERE_MS)));
        }
    }

    /// From where to ask, if what comes before `next` was handled: what is left is not confirmed yet.
    pub(super) fn from(&mut self, next: Option<i64>, now_ms: i64) -> Option<i64> {
        self.left.retain(|(_, until_ms)| *until_ms > now_ms);
        let left = self.left.iter().map(|(id, _)| *id).min();
        next.map(|next| left.map_or(next, |left| left.min(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_confirmed_when_its_time_is_over() {
        let mut others = Others::default();
        others.leave(5, 0);
        assert_eq!(others.from(Some(9), 0), Some(9), "nobody is there");
        others.meet(0);
        others.leave(7, 10);
        others.leave(6, 20);
        assert_eq!(others.from(Some(9), 30), Some(6));
        assert_eq!(others.from(None, 30), None);
        assert!(others.are_there(THERE_MS - 1) && !others.are_there(THERE_MS));
        assert_eq!(others.from(Some(9), THERE_MS + 10), Some(6));
        assert_eq!(others.from(Some(9), THERE_MS + 20), Some(9));
    }
}
