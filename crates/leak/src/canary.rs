//! Planted markers: a word that stands in one place only, so that whoever says it has been there.

use std::fmt;
use std::sync::Arc;

/// What a leak of a canary means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth a look.
    Warn,
    /// Stop everything.
    Critical,
}

impl Severity {
    /// The name in configuration and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Critical => "critical",
        }
    }
}

/// Why something is no canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanaryError {
    /// The location is not a name.
    #[error("a canary's location is 1 to 64 letters, digits, `_`, `-` or `.`")]
    Location,
    /// The token has another form.
    #[error("a canary reads CANARY_<LOCATION>_<32 hex digits>")]
    Token,
}

/// A marker and where it was planted.
#[derive(Clone, PartialEq, Eq)]
pub struct Canary {
    token: Arc<str>,
    location: Arc<str>,
    severity: Severity,
}

const PREFIX: &str = "CANARY_";
const HEX: usize = 32;
const MAX_LOCATION: usize = 64;

impl Canary {
    /// A canary for a place, from sixteen random bytes.
    pub fn new(location: &str, severity: Severity, random: [u8; 16]) -> Result<Self, CanaryError> {
        check_location(location)?;
        let mut token = format!("{PREFIX}{}_", location.to_ascii_uppercase());
        for byte in random {
            token.push_str(&format!("{byte:02x}"));
        }
        Ok(Self {
            token: token.into(),
            location: location.into(),
            severity,
        })
    }

    /// Reads a token that was made before.
    pub fn parse(token: &str, severity: Severity) -> Result<Self, CanaryError> {
        let (location, hex) = token
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.rsplit_once('_'))
            .ok_or(CanaryError::Token)?;
        if hex.len() != HEX || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(CanaryError::Token);
        }
        check_location(location)?;
        Ok(Self {
            token: token.into(),
            location: location.to_ascii_lowercase().into(),
            severity,
        })
    }

    /// The whole token, to be planted.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Where it was planted.
    #[must_use]
    pub fn location(&self) -> &Arc<str> {
        &self.location
    }

    /// What its leak means.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The random part alone: whoever drops the name still says this.
    pub(crate) fn random(&self) -> &str {
        self.token
            .len()
            .checked_sub(HEX)
            .and_then(|from| self.token.get(from..))
            .unwrap_or_default()
    }

    /// How its leak is reported.
    #[must_use]
    pub fn leak(&self) -> Leak {
        Leak {
            shown: format!("{}...", self.token.chars().take(8).collect::<String>()),
            location: Arc::clone(&self.location),
            severity: self.severity,
        }
    }
}

fn check_location(location: &str) -> Result<(), CanaryError> {
    let name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if location.is_empty() || location.len() > MAX_LOCATION || !location.bytes().all(name) {
        return Err(CanaryError::Location);
    }
    Ok(())
}

impl fmt::Debug for Canary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.leak().fmt(f)
    }
}

/// A canary that was seen where it must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leak {
    /// At most eight characters of the token, and dots.
    pub shown: String,
    /// Where it was planted.
    pub location: Arc<str>,
    /// What that means.
    pub severity: Severity,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_names_its_place() {
        let canary = Canary::new("memory", Severity::Critical, [0xab; 16]).unwrap();
        assert_eq!(canary.token(), format!("CANARY_MEMORY_{}", "ab".repeat(16)));
        assert_eq!(
            Canary::parse(canary.token(), Severity::Critical),
            Ok(canary.clone())
        );
        let leak = canary.leak();
        assert_eq!(
            (leak.shown.as_str(), &*leak.location),
            ("CANARY_M...", "memory")
        );
    }

    #[test]
    fn a_place_may_hold_underscores() {
        let canary = Canary::new("owner_notes.v2", Severity::Warn, [7; 16]).unwrap();
        let read = Canary::parse(canary.token(), Severity::Warn).unwrap();
        assert_eq!(&**read.location(), "owner_notes.v2");
    }

    #[test]
    fn what_is_no_canary_is_refused() {
        for token in [
            "",
            "CANARY_A",
            "CANARY_A_12",
            "canary_a_",
            "CANARY__0123456789abcdef0123456789abcdef",
        ] {
            assert!(Canary::parse(token, Severity::Warn).is_err(), "{token}");
        }
        assert_eq!(
            Canary::new("a b", Severity::Warn, [0; 16]),
            Err(CanaryError::Location)
        );
    }

    #[test]
    fn debug_does_not_show_the_token() {
        let canary = Canary::new("x", Severity::Warn, [0x5a; 16]).unwrap();
        assert!(!format!("{canary:?}").contains("5a5a"));
    }
}
