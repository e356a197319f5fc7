//! The words of an entry: how grave, and about what.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// For the record.
    Info,
    /// Deserves a look.
    Warn,
    /// Deserves a look now.
    Critical,
}

impl Severity {
    /// From the lightest to the gravest.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warn, Self::Critical];

    /// `INFO`, `WARN` or `CRITICAL`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Critical => "CRITICAL",
        }
    }

    /// Reads the word, in any case.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// About what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Category {
    /// Configuration requirements.
    Env,
    /// Requests to the owner and the answers.
    Approval,
    /// Injection and other hostile content.
    Threat,
    /// Requests to other hosts.
    Http,
    /// The wallet.
    Payment,
    /// Posts to other services.
    Post,
    /// Limits, abuse, termination.
    Session,
    /// Planted tokens that turned up.
    Canary,
    /// Secrets on their way out.
    Leak,
    /// Changed settings and policy.
    Config,
    /// Sacrificial processes.
    Proxy,
    /// Skills and plugins.
    Skill,
    /// Tokens and roles.
    Access,
    /// What the owner was told.
    Alert,
    /// This log itself.
    Audit,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Env,
        Self::Approval,
        Self::Threat,
        Self::Http,
        Self::Payment,
        Self::Post,
        Self::Session,
        Self::Canary,
        Self::Leak,
        Self::Config,
        Self::Proxy,
        Self::Skill,
        Self::Access,
        Self::Alert,
        Self::Audit,
    ];

    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Env => "ENV",
            Self::Approval => "APPROVAL",
            Self::Threat => "THREAT",
            Self::Http => "HTTP",
            Self::Payment => "PAYMENT",
            Self::Post => "POST",
            Self::Session => "SESSION",
            Self::Canary => "CANARY",
            Self::Leak => "LEAK",
            Self::Config => "CONFIG",
            Self::Proxy => "PROXY",
            Self::Skill => "SKILL",
            Self::Access => "ACCESS",
            Self::Alert => "ALERT",
            Self::Audit => "AUDIT",
        }
    }

    /// Reads the word, in any case.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for one in Category::ALL {
            assert_eq!(Category::parse(one.as_str()), Some(one));
        }
        for one in Severity::ALL {
            assert_eq!(Severity::parse(&one.as_str().to_lowercase()), Some(one));
        }
        assert_eq!(Category::parse("ELSE"), None);
        assert!(Severity::Critical > Severity::Warn && Severity::Warn > Severity::Info);
    }
}
