//! Reads single values, and says what is wrong with them.

use crate::secret::Secret;
use crate::table::{Setting, find};
use crate::values::{ConfigError, Origin, Values};
use blastshield_policy::DomainList;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// Reads values of one type after the other.
pub(crate) struct Reader<'v> {
    pub(crate) values: &'v Values,
}

/// Shorter tokens can be guessed.
const MIN_TOKEN: usize = 16;

impl Reader<'_> {
    fn setting(key: &str) -> Result<&'static Setting, ConfigError> {
        find(key).ok_or_else(|| ConfigError::UnknownKey {
            key: key.to_owned(),
            hint: String::new(),
        })
    }

    fn origin(&self, key: &str) -> Origin {
        find(key).map_or(Origin::Default, |setting| self.values.get(setting).1)
    }

    /// The complaint about a value.
    pub(crate) fn bad(&self, key: &'static str, expected: String) -> ConfigError {
        ConfigError::Value {
            key,
            origin: self.origin(key),
            expected,
        }
    }

    /// A value that must be there.
    pub(crate) fn text(&self, key: &'static str) -> Result<&str, ConfigError> {
        let (text, _) = self.values.get(Self::setting(key)?);
        if text.is_empty() {
            return Err(self.bad(key, "set".into()));
        }
        Ok(text)
    }

    /// A value that may be missing.
    pub(crate) fn optional(&self, key: &'static str) -> Option<&str> {
        let (text, _) = self.values.get(find(key)?);
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn secret(&self, key: &'static str) -> Option<Secret> {
        self.optional(key).map(|text| Secret::new(text.to_owned()))
    }

    /// A token that a client sends in a header.
    pub(crate) fn token(&self, key: &'static str) -> Result<Option<Secret>, ConfigError> {
        let Some(text) = self.optional(key) else {
            return Ok(None);
        };
        if text.len() < MIN_TOKEN || !text.bytes().all(|b| b.is_ascii_graphic()) {
            let expected = format!("at least {MIN_TOKEN} visible ASCII characters");
            return Err(self.bad(key, expected));
        }
        Ok(Some(Secret::new(text.to_owned())))
    }

    pub(crate) fn parsed<T: FromStr>(
        &self,
        key: &'static str,
        expected: &str,
    ) -> Result<T, ConfigError> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.bad(key, expected.to_owned()))
    }

    pub(crate) fn optional_parsed<T: FromStr>(
        &self,
        key: &'static str,
        expected: &str,
    ) -> Result<Option<T>, ConfigError> {
        self.optional(key)
            .map(|_| self.parsed(key, expected))
            .transpose()
    }

    pub(crate) fn number<T>(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<T, ConfigError>
    where
        T: TryFrom<u64>,
    {
        let number: Option<u64> = self.text(key)?.parse().ok();
        number
            .filter(|number| range.contains(number))
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| {
                let expected = format!("a number from {} to {}", range.start(), range.end());
                self.bad(key, expected)
            })
    }

    pub(crate) fn optional_number<T>(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<T>, ConfigError>
    where
        T: TryFrom<u64>,
    {
        self.optional(key)
            .map(|_| self.number(key, range))
            .transpose()
    }

    pub(crate) fn millis(&self, key: &'static str) -> Result<Duration, ConfigError> {
        self.number(key, 1..=600_000).map(Duration::from_millis)
    }

    pub(crate) fn truth(&self, key: &'static str) -> Result<bool, ConfigError> {
        self.one_of(
            key,
            &[
                ("true", true),
                ("false", false),
                ("1", true),
                ("0", false),
                ("yes", true),
                ("no", false),
                ("on", true),
                ("off", false),
            ],
        )
        .map_err(|_| self.bad(key, "true or false".into()))
    }

    pub(crate) fn one_of<T: Copy>(
        &self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, ConfigError> {
        let text = self.text(key)?;
        let chosen = choices
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        chosen.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.bad(key, format!("one of {}", names.join(", ")))
        })
    }

    pub(crate) fn list<T: FromStr>(
        &self,
        key: &'static str,
        expected: &str,
    ) -> Result<Vec<T>, ConfigError> {
        self.optional(key)
            .unwrap_or_default()
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|item| !item.is_empty())
            .map(|item| item.parse().map_err(|_| self.bad(key, expected.to_owned())))
            .collect()
    }

    /// Names separated by commas; they may hold spaces.
    pub(crate) fn names(&self, key: &'static str) -> Result<Vec<String>, ConfigError> {
        let names: Vec<String> = self
            .optional(key)
            .unwrap_or_default()
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        if names.len() > 1000 || names.iter().any(|name| name.len() > 1024) {
            return Err(self.bad(key, "at most 1000 names of at most 1024 bytes".into()));
        }
        Ok(names)
    }

    pub(crate) fn domains(&self, key: &'static str) -> Result<DomainList, ConfigError> {
        DomainList::parse(self.optional(key).unwrap_or_default()).map_err(|bad| {
            let expected = format!("domains or addresses separated by commas ({bad})");
            self.bad(key, expected)
        })
    }

    pub(crate) fn url(&self, key: &'static str) -> Result<Url, ConfigError> {
        let url: Url = self.parsed(key, WEB_ADDRESS)?;
        if matches!(url.scheme(), "http" | "https") && url.has_host() {
            Ok(url)
        } else {
            Err(self.bad(key, WEB_ADDRESS.into()))
        }
    }

    pub(crate) fn optional_url(&self, key: &'static str) -> Result<Option<Url>, ConfigError> {
        self.optional(key).map(|_| self.url(key)).transpose()
    }

    /// A text that goes into a header.
    pub(crate) fn header(&self, key: &'static str) -> Result<String, ConfigError> {
        let text = self.text(key)?;
        if text.len() > 256 || !text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
            return Err(self.bad(key, "at most 256 visible ASCII characters".into()));
        }
        Ok(text.to_owned())
    }
}

const WEB_ADDRESS: &str = "a http or https address";
