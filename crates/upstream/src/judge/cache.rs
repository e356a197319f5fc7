//! Rulings by content: a bounded memory that forgets what was used longest ago.

use super::Ruling;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// SHA-256 over the model's name and the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(model: &str, content: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update((model.len() as u64).to_le_bytes());
        hash.update(model);
        hash.update(content);
        Self(hash.finalize().into())
    }
}

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Key, (Ruling, u64)>,
    clock: u64,
}

#[derive(Debug)]
pub(super) struct Cache {
    entries: Mutex<Entries>,
    capacity: usize,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: Mutex::default(),
            capacity,
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<Ruling> {
        let mut entries = self.lock();
        entries.clock += 1;
        let now = entries.clock;
        let (ruling, used) = entries.by_key.get_mut(key)?;
        *used = now;
        Some(*ruling)
    }

    pub(super) fn put(&self, key: Key, ruling: Ruling) {
        if self.capacity == 0 {
            return;
        }
        let mut entries = self.lock();
        if entries.by_key.len() >= self.capacity && !entries.by_key.contains_key(&key) {
            let oldest = entries
                .by_key
                .iter()
                .min_by_key(|(_, (_, used))| *used)
                .map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                entries.by_key.remove(&oldest);
            }
        }
        entries.clock += 1;
        let now = entries.clock;
        entries.by_key.insert(key, (ruling, now));
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReasonCode, Verdict};
    use super::*;

    const CLEAR: Ruling = Ruling {
        verdict: Verdict::Clear,
        confidence: 0.9,
        reason_code: ReasonCode::Benign,
    };

    #[test]
    fn the_longest_unused_is_forgotten_first() {
        let cache = Cache::new(2);
        let [a, b, c] = ["a", "b", "c"].map(|text| Key::of("m", text));
        cache.put(a, CLEAR);
        cache.put(b, CLEAR);
        assert_eq!(cache.get(&a), Some(CLEAR));
        cache.put(c, CLEAR);
        assert_eq!(cache.get(&b), None);
        assert_eq!(cache.get(&a), Some(CLEAR));
        assert_eq!(cache.get(&c), Some(CLEAR));
        assert_eq!(cache.lock().by_key.len(), 2);
    }

    #[test]
    fn model_and_content_do_not_run_together() {
        assert_ne!(Key::of("ab", "c"), Key::of("a", "bc"));
        assert_ne!(Key::of("a", "x"), Key::of("b", "x"));
    }

    #[test]
    fn no_room_remembers_nothing() {
        let cache = Cache::new(0);
        cache.put(Key::of("m", "a"), CLEAR);
        assert_eq!(cache.get(&Key::of("m", "a")), None);
    }
}
