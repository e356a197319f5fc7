//! Session keys as the tables know them: a keyed hash, so that nobody can choose keys that meet.

use crate::refused::Refused;
use siphasher::sip128::SipHasher24;
use std::hash::{BuildHasher, Hash, Hasher};

/// A longer session key is refused.
pub const MAX_KEY_BYTES: usize = 256;

/// The keyed hash of a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    high: u64,
    low: u64,
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.low);
    }
}

impl Id {
    /// Which of so many shards it falls into. The low half is left to the table within the shard.
    pub(crate) fn shard(self, shards: usize) -> usize {
        usize::try_from(self.high >> 32).map_or(0, |high| high % shards.max(1))
    }
}

/// Turns session keys into [`Id`]s and contents into fingerprints.
#[derive(Clone)]
pub(crate) struct Keyed(SipHasher24);

impl Keyed {
    pub(crate) fn new(secret: &[u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(secret))
    }

    /// The id of a session key of acceptable length.
    pub(crate) fn id(&self, key: &str) -> Result<Id, Refused> {
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(Refused::Key);
        }
        let hash = self.0.hash(key.as_bytes());
        Ok(Id {
            high: hash.h1,
            low: hash.h2,
        })
    }

    /// A fingerprint from which a guessed content cannot be confirmed without the secret.
    pub(crate) fn fingerprint(&self, content: &[u8]) -> u64 {
        self.0.hash(content).h1
    }
}

/// An [`Id`] is a hash already.
#[derive(Clone, Copy, Default)]
pub(crate) struct AsIs(u64);

impl BuildHasher for AsIs {
    type Hasher = Self;
    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_sensible_length_have_an_id_that_depends_on_the_secret() {
        let keyed = Keyed::new(&[1; 16]);
        assert_eq!(keyed.id("a"), keyed.id("a"));
        assert_ne!(keyed.id("a"), keyed.id("b"));
        assert_ne!(keyed.id("a"), Keyed::new(&[2; 16]).id("a"));
        assert!(keyed.id(&"k".repeat(MAX_KEY_BYTES)).is_ok());
        assert_eq!(keyed.id(""), Err(Refused::Key));
        assert_eq!(keyed.id(&"k".repeat(MAX_KEY_BYTES + 1)), Err(Refused::Key));
    }

    #[test]
    fn ids_spread_over_the_shards() {
        let keyed = Keyed::new(&[1; 16]);
        let mut shards = [0_u32; 64];
        for number in 0..64_000 {
            shards[keyed.id(&number.to_string()).unwrap().shard(64)] += 1;
        }
        assert!(shards.iter().all(|count| (800..1200).contains(count)));
    }
}
