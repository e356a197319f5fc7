//! The seam for classifiers beside the rules.

use crate::evidence::Evidence;
use crate::model::Model;
use std::ops::Range;

/// One view of a text, ready to be judged.
#[derive(Debug)]
pub struct Passage<'t> {
    /// The folded text.
    pub text: &'t str,
    /// What the rules give it, on the scale of [`crate::Assessment::score`].
    pub by_rules: f32,
    pub(crate) evidence: &'t Evidence,
}

/// How suspicious a classifier finds a passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspicion {
    /// On the scale of [`crate::Assessment::score`].
    pub points: f32,
    /// The bytes of the passage that it concerns.
    pub bytes: Range<usize>,
}

/// Anything that can judge a passage: the embedded model, or a larger one beside it.
pub trait Classifier: Send + Sync {
    /// What reports call it.
    fn name(&self) -> &'static str;
    /// Judges one passage. Must not panic on any text.
    fn judge(&self, passage: &Passage<'_>) -> Suspicion;
}

/// What the model's suspicion of a document about security is worth.
const ON_TOPIC: f32 = 0.55;

impl Classifier for Model {
    fn name(&self) -> &'static str {
        "model.ngrams"
    }

    fn judge(&self, passage: &Passage<'_>) -> Suspicion {
        let opinion = self.opinion(passage.text, passage.evidence, passage.by_rules);
        // An article about attacks is full of their words.
        let share = if passage.evidence.on_topic {
            ON_TOPIC
        } else {
            1.0
        };
        Suspicion {
            points: opinion.points * share,
            bytes: opinion.bytes,
        }
    }
}
