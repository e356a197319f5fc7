//! Retrains without each attack source and a group of benign sources, and scores just those.

use super::figures::Scored;
use crate::progress;
use blastshield_detect::model::{Calibration, Model};
use blastshield_detect::{Detector, Kind};
use blastshield_train::{
    FitOptions, Fold, Recipe, Row, Samples, benign_groups, calibrate, fit, folds, generate,
    shipped_banks,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Groups that benign sources are left out in.
const GROUPS: usize = 5;
/// The model alone may flag this share of benign texts at the strict and the baseline line.
const BLOCK_RATE: f64 = 0.008;
const BASELINE_RATE: f64 = 0.001;

/// A model for each fold, and where the block line stands for them all.
pub(crate) struct CrossFit {
    pub(crate) folds: Vec<(Fold, Model)>,
    pub(crate) calibration: Calibration,
    pub(crate) samples: Samples,
}

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
    let fitted: Vec<(Fold, Model, Vec<f32>)> = plan
        .into_par_iter()
        .map(|fold| {
            let weights = fit(&samples, |source| fold.trains_on(source), &options);
            let model = Model::from_weights(
                &weights.weights,
                weights.biases,
                Calibration {
                    block_at: 0.0,
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
    let logits: Vec<f32> = fitted
        .iter()
        .flat_map(|(_, _, logits)| logits.iter().copied())
        .collect();
    let calibration = calibrate(&logits, BLOCK_RATE, BASELINE_RATE);
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
