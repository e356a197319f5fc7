//! `blastshield eval`: how good the detector is, on rows that others labelled.

pub(crate) mod data;
mod figures;
mod leave_one_out;
mod report;

use crate::args::EvalOptions;
use crate::progress;
use anyhow::{Context, ensure};
use blastshield_detect::{Detector, Kind};
use blastshield_train::Row;
use figures::{Figures, Scored};
use rayon::prelude::*;
use serde_json::json;
use std::io::Write;

pub(crate) use leave_one_out::cross_fit;

pub(crate) fn run(options: &EvalOptions) -> anyhow::Result<()> {
    let mut rows = data::read_folder(&options.folder)?;
    if !options.leave_one_out && !options.sources.is_empty() {
        rows.retain(|row| options.sources.contains(&row.source));
    }
    ensure!(
        !rows.is_empty(),
        "no rows to score in {}",
        options.folder.display()
    );
    let kind = options.kind.into();
    let scored = if options.leave_one_out {
        let background = data::read_background(&options.background)?;
        leave_one_out::score(&rows, &background, kind, &options.sources)?
    } else {
        let detector = if options.rules_only {
            Detector::rules_only()?
        } else {
            Detector::shipped()?
        };
        score(&rows, &detector, kind)
    };
    if let Some(file) = &options.scores {
        write_scores(file, &scored)?;
    }
    let figures = Figures::of(&scored, &options.apart);
    if options.json {
        println!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        report::print(&figures, options.leave_one_out);
    }
    Ok(())
}

/// Scores rows on all cores.
pub(crate) fn score<'r>(rows: &'r [Row], detector: &Detector, kind: Kind) -> Vec<Scored<'r>> {
    let bar = progress::bar(rows.len(), "scoring");
    let scored = rows
        .par_iter()
        .map(|row| {
            let score = detector.assess(&row.text, kind).score;
            bar.inc(1);
            Scored { row, score }
        })
        .collect();
    bar.finish_and_clear();
    scored
}

fn write_scores(file: &std::path::Path, scored: &[Scored<'_>]) -> anyhow::Result<()> {
    let out =
        std::fs::File::create(file).with_context(|| format!("cannot write {}", file.display()))?;
    let mut out = std::io::BufWriter::new(out);
    for Scored { row, score } in scored {
        let line = json!({"id": row.id, "source": row.source, "label": row.label, "category": row.category, "lang": row.lang, "score": score});
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(())
}
