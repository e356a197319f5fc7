//! Which alerts were sent lately, in bounded memory.

use super::AlertKind;
use crate::{Severity, Time};
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// An alert that was raised and whose window is open.
pub(super) struct Slot {
    pub(super) kind: AlertKind,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) source: String,
    pub(super) first: Time,
    pub(super) count: u64,
}

/// The same kind from the same source, by keyed hash.
type Key = u64;

/// Open windows, oldest first.
pub(super) struct Table {
    slots: HashMap<Key, Slot>,
    order: VecDeque<Key>,
    hasher: RandomState,
    window: Duration,
    max: usize,
}

impl Table {
    pub(super) fn new(window: Duration, max: usize) -> Self {
        Self {
            slots: HashMap::new(),
            order: VecDeque::new(),
            hasher: RandomState::new(),
            window,
            max: max.max(1),
        }
    }

    pub(super) fn key(&self, kind: AlertKind, source: [&str; 2]) -> Key {
        self.hasher.hash_one((kind, source))
    }

    /// Counts another of an open window; `false` when there is none.
    pub(super) fn again(&mut self, key: Key) -> bool {
        let slot = self.slots.get_mut(&key);
        slot.map(|slot| slot.count += 1).is_some()
    }

    pub(super) fn is_full(&self) -> bool {
        self.order.len() >= self.max
    }

    pub(super) fn insert(&mut self, key: Key, slot: Slot) {
        self.slots.insert(key, slot);
        self.order.push_back(key);
    }

    /// Takes the oldest window if it is over, or in any case when `force` is given. A window from the future, left by a
    /// clock that went back, is over.
    pub(super) fn take_oldest(&mut self, now: Time, force: bool) -> Option<Slot> {
        let first = self.slots.get(self.order.front()?)?.first;
        let over = now >= first.plus(self.window) || now < first;
        if !(over || force) {
            return None;
        }
        self.slots.remove(&self.order.pop_front()?)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.slots.len(), self.order.len());
        self.order.len()
    }
}
