//! Recall and false positives, overall and by source, category and language.

use blastshield_detect::Profile;
use blastshield_train::{Row, threshold_at};
use serde::Serialize;
use std::collections::BTreeMap;

/// A row with its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scored<'r> {
    pub(crate) row: &'r Row,
    pub(crate) score: f32,
}

/// Everything that is reported.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) attacks: usize,
    pub(crate) benign: usize,
    /// At the block line of the strict profile.
    pub(crate) recall: f64,
    pub(crate) false_positives: f64,
    pub(crate) at_one_percent: AtRate,
    pub(crate) at_one_per_mille: AtRate,
    pub(crate) sources: BTreeMap<String, Part>,
    pub(crate) categories: BTreeMap<String, Part>,
    pub(crate) languages: BTreeMap<String, Part>,
}

/// What is caught when so many benign texts may be flagged.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct AtRate {
    pub(crate) threshold: f32,
    pub(crate) recall: f64,
}

/// The share of a part's texts that reaches each line.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) attack: bool,
    pub(crate) rows: usize,
    /// Flagged at the lines of baseline, strict and paranoid.
    pub(crate) baseline: f64,
    pub(crate) strict: f64,
    pub(crate) paranoid: f64,
    /// Flagged at the thresholds of one percent and one per mille of false positives.
    pub(crate) at_one_percent: f64,
    pub(crate) at_one_per_mille: f64,
}

impl Figures {
    pub(crate) fn of(scored: &[Scored<'_>], apart: &[String]) -> Self {
        let attacks: Vec<f32> = scored
            .iter()
            .filter(|s| s.row.is_attack())
            .map(|s| s.score)
            .collect();
        let counted = |s: &&Scored<'_>| !s.row.is_attack() && !apart.contains(&s.row.source);
        let benign: Vec<f32> = scored.iter().filter(counted).map(|s| s.score).collect();
        let at_rate = |rate| {
            let threshold = threshold_at(&benign, rate);
            AtRate {
                threshold,
                recall: share(&attacks, threshold),
            }
        };
        let (percent, per_mille) = (at_rate(0.01), at_rate(0.001));
        let parts = |name: &dyn Fn(&Row) -> &str| {
            let mut groups: BTreeMap<String, Vec<f32>> = BTreeMap::new();
            for s in scored {
                let label = if s.row.is_attack() {
                    "attack"
                } else {
                    "benign"
                };
                groups
                    .entry(format!("{label} {}", name(s.row)))
                    .or_default()
                    .push(s.score);
            }
            groups
                .into_iter()
                .map(|(key, scores)| (key.clone(), part(&key, &scores, percent, per_mille)))
                .collect()
        };
        let block = Profile::Strict.block_line();
        Self {
            attacks: attacks.len(),
            benign: benign.len(),
            recall: share(&attacks, block),
            false_positives: share(&benign, block),
            at_one_percent: percent,
            at_one_per_mille: per_mille,
            sources: parts(&|row| &row.source),
            categories: parts(&|row| &row.category),
            languages: parts(&|row| &row.lang),
        }
    }
}

fn part(key: &str, scores: &[f32], percent: AtRate, per_mille: AtRate) -> Part {
    Part {
        attack: key.starts_with("attack"),
        rows: scores.len(),
        baseline: share(scores, Profile::Baseline.block_line()),
        strict: share(scores, Profile::Strict.block_line()),
        paranoid: share(scores, Profile::Paranoid.block_line()),
        at_one_percent: share(scores, percent.threshold),
        at_one_per_mille: share(scores, per_mille.threshold),
    }
}

/// The share of scores at or over a line.
fn share(scores: &[f32], line: f32) -> f64 {
    if scores.is_empty() {
        return 0.0;
    }
    scores.iter().filter(|score| **score >= line).count() as f64 / scores.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: u8, source: &str) -> Row {
        Row {
            id: String::new(),
            text: String::new(),
            label,
            category: "c".into(),
            source: source.into(),
            lang: "en".into(),
        }
    }

    #[test]
    fn rates_are_shares_of_the_right_rows() {
        let (attack, benign, quoting) = (row(1, "a"), row(0, "b"), row(0, "q"));
        let scored = [
            Scored {
                row: &attack,
                score: 12.0,
            },
            Scored {
                row: &attack,
                score: 3.0,
            },
            Scored {
                row: &benign,
                score: 1.0,
            },
            Scored {
                row: &quoting,
                score: 15.0,
            },
        ];
        let figures = Figures::of(&scored, &["q".to_owned()]);
        assert_eq!((figures.attacks, figures.benign), (2, 1));
        assert_eq!((figures.recall, figures.false_positives), (0.5, 0.0));
        assert_eq!(figures.at_one_percent.recall, 1.0);
        assert_eq!(figures.sources["benign q"].strict, 1.0);
    }
}
