//! What the rules found in one folded text.

use crate::category::Category;
use crate::context::Surroundings;
use crate::detector::Kind;
use crate::lexicon::Hit;
use crate::rules::RuleSet;
use crate::score::Point;
use crate::tokens::{self, Token};

/// Words and rule matches of one view.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The text, cut.
    pub(crate) tokens: Vec<Token>,
    /// Words of the lexicon, in the order in which they start.
    pub(crate) hits: Vec<Hit>,
    /// Rule matches, in the order in which they end.
    pub(crate) findings: Vec<Finding>,
    /// The text is a document about security.
    pub(crate) on_topic: bool,
}

/// A rule that matched, judged by its surroundings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    /// The rule's number in the table.
    pub(crate) rule: usize,
    /// The rule's name as a hash: numbers change when the table does.
    pub(crate) name: u32,
    pub(crate) category: Category,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Points, surroundings included.
    pub(crate) weight: f32,
    pub(crate) mentioned: bool,
}

impl Evidence {
    /// Searches a folded text with all rules.
    pub(crate) fn gather(text: &str, rules: &RuleSet) -> Self {
        let tokens = tokens::tokens(text);
        let hits = rules.lexicon().hits(text, &tokens);
        let mut found = rules.phrases().find(&hits);
        found.extend(rules.shapes().find(text, &tokens));
        found.sort_by_key(|f| (f.end, f.start, f.rule));
        found.dedup();
        let surroundings = Surroundings::new(text, &hits, rules.cues());
        let mut findings: Vec<Finding> = Vec::new();
        for place in found {
            let Some((rule, category)) = rules.rule(place) else {
                continue;
            };
            // The same rule again over the same words is one finding.
            let again = findings
                .iter()
                .rev()
                .take(4)
                .any(|f| f.rule == place.rule && f.end > place.start);
            if again {
                continue;
            }
            let factor = surroundings.factor(place.start, place.end, category.common_in_code());
            findings.push(Finding {
                rule: place.rule,
                name: tokens::hash(rule.id.as_bytes()) as u32,
                category: *category,
                start: place.start,
                end: place.end,
                weight: rule.weight * factor,
                mentioned: factor < 0.75,
            });
        }
        let on_topic = surroundings.on_topic();
        Self {
            tokens,
            hits,
            findings,
            on_topic,
        }
    }

    /// The findings as points on the scale, for a text of this kind.
    pub(crate) fn points(&self, kind: Kind) -> Vec<Point> {
        let point = |finding: &Finding| Point {
            start: finding.start,
            end: finding.end,
            weight: finding.weight * kind.factor(finding.category),
            rule: finding.rule,
            category: finding.category as usize,
        };
        self.findings.iter().map(point).collect()
    }
}
