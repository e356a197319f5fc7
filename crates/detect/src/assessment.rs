//! The answer: how dangerous a text is, and why.

use crate::category::Category;
use blastshield_text::{Span, ViewKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What the detector thinks of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// 0 is clean; 10 is the block line of the strict profile; 20 is the most.
    pub score: f32,
    /// The score in words.
    pub severity: Severity,
    /// What was found: rules before the model, heaviest first; bounded, see [`Assessment::MAX_MATCHES`].
    pub matches: Vec<Match>,
    /// One line for a person.
    pub reason: String,
}

impl Assessment {
    /// More matches than this are counted in the score but not listed.
    pub const MAX_MATCHES: usize = 64;

    /// Whether anything was found. A score that is no number counts as found.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        self.score.is_nan() || self.score > 0.0
    }

    /// The categories of the matches, each once, heaviest first.
    #[must_use]
    pub fn categories(&self) -> Vec<Category> {
        let mut seen = Vec::new();
        for found in &self.matches {
            if !seen.contains(&found.category) {
                seen.push(found.category);
            }
        }
        seen
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// What kind of attack it is.
    pub category: Category,
    /// Which rule found it.
    pub rule: Arc<str>,
    /// Where it stands in the original text.
    pub span: Span,
    /// In which view of the text it was found.
    pub view: ViewKind,
    /// Points it brings, after looking at its surroundings.
    pub weight: f32,
    /// It stands in a quotation, in code or in talk about attacks.
    pub mentioned: bool,
    /// What the rule means, for a person.
    pub reason: Arc<str>,
}

/// A score in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Below the strict profile's medium line.
    Low,
    /// From the medium line to the block line.
    Medium,
    /// At or over the block line.
    High,
    /// Far over it: several explicit attack techniques together.
    Critical,
}

impl Severity {
    /// The severity of a score.
    #[must_use]
    pub fn of(score: f32) -> Self {
        match score {
            s if s >= 15.0 => Self::Critical,
            s if s >= 10.0 => Self::High,
            s if s >= 6.0 => Self::Medium,
            _ => Self::Low,
        }
    }

    /// The name used in reports and on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a text may reach the model.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Under the block line.
    Allow,
    /// At or over it.
    Block,
}

impl Decision {
    /// The name used in reports and on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
        }
    }
}

/// How strict to be: where the medium and block lines lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Blocks only what is plainly an attack.
    Baseline,
    /// The default.
    #[default]
    Strict,
    /// Blocks on suspicion.
    Paranoid,
}

impl Profile {
    /// The score from which a text deserves a second look.
    #[must_use]
    pub fn medium_line(self) -> f32 {
        match self {
            Self::Baseline => 8.0,
            Self::Strict => 6.0,
            Self::Paranoid => 4.0,
        }
    }

    /// The score from which a text is blocked.
    #[must_use]
    pub fn block_line(self) -> f32 {
        match self {
            Self::Baseline => 14.0,
            Self::Strict => 10.0,
            Self::Paranoid => 7.0,
        }
    }

    /// What this profile says of a score. A score that is not a number is blocked.
    pub fn decide(self, score: f32) -> Decision {
        if score < self.block_line() {
            Decision::Allow
        } else {
            Decision::Block
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_line_itself_blocks() {
        assert_eq!(Profile::Strict.decide(10.0), Decision::Block);
        assert_eq!(Profile::Strict.decide(9.99), Decision::Allow);
    }

    #[test]
    fn a_score_that_is_no_number_fails_closed() {
        assert_eq!(Profile::Baseline.decide(f32::NAN), Decision::Block);
    }

    #[test]
    fn severities_follow_the_strict_lines() {
        assert_eq!(Severity::of(5.9), Severity::Low);
        assert_eq!(Severity::of(6.0), Severity::Medium);
        assert_eq!(Severity::of(10.0), Severity::High);
        assert_eq!(Severity::of(15.0), Severity::Critical);
    }
}
