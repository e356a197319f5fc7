//! `blastshield scan`: prompt injection in files, folders, standard input and rows.

pub(crate) mod input;
pub(crate) mod jsonl;
mod machine;
mod people;
pub(crate) mod visible;

use crate::args::ScanOptions;
use crate::{CLEAN, ERROR, FINDINGS, progress};
use blastshield_detect::{Assessment, Decision, Detector, Kind, Profile};
use input::{Input, Unread};
use rayon::prelude::*;
use std::io::Write;

/// What became of one input.
struct Outcome {
    name: String,
    result: Result<Scanned, Unread>,
}

/// A text that was read, and what the detector thinks of it.
struct Scanned {
    text: String,
    assessment: Assessment,
    decision: Decision,
}

/// Counts for the last line and the exit code.
#[derive(Default)]
struct Tally {
    clean: usize,
    suspicious: usize,
    blocked: usize,
    binary: usize,
    unread: usize,
}

/// Files handed to all cores at once; bounds what is held in memory.
const BATCH: usize = 64;

pub(crate) fn run(options: &ScanOptions) -> anyhow::Result<u8> {
    let detector = Detector::shipped()?;
    let (profile, kind) = (options.profile.into(), options.kind.into());
    if let Some(file) = &options.jsonl {
        return jsonl::run(file, &detector, profile, kind);
    }
    let inputs = input::collect(&options.paths);
    let bar = progress::bar(if inputs.len() > 1 { inputs.len() } else { 0 }, "scanning");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut tally = Tally::default();
    let most = options.max_size << 20;
    for batch in inputs.chunks(BATCH) {
        let outcomes: Vec<Outcome> = batch
            .par_iter()
            .map(|input| {
                let outcome = look(input, most, &detector, profile, kind);
                bar.inc(1);
                outcome
            })
            .collect();
        for outcome in outcomes {
            tally.count(&outcome, profile);
            let shown = bar.suspend(|| {
                if options.json {
                    machine::write(&mut out, &outcome)
                } else {
                    people::write(&mut out, &outcome, profile, options.verbose)
                }
                .and_then(|()| out.flush())
            });
            shown?;
        }
    }
    bar.finish_and_clear();
    if !options.json {
        people::write_summary(&mut out, &tally)?;
    }
    out.flush()?;
    Ok(tally.exit_code())
}

fn look(input: &Input, most: u64, detector: &Detector, profile: Profile, kind: Kind) -> Outcome {
    let result = input.read(most).map(|text| {
        let assessment = detector.assess(&text, kind);
        let decision = profile.decide(assessment.score);
        Scanned {
            text,
            assessment,
            decision,
        }
    });
    Outcome {
        name: input.name(),
        result,
    }
}

impl Tally {
    fn count(&mut self, outcome: &Outcome, profile: Profile) {
        let place = match &outcome.result {
            Ok(scanned) if scanned.decision == Decision::Block => &mut self.blocked,
            Ok(scanned) if scanned.assessment.score >= profile.medium_line() => {
                &mut self.suspicious
            }
            Ok(_) => &mut self.clean,
            Err(Unread::Binary) => &mut self.binary,
            Err(_) => &mut self.unread,
        };
        *place += 1;
    }

    /// Findings first; what could not be looked at is not clean.
    fn exit_code(&self) -> u8 {
        match (self.blocked, self.unread) {
            (0, 0) => CLEAN,
            (0, _) => ERROR,
            _ => FINDINGS,
        }
    }
}
