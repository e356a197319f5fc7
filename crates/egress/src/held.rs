//! How much of other people's bodies is in memory: bounded for all of them together.

use crate::refusal::Refusal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that all exchanges hold together.
#[derive(Debug)]
pub(crate) struct Held {
    now: AtomicUsize,
    most: usize,
}

/// A part of them.
#[derive(Debug)]
pub(crate) struct Share {
    held: Arc<Held>,
    bytes: usize,
}

impl Held {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            now: AtomicUsize::new(0),
            most,
        }
    }

    pub(crate) fn share(self: &Arc<Self>) -> Share {
        Share {
            held: Arc::clone(self),
            bytes: 0,
        }
    }
}

impl Share {
    /// Room for so many bytes more.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        let most = self.held.most;
        let within = |now: usize| now.checked_add(bytes).filter(|sum| *sum <= most);
        self.held
            .now
            .try_update(Relaxed, Relaxed, within)
            .map_err(|_| Refusal::Busy("too much is being looked at right now; try again"))?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.held.now.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_bounded() {
        let held = Arc::new(Held::new(10));
        let mut one = held.share();
        assert!(one.grow(6).is_ok() && one.grow(5).is_err());
        let mut two = held.share();
        assert!(two.grow(5).is_err());
        drop(one);
        assert!(two.grow(10).is_ok());
    }
}
