//! Abuse patterns: shipped ones by name, and the owner's own.

use super::security::MAX_ENTRIES;
use crate::reader::Reader;
use crate::values::ConfigError;
use std::time::Duration;

/// What is done about abuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbuseAction {
    /// It is reported.
    Warn,
    /// The session has to pause.
    Throttle,
    /// The session is blocked.
    Block,
}

/// Abuse patterns.
#[derive(Clone, Debug)]
pub struct AbuseSettings {
    /// Whether they are looked for.
    pub enabled: bool,
    /// Which ones: shipped ones by id, and the owner's own.
    pub patterns: Vec<AbusePattern>,
    /// What is done, whatever a pattern says.
    pub action: Option<AbuseAction>,
    /// How long a blocked session stays blocked.
    pub block_for: Duration,
}

/// The ids of the patterns that come with the program.
pub const SHIPPED_PATTERNS: [&str; 3] = [
    "repeated_injection_attempts",
    "credential_probing",
    "rapid_tool_exploitation",
];

/// One abuse pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbusePattern {
    /// A shipped one, by id.
    Shipped(String),
    /// The owner's own.
    Own(OwnPattern),
}

/// An abuse pattern of the owner: so many events of a category, or with a text, within a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPattern {
    /// Its name in reports.
    pub id: String,
    /// What it looks for.
    pub what: OwnTrigger,
    /// How many.
    pub count: u8,
    /// Within this time.
    pub window: Duration,
    /// What is done.
    pub action: AbuseAction,
}

/// What an owner's pattern looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnTrigger {
    /// A category of the detector.
    Category(String),
    /// Words, whatever their case.
    Text(String),
}

const ACTIONS: [(&str, AbuseAction); 3] = [
    ("warn", AbuseAction::Warn),
    ("throttle", AbuseAction::Throttle),
    ("block", AbuseAction::Block),
];

pub(super) fn abuse(read: &Reader<'_>) -> Result<AbuseSettings, ConfigError> {
    Ok(AbuseSettings {
        enabled: read.truth("security.abuseDetection.enabled")?,
        patterns: patterns(read)?,
        action: match read.optional("security.abuseDetection.action") {
            None => None,
            Some(_) => Some(read.one_of("security.abuseDetection.action", &ACTIONS)?),
        },
        block_for: Duration::from_secs(
            60 * read.number::<u64>("security.abuseDetection.blockMinutes", 1..=525_600)?,
        ),
    })
}

fn patterns(read: &Reader<'_>) -> Result<Vec<AbusePattern>, ConfigError> {
    const KEY: &str = "security.abuseDetection.patterns";
    let bad = || {
        let expected = "a list of pattern names, or of { id, category or text, count, \
            windowSeconds, action }";
        read.bad(KEY, expected.into())
    };
    let text = read.optional(KEY).unwrap_or_default();
    if !text.starts_with('[') {
        let names: Vec<String> = read.names(KEY)?;
        return names
            .into_iter()
            .map(|name| shipped(name).ok_or_else(bad))
            .collect();
    }
    let entries: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|_| bad())?;
    if entries.len() > MAX_ENTRIES {
        return Err(bad());
    }
    let entry = |entry: serde_json::Value| match entry {
        serde_json::Value::String(name) => shipped(name).ok_or_else(bad),
        serde_json::Value::Object(fields) => own(&fields).map(AbusePattern::Own).ok_or_else(bad),
        _ => Err(bad()),
    };
    entries.into_iter().map(entry).collect()
}

fn shipped(name: String) -> Option<AbusePattern> {
    SHIPPED_PATTERNS
        .contains(&name.as_str())
        .then_some(AbusePattern::Shipped(name))
}

fn own(fields: &serde_json::Map<String, serde_json::Value>) -> Option<OwnPattern> {
    let text = |name: &str| {
        let text = fields.get(name)?.as_str()?;
        (1..=200).contains(&text.len()).then(|| text.to_owned())
    };
    let number = |name: &str| fields.get(name)?.as_u64().filter(|number| *number > 0);
    let what = match (text("category"), text("text")) {
        (Some(category), None) => OwnTrigger::Category(category),
        (None, Some(words)) => OwnTrigger::Text(words),
        _ => return None,
    };
    let action = text("action")?;
    let (_, action) = ACTIONS.into_iter().find(|(name, _)| *name == action)?;
    let expected = 5;
    (fields.len() == expected).then_some(())?;
    Some(OwnPattern {
        id: text("id")?,
        what,
        count: u8::try_from(number("count")?)
            .ok()
            .filter(|count| *count <= 32)?,
        window: Duration::from_secs(number("windowSeconds")?.min(86_400)),
        action,
    })
}
