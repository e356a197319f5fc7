//! What a worker holds instead of a credential: good for one service, a few operations, a short while, and only over its
//! own line.

use crate::definition::MAX_CAPABILITY;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Core's record of a capability.
pub(crate) struct Capability {
    token: Zeroizing<String>,
    operation: String,
    until: Instant,
}

/// The system has no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers")]
pub struct NoRandomness;

/// Why a capability does not cover a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Uncovered {
    #[error("not this worker's capability")]
    Foreign,
    #[error("the capability does not cover this operation")]
    Operation,
    #[error("the capability has expired")]
    Expired,
}

impl Capability {
    /// For one operation and at most two hours.
    pub(crate) fn issue(operation: &str, lifetime: Duration) -> Result<Self, NoRandomness> {
        Ok(Self {
            token: Zeroizing::new(random_hex::<32>()?),
            operation: operation.to_owned(),
            until: Instant::now() + lifetime.min(MAX_CAPABILITY),
        })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) fn covers(&self, token: &str, operation: &str) -> Result<(), Uncovered> {
        let same: bool = token.as_bytes().ct_eq(self.token.as_bytes()).into();
        if !same {
            Err(Uncovered::Foreign)
        } else if operation != self.operation {
            Err(Uncovered::Operation)
        } else if Instant::now() >= self.until {
            Err(Uncovered::Expired)
        } else {
            Ok(())
        }
    }
}

/// Random bytes in hexadecimal.
pub(crate) fn random_hex<const N: usize>() -> Result<String, NoRandomness> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    let mut hex = String::with_capacity(N * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_covers_its_operation_for_its_time() {
        let minute = Duration::from_secs(60);
        let capability = Capability::issue("read", minute).unwrap();
        let token = capability.token().to_owned();
        assert_eq!(capability.covers(&token, "read"), Ok(()));
        assert_eq!(capability.covers(&token, "post"), Err(Uncovered::Operation));
        assert_eq!(capability.covers("", "read"), Err(Uncovered::Foreign));
        let other = Capability::issue("read", minute).unwrap();
        assert_eq!(
            capability.covers(other.token(), "read"),
            Err(Uncovered::Foreign)
        );
        let over = Capability::issue("read", Duration::ZERO).unwrap();
        assert_eq!(over.covers(over.token(), "read"), Err(Uncovered::Expired));
        let long = Capability::issue("read", Duration::MAX / 4).unwrap();
        assert!(long.until <= Instant::now() + MAX_CAPABILITY);
    }
}
