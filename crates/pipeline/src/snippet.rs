//! Short texts of a search provider: titles, snippets, sources. They come from the same hostile web as pages.

use blastshield_content::{Mode, html, truncate};
use blastshield_detect::{Detector, Kind, Profile};

/// A short text, cleaned and scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    /// What may be shown: one line without markup.
    pub text: String,
}

/// How suspicious some short texts are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Under the medium line.
    Low,
    /// From the medium line on.
    Medium,
    /// At or over the block line: the texts may not be shown.
    High,
}

impl Risk {
    /// The name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The risk of texts that are shown together.
    #[must_use]
    pub fn of(texts: &[&str], detector: &Detector, profile: Profile) -> Self {
        let score = detector.assess(&texts.join("\n"), Kind::Web).score;
        if score < profile.medium_line() {
            Self::Low
        } else if score < profile.block_line() {
            Self::Medium
        } else {
            Self::High
        }
    }
}

/// Cleans a short text: markup resolved, what people cannot see removed, one line, at most so many characters.
#[must_use]
pub fn snippet(text: &str, max_chars: usize) -> Snippet {
    let mut page = html::convert(text, None, Mode::Text);
    truncate(&mut page, max_chars.saturating_mul(4));
    let words: Vec<&str> = page.content.split_whitespace().collect();
    let text = words.join(" ").chars().take(max_chars).collect();
    Snippet { text }
}
