//! `blastshield convert`: HTML to what an agent would get.

use crate::args::{ConvertOptions, ModeName};
use crate::{CLEAN, FINDINGS};
use anyhow::Context;
use blastshield_detect::{Detector, Profile};
use blastshield_pipeline::{Mode, Raw, Report, StageError, Verdict};
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, Read, Write};
use url::Url;

/// Largest page.
const MAX_BYTES: u64 = 32 << 20;

#[derive(Deserialize)]
struct Row {
    html: String,
    #[serde(default)]
    url: Option<String>,
}

/// A page after all stages.
struct Converted {
    text: String,
    summary: String,
    report: Report,
    blocked: bool,
}

pub(crate) fn run(options: &ConvertOptions) -> anyhow::Result<u8> {
    let detector = Detector::shipped()?;
    let profile = Profile::from(options.profile);
    let mode = match options.mode {
        ModeName::Text => Mode::Text,
        ModeName::Markdown => Mode::Markdown,
    };
    if options.jsonl {
        return rows(&detector, profile, mode);
    }
    let mut page = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut page)
        .context("cannot read standard input")?;
    let done = convert(&page, options.url.as_ref(), mode, &detector, profile)?;
    if options.json {
        let answer = json!({
            "text": if done.blocked { "" } else { &done.text },
            "summary": if done.blocked { "" } else { &done.summary },
            "flags": done.report.flags,
            "score": (f64::from(done.report.score) * 10.0).round() / 10.0,
            "decision": decision(&done),
            "reason": done.report.reason,
        });
        println!("{}", serde_json::to_string_pretty(&answer)?);
    } else if done.blocked {
        eprintln!("blocked: {}", done.report.reason);
    } else {
        println!("{}", done.text);
    }
    Ok(if done.blocked { FINDINGS } else { CLEAN })
}

fn rows(detector: &Detector, profile: Profile, mode: Mode) -> anyhow::Result<u8> {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = String::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        number += 1;
        if (&mut input).take(MAX_BYTES).read_line(&mut line)? == 0 {
            return Ok(CLEAN);
        }
        if line.trim().is_empty() {
            continue;
        }
        let row: Row =
            serde_json::from_str(&line).with_context(|| format!("row {number} is not a row"))?;
        let url = row.url.as_deref().and_then(|url| Url::parse(url).ok());
        let answer = match convert(row.html.as_bytes(), url.as_ref(), mode, detector, profile) {
            Ok(done) => json!({
                "text": done.text,
                "flags": done.report.flags,
                "decision": decision(&done),
            }),
            Err(error) => json!({ "text": "", "flags": [error.to_string()], "decision": "block" }),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
    }
}

fn decision(done: &Converted) -> &'static str {
    if done.blocked { "block" } else { "allow" }
}

fn convert(
    page: &[u8],
    url: Option<&Url>,
    mode: Mode,
    detector: &Detector,
    profile: Profile,
) -> Result<Converted, StageError> {
    let limit = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX);
    let verdict = Raw::new(page, Some("text/html"), url)
        .sized(limit)?
        .sanitised(mode, None)?
        .scanned(detector)
        .validated(None)?
        .judged_by(profile);
    let (content, blocked) = match verdict {
        Verdict::Safe(content) => (content, false),
        Verdict::Gray(gray) => (gray.cleared("gray_zone"), false),
        Verdict::Blocked(blocked) => (blocked.waived(), true),
    };
    Ok(Converted {
        text: content.text().to_owned(),
        summary: content.summary().to_owned(),
        report: content.report().clone(),
        blocked,
    })
}
