//! The way of a page: policy, retrieval, the stages, the judge, the record, and then the answer.

use crate::addresses::{Suspicion, Whereabouts, whereabouts};
use crate::error::ApiError;
use crate::judging;
use crate::kinds;
use crate::recording::{bare_event, event, log, note, payload};
use crate::rendering::NoPage;
use crate::state::App;
use crate::wire::{DecisionName, Safety, Source};
use crate::work::work;
use blastshield_detect::Profile;
use blastshield_pipeline::{
    Blocked, Fingerprint, Mode, Raw, Report, SafeContent, StageError, Verdict,
};
use blastshield_policy::{Refusal, Standing, Target, check_url};
use blastshield_store::{FetchEvent, FetchKind};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Instant;
use url::Url;

/// What is wanted.
pub(crate) struct Wanted {
    pub(crate) fetch_id: String,
    pub(crate) kind: FetchKind,
    pub(crate) result_id: Option<String>,
    pub(crate) url: String,
    pub(crate) mode: Mode,
    pub(crate) max_chars: Option<usize>,
}

/// What became of it.
pub(crate) struct Outcome {
    pub(crate) safety: Safety,
    /// The page; nothing when it was blocked.
    pub(crate) content: Option<SafeContent>,
    /// Where it was found, if that may be told.
    pub(crate) final_url: Option<Url>,
    pub(crate) source: Option<Source>,
}

/// A page as it came, before anybody looked at it.
pub(crate) struct Arrived {
    pub(crate) final_url: Url,
    pub(crate) body: Bytes,
    pub(crate) content_type: Option<String>,
    /// Every host on the way is on the allowlist.
    pub(crate) trusted: bool,
    /// An exception of the operator was needed to reach a host.
    pub(crate) by_exception: bool,
    pub(crate) wire_bytes: u64,
    /// Who got it.
    pub(crate) backend: &'static str,
    pub(crate) rendered: bool,
    pub(crate) fallback_used: bool,
}

/// Content that was refused before or after it was read.
enum Refused {
    /// By policy, or because it is not readable: there is nothing to keep.
    Early { code: String, reason: String },
    /// By the stages: kept for the owner.
    Late(Box<Blocked>),
    /// By what its addresses say: kept for the owner.
    Addresses(Suspicion),
}

/// Fetches, judges and records one page.
pub(crate) async fn retrieve(app: &Arc<App>, wanted: &Wanted) -> Result<Outcome, ApiError> {
    let started = Instant::now();
    let target = match check_url(&wanted.url, &app.policy) {
        Ok(target) => target,
        Err(refusal @ (Refusal::Unparsable | Refusal::TooLong)) => {
            return Err(ApiError::field("url", refusal.to_string()));
        }
        Err(refusal) => {
            let refused = early(refusal.code(), &refusal);
            return finish(app, wanted, None, started, Err(refused)).await;
        }
    };
    let arrived = match crate::fetching::fetch(app, &target).await {
        Ok(arrived) => arrived,
        Err(error) if error.is_policy() => {
            let refused = early(error.code(), &error);
            return finish(app, wanted, None, started, Err(refused)).await;
        }
        Err(error) => return Err(failed(app, wanted, &target, started, error).await),
    };
    let (verdict, mut place) = inspect(app, wanted, &arrived).await?;
    let mut judged = match verdict {
        Ok(verdict) => settle(app, verdict, &arrived).await,
        Err(error) => Err(early(stage_code(&error), &error)),
    };
    if judged.is_ok()
        && let Some(suspicion) = place.suspicion.take()
    {
        match settle_addresses(app, suspicion, &arrived).await {
            Ok(suspicion) => place.suspicion = Some(suspicion),
            Err(suspicion) => judged = Err(Refused::Addresses(suspicion)),
        }
    }
    finish(app, wanted, Some((arrived, place)), started, judged).await
}

fn early(code: &str, reason: &dyn std::fmt::Display) -> Refused {
    Refused::Early {
        code: code.to_owned(),
        reason: reason.to_string(),
    }
}

fn stage_code(error: &StageError) -> &'static str {
    match error {
        StageError::TooLarge { .. } => "body_too_large",
        StageError::Content(_) => "content_not_readable",
        StageError::Schema(_) => "content_shape",
    }
}

/// Runs the stages; they take a processor for milliseconds, so they run beside the requests.
async fn inspect(
    app: &Arc<App>,
    wanted: &Wanted,
    arrived: &Arrived,
) -> Result<(Result<Verdict, StageError>, Whereabouts), ApiError> {
    let (app, mode, max_chars) = (Arc::clone(app), wanted.mode, wanted.max_chars);
    let asked = (wanted.kind == FetchKind::WebFetch).then(|| wanted.url.clone());
    let (body, kind, url) = (
        arrived.body.clone(),
        arrived.content_type.clone(),
        arrived.final_url.clone(),
    );
    let stages = move || {
        let web = &app.settings.web;
        let limit = web.max_bytes.max(app.settings.renderer.max_html_bytes);
        let links = app.settings.policy.expose_safe_content_urls;
        let profile = app.settings.policy.profile;
        let judge = || -> Result<Verdict, StageError> {
            Ok(Raw::new(&body, kind.as_deref(), Some(&url))
                .sized(limit)?
                .sanitised(mode, max_chars)?
                .with_links(links)
                .scanned(&app.detector)
                .validated(None)?
                .judged_by(profile))
        };
        let verdict = judge();
        let content = match &verdict {
            Ok(Verdict::Safe(content)) => content.text(),
            Ok(Verdict::Gray(gray)) => gray.text(),
            Ok(Verdict::Blocked(_)) | Err(_) => "",
        };
        let place = whereabouts(asked.as_deref(), &url, content, &app.detector, profile);
        (verdict, place)
    };
    work(arrived.body.len(), stages).await
}

/// Turns the verdict of the stages into yes or no.
async fn settle(app: &App, verdict: Verdict, arrived: &Arrived) -> Result<SafeContent, Refused> {
    match verdict {
        Verdict::Safe(content) => Ok(content),
        Verdict::Gray(gray) if arrived.trusted => Ok(gray.cleared("allowlisted")),
        Verdict::Gray(gray) => {
            let host = arrived.final_url.host_str().unwrap_or_default();
            judging::ask(app, gray, host)
                .await
                .map_err(|blocked| Refused::Late(Box::new(blocked)))
        }
        Verdict::Blocked(blocked) if arrived.trusted => Ok(blocked.waived()),
        Verdict::Blocked(blocked) => Err(Refused::Late(Box::new(blocked))),
    }
}

/// Turns what the addresses say into yes or no, as [`settle`] does for the page.
async fn settle_addresses(
    app: &App,
    suspicion: Suspicion,
    arrived: &Arrived,
) -> Result<Suspicion, Suspicion> {
    if arrived.trusted {
        return Ok(suspicion);
    }
    if suspicion.blocks(app.settings.policy.profile) {
        return Err(suspicion);
    }
    let host = arrived.final_url.host_str().unwrap_or_default();
    judging::ask_about(app, suspicion, host).await
}

/// Records what was decided, and only then answers.
async fn finish(
    app: &App,
    wanted: &Wanted,
    found: Option<(Arrived, Whereabouts)>,
    started: Instant,
    judged: Result<SafeContent, Refused>,
) -> Result<Outcome, ApiError> {
    let (arrived, place) = found.unzip();
    let safety = match &judged {
        Ok(content) => {
            let suspicion = place.as_ref().and_then(|place| place.suspicion.as_ref());
            allowed(content, suspicion, app.settings.policy.profile)
        }
        Err(Refused::Late(blocked)) => blocked_by(blocked.report()),
        Err(Refused::Addresses(suspicion)) => held_back(
            suspicion.score,
            suspicion.flags.clone(),
            suspicion.reason.clone(),
        ),
        Err(Refused::Early { code, reason }) => held_back(0.0, vec![code.clone()], reason.clone()),
    };
    let print = match &judged {
        Ok(content) => Some(content.report().fingerprint.clone()),
        Err(Refused::Late(blocked)) => Some(blocked.report().fingerprint.clone()),
        Err(Refused::Addresses(suspicion)) => Some(Fingerprint::of(&suspicion.words)),
        Err(Refused::Early { .. }) => None,
    };
    let event = event(wanted, arrived.as_ref(), &safety, print.as_ref(), started);
    log(app, wanted, arrived.as_ref(), &safety, print.as_ref());
    let text = judged.as_ref().ok().map(SafeContent::text);
    note(app, arrived.as_ref(), &safety, print.as_ref(), text);
    let kept = match &judged {
        Err(Refused::Late(blocked)) => Some(blocked.payload()),
        Err(Refused::Addresses(suspicion)) => Some(suspicion.words.clone()),
        Ok(_) | Err(Refused::Early { .. }) => None,
    };
    match kept {
        Some(content) => {
            let payload = payload(app, wanted, content, &safety);
            app.store.record_blocked(event, payload).await?;
        }
        None => app.store.record_fetch(event).await?,
    }
    let backend = app.renderer.is_some();
    let told = arrived.zip(place);
    Ok(Outcome {
        safety,
        content: judged.ok(),
        source: told
            .as_ref()
            .map(|(arrived, place)| source(arrived, &place.domain, backend)),
        final_url: told.and_then(|(_, place)| place.url),
    })
}

fn source(arrived: &Arrived, domain: &str, has_renderer: bool) -> Source {
    Source {
        domain: domain.to_owned(),
        fetch_backend: arrived.backend.to_owned(),
        rendered: arrived.rendered,
        fallback_used: has_renderer && arrived.fallback_used,
        content_type: arrived.content_type.as_deref().and_then(kinds::known),
    }
}

fn allowed(content: &SafeContent, suspicion: Option<&Suspicion>, profile: Profile) -> Safety {
    let mut safety = Safety {
        decision: DecisionName::Allow,
        bypassed: content.bypassed().then_some(true),
        reason: None,
        ..blocked_by(content.report())
    };
    if let Some(suspicion) = suspicion {
        safety.score = safety.score.max(finite(suspicion.score));
        safety.flags.extend(suspicion.flags.iter().cloned());
        safety.flags.sort();
        safety.flags.dedup();
        if suspicion.blocks(profile) {
            safety.bypassed = Some(true);
        }
    }
    safety
}

fn held_back(score: f32, flags: Vec<String>, reason: String) -> Safety {
    Safety {
        decision: DecisionName::Block,
        score: finite(score),
        flags,
        reason: Some(reason),
        bypassed: None,
        normalization_applied: Vec::new(),
        obfuscation_signals: Vec::new(),
    }
}

/// A score that is not a number is the worst.
fn finite(score: f32) -> f32 {
    if score.is_finite() { score } else { 20.0 }
}

fn blocked_by(report: &Report) -> Safety {
    Safety {
        normalization_applied: report.normalization.clone(),
        obfuscation_signals: report.obfuscation.clone(),
        ..held_back(report.score, report.flags.clone(), report.reason.clone())
    }
}

/// The origin or the network failed: recorded, and told as the error that it is.
async fn failed(
    app: &App,
    wanted: &Wanted,
    target: &Target,
    started: Instant,
    error: NoPage,
) -> ApiError {
    tracing::warn!(target: "upstream", fetch_id = wanted.fetch_id, host = app.guard.named(&target.host.to_string()), code = error.code(), "the origin failed");
    let event = FetchEvent {
        error_code: Some(error.code().to_owned()),
        ..bare_event(wanted, started)
    };
    match app.store.record_fetch(event).await {
        Ok(()) => error.into(),
        Err(store) => store.into(),
    }
}

/// Whether every host on the way is on the allowlist.
pub(crate) fn all_allowed<'h>(standings: impl IntoIterator<Item = &'h Standing>) -> bool {
    let mut any = false;
    for standing in standings {
        if *standing != Standing::Allowed {
            return false;
        }
        any = true;
    }
    any
}
