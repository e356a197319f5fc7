//! The detector: views, rules and classifiers brought together.

use crate::assessment::{Assessment, Match, Severity};
use crate::category::Category;
use crate::classifier::{Classifier, Passage};
use crate::context;
use crate::evidence::{Evidence, Finding};
use crate::model::features::{self, Sink};
use crate::model::{Model, ModelError};
use crate::rules::{Rule, RuleError, RuleSet};
use crate::score;
use blastshield_text::{Signal, SignalKind, Span, View, ViewKind, Views};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Where a text comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Somebody writes to the agent.
    #[default]
    Message,
    /// What a tool returned.
    ToolResult,
    /// What the agent remembers.
    Memory,
    /// A page, or what was extracted from one.
    Web,
}

impl Kind {
    /// Data has no business giving orders: what it asks of an agent weighs more than in a message.
    pub(crate) fn factor(self, category: Category) -> f32 {
        use Category::{
            ApprovalForging, CommandExecution, DataExfiltration, FakeToolResult, MemoryPlanting,
            ReaderAddress, SkillInstall, ToolManipulation,
        };
        let aims_at_agent = matches!(
            category,
            ApprovalForging
                | CommandExecution
                | DataExfiltration
                | FakeToolResult
                | MemoryPlanting
                | ReaderAddress
                | SkillInstall
                | ToolManipulation
        );
        match self {
            Self::Message => 1.0,
            Self::ToolResult | Self::Memory | Self::Web if aims_at_agent => 1.2,
            Self::ToolResult | Self::Memory | Self::Web => 1.0,
        }
    }
}

/// The shipped detector cannot be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DetectorError {
    /// The rule table is broken.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// The model file is broken.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Scores texts. Build it once and share it.
pub struct Detector {
    rules: RuleSet,
    classifiers: Vec<Box<dyn Classifier>>,
}

static SHIPPED_MODEL: &[u8] = include_bytes!("../model/ngrams.bin");

/// Matches that a further view is compared with, and matches held at once: a flood must not cost its square.
const MAX_KNOWN: usize = 256;
const MAX_COLLECTED: usize = 2048;

/// Fewer points of a classifier are noise and count as none: most harmless texts get a few. Where people do not see the
/// words, fewer tell something.
const TELLING: f32 = 6.0;
const TELLING_HIDDEN: f32 = 4.0;

/// Finding something in a view that people do not see is worth this much more.
const CONCEALED: f32 = 3.0;

impl Detector {
    /// The rules and the model of this release.
    pub fn shipped() -> Result<Self, DetectorError> {
        Ok(Self::rules_only()?.with(Model::from_bytes(SHIPPED_MODEL)?))
    }

    /// The rules alone.
    pub fn rules_only() -> Result<Self, DetectorError> {
        Ok(Self {
            rules: RuleSet::shipped()?,
            classifiers: Vec::new(),
        })
    }

    /// Adds a classifier.
    #[must_use]
    pub fn with(mut self, classifier: impl Classifier + 'static) -> Self {
        self.classifiers.push(Box::new(classifier));
        self
    }

    /// The rule table, with each rule's category.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, Category)> {
        self.rules.iter().map(|(rule, category)| (rule, *category))
    }

    /// Scores one text.
    #[must_use]
    pub fn assess(&self, text: &str, kind: Kind) -> Assessment {
        let views = Views::of(text);
        let mut matches: Vec<Match> = Vec::new();
        let mut score = 0.0_f32;
        let mut share = 1.0;
        for view in views.iter() {
            let known = matches.get(..MAX_KNOWN).unwrap_or(&matches);
            let found = self.judge(view, kind, known);
            score = score.max(found.score * share);
            matches.extend(found.matches.into_iter().map(|m| Match {
                weight: m.weight * share,
                mentioned: m.mentioned || share < 1.0,
                ..m
            }));
            if matches.len() > MAX_COLLECTED {
                matches.sort_by(by_weight);
                matches.truncate(MAX_KNOWN);
            }
            // What a document about security shows in code is an example, too.
            if view.kind() == ViewKind::Plain && found.on_topic {
                share = context::ON_TOPIC;
            }
        }
        let mut marks: Vec<Match> = views.signals().iter().filter_map(invisible).collect();
        if views.truncated() {
            marks.push(undecoded(text.len()));
        }
        let heaviest = marks.iter().map(|m| m.weight).fold(0.0, f32::max);
        score = (score + heaviest).min(score::MOST);
        matches.extend(marks);
        matches.sort_by(by_weight);
        matches.truncate(Assessment::MAX_MATCHES);
        let score = (score * 10.0).round() / 10.0;
        Assessment {
            score,
            severity: Severity::of(score),
            reason: reason(score, &matches),
            matches,
        }
    }

    /// Sends the features of a text's plain view to a sink: what a model is trained on.
    pub fn features(&self, text: &str, sink: &mut impl Sink) {
        let folded = blastshield_text::fold(text);
        let evidence = Evidence::gather(&folded, &self.rules);
        features::extract(&folded, &evidence, sink);
    }

    /// A model's logit for a text's plain view, rules included, and the text's length class: what a
    /// model is calibrated on.
    #[must_use]
    pub fn logit(&self, text: &str, model: &Model) -> (f32, usize) {
        let folded = blastshield_text::fold(text);
        let evidence = Evidence::gather(&folded, &self.rules);
        let by_rules = score::worst_passage(&evidence.points(Kind::Message));
        let opinion = model.opinion(&folded, &evidence, by_rules);
        (opinion.logit, opinion.class)
    }

    /// Steps that a text costs: what its cost is tested by, since clocks are noisy.
    #[doc(hidden)]
    #[must_use]
    pub fn work(&self, text: &str) -> usize {
        let views = Views::of(text);
        let steps = |view: &View| {
            let evidence = Evidence::gather(view.text(), &self.rules);
            view.text().len()
                + evidence.tokens.len()
                + evidence.hits.len()
                + evidence.findings.len()
        };
        views.iter().map(steps).sum()
    }

    fn judge(&self, view: &View, kind: Kind, known: &[Match]) -> Judged {
        let evidence = Evidence::gather(view.text(), &self.rules);
        let hidden = view.kind() != ViewKind::Plain;
        let mut points = evidence.points(kind);
        let mut matches = Vec::new();
        for (finding, point) in evidence.findings.iter().zip(&mut points) {
            let span = view.origin(finding.start..finding.end);
            // What the plain text already says is not news in a decoded view of it.
            if hidden
                && (in_the_open(view, finding.start..finding.end)
                    || known
                        .iter()
                        .any(|m| m.span == span && self.is_rule(finding, &m.rule)))
            {
                point.weight = 0.0;
            } else if let Some(found) = self.describe(finding, span, view.kind(), point.weight) {
                matches.push(found);
            }
        }
        let by_rules = score::worst_passage(&points);
        let passage = Passage {
            text: view.text(),
            by_rules,
            evidence: &evidence,
        };
        let telling = if hidden { TELLING_HIDDEN } else { TELLING };
        let mut by_models = 0.0_f32;
        for classifier in &self.classifiers {
            let suspicion = classifier.judge(&passage);
            if hidden && in_the_open(view, suspicion.bytes.clone()) {
                continue;
            }
            // A classifier that answers nonsense has not cleared the text.
            let points = if suspicion.points.is_nan() {
                score::MOST
            } else {
                suspicion.points
            };
            if points < telling {
                continue;
            }
            by_models = by_models.max(points);
            matches.push(Match {
                category: Category::Statistical,
                rule: classifier.name().into(),
                span: view.origin(suspicion.bytes),
                view: view.kind(),
                weight: points,
                mentioned: false,
                reason: "reads like known attacks".into(),
            });
        }
        let mut score = by_rules.max(by_models).min(score::MOST);
        if hidden && score >= TELLING_HIDDEN {
            let span = matches
                .first()
                .map_or_else(|| view.origin(0..view.text().len()), |m| m.span);
            matches.push(Match {
                category: if view.kind() == ViewKind::Hidden {
                    Category::InvisibleText
                } else {
                    Category::EncodingAttacks
                },
                rule: "encoding.concealed".into(),
                span,
                view: view.kind(),
                weight: CONCEALED,
                mentioned: false,
                reason: "hides its wording from people".into(),
            });
            score = (score + CONCEALED).min(score::MOST);
        }
        Judged {
            score,
            matches,
            on_topic: evidence.on_topic,
        }
    }

    fn is_rule(&self, finding: &Finding, id: &str) -> bool {
        self.rules
            .by_number(finding.rule)
            .is_some_and(|rule| *rule.id == *id)
    }

    fn describe(
        &self,
        finding: &Finding,
        span: Span,
        view: ViewKind,
        weight: f32,
    ) -> Option<Match> {
        let rule = self.rules.by_number(finding.rule)?;
        Some(Match {
            category: finding.category,
            rule: Arc::clone(&rule.id),
            span,
            view,
            weight,
            mentioned: finding.mentioned,
            reason: Arc::clone(&rule.reason),
        })
    }
}

struct Judged {
    score: f32,
    matches: Vec<Match>,
    on_topic: bool,
}

/// Heaviest first. A rule says more than the model does, whatever their weights.
fn by_weight(a: &Match, b: &Match) -> Ordering {
    let vague = |m: &Match| m.category == Category::Statistical;
    vague(a)
        .cmp(&vague(b))
        .then(b.weight.total_cmp(&a.weight))
        .then(a.span.cmp(&b.span))
        .then(a.rule.cmp(&b.rule))
}

/// Pages are full of entities and percent escapes: what such a view shows is concealed only
/// where the original is clearly longer than what it says.
fn in_the_open(view: &View, bytes: Range<usize>) -> bool {
    let substituted = matches!(
        view.kind(),
        ViewKind::Percent | ViewKind::Entities | ViewKind::Escapes | ViewKind::QuotedPrintable
    );
    let said = bytes.len();
    let span = view.origin(bytes);
    substituted && (span.end - span.start) * 2 < said * 3
}

/// What was not looked at may be anything: decoys must not hide the real thing behind the limits.
fn undecoded(length: usize) -> Match {
    Match {
        category: Category::EncodingAttacks,
        rule: "encoding.too_much".into(),
        span: Span {
            start: 0,
            end: length,
        },
        view: ViewKind::Plain,
        weight: 10.0,
        mentioned: false,
        reason: "holds more encoded text than can be decoded".into(),
    }
}

fn invisible(signal: &Signal) -> Option<Match> {
    let (rule, weight, reason) = match signal.kind {
        SignalKind::Tags => ("invisible.tags", 6.0, "carries invisible tag characters"),
        SignalKind::VariationSelectors => (
            "invisible.selectors",
            5.0,
            "carries bytes in variation selectors",
        ),
        SignalKind::Bidi => ("invisible.bidi", 3.0, "reorders what people see"),
        SignalKind::ZeroWidth if signal.count >= 4 => (
            "invisible.zero_width",
            3.0,
            "carries zero-width characters inside words",
        ),
        SignalKind::ZeroWidth => ("invisible.zero_width", 1.0, "carries zero-width characters"),
        SignalKind::MixedScript if signal.count >= 3 => (
            "invisible.homoglyphs",
            3.0,
            "mixes look-alike letters of several scripts",
        ),
        SignalKind::MixedScript => (
            "invisible.homoglyphs",
            1.0,
            "mixes look-alike letters of several scripts",
        ),
        SignalKind::StackedMarks => ("invisible.stacked_marks", 2.0, "piles marks on letters"),
        _ => return None,
    };
    Some(Match {
        category: Category::InvisibleText,
        rule: rule.into(),
        span: signal.first,
        view: ViewKind::Plain,
        weight,
        mentioned: false,
        reason: reason.into(),
    })
}

fn reason(score: f32, matches: &[Match]) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for found in matches.iter().filter(|m| m.weight >= 1.0) {
        if !parts.contains(&&*found.reason) {
            parts.push(&found.reason);
        }
        if parts.len() == 3 {
            break;
        }
    }
    if parts.is_empty() {
        return "nothing suspicious".to_owned();
    }
    let concealed = matches
        .iter()
        .find(|m| m.view != ViewKind::Plain && m.weight >= 3.0);
    let place = concealed.map_or(String::new(), |m| format!(" (in {} text)", m.view.name()));
    let mild = if score < 6.0 {
        "mildly suspicious: "
    } else {
        ""
    };
    format!("{mild}{}{place}", parts.join("; "))
}
