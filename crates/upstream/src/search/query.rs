//! What may be asked of a provider, and the bounds of each field.

use serde::{Deserialize, Serialize};

const COUNT_DEFAULT: u32 = 5;

/// How much a provider should hold back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SafeSearch {
    /// Nothing.
    Off,
    /// Explicit images.
    #[default]
    Moderate,
    /// All adult content.
    Strict,
}

impl SafeSearch {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Moderate => "moderate",
            Self::Strict => "strict",
        }
    }

    pub(crate) fn level(self) -> &'static str {
        match self {
            Self::Off => "0",
            Self::Moderate => "1",
            Self::Strict => "2",
        }
    }
}

/// A search, checked against its bounds before it goes anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// The words, 1 to 500 characters.
    pub query: String,
    /// How many results, 1 to 20.
    #[serde(default = "count_default")]
    pub count: u32,
    /// A country code, 2 to 5 characters.
    #[serde(default)]
    pub country: Option<String>,
    /// A language code, 2 to 10 characters.
    #[serde(default)]
    pub search_lang: Option<String>,
    /// How much to hold back.
    #[serde(default)]
    pub safesearch: SafeSearch,
    /// How recent, as Brave spells it (`pd`, `pw`, `pm`, `py`, `2026-01-01to2026-02-01`), at most 50 characters.
    #[serde(default)]
    pub freshness: Option<String>,
}

fn count_default() -> u32 {
    COUNT_DEFAULT
}

/// Which field of a query is outside its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` must be {bounds}")]
pub struct QueryError {
    /// The field's name on the wire.
    pub field: &'static str,
    /// What it must be.
    pub bounds: &'static str,
}

impl SearchQuery {
    /// A query with every option at its default.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            count: COUNT_DEFAULT,
            country: None,
            search_lang: None,
            safesearch: SafeSearch::default(),
            freshness: None,
        }
    }

    /// Whether every field is within its bounds.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check(&self) -> Result<(), QueryError> {
        let rules = [
            (
                !self.query.trim().is_empty() && self.query.chars().take(501).count() <= 500,
                "query",
                "1 to 500 characters, not blank",
            ),
            (
                (1..=20).contains(&self.count),
                "count",
                "a number from 1 to 20",
            ),
            (
                self.country.as_deref().is_none_or(|code| is_code(code, 5)),
                "country",
                "a code of 2 to 5 letters, digits or hyphens",
            ),
            (
                self.search_lang
                    .as_deref()
                    .is_none_or(|code| is_code(code, 10)),
                "search_lang",
                "a code of 2 to 10 letters, digits or hyphens",
            ),
            (
                self.freshness.as_deref().is_none_or(is_freshness),
                "freshness",
                "at most 50 printable ASCII characters",
            ),
        ];
        match rules.into_iter().find(|(holds, ..)| !holds) {
            Some((_, field, bounds)) => Err(QueryError { field, bounds }),
            None => Ok(()),
        }
    }
}

fn is_code(code: &str, longest: usize) -> bool {
    (2..=longest).contains(&code.len())
        && code
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn is_freshness(text: &str) -> bool {
    text.len() <= 50 && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(change: impl FnOnce(&mut SearchQuery)) -> Option<&'static str> {
        let mut query = SearchQuery::new("rust");
        change(&mut query);
        query.check().err().map(|error| error.field)
    }

    #[test]
    fn bounds_hold_and_name_the_field() {
        assert_eq!(field(|_| ()), None);
        assert_eq!(field(|q| q.query = String::new()), Some("query"));
        assert_eq!(field(|q| q.query = " \n".into()), Some("query"));
        assert_eq!(field(|q| q.query = "ü".repeat(500)), None);
        assert_eq!(field(|q| q.query = "ü".repeat(501)), Some("query"));
        assert_eq!(field(|q| q.count = 0), Some("count"));
        assert_eq!(field(|q| q.count = 20), None);
        assert_eq!(field(|q| q.count = 21), Some("count"));
        assert_eq!(field(|q| q.country = Some("D".into())), Some("country"));
        assert_eq!(field(|q| q.country = Some("DE".into())), None);
        assert_eq!(
            field(|q| q.country = Some("ABCDEF".into())),
            Some("country")
        );
        assert_eq!(field(|q| q.country = Some("D&E".into())), Some("country"));
        assert_eq!(field(|q| q.search_lang = Some("zh-hans".into())), None);
        assert_eq!(
            field(|q| q.search_lang = Some("e".into())),
            Some("search_lang")
        );
        assert_eq!(
            field(|q| q.search_lang = Some("a".repeat(11))),
            Some("search_lang")
        );
        assert_eq!(
            field(|q| q.freshness = Some("2026-01-01to2026-02-01".into())),
            None
        );
        assert_eq!(
            field(|q| q.freshness = Some("p".repeat(51))),
            Some("freshness")
        );
        assert_eq!(
            field(|q| q.freshness = Some("p\r\nd".into())),
            Some("freshness")
        );
    }

    #[test]
    fn json_fills_in_defaults_and_refuses_strange_fields() {
        let query: SearchQuery = serde_json::from_str(r#"{"query":"rust"}"#).unwrap();
        assert_eq!(query, SearchQuery::new("rust"));
        assert!(serde_json::from_str::<SearchQuery>(r#"{"query":"rust","page":2}"#).is_err());
        assert!(
            serde_json::from_str::<SearchQuery>(r#"{"query":"rust","safesearch":"on"}"#).is_err()
        );
    }
}
