//! What was found, where, and in what disguise; and what a caller wants to hear about.

use std::ops::{BitOr, Range};
use std::sync::Arc;

/// What kind of thing must not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A marker word or path of the agent's own house.
    Internal,
    /// Something about a person: a mail address, a phone number, a card.
    Personal,
    /// Something that opens a door: a key, a token, a password, a seed phrase.
    Credential,
    /// A value that the caller registered.
    Registered,
    /// A planted marker.
    Canary,
}

impl Class {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Personal => "personal",
            Self::Credential => "credential",
            Self::Registered => "registered",
            Self::Canary => "canary",
        }
    }
}

/// The form in which it stood in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// As it is.
    Plain,
    /// Inside a URL.
    Url,
    /// Base64, hex, percent, entities, escapes, reversed or shifted; perhaps several of them.
    Encoded,
    /// Cut in pieces by separators, line breaks or invisible characters.
    Split,
}

impl Seen {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Url => "url",
            Self::Encoded => "encoded",
            Self::Split => "split",
        }
    }
}

/// One thing that must not leave. It names the place and the rule; it never holds the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule found it, such as `github-token`.
    pub rule: &'static str,
    /// What kind of thing it is.
    pub class: Class,
    /// First byte in the scanned text, on a character boundary.
    pub start: usize,
    /// First byte after it, on a character boundary.
    pub end: usize,
    /// In what form it stood there.
    pub seen: Seen,
    /// The name of the registered value, or the location of the canary.
    pub name: Option<Arc<str>>,
}

impl Finding {
    /// The place as a range.
    #[must_use]
    pub const fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// What a caller wants to hear about; combine with `|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(u8);

impl Scope {
    /// Keys, tokens, passwords, private keys, seed phrases.
    pub const CREDENTIALS: Self = Self(1);
    /// Mail addresses, phone numbers, cards, accounts, ids of persons.
    pub const PERSONAL: Self = Self(2);
    /// Network and wallet addresses: they say where somebody is, and ordinary technical text is full of them.
    pub const ADDRESSES: Self = Self(4);
    /// Any number of 17 to 19 digits outside a URL's path. Without it such a number counts only beside a word that says
    /// whose it is.
    pub const SNOWFLAKES: Self = Self(8);
    /// Internal paths and terms.
    pub const INTERNAL: Self = Self(16);
    /// Registered values and the owner's ids.
    pub const REGISTERED: Self = Self(32);
    /// Canaries.
    pub const CANARIES: Self = Self(64);

    /// Output validation: what opens doors.
    pub const SECRETS: Self = Self(1 | 32 | 64);
    /// Stage 6b: whatever the agent must not say to strangers.
    pub const OUTBOUND: Self = Self(1 | 2 | 8 | 16 | 32 | 64);
    /// Reports for people: everything but bare numbers.
    pub const REPORT: Self = Self(1 | 2 | 4 | 16 | 32 | 64);
    /// Everything.
    pub const ALL: Self = Self(127);

    /// Whether all of `other` is in this scope.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// This scope, less the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self::REPORT
    }
}

impl BitOr for Scope {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
