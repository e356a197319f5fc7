//! Findings for programs: one JSON object a line. Passages travel as places, never as text.

use super::Outcome;
use blastshield_detect::Match;
use serde_json::{Value, json};
use std::io::{self, Write};

pub(crate) fn write(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let value = match &outcome.result {
        Err(reason) => json!({"path": outcome.name, "error": reason.to_string()}),
        Ok(scanned) => {
            let assessment = &scanned.assessment;
            json!({
                "path": outcome.name,
                "score": round(assessment.score),
                "severity": assessment.severity,
                "decision": scanned.decision,
                "reason": assessment.reason,
                "matches": assessment.matches.iter().map(describe).collect::<Vec<_>>(),
            })
        }
    };
    writeln!(out, "{value}")
}

fn describe(found: &Match) -> Value {
    json!({
        "category": found.category,
        "rule": *found.rule,
        "start": found.span.start,
        "end": found.span.end,
        "view": found.view.name(),
        "weight": round(found.weight),
        "mentioned": found.mentioned,
    })
}

/// A score as people write it: 12.4, not 12.399999618530273.
pub(crate) fn round(score: f32) -> f64 {
    (f64::from(score) * 10.0).round() / 10.0
}
