//! A service definition: what a proxy is for, where it may go, what it may ask and send, and how often.
//!
//! Strict TOML: an unknown field, a value out of bounds or an unusable schema is an error that names the field.

mod error;
mod operation;
mod params;
mod pieces;
mod template;
mod tiers;
mod wire;

pub use error::DefinitionError;
pub use operation::{Approval, BadInput, Input, Method, Operation, Tool};
pub use params::{BadParam, Param, ParamKind, Place};
pub use template::template;
pub use tiers::{Engagement, Strictness, TierPolicy, Tiers};

use blastshield_limits::proxy::{MAX_PER_HOUR, ProxyLimits};
use error::value;
use std::collections::BTreeMap;
use std::time::Duration;
use url::{Host, Url};

/// Bytes of a definition.
pub const MAX_BYTES: usize = 256 << 10;
/// A capability lives no longer than this.
pub const MAX_CAPABILITY: Duration = Duration::from_secs(2 * 3600);
const MAX_OPERATIONS: usize = 32;

/// The definition that ships.
pub const MOLTBOOK: &str = include_str!("../../../../services/moltbook.toml");

/// A service, checked.
#[derive(Debug)]
pub struct Definition {
    /// Its name; also that of its workspace.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Where its API is; ends without a slash.
    pub base: Url,
    /// What its workers may do.
    pub tools: Vec<Tool>,
    /// The credential, by name.
    pub credential: Option<Credential>,
    /// How often.
    pub limits: ProxyLimits,
    /// How much.
    pub bounds: Bounds,
    /// How long.
    pub timeouts: Timeouts,
    /// What a relationship's tier changes.
    pub tiers: Tiers,
    /// What may be asked of it.
    pub operations: BTreeMap<String, Operation>,
    pub(crate) source: String,
}

/// A credential that core holds and adds to requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The variable of the environment.
    pub variable: String,
    /// The header that carries it.
    pub header: String,
    /// Whether the word `Bearer` stands before it.
    pub bearer: bool,
    /// Days after which the owner is reminded to replace it.
    pub rotate_days: u32,
}

/// How much one task may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a request's body.
    pub request_bytes: usize,
    /// Bytes of an answer.
    pub response_bytes: usize,
    /// Files of the workspace.
    pub workspace_files: usize,
    /// Memory of a worker.
    pub memory_bytes: u64,
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To connect.
    pub connect: Duration,
    /// From the request to the end of the answer.
    pub answer: Duration,
    /// For a worker's whole life with a task.
    pub task: Duration,
    /// For the owner.
    pub approval: Duration,
    /// For a capability.
    pub capability: Duration,
}

impl Definition {
    /// Reads a definition. `loopback` admits plain HTTP to this machine, for tests.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, loopback: bool) -> Result<Self, DefinitionError> {
        if text.len() > MAX_BYTES {
            return Err(DefinitionError::TooLarge);
        }
        let wire: wire::Service =
            toml::from_str(text).map_err(|error| DefinitionError::Syntax {
                line: line_of(text, error.span().map_or(0, |span| span.start)),
                message: error.message().lines().next().unwrap_or("").to_owned(),
            })?;
        if !is_name(&wire.name) {
            let expected = "1 to 32 lower-case letters, digits and -, beginning with a letter";
            return Err(value("name", expected));
        }
        if wire.purpose.trim().is_empty() || wire.purpose.len() > 2000 {
            return Err(value("purpose", "said in at most 2000 bytes"));
        }
        let tools = tools(&wire.allowed_tools)?;
        let operations = operations(wire.operations)?;
        for operation in operations.values() {
            if let Some(tool) = operation
                .tools()
                .into_iter()
                .find(|tool| !tools.contains(tool))
            {
                return Err(DefinitionError::Tool {
                    operation: operation.name.clone(),
                    tool: tool.as_str(),
                });
            }
        }
        Ok(Self {
            base: base(&wire.base_url, loopback)?,
            credential: wire.credential.map(credential).transpose()?,
            limits: limits(wire.limits)?,
            bounds: bounds(&wire.bounds)?,
            timeouts: timeouts(&wire.timeouts)?,
            tiers: Tiers::read(wire.tiers)?,
            name: wire.name,
            purpose: wire.purpose,
            tools,
            operations,
            source: text.to_owned(),
        })
    }

    /// The host that is reached, with its port where that is not the usual one.
    #[must_use]
    pub fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        match self.base.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// Whether a text may be the name of a service.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=32).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn tools(names: &[String]) -> Result<Vec<Tool>, DefinitionError> {
    let read: Option<Vec<Tool>> = names.iter().map(|name| Tool::parse(name)).collect();
    read.filter(|tools| !tools.is_empty() && tools.len() <= Tool::ALL.len())
        .ok_or_else(|| value("allowed_tools", "a list of fetch, send and write"))
}

fn operations(
    wire: BTreeMap<String, wire::Operation>,
) -> Result<BTreeMap<String, Operation>, DefinitionError> {
    if wire.is_empty() || wire.len() > MAX_OPERATIONS {
        return Err(value("operations", format!("1 to {MAX_OPERATIONS} tables")));
    }
    wire.into_iter()
        .map(|(name, operation)| Ok((name.clone(), Operation::read(&name, operation)?)))
        .collect()
}

fn base(text: &str, loopback: bool) -> Result<Url, DefinitionError> {
    let expected =
        "an https address without user, query or fragment (http only for loopback in tests)";
    let wrong = || value("base_url", expected);
    let mut url = Url::parse(text).map_err(|_| wrong())?;
    let here = match url.host().ok_or_else(wrong)? {
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
        Host::Domain(_) => false,
    };
    let scheme = url.scheme() == "https" || url.scheme() == "http" && here && loopback;
    let bare = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !scheme || !bare || text.len() > 512 {
        return Err(wrong());
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

/// Credentials of ours, which no service may be sent.
const OURS: [&str; 5] = [
    "BLASTSHIELD_",
    "CLAWRUBBER_",
    "TELEGRAM_",
    "LNBITS_",
    "WALLET_",
];

/// By these words a variable is known to hold a secret.
const TELLING: [&str; 5] = ["TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL"];

fn credential(wire: wire::Credential) -> Result<Credential, DefinitionError> {
    let name = &wire.variable;
    let word = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    // Variables that are called so are known as secrets everywhere else too, and found by value if they leak.
    let telling = TELLING.iter().any(|part| name.contains(part));
    let ours = OURS.iter().any(|ours| name.starts_with(ours));
    if !(3..=64).contains(&name.len()) || !word || !telling || ours {
        let expected = "the NAME of a variable (with TOKEN, KEY, SECRET, PASSWORD or CREDENTIAL in it) that holds a credential of this service and of nobody else; never the credential";
        return Err(value("credential.variable", expected));
    }
    let (header, bearer) = match (wire.attach.as_str(), wire.header) {
        ("bearer", None) => ("authorization".to_owned(), true),
        ("header", Some(header)) if is_header(&header) => (header.to_ascii_lowercase(), false),
        _ => {
            let expected = "bearer, or header with credential.header such as x-api-key";
            return Err(value("credential.attach", expected));
        }
    };
    if !(1..=365).contains(&wire.rotate_days) {
        return Err(value("credential.rotate_days", "1 to 365"));
    }
    Ok(Credential {
        variable: wire.variable,
        header,
        bearer,
        rotate_days: wire.rotate_days,
    })
}

/// Headers that say how to read a message are not for credentials.
fn is_header(name: &str) -> bool {
    let taken = [
        "host",
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
        "upgrade",
        "te",
        "expect",
    ];
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !taken.contains(&name.to_ascii_lowercase().as_str())
}

fn within(field: &str, number: u64, least: u64, most: u64) -> Result<u64, DefinitionError> {
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(value(field, format!("{least} to {most}")))
    }
}

fn limits(limits: ProxyLimits) -> Result<ProxyLimits, DefinitionError> {
    within(
        "limits.maxPerMinute",
        limits.max_per_minute.into(),
        1,
        6_000,
    )?;
    within(
        "limits.maxPerHour",
        limits.max_per_hour.into(),
        1,
        MAX_PER_HOUR.into(),
    )?;
    within("limits.burnLimit", limits.burn_limit.into(), 1, 1_000_000)?;
    within("limits.cbThreshold", limits.cb_threshold.into(), 1, 100)?;
    within("limits.cbBaseMs", limits.cb_base_ms, 1, 3_600_000)?;
    within("limits.cbMaxMs", limits.cb_max_ms, 1, 86_400_000)?;
    Ok(limits)
}

fn bounds(wire: &wire::Bounds) -> Result<Bounds, DefinitionError> {
    let size = |field: &str, number: usize, least: u64, most: u64| {
        within(
            field,
            u64::try_from(number).unwrap_or(u64::MAX),
            least,
            most,
        )
    };
    size("bounds.request_bytes", wire.request_bytes, 1, 1 << 20)?;
    size("bounds.response_bytes", wire.response_bytes, 1, 8 << 20)?;
    size("bounds.workspace_files", wire.workspace_files, 1, 100_000)?;
    within("bounds.memory_bytes", wire.memory_bytes, 128 << 20, 4 << 30)?;
    Ok(Bounds {
        request_bytes: wire.request_bytes,
        response_bytes: wire.response_bytes,
        workspace_files: wire.workspace_files,
        memory_bytes: wire.memory_bytes,
    })
}

fn timeouts(wire: &wire::Timeouts) -> Result<Timeouts, DefinitionError> {
    let time = |field: &str, number, most| {
        within(&format!("timeouts.{field}"), number, 1, most).map(Duration::from_millis)
    };
    let longest = u64::try_from(MAX_CAPABILITY.as_millis()).unwrap_or(u64::MAX);
    Ok(Timeouts {
        connect: time("connect_ms", wire.connect_ms, 60_000)?,
        answer: time("answer_ms", wire.answer_ms, 120_000)?,
        task: time("task_ms", wire.task_ms, 900_000)?,
        approval: time("approval_ms", wire.approval_ms, 86_400_000)?,
        capability: time("capability_ms", wire.capability_ms, longest)?,
    })
}

#[cfg(test)]
mod tests;
