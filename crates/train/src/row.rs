//! One labelled text.

use serde::Deserialize;

/// A text with its label and where it comes from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Row {
    /// Its name in its source.
    #[serde(default)]
    pub id: String,
    /// What an agent would read.
    pub text: String,
    /// 1 for an attack, 0 for anything else.
    pub label: u8,
    /// What kind of text or attack.
    #[serde(default)]
    pub category: String,
    /// Which collection it comes from.
    #[serde(default)]
    pub source: String,
    /// Its language, as far as known.
    #[serde(default)]
    pub lang: String,
}

impl Row {
    /// Labelled as an attack.
    #[must_use]
    pub fn is_attack(&self) -> bool {
        self.label == 1
    }
}
