//! Where each value comes from: the file, then the environment, then flags.

use crate::table::{OTHER_VARIABLES, SETTINGS, Setting, find};
use std::collections::BTreeMap;

/// Who said what a setting is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// The configuration file.
    File,
    /// A variable of the environment.
    Variable(&'static str),
    /// The command line.
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File => f.write_str("file"),
            Self::Variable(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// The configuration cannot be used; the operator must mend it.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("the configuration file is not valid TOML: {0}")]
    Syntax(String),
    /// A key that does not exist.
    #[error("unknown setting {key} in the configuration file{hint}")]
    UnknownKey {
        /// The key as written.
        key: String,
        /// A near key, if there is one.
        hint: String,
    },
    /// A variable with our prefix that does not exist.
    #[error("unknown variable {name} in the environment{hint}")]
    UnknownVariable {
        /// The variable.
        name: String,
        /// A near name, if there is one.
        hint: String,
    },
    /// A table or a list where a value should be.
    #[error("{key} in the configuration file must be {expected}")]
    Shape {
        /// The key.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A value that cannot be used. The value itself is not repeated: it may be a secret.
    #[error("{key} (from {origin}) must be {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// Who said it.
        origin: Origin,
        /// What it should be.
        expected: String,
    },
    /// Two settings do not go together.
    #[error("{0}")]
    Together(&'static str),
}

/// The effective value of every setting, as text, with its origin.
#[derive(Clone, Debug, Default)]
pub struct Values {
    said: BTreeMap<&'static str, (String, Origin)>,
}

impl Values {
    /// Reads a configuration file's text and then the environment over it.
    pub fn read(
        file: Option<&str>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut values = Self::default();
        if let Some(text) = file {
            values.read_file(text)?;
        }
        values.read_environment(environment)?;
        Ok(values)
    }

    /// Sets a value from the command line.
    pub fn set_flag(&mut self, key: &str, value: String) -> Result<(), ConfigError> {
        let setting = find(key).ok_or_else(|| ConfigError::UnknownKey {
            key: key.to_owned(),
            hint: String::new(),
        })?;
        self.said.insert(setting.key, (value, Origin::Flag));
        Ok(())
    }

    /// A setting's text and origin; an empty text means that it is not set.
    #[must_use]
    pub fn get(&self, setting: &Setting) -> (&str, Origin) {
        match self.said.get(setting.key) {
            Some((value, origin)) => (value, origin.clone()),
            None => (setting.default, Origin::Default),
        }
    }

    fn read_file(&mut self, text: &str) -> Result<(), ConfigError> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError::Syntax(error.message().to_owned()))?;
        self.read_section("", table, 1)
    }

    /// A section and those inside it; no setting lies deeper than the third level.
    fn read_section(
        &mut self,
        prefix: &str,
        section: toml::Table,
        level: usize,
    ) -> Result<(), ConfigError> {
        for (name, value) in section {
            let key = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}.{name}")
            };
            match value {
                toml::Value::Table(inner) if level < 3 && find(&key).is_none() => {
                    self.read_section(&key, inner, level + 1)?;
                }
                value => self.take(&key, value)?,
            }
        }
        Ok(())
    }

    fn take(&mut self, key: &str, value: toml::Value) -> Result<(), ConfigError> {
        let setting = find(key).ok_or_else(|| ConfigError::UnknownKey {
            key: key.to_owned(),
            hint: nearest(key, SETTINGS.iter().map(|setting| setting.key)),
        })?;
        let text = plain(value).ok_or_else(|| ConfigError::Shape {
            key: key.to_owned(),
            expected: "a text, a number, true, false, or a list of texts",
        })?;
        self.said.insert(setting.key, (text, Origin::File));
        Ok(())
    }

    fn read_environment(
        &mut self,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        let known = || SETTINGS.iter().flat_map(|setting| setting.variables.iter());
        let ours = |name: &str| name.starts_with("BLASTSHIELD_") || name.starts_with("CLAWRUBBER_");
        let variables: BTreeMap<String, String> = environment
            .into_iter()
            .filter(|(name, _)| ours(name) || known().any(|variable| variable == name))
            .collect();
        for name in variables.keys().filter(|name| ours(name)) {
            let test = name.starts_with("BLASTSHIELD_TEST_");
            if !test
                && !OTHER_VARIABLES.contains(&name.as_str())
                && !known().any(|variable| variable == name)
            {
                return Err(ConfigError::UnknownVariable {
                    name: name.clone(),
                    hint: nearest(name, known().copied()),
                });
            }
        }
        for setting in SETTINGS {
            let set = setting
                .variables
                .iter()
                .find_map(|name| Some((name, variables.get(*name)?)));
            if let Some((name, value)) = set {
                let value = value.trim().to_owned();
                self.said
                    .insert(setting.key, (value, Origin::Variable(name)));
            }
        }
        Ok(())
    }
}

/// A value as text; lists are joined by commas.
fn plain(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        toml::Value::Array(list) if list.iter().any(toml::Value::is_table) => {
            serde_json::to_string(&list).ok()
        }
        toml::Value::Array(list) => {
            let texts: Option<Vec<String>> = list
                .into_iter()
                .map(|item| match item {
                    toml::Value::Array(_) => None,
                    item => plain(item),
                })
                .collect();
            Some(texts?.join(","))
        }
        toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

/// A hint at a name that differs by little, or nothing.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    known
        .map(|candidate| (distance(name, candidate), candidate))
        .min()
        .filter(|(distance, _)| *distance <= 3)
        .map_or(String::new(), |(_, candidate)| {
            format!("; did you mean {candidate}?")
        })
}

/// Letters to change, add or drop to get from one name to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().take(64).enumerate() {
        let mut previous = i;
        let mut last = i + 1;
        let mut next = vec![last];
        for (right, above) in b.iter().zip(row.iter().skip(1)) {
            last = (previous + usize::from(left != *right))
                .min(above + 1)
                .min(last + 1);
            next.push(last);
            previous = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str, variables: &[(&str, &str)]) -> Result<Values, ConfigError> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Values::read(Some(file), variables)
    }

    fn value(values: &Values, key: &str) -> (String, Origin) {
        let (text, origin) = values.get(find(key).unwrap());
        (text.to_owned(), origin)
    }

    #[test]
    fn flags_beat_variables_beat_the_file_beats_the_default() {
        let mut values = read(
            "[server]\nport = 1\nhost = \"::1\"",
            &[("CLAWRUBBER_PORT", "2")],
        )
        .unwrap();
        assert_eq!(
            value(&values, "server.host"),
            ("::1".to_owned(), Origin::File)
        );
        assert_eq!(
            value(&values, "server.port"),
            ("2".to_owned(), Origin::Variable("CLAWRUBBER_PORT"))
        );
        assert_eq!(value(&values, "policy.profile").1, Origin::Default);
        values.set_flag("server.port", "3".into()).unwrap();
        assert_eq!(
            value(&values, "server.port"),
            ("3".to_owned(), Origin::Flag)
        );
    }

    #[test]
    fn lists_may_be_lists() {
        let values = read(
            "[policy]\nallowlist_domains = [\"a.example\", \"b.example\"]",
            &[],
        )
        .unwrap();
        assert_eq!(
            value(&values, "policy.allowlist_domains").0,
            "a.example,b.example"
        );
    }

    #[test]
    fn unknown_names_stop_the_start_and_are_named() {
        let error = read("[server]\nprot = 1", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown setting server.prot in the configuration file; did you mean server.port?"
        );
        let error = read("", &[("CLAWRUBBER_PROFIL", "strict")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown variable CLAWRUBBER_PROFIL in the environment; did you mean CLAWRUBBER_PROFILE?"
        );
        assert!(read("nonsense", &[]).is_err());
        assert!(read("[server]\nport = { a = 1 }", &[]).is_err());
        assert!(read("", &[("HOME", "/"), ("PATH", "x")]).is_ok());
    }

    #[test]
    fn no_name_is_used_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for setting in SETTINGS {
            assert!(seen.insert(setting.key), "{}", setting.key);
            for variable in setting.variables {
                assert!(seen.insert(variable), "{variable}");
            }
        }
    }
}
