//! The forward proxy: what agents may reach through it, and how much of it.

use crate::reader::Reader;
use crate::secret::Secret;
use crate::table::find;
use crate::values::{ConfigError, Origin};
use blastshield_policy::{DomainList, Host, Ports};
use ipnet::IpNet;
use std::net::SocketAddr;
use std::time::Duration;

/// The host of the public LNbits, for which a configured one stands in.
const LNBITS: &str = "legend.lnbits.com";
const MAX_AGENTS: usize = 256;
const MIN_TOKEN: usize = 16;

/// How much of the policy is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EgressMode {
    /// All of it.
    Enforce,
    /// Unlisted hosts pass, and the log says so.
    Report,
    /// Unlisted hosts pass.
    Open,
}

/// An agent with a policy of its own.
#[derive(Clone, Debug)]
pub struct EgressAgent {
    /// Its name in the proxy address.
    pub name: String,
    /// Its token in the proxy address.
    pub token: Secret,
    /// What it may reach beyond the general allowlist.
    pub allow: DomainList,
    /// What it may not reach.
    pub block: DomainList,
    /// Whether the owner is asked about other hosts.
    pub ask: bool,
    /// Whether the general allowlist counts for it.
    pub general: bool,
}

/// The forward proxy.
#[derive(Clone, Debug)]
pub struct EgressSettings {
    /// Where it listens; nowhere when not set.
    pub address: Option<SocketAddr>,
    /// How much of the policy is applied.
    pub mode: EgressMode,
    /// Hosts that agents may reach.
    pub allowed_domains: DomainList,
    /// Hosts that they may not.
    pub blocked_domains: DomainList,
    /// Whether the owner is asked about other hosts.
    pub ask: bool,
    /// How long a connection waits for the owner.
    pub ask_wait: Duration,
    /// Connections that may wait for the owner at once.
    pub max_waiting: usize,
    /// Ports that may be reached.
    pub allowed_ports: Ports,
    /// Ranges excepted from the address guard.
    pub allowed_ranges: Vec<IpNet>,
    /// Hosts excepted from the address guard.
    pub allowed_hosts: DomainList,
    /// Hosts whose TLS is opened.
    pub intercept_hosts: DomainList,
    /// Hosts that may be told who the agent is, where that can be seen.
    pub credential_hosts: DomainList,
    /// Let greetings pass that may hide a name.
    pub allow_ech: bool,
    /// Let greetings pass that name nobody.
    pub allow_no_sni: bool,
    /// Let tunnels pass that speak no TLS.
    pub allow_non_tls: bool,
    /// Connections at once.
    pub max_connections: usize,
    /// Largest request body.
    pub max_request_bytes: usize,
    /// Largest response body.
    pub max_response_bytes: usize,
    /// Longest silence.
    pub idle: Duration,
    /// Longest connection.
    pub total: Duration,
    /// Whether agents must have a name and a token.
    pub require_credentials: bool,
    /// Agents with policies of their own.
    pub agents: Vec<EgressAgent>,
}

pub(super) fn egress(read: &Reader<'_>) -> Result<EgressSettings, ConfigError> {
    let seconds = |key| read.number(key, 1..=7 * 86_400).map(Duration::from_secs);
    let one_of = |key, yes, no| read.one_of(key, &[(yes, true), (no, false)]);
    Ok(EgressSettings {
        address: read.optional_parsed(
            "egress.address",
            "an address with a port, such as 127.0.0.1:3128",
        )?,
        mode: read.one_of(
            "egress.mode",
            &[
                ("enforce", EgressMode::Enforce),
                ("report", EgressMode::Report),
                ("open", EgressMode::Open),
            ],
        )?,
        allowed_domains: allowed(read)?,
        blocked_domains: read.domains("egress.blocked_domains")?,
        ask: one_of("egress.unlisted", "ask", "deny")?,
        ask_wait: read
            .number("egress.ask_wait_seconds", 0..=300)
            .map(Duration::from_secs)?,
        max_waiting: read.number("egress.max_waiting", 1..=10_000)?,
        allowed_ports: read.parsed(
            "egress.allowed_ports",
            "ports from 1 to 65535 separated by commas, or *",
        )?,
        allowed_ranges: read.list(
            "egress.allowed_ranges",
            "address ranges such as 198.18.0.0/15",
        )?,
        allowed_hosts: read.domains("egress.allowed_hosts")?,
        intercept_hosts: read.domains("egress.intercept_hosts")?,
        credential_hosts: read.domains("egress.credential_hosts")?,
        allow_ech: one_of("egress.ech", "allow", "deny")?,
        allow_no_sni: one_of("egress.no_sni", "allow", "deny")?,
        allow_non_tls: one_of("egress.non_tls", "allow", "deny")?,
        max_connections: read.number("egress.max_connections", 1..=1_000_000)?,
        max_request_bytes: read.number("egress.max_request_bytes", 1_000..=1_000_000_000)?,
        max_response_bytes: read.number("egress.max_response_bytes", 1_000..=1_000_000_000)?,
        idle: seconds("egress.idle_seconds")?,
        total: seconds("egress.total_seconds")?,
        require_credentials: read.truth("egress.require_credentials")?,
        agents: agents(read)?,
    })
}

/// The allowlist. In the default one the configured LNbits takes the place of the public one.
fn allowed(read: &Reader<'_>) -> Result<DomainList, ConfigError> {
    const KEY: &str = "egress.allowed_domains";
    let list = read.domains(KEY)?;
    let default = find(KEY).is_some_and(|setting| read.values.get(setting).1 == Origin::Default);
    let wallet = read.optional_url("wallet.lnbits_url")?;
    let host = wallet.as_ref().and_then(|url| Host::of(url).ok());
    match (default, host) {
        (true, Some(host)) => {
            let text = read.optional(KEY).unwrap_or_default();
            let text = text.replace(LNBITS, &host.to_string());
            DomainList::parse(&text).map_err(|bad| read.bad(KEY, bad.to_string()))
        }
        _ => Ok(list),
    }
}

fn agents(read: &Reader<'_>) -> Result<Vec<EgressAgent>, ConfigError> {
    const KEY: &str = "egress.agents";
    let bad = || {
        let expected = "a list of agents, each with name, token (16 characters or more), and if need be allow, block, \
            unlisted (ask or deny) and general (true or false)";
        read.bad(KEY, expected.to_owned())
    };
    let Some(text) = read.optional(KEY) else {
        return Ok(Vec::new());
    };
    let entries: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_str(text).map_err(|_| bad())?;
    let agents: Option<Vec<EgressAgent>> = entries.iter().map(agent).collect();
    let agents = agents.ok_or_else(bad)?;
    let mut names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() != agents.len() || agents.len() > MAX_AGENTS {
        return Err(bad());
    }
    Ok(agents)
}

fn agent(fields: &serde_json::Map<String, serde_json::Value>) -> Option<EgressAgent> {
    const KNOWN: [&str; 6] = ["name", "token", "allow", "block", "unlisted", "general"];
    fields
        .keys()
        .all(|key| KNOWN.contains(&key.as_str()))
        .then_some(())?;
    let text = |name: &str| match fields.get(name) {
        None => Some(""),
        Some(value) => value.as_str(),
    };
    let list = |name: &str| match fields.get(name) {
        None => Some(DomainList::default()),
        Some(serde_json::Value::Array(items)) => {
            let items: Option<Vec<&str>> = items.iter().map(serde_json::Value::as_str).collect();
            DomainList::from_entries(items?).ok()
        }
        Some(value) => DomainList::parse(value.as_str()?).ok(),
    };
    let (name, token) = (text("name")?, text("token")?);
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let named = (1..=64).contains(&name.len()) && name.bytes().all(word);
    let guarded =
        (MIN_TOKEN..=256).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_graphic());
    (named && guarded).then_some(())?;
    Some(EgressAgent {
        name: name.to_owned(),
        token: Secret::new(token.to_owned()),
        allow: list("allow")?,
        block: list("block")?,
        ask: match text("unlisted")? {
            "" | "ask" => true,
            "deny" => false,
            _ => return None,
        },
        general: match fields.get("general") {
            None => true,
            Some(value) => value.as_bool()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, Values};

    fn settings(file: &str, variables: &[(&str, &str)]) -> Result<EgressSettings, ConfigError> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Ok(Settings::from_values(&Values::read(Some(file), variables)?)?.egress)
    }

    fn allows(settings: &EgressSettings, host: &str) -> bool {
        settings.allowed_domains.covers(&Host::parse(host).unwrap())
    }

    #[test]
    fn the_default_allowlist_is_the_supervisors() {
        let plain = settings("", &[]).unwrap();
        for host in ["api.openai.com", "api.telegram.org", "moltbook.com", LNBITS] {
            assert!(allows(&plain, host), "{host}");
        }
        assert!(!allows(&plain, "openai.com") && plain.address.is_none() && plain.ask);
        assert_eq!(plain.mode, EgressMode::Enforce);
        let own = settings("", &[("LNBITS_URL", "https://ln.example/x")]).unwrap();
        assert!(allows(&own, "ln.example") && !allows(&own, LNBITS));
        let said = settings(
            "",
            &[("SUPERVISOR_ALLOWED_DOMAINS", "a.example, .b.example")],
        )
        .unwrap();
        assert!(
            allows(&said, "a.example")
                && allows(&said, "x.b.example")
                && !allows(&said, "moltbook.com")
        );
    }

    #[test]
    fn agents_have_names_tokens_and_lists() {
        let file = r#"
            [[egress.agents]]
            name = "builder"
            token = "0123456789abcdef"
            allow = ["pypi.org", "files.pythonhosted.org"]
            unlisted = "deny"
        "#;
        let agents = settings(file, &[]).unwrap().agents;
        let agent = agents.first().unwrap();
        assert!(!agent.ask && agent.general && agent.allow.len() == 2);
        assert!(!format!("{agent:?}").contains("0123456789"));
        for bad in [
            "[[egress.agents]]\nname = \"a\"\ntoken = \"short\"",
            "[[egress.agents]]\nname = \"a b\"\ntoken = \"0123456789abcdef\"",
            "[[egress.agents]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\nmore = 1",
            "[[egress.agents]]\nname = \"a\"\ntoken = \"0123456789abcdef\"\n[[egress.agents]]\nname = \"a\"\ntoken = \"0123456789abcdef\"",
        ] {
            assert!(settings(bad, &[]).is_err(), "{bad}");
        }
    }
}
