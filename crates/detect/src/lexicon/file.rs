//! The shape of `lexicon/<language>.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One language's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageFile {
    pub(crate) language: String,
    #[allow(dead_code, reason = "for readers of the file")]
    pub(crate) name: String,
    /// The verb may stand behind what it speaks of.
    #[serde(default)]
    pub(crate) verb_last: bool,
    pub(crate) concepts: BTreeMap<String, Vec<String>>,
    /// Executed as tests, and for nothing else.
    #[cfg(test)]
    #[serde(default, rename = "example")]
    pub(crate) examples: Vec<Example>,
    #[cfg(not(test))]
    #[serde(default, rename = "example")]
    _examples: serde::de::IgnoredAny,
}

/// What a rule must and must not find in one language.
#[cfg(test)]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    pub(crate) rule: String,
    #[serde(rename = "match")]
    pub(crate) matching: String,
    #[serde(default)]
    pub(crate) near_miss: Option<String>,
}
