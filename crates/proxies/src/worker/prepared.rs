//! What every worker needs and what takes long to build: built once, in a process that workers are forked of.

use super::JOB;
use blastshield_detect::{Detector, Kind};
use blastshield_leak::Scanner;
use serde::{Deserialize, Serialize};

/// What is built depends on this. Nothing in it is secret: every worker is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct How {
    pub(crate) enhanced: bool,
    pub(crate) internal_paths: Vec<String>,
    pub(crate) internal_terms: Vec<String>,
}

/// Detector and scanner, used once so that the first task finds them warm.
pub struct Prepared {
    pub(super) how: How,
    pub(super) detector: Detector,
    pub(super) scanner: Scanner,
}

impl Prepared {
    /// For `enter_or_prepare`: what workers of this job begin with. Nothing for another job, and nothing when it cannot be
    /// built: the worker then says so itself.
    #[must_use]
    pub fn for_job(job: &str, how: &str) -> Option<Self> {
        if job != JOB {
            return None;
        }
        Self::build(serde_json::from_str(how).ok()?)
    }

    pub(super) fn build(how: How) -> Option<Self> {
        let build = if how.enhanced {
            Detector::shipped
        } else {
            Detector::rules_only
        };
        let scanner = Scanner::builder()
            .internal_paths(&how.internal_paths)
            .internal_terms(&how.internal_terms)
            .build()
            .ok()?;
        let detector = build().ok()?;
        // The first scan builds what the others use.
        let _ = scanner.scan("-");
        let _ = detector.assess("A plain line of text.", Kind::Web);
        Some(Self {
            how,
            detector,
            scanner,
        })
    }
}
