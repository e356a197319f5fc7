//! `blastshield train`: the embedded model, from rows to weights and card.

use crate::args::TrainOptions;
use crate::eval::{cross_fit, data};
use anyhow::{Context, ensure};
use blastshield_detect::model::Model;
use blastshield_detect::model::windows::TEXTS;
use blastshield_train::{FitOptions, Row, fit};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn run(options: &TrainOptions) -> anyhow::Result<()> {
    let rows = data::read_folder(&options.folder)?;
    ensure!(
        rows.iter().any(Row::is_attack),
        "no attacks in {}",
        options.folder.display()
    );
    let background = data::read_background(&options.background)?;
    let crossed = cross_fit(&rows, &background, &[])?;
    let fit_options = FitOptions::default();
    let weights = fit(&crossed.samples, |_| true, &fit_options);
    let model = Model::from_weights(&weights.weights, weights.biases, crossed.calibration)?;
    let bytes = model.to_bytes();
    std::fs::write(&options.out, &bytes)
        .with_context(|| format!("cannot write {}", options.out.display()))?;
    let card = card(
        options,
        &rows,
        &background,
        &bytes,
        &fit_options,
        crossed.calibration.block_at,
    );
    let beside = options.out.with_extension("md");
    std::fs::write(&beside, card).with_context(|| format!("cannot write {}", beside.display()))?;
    println!("{}: {} bytes", options.out.display(), bytes.len());
    Ok(())
}

fn card(
    options: &TrainOptions,
    rows: &[Row],
    background: &[Row],
    bytes: &[u8],
    fit: &FitOptions,
    block_at: [f32; TEXTS],
) -> String {
    let mut sources: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let counts = sources.entry(&row.source).or_default();
        if row.is_attack() {
            counts.0 += 1;
        } else {
            counts.1 += 1;
        }
    }
    let mut table = String::new();
    for (source, (attacks, benign)) in sources {
        let _ = writeln!(table, "| {source} | {attacks} | {benign} |");
    }
    let digest: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "# The embedded model\n\n\
         Trained on {date}; sha256 `{digest}`, {length} bytes.\n\n\
         A logistic regression over hashed features of the folded text: words, pairs and triples of words, \
         pieces of words, concepts of the lexicon with their order, and rules that matched. \
         Every text is judged by its worst window of 48, 144 or 432 tokens. Weights are one signed byte each.\n\n\
         Options: `{fit:?}`. The block line stands at logits {block_at:.3?} for texts of up to 12, 24, 48, 144 and 432 tokens and longer ones, set on sources left out of training.\n\n\
         Besides the rows below: the phrase banks in `crates/train/banks`, and {background} documents of ordinary text.\n\
         Rows are not part of this repository; each source keeps its licence.\n\n\
         | source | attacks | benign |\n|---|---|---|\n{table}",
        date = options.date,
        length = bytes.len(),
        background = background.len(),
    )
}
