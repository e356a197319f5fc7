//! Counters by name, for a bounded number of names: the first ones count by themselves, all later ones as `other`.

use crate::{Redact, clean};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// Names that are told apart.
pub(crate) const MAX_NAMES: usize = 64;
const OTHER: &str = "other";
const MAX_NAME: usize = 64;

/// Something per name. A known name takes a shared lock only.
#[derive(Debug)]
pub(crate) struct Bounded<T>(RwLock<HashMap<Box<str>, T>>);

impl<T: Default> Bounded<T> {
    pub(crate) fn new() -> Self {
        Self(RwLock::new(HashMap::new()))
    }

    pub(crate) fn with(&self, redact: &dyn Redact, name: &str, act: impl Fn(&T)) {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(one) = known.get(name) {
                return act(one);
            }
            if known.len() > MAX_NAMES
                && let Some(other) = known.get(OTHER)
            {
                return act(other);
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let name = if name.len() <= MAX_NAME && known.len() < MAX_NAMES {
            clean::line(redact, name, MAX_NAME)
        } else {
            OTHER.to_owned()
        };
        act(known.entry(name.into()).or_default());
    }

    /// All of them by name.
    pub(crate) fn read<R>(&self, mut read: impl FnMut(&str, &T) -> R) -> Vec<R> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut sorted: Vec<_> = known.iter().collect();
        sorted.sort_by_key(|(name, _)| *name);
        sorted
            .into_iter()
            .map(|(name, one)| read(name, one))
            .collect()
    }
}
