//! Retrains without each attack source and a group of benign sources, and scores just those.

use super::figures::Scored;
use crate::progress;
use blastshield_detect::model::windows::TEXTS;
use blastshield_detect::model::{Calibration, Model};
use blastshield_detect::{Detector, Kind};
use blastshield_train::{
    FitOptions, Fold, Rates, Recipe, Row, Samples, benign_groups, calibrate, fit, folds, generate,
    shipped_banks,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Groups that benign sources are left out in.
const GROUPS: usize = 5;
/// What the model alone may flag of benign texts.
const RATES: Rates = Rates {
    block: 0.004,
    block_of_length: 0.01,
    baseline: 0.0008,
};

/// A model for each fold, and where the block line stands for them all.
pub(crate) struct CrossFit {
    pub(crate) folds: Vec<(Fold, Model)>,
    pub(crate) calibration: Calibration,
    pub(crate) samples: Samples,
}

/// A fold's model, and what it says of the benign rows that it left out.
type Fitted = (Fold, Model, Vec<(f32, usize)>);

/// Scores each row by a model that has not seen its source.
pub(crate) fn score<'r>(
    rows: &'r [Row],
    background: &[Row],
    kind: Kind,
    only: &[String],
) -> anyhow::Result<Vec<Scored<'r>>> {
    let crossed = cross_fit(rows, background, only)?;
    let mut scored = Vec::new();
    let mut done = BTreeSet::new();
    let bar = progress::bar(crossed.folds.len(), "scoring");
    for (fold, model) in crossed.folds {
        let detector = Detector::rules_only()?.with(model.calibrated(crossed.calibration));
        let fresh = |row: &&Row| {
            !fold.trains_on(&row.source) && !done.contains(&row.source) && belongs(&fold, row)
        };
        let todo: Vec<&Row> = rows.iter().filter(fresh).collect();
        scored.par_extend(todo.into_par_iter().map(|row| Scored {
            row,
            score: detector.assess(&row.text, kind).score,
        }));
        done.extend(fold.benign.iter().cloned());
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(scored)
}

/// A fold answers for its attack source's attacks and for its benign sources' benign rows.
fn belongs(fold: &Fold, row: &Row) -> bool {
    if row.is_attack() {
        row.source == fold.attack
    } else {
        fold.benign.contains(&row.source)
    }
}

/// Fits a model for each fold and calibrates them on the benign rows they left out.
pub(crate) fn cross_fit(
    rows: &[Row],
    background: &[Row],
    only: &[String],
) -> anyhow::Result<CrossFit> {
    let own = generate(&shipped_banks()?, Recipe::default());
    let all: Vec<Row> = rows.iter().chain(background).chain(&own).cloned().collect();
    let detector = Detector::rules_only()?;
    let bar = progress::bar(all.len(), "reading");
    let samples = Samples::extract(&all, &detector, || bar.inc(1));
    bar.finish_and_clear();
    let plan = plan(rows, only);
    let bar = progress::bar(plan.len(), "training");
    let options = FitOptions::default();
    let fitted: Vec<Fitted> = plan
        .into_par_iter()
        .map(|fold| {
            let weights = fit(&samples, |source| fold.trains_on(source), &options);
            let model = Model::from_weights(
                &weights.weights,
                weights.biases,
                Calibration {
                    block_at: [0.0; TEXTS],
                    slope: 1.0,
                },
            )?;
            let bare = Detector::rules_only()?;
            let benign = rows
                .iter()
                .filter(|row| !row.is_attack() && fold.benign.contains(&row.source));
            let logits = benign.map(|row| bare.logit(&row.text, &model)).collect();
            bar.inc(1);
            Ok((fold, model, logits))
        })
        .collect::<anyhow::Result<_>>()?;
    bar.finish_and_clear();
    let logits: Vec<(f32, usize)> = fitted
        .iter()
        .flat_map(|(_, _, logits)| logits.iter().copied())
        .collect();
    let calibration = calibrate(&logits, RATES);
    Ok(CrossFit {
        folds: fitted
            .into_iter()
            .map(|(fold, model, _)| (fold, model))
            .collect(),
        calibration,
        samples,
    })
}

fn plan(rows: &[Row], only: &[String]) -> Vec<Fold> {
    let attacks: BTreeSet<String> = rows
        .iter()
        .filter(|row| row.is_attack())
        .map(|row| row.source.clone())
        .collect();
    let mut benign: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.is_attack()) {
        *benign.entry(row.source.clone()).or_default() += 1;
    }
    let groups = benign_groups(&benign, GROUPS);
    let attacks: Vec<String> = attacks.into_iter().collect();
    folds(&attacks, &groups)
        .into_iter()
        .filter(|fold| only.is_empty() || only.contains(&fold.attack))
        .collect()
}
