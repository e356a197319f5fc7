//! What a relationship's tier changes: whether the owner is asked before something is sent, and what happens to an
//! answer that holds more than its schema declares. It never changes what is scanned.

use super::error::{DefinitionError, value};
use super::wire;
use blastshield_recovery::relationships::Tier;

/// How far a proxy may go with somebody on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engagement {
    /// Reads; everything that is sent is asked for.
    Ask,
    /// Sends where the operation's approval is left to policy and the settings do not insist.
    Reply,
}

/// What becomes of properties that a schema does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The answer is refused.
    Strict,
    /// They are dropped.
    Lenient,
}

/// What a tier means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierPolicy {
    /// How far a proxy may go.
    pub engagement: Engagement,
    /// How an answer is read.
    pub schema: Strictness,
}

/// The three tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiers {
    acquaintance: TierPolicy,
    friend: TierPolicy,
    ally: TierPolicy,
}

impl Tiers {
    pub(super) fn read(wire: wire::Tiers) -> Result<Self, DefinitionError> {
        let tier = |name: &str, rule: Option<wire::TierRule>, otherwise| {
            rule.map_or(Ok(otherwise), |rule| policy(name, &rule))
        };
        let careful = TierPolicy {
            engagement: Engagement::Ask,
            schema: Strictness::Lenient,
        };
        Ok(Self {
            acquaintance: tier("acquaintance", wire.acquaintance, careful)?,
            friend: tier("friend", wire.friend, careful)?,
            ally: tier("ally", wire.ally, careful)?,
        })
    }

    /// The policy of a tier.
    #[must_use]
    pub const fn of(&self, tier: Tier) -> TierPolicy {
        match tier {
            Tier::Acquaintance => self.acquaintance,
            Tier::Friend => self.friend,
            Tier::Ally => self.ally,
        }
    }
}

fn policy(name: &str, rule: &wire::TierRule) -> Result<TierPolicy, DefinitionError> {
    let engagement = match rule.engagement.as_str() {
        "ask" => Engagement::Ask,
        "reply" => Engagement::Reply,
        _ => return Err(value(format!("tiers.{name}.engagement"), "ask or reply")),
    };
    let schema = match rule.schema.as_str() {
        "strict" => Strictness::Strict,
        "lenient" => Strictness::Lenient,
        _ => return Err(value(format!("tiers.{name}.schema"), "strict or lenient")),
    };
    Ok(TierPolicy { engagement, schema })
}
