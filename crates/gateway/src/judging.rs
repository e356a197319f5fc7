//! The gray zone: a judge may clear or block; without its word, fail-closed decides.

use crate::addresses::Suspicion;
use crate::state::App;
use blastshield_pipeline::{Blocked, Gray, SafeContent};
use blastshield_upstream::{JudgeContext, Verdict};

/// What the judge, or fail-closed in its place, says: a flag, and for a no the reason.
enum Ruling {
    Clear(&'static str),
    Block(&'static str, String),
}

/// Asks the judge about a page in the gray zone. Without a judge the block line alone counts, and the page says that it
/// lies in the gray zone.
pub(crate) async fn ask(app: &App, gray: Gray, host: &str) -> Result<SafeContent, Blocked> {
    let context = JudgeContext {
        host: host.to_owned(),
        score: gray.report().score,
        categories: gray.report().flags.clone(),
    };
    match rule(app, gray.text(), &context).await {
        Ruling::Clear(flag) => Ok(gray.cleared(flag)),
        Ruling::Block(flag, reason) => Err(gray.refused(flag, &reason)),
    }
}

/// Asks the judge about addresses in the gray zone, as [`ask`] does about a page.
pub(crate) async fn ask_about(
    app: &App,
    mut suspicion: Suspicion,
    host: &str,
) -> Result<Suspicion, Suspicion> {
    let context = JudgeContext {
        host: host.to_owned(),
        score: suspicion.score,
        categories: suspicion.flags.clone(),
    };
    match rule(app, &suspicion.words, &context).await {
        Ruling::Clear(flag) => {
            suspicion.flags.push(flag.to_owned());
            Ok(suspicion)
        }
        Ruling::Block(flag, reason) => {
            suspicion.flags.push(flag.to_owned());
            suspicion.reason = reason;
            Err(suspicion)
        }
    }
}

async fn rule(app: &App, text: &str, context: &JudgeContext) -> Ruling {
    let Some(judge) = &app.judge else {
        return Ruling::Clear("gray_zone");
    };
    match judge.judge(text, context).await {
        Ok(ruling) if ruling.verdict == Verdict::Clear => Ruling::Clear("judge_cleared"),
        Ok(ruling) => {
            let reason = format!("the judge blocked it: {}", ruling.reason_code.as_str());
            Ruling::Block("judge_blocked", reason)
        }
        Err(error) => {
            tracing::warn!(target: "upstream", dependency = "judge", %error, "no ruling");
            if app.settings.policy.fail_closed {
                let reason = "suspicious, and the judge gave no ruling".to_owned();
                Ruling::Block("judge_unavailable", reason)
            } else {
                Ruling::Clear("judge_unavailable")
            }
        }
    }
}
