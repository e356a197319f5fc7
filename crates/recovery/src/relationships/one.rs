//! One relationship: how close, where it stands, and what passed lately.

use super::{MAX_INTERACTIONS, MAX_KIND, MAX_PLACE, MAX_SUMMARY};
use blastshield_audit::Time;
use serde::{Deserialize, Serialize};

/// How close a relationship is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Tier {
    /// Met.
    #[default]
    Acquaintance,
    /// Known.
    Friend,
    /// Trusted. Stage 4 runs all the same.
    Ally,
}

impl Tier {
    /// The word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acquaintance => "Acquaintance",
            Self::Friend => "Friend",
            Self::Ally => "Ally",
        }
    }
}

/// Where a relationship stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// In use.
    #[default]
    Active,
    /// Left alone for now.
    Paused,
    /// Not engaged with.
    Blocked,
    /// An attack may have touched it: a person has to look first.
    ReviewRequired,
}

impl Status {
    /// The word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Paused => "PAUSED",
            Self::Blocked => "BLOCKED",
            Self::ReviewRequired => "REVIEW_REQUIRED",
        }
    }
}

/// Something that passed between the proxy and the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// When, RFC 3339.
    pub at: String,
    /// What it was: `comment`, `post`…
    pub kind: String,
    /// Where, as the service names it.
    pub place: String,
    /// In a few words.
    pub summary: String,
}

/// One relationship.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relationship {
    /// How close.
    pub tier: Tier,
    /// Where it stands.
    pub status: Status,
    /// The newest last.
    #[serde(default)]
    pub interactions: Vec<Interaction>,
}

impl Relationship {
    /// The tier that counts: nobody under review is more than an acquaintance.
    #[must_use]
    pub fn effective_tier(&self) -> Tier {
        match self.status {
            Status::Active => self.tier,
            _ => Tier::Acquaintance,
        }
    }

    pub(super) fn is_bounded(&self) -> bool {
        self.interactions.len() <= MAX_INTERACTIONS
            && self.interactions.iter().all(|one| {
                Time::parse(&one.at).is_some()
                    && one.kind.len() <= MAX_KIND
                    && one.place.len() <= MAX_PLACE
                    && one.summary.chars().count() <= MAX_SUMMARY
            })
    }
}
