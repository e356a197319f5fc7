//! Rows in, answers out, in order, on all cores: how others measure us.

use super::machine::round;
use crate::{CLEAN, ERROR, FINDINGS};
use anyhow::Context;
use blastshield_detect::{Decision, Detector, Kind, Profile};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: Value,
    text: String,
}

/// Rows and bytes handed to all cores at once.
const BATCH_ROWS: usize = 4096;
const BATCH_BYTES: usize = 32 << 20;
/// A longer line is no row.
const MAX_LINE: u64 = 64 << 20;

pub(crate) fn run(
    file: &Path,
    detector: &Detector,
    profile: Profile,
    kind: Kind,
) -> anyhow::Result<u8> {
    let reader: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).with_context(|| format!("cannot open {}", file.display()))?)
    };
    let mut reader = BufReader::with_capacity(1 << 20, reader);
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut findings, mut errors) = (false, false);
    loop {
        let lines = read_batch(&mut reader)?;
        if lines.is_empty() {
            break;
        }
        let answers: Vec<Answer> = lines
            .par_iter()
            .map(|line| answer(line, detector, profile, kind))
            .collect();
        for answer in answers {
            findings |= answer.blocked;
            errors |= answer.failed;
            writeln!(out, "{}", answer.line)?;
        }
        out.flush()?;
    }
    Ok(match (findings, errors) {
        (_, true) => ERROR,
        (true, false) => FINDINGS,
        (false, false) => CLEAN,
    })
}

pub(crate) fn read_batch(reader: &mut impl BufRead) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    while lines.len() < BATCH_ROWS && bytes < BATCH_BYTES {
        let mut line = Vec::new();
        let read = reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .context("cannot read the rows")?;
        if read == 0 {
            break;
        }
        if line.last() != Some(&b'\n') && read as u64 == MAX_LINE {
            // The rest of an overlong line is read past, so that the next answer is of the next row.
            skip_line(reader)?;
        }
        bytes += read;
        if !line.iter().all(u8::is_ascii_whitespace) {
            lines.push(line);
        }
    }
    Ok(lines)
}

fn skip_line(reader: &mut impl BufRead) -> anyhow::Result<()> {
    loop {
        let buffer = reader.fill_buf().context("cannot read the rows")?;
        let (used, done) = match buffer.iter().position(|b| *b == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(used);
        if done {
            return Ok(());
        }
    }
}

struct Answer {
    line: String,
    blocked: bool,
    failed: bool,
}

fn answer(line: &[u8], detector: &Detector, profile: Profile, kind: Kind) -> Answer {
    let Ok(row) = serde_json::from_slice::<Row>(line) else {
        let line =
            json!({"id": null, "error": "not a row with a text", "decision": "block"}).to_string();
        return Answer {
            line,
            blocked: false,
            failed: true,
        };
    };
    let assessment = detector.assess(&row.text, kind);
    let decision = profile.decide(assessment.score);
    let line = json!({
        "id": row.id,
        "score": round(assessment.score),
        "severity": assessment.severity,
        "decision": decision,
        "categories": assessment.categories(),
    });
    Answer {
        line: line.to_string(),
        blocked: decision == Decision::Block,
        failed: false,
    }
}
