//! The gray zone: a judge may clear or block; without its word, fail-closed decides.

use crate::state::App;
use blastshield_pipeline::{Blocked, Gray, SafeContent};
use blastshield_upstream::{JudgeContext, Verdict};

/// Asks the judge about a page in the gray zone. Without a judge the block line alone counts, and the page says that it
/// lies in the gray zone.
pub(crate) async fn ask(app: &App, gray: Gray, host: &str) -> Result<SafeContent, Blocked> {
    let Some(judge) = &app.judge else {
        return Ok(gray.cleared("gray_zone"));
    };
    let context = JudgeContext {
        host: host.to_owned(),
        score: gray.report().score,
        categories: gray.report().flags.clone(),
    };
    match judge.judge(gray.text(), &context).await {
        Ok(ruling) if ruling.verdict == Verdict::Clear => Ok(gray.cleared("judge_cleared")),
        Ok(ruling) => {
            let reason = format!("the judge blocked it: {}", ruling.reason_code.as_str());
            Err(gray.refused("judge_blocked", &reason))
        }
        Err(error) => {
            tracing::warn!(target: "upstream", dependency = "judge", %error, "no ruling");
            if app.settings.policy.fail_closed {
                let reason = "suspicious, and the judge gave no ruling";
                Err(gray.refused("judge_unavailable", reason))
            } else {
                Ok(gray.cleared("judge_unavailable"))
            }
        }
    }
}
