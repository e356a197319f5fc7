//! Who may reach which host: lists, modes and the agents' own policies. Pure; an answer costs a few hash lookups,
//! however long the lists are.

use blastshield_policy::{DomainList, Host};
use std::collections::HashMap;

/// How much of the policy is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// All of it.
    #[default]
    Enforce,
    /// Hosts that are not listed are let through, and the log says so.
    Report,
    /// Hosts that are not listed are let through.
    Open,
}

/// What happens to a host on no list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// The owner is asked.
    #[default]
    Ask,
    /// It is refused, and nobody is asked.
    Deny,
}

/// What one agent may reach beyond, or instead of, what all may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPolicy {
    /// Hosts that it may reach.
    pub allow: DomainList,
    /// Hosts that it may not reach, whatever else is allowed.
    pub block: DomainList,
    /// What happens to the others.
    pub unlisted: Unlisted,
    /// Whether the general allowlist counts for it.
    pub general: bool,
}

impl Default for AgentPolicy {
    fn default() -> Self {
        Self {
            allow: DomainList::default(),
            block: DomainList::default(),
            unlisted: Unlisted::Ask,
            general: true,
        }
    }
}

/// Everything that decides about a host.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// How much of it is applied.
    pub mode: Mode,
    /// Hosts that agents may reach.
    pub allow: DomainList,
    /// Hosts that nobody reaches, in however many lists.
    pub block: Vec<DomainList>,
    /// What happens to the others.
    pub unlisted: Unlisted,
    /// Agents with a policy of their own.
    pub agents: HashMap<Box<str>, AgentPolicy>,
}

/// What an answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Everything is closed.
    Lockdown,
    /// The blocklist.
    Blocklist,
    /// The agent's own blocklist.
    AgentBlocklist,
    /// The allowlist.
    Allowlist,
    /// The agent's own allowlist.
    AgentAllowlist,
    /// On no list.
    Unlisted,
    /// On no list, in a mode that lets it through.
    Mode,
    /// The owner allowed it for a time.
    Grant,
    /// The owner was asked.
    Owner,
    /// The address, name or port.
    Address,
    /// The leak filter.
    Leak,
    /// The injection stage.
    Injection,
    /// What TLS says.
    Tls,
    /// The message itself.
    Protocol,
    /// Limits.
    Limit,
    /// The other side.
    Origin,
}

impl Rule {
    /// The word in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lockdown => "lockdown",
            Self::Blocklist => "blocklist",
            Self::AgentBlocklist => "agent_blocklist",
            Self::Allowlist => "allowlist",
            Self::AgentAllowlist => "agent_allowlist",
            Self::Unlisted => "unlisted",
            Self::Mode => "mode",
            Self::Grant => "grant",
            Self::Owner => "owner",
            Self::Address => "address",
            Self::Leak => "leak",
            Self::Injection => "injection",
            Self::Tls => "tls",
            Self::Protocol => "protocol",
            Self::Limit => "limit",
            Self::Origin => "origin",
        }
    }
}

/// The answer about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Yes.
    Allow(Rule),
    /// Only if the owner has said so, or says so now.
    Ask,
    /// No.
    Deny(Rule),
}

impl Policy {
    /// What lists and mode say. Lockdown and blocklists hold in every mode.
    pub fn decide(&self, agent: &str, host: &Host, locked: bool) -> Verdict {
        if locked {
            return Verdict::Deny(Rule::Lockdown);
        }
        if self.block.iter().any(|list| list.covers(host)) {
            return Verdict::Deny(Rule::Blocklist);
        }
        let own = self.agents.get(agent);
        if own.is_some_and(|own| own.block.covers(host)) {
            return Verdict::Deny(Rule::AgentBlocklist);
        }
        if own.is_none_or(|own| own.general) && self.allow.covers(host) {
            return Verdict::Allow(Rule::Allowlist);
        }
        if own.is_some_and(|own| own.allow.covers(host)) {
            return Verdict::Allow(Rule::AgentAllowlist);
        }
        match (self.mode, own.map_or(self.unlisted, |own| own.unlisted)) {
            (Mode::Report | Mode::Open, _) => Verdict::Allow(Rule::Mode),
            (Mode::Enforce, Unlisted::Ask) => Verdict::Ask,
            (Mode::Enforce, Unlisted::Deny) => Verdict::Deny(Rule::Unlisted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> DomainList {
        DomainList::parse(text).unwrap()
    }

    fn policy(mode: Mode) -> Policy {
        let narrow = AgentPolicy {
            allow: list("own.test"),
            block: list("api.good.test"),
            unlisted: Unlisted::Deny,
            general: false,
        };
        let wide = AgentPolicy {
            allow: list("own.test"),
            block: list("api.good.test"),
            ..AgentPolicy::default()
        };
        Policy {
            mode,
            allow: list("good.test .below.test 93.184.216.34"),
            block: vec![list("bad.good.test"), list("bad.test")],
            unlisted: Unlisted::Ask,
            agents: [("narrow".into(), narrow), ("wide".into(), wide)].into(),
        }
    }

    #[test]
    fn each_step_outranks_the_next() {
        use Rule::{AgentAllowlist, AgentBlocklist, Allowlist, Blocklist, Lockdown};
        let policy = policy(Mode::Enforce);
        for (agent, host, expected) in [
            ("", "good.test", Verdict::Allow(Allowlist)),
            ("", "a.b.good.test", Verdict::Allow(Allowlist)),
            ("", "a.below.test", Verdict::Allow(Allowlist)),
            ("", "below.test", Verdict::Ask),
            ("", "93.184.216.34", Verdict::Allow(Allowlist)),
            ("", "bad.good.test", Verdict::Deny(Blocklist)),
            ("", "notgood.test", Verdict::Ask),
            ("", "own.test", Verdict::Ask),
            ("wide", "own.test", Verdict::Allow(AgentAllowlist)),
            ("wide", "good.test", Verdict::Allow(Allowlist)),
            ("wide", "api.good.test", Verdict::Deny(AgentBlocklist)),
            ("wide", "other.test", Verdict::Ask),
            ("narrow", "good.test", Verdict::Deny(Rule::Unlisted)),
            ("narrow", "own.test", Verdict::Allow(AgentAllowlist)),
            ("narrow", "other.test", Verdict::Deny(Rule::Unlisted)),
        ] {
            let host = Host::parse(host).unwrap();
            assert_eq!(
                policy.decide(agent, &host, false),
                expected,
                "{agent} {host}"
            );
            assert_eq!(policy.decide(agent, &host, true), Verdict::Deny(Lockdown));
        }
    }

    #[test]
    fn other_modes_let_unlisted_hosts_through_and_nothing_else() {
        for mode in [Mode::Report, Mode::Open] {
            let policy = policy(mode);
            let decide = |host: &str| policy.decide("", &Host::parse(host).unwrap(), false);
            assert_eq!(decide("other.test"), Verdict::Allow(Rule::Mode));
            assert_eq!(decide("bad.test"), Verdict::Deny(Rule::Blocklist));
            assert_eq!(decide("good.test"), Verdict::Allow(Rule::Allowlist));
        }
    }
}
