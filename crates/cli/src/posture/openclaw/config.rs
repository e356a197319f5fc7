//! An OpenClaw configuration beside us, read and never written.

use super::json5;
use crate::posture::files;
use crate::posture::scene::bounded;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Parts of a configuration that are looked at, at most.
const MAX_PARTS: usize = 1000;

/// What was found.
pub(crate) struct Claw {
    pub(crate) path: PathBuf,
    /// The path as it may be shown.
    pub(crate) shown: String,
    pub(crate) text: String,
    /// Nothing when it cannot be understood.
    pub(crate) config: Option<Value>,
}

impl Claw {
    /// The file that was named, or the one that OpenClaw would use.
    pub(crate) fn look(named: Option<&Path>, variables: &BTreeMap<String, String>) -> Option<Self> {
        if let Some(path) = named {
            let path = if path.is_dir() {
                path.join("openclaw.json")
            } else {
                path.to_owned()
            };
            let shown = files::shown(&path);
            return Self::open(path, shown, true);
        }
        let variable = |name: &str| variables.get(name).filter(|value| !value.is_empty());
        if let Some(path) = variable("OPENCLAW_CONFIG_PATH") {
            return Self::open(path.into(), "$OPENCLAW_CONFIG_PATH".to_owned(), true);
        }
        if let Some(folder) = variable("OPENCLAW_STATE_DIR") {
            let path = Path::new(folder).join("openclaw.json");
            return Self::open(path, "$OPENCLAW_STATE_DIR/openclaw.json".to_owned(), false);
        }
        let home = Path::new(variable("HOME")?);
        ["openclaw.json", "config.json"].iter().find_map(|name| {
            let path = home.join(".openclaw").join(name);
            Self::open(path, format!("~/.openclaw/{name}"), false)
        })
    }

    /// One that was asked for and is not there counts as one that cannot be understood.
    fn open(path: PathBuf, shown: String, asked: bool) -> Option<Self> {
        let text = bounded(&path);
        if text.is_none() && !asked && path.symlink_metadata().is_err() {
            return None;
        }
        let text = text.unwrap_or_default();
        let mut config = json5::parse(&text).filter(Value::is_object);
        let ledger = path.with_file_name("plugins").join("installs.json");
        if let (Some(config), Some(ledger)) = (&mut config, bounded(&ledger)) {
            take_in(config, &ledger);
        }
        Some(Self {
            path,
            shown,
            text,
            config,
        })
    }
}

/// Plugins may be recorded in a ledger of their own instead of the configuration; it counts as part of that.
fn take_in(config: &mut Value, ledger: &str) {
    let records = match json5::parse(ledger) {
        Some(Value::Object(mut ledger)) => ledger.remove("installRecords"),
        _ => None,
    };
    let mut place = config;
    for key in ["plugins", "installs"] {
        let Some(map) = place.as_object_mut() else {
            return;
        };
        place = map.entry(key).or_insert_with(|| Value::Object(Map::new()));
    }
    if let (Some(Value::Object(records)), Some(installs)) = (records, place.as_object_mut()) {
        installs.extend(records);
    }
}

/// A part of a configuration by its dotted path.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

pub(crate) fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    at(value, path)?.as_str()
}

pub(crate) fn truth(value: &Value, path: &str) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or(false)
}

fn map<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    at(value, path)
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::iter)
        .take(MAX_PARTS)
}

/// Entries of an object, by name.
pub(crate) fn entries<'v>(value: &'v Value, path: &str) -> Vec<(String, &'v Value)> {
    map(value, path)
        .map(|(name, inner)| (label(name), inner))
        .collect()
}

/// Channels and their accounts that are not off, by name.
pub(crate) fn channels(config: &Value) -> Vec<(String, &Value)> {
    let on = |value: &Value| at(value, "enabled").and_then(Value::as_bool) != Some(false);
    let mut found = Vec::new();
    for (name, channel) in map(config, "channels").filter(|(_, channel)| on(channel)) {
        let name = format!("channels.{}", label(name));
        for (account, inner) in map(channel, "accounts").filter(|(_, account)| on(account)) {
            found.push((format!("{name}.accounts.{}", label(account)), inner));
        }
        found.push((name, channel));
    }
    found
}

/// The configuration itself, the agents' defaults and every agent, by name.
pub(crate) fn agents(config: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    if let Some(defaults) = at(config, "agents.defaults") {
        found.push(("agents.defaults".to_owned(), defaults));
    }
    for (name, agent) in map(config, "agents.entries") {
        found.push((format!("agents.entries.{}", label(name)), agent));
    }
    let list = at(config, "agents.list").and_then(Value::as_array);
    for (place, agent) in list.into_iter().flatten().take(MAX_PARTS).enumerate() {
        found.push((format!("agents.list[{place}]"), agent));
    }
    found
}

/// Texts of a list.
pub(crate) fn texts<'v>(value: &'v Value, path: &str) -> Vec<&'v str> {
    let list = at(value, path).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .take(MAX_PARTS)
        .filter_map(Value::as_str)
        .collect()
}

/// Every switch below that is on and whose name says that it is dangerous.
pub(crate) fn dangerous(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), value)];
    while let Some((path, value)) = waiting.pop() {
        for (name, inner) in value.as_object().into_iter().flat_map(Map::iter) {
            let path = format!("{path}{}", label(name));
            let named = name.starts_with("dangerously") || name == "allowInsecureAuth";
            if named && inner.as_bool() == Some(true) {
                found.push(path);
            } else if inner.is_object() && waiting.len() < MAX_PARTS {
                waiting.push((format!("{path}."), inner));
            }
        }
    }
    found.sort();
    found
}

/// A name that somebody chose, short and plain.
fn label(name: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '/' | '.');
    name.chars().filter(plain).take(40).collect()
}
