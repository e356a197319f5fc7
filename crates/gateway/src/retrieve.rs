//! The way of a page: policy, retrieval, the stages, the judge, the record, and then the answer.

use crate::clock::now_ms;
use crate::error::ApiError;
use crate::judging;
use crate::state::App;
use crate::wire::{DecisionName, Safety, Source};
use blastshield_pipeline::{
    Blocked, Fingerprint, Mode, Raw, Report, SafeContent, StageError, Verdict,
};
use blastshield_policy::{Refusal, Standing, Target, check_url};
use blastshield_store::{FetchDecision, FetchEvent, FetchKind, FlaggedPayload};
use blastshield_web::{Fault, FetchError};
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
        Err(error) if error.fault() == Fault::Policy => {
            let refused = early(error.code(), &error);
            return finish(app, wanted, None, started, Err(refused)).await;
        }
        Err(error) => return Err(failed(app, wanted, &target, started, error).await),
    };
    let verdict = inspect(app, wanted, &arrived).await?;
    let judged = match verdict {
        Ok(verdict) => settle(app, verdict, &arrived).await,
        Err(error) => Err(early(stage_code(&error), &error)),
    };
    finish(app, wanted, Some(arrived), started, judged).await
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
) -> Result<Result<Verdict, StageError>, ApiError> {
    let (app, mode, max_chars) = (Arc::clone(app), wanted.mode, wanted.max_chars);
    let (body, kind, url) = (
        arrived.body.clone(),
        arrived.content_type.clone(),
        arrived.final_url.clone(),
    );
    let work = move || {
        let web = &app.settings.web;
        let limit = web.max_bytes.max(app.settings.renderer.max_html_bytes);
        let links = app.settings.policy.expose_safe_content_urls;
        Ok(Raw::new(&body, kind.as_deref(), Some(&url))
            .sized(limit)?
            .sanitised(mode, max_chars)?
            .with_links(links)
            .scanned(&app.detector)
            .validated(None)?
            .judged_by(app.settings.policy.profile))
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        tracing::error!(target: "security", "a stage broke down; the page is held back");
        ApiError::Internal
    })
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

/// Records what was decided, and only then answers.
async fn finish(
    app: &App,
    wanted: &Wanted,
    arrived: Option<Arrived>,
    started: Instant,
    judged: Result<SafeContent, Refused>,
) -> Result<Outcome, ApiError> {
    let safety = match &judged {
        Ok(content) => allowed(content),
        Err(Refused::Late(blocked)) => blocked_by(blocked.report()),
        Err(Refused::Early { code, reason }) => Safety {
            decision: DecisionName::Block,
            score: 0.0,
            flags: vec![code.clone()],
            reason: Some(reason.clone()),
            bypassed: None,
            normalization_applied: Vec::new(),
            obfuscation_signals: Vec::new(),
        },
    };
    let print = match &judged {
        Ok(content) => Some(content.report().fingerprint.clone()),
        Err(Refused::Late(blocked)) => Some(blocked.report().fingerprint.clone()),
        Err(Refused::Early { .. }) => None,
    };
    let event = event(wanted, arrived.as_ref(), &safety, print.as_ref(), started);
    log(wanted, arrived.as_ref(), &safety, print.as_ref());
    match &judged {
        Err(Refused::Late(blocked)) => {
            let payload = payload(app, wanted, blocked);
            app.store.record_blocked(event, payload).await?;
        }
        _ => app.store.record_fetch(event).await?,
    }
    let backend = app.renderer.is_some();
    Ok(Outcome {
        safety,
        content: judged.ok(),
        source: arrived.as_ref().map(|arrived| source(arrived, backend)),
        final_url: arrived.map(|arrived| arrived.final_url),
    })
}

fn source(arrived: &Arrived, has_renderer: bool) -> Source {
    Source {
        domain: arrived.final_url.host_str().unwrap_or_default().to_owned(),
        fetch_backend: arrived.backend.to_owned(),
        rendered: arrived.rendered,
        fallback_used: has_renderer && arrived.fallback_used,
        content_type: arrived.content_type.as_deref().and_then(known_type),
    }
}

/// The declared type if it is a common one: others, and all parameters, are words of the origin that nobody scored.
fn known_type(declared: &str) -> Option<String> {
    const KNOWN: [&str; 16] = [
        "text/html",
        "text/plain",
        "text/markdown",
        "text/csv",
        "text/xml",
        "application/xhtml+xml",
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/json",
        "application/ld+json",
        "application/feed+json",
        "application/problem+json",
        "application/ndjson",
        "application/x-ndjson",
        "application/yaml",
    ];
    let essence = declared.split(';').next().unwrap_or_default().trim();
    KNOWN
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(essence))
        .map(str::to_owned)
}

fn allowed(content: &SafeContent) -> Safety {
    let report = content.report();
    Safety {
        decision: DecisionName::Allow,
        bypassed: content.bypassed().then_some(true),
        reason: None,
        ..blocked_by(report)
    }
}

fn blocked_by(report: &Report) -> Safety {
    Safety {
        decision: DecisionName::Block,
        score: if report.score.is_finite() {
            report.score
        } else {
            20.0
        },
        flags: report.flags.clone(),
        reason: Some(report.reason.clone()),
        bypassed: None,
        normalization_applied: report.normalization.clone(),
        obfuscation_signals: report.obfuscation.clone(),
    }
}

fn event(
    wanted: &Wanted,
    arrived: Option<&Arrived>,
    safety: &Safety,
    print: Option<&Fingerprint>,
    started: Instant,
) -> FetchEvent {
    let bare = bare_event(wanted, started);
    FetchEvent {
        final_host: arrived.and_then(|a| a.final_url.host_str().map(str::to_owned)),
        decision: match safety.decision {
            DecisionName::Allow => FetchDecision::Allow,
            DecisionName::Block => FetchDecision::Block,
        },
        score: f64::from(safety.score),
        flags: safety.flags.clone(),
        reason: safety.reason.clone(),
        bypassed: safety.bypassed.unwrap_or(false),
        bytes: arrived.map_or(0, |a| a.wire_bytes),
        content_sha256: print.map(|print| print.sha256.clone()),
        content_len: print.map_or(0, |print| print.length as u64),
        backend: arrived.map_or("http", |a| a.backend).to_owned(),
        ..bare
    }
}

fn bare_event(wanted: &Wanted, started: Instant) -> FetchEvent {
    let host = Url::parse(&wanted.url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned));
    FetchEvent {
        fetch_id: wanted.fetch_id.clone(),
        at_ms: now_ms(),
        kind: wanted.kind,
        result_id: wanted.result_id.clone(),
        host: host.unwrap_or_else(|| "-".to_owned()),
        url_sha256: Fingerprint::of(&wanted.url).sha256,
        final_host: None,
        decision: FetchDecision::Error,
        score: 0.0,
        flags: Vec::new(),
        reason: None,
        bypassed: false,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        bytes: 0,
        content_sha256: None,
        content_len: 0,
        backend: "http".to_owned(),
        error_code: None,
    }
}

fn payload(app: &App, wanted: &Wanted, blocked: &Blocked) -> FlaggedPayload {
    let report = blocked.report();
    let content = blocked.payload();
    let print = Fingerprint::of(&content);
    let kept = i64::from(app.settings.store.retention_days) * 86_400_000;
    FlaggedPayload {
        fetch_id: wanted.fetch_id.clone(),
        at_ms: now_ms(),
        sha256: print.sha256,
        len: print.length as u64,
        content: content.into_bytes(),
        score: f64::from(report.score),
        flags: report.flags.clone(),
        expires_at_ms: now_ms().saturating_add(kept),
    }
}

/// The origin or the network failed: recorded, and told as the error that it is.
async fn failed(
    app: &App,
    wanted: &Wanted,
    target: &Target,
    started: Instant,
    error: FetchError,
) -> ApiError {
    tracing::warn!(target: "upstream", fetch_id = wanted.fetch_id, host = %target.host, code = error.code(), "the origin failed");
    let event = FetchEvent {
        error_code: Some(error.code().to_owned()),
        ..bare_event(wanted, started)
    };
    match app.store.record_fetch(event).await {
        Ok(()) => error.into(),
        Err(store) => store.into(),
    }
}

fn log(wanted: &Wanted, arrived: Option<&Arrived>, safety: &Safety, print: Option<&Fingerprint>) {
    tracing::info!(
        target: "security",
        fetch_id = wanted.fetch_id,
        result_id = wanted.result_id,
        host = arrived.and_then(|a| a.final_url.host_str()),
        decision = safety.decision.name(),
        score = (f64::from(safety.score) * 10.0).round() / 10.0,
        flags = safety.flags.join(","),
        bypassed = safety.bypassed.unwrap_or(false),
        by_exception = arrived.is_some_and(|a| a.by_exception),
        sha256 = print.map(|print| print.sha256.as_str()),
        length = print.map(|print| print.length),
        "fetched"
    );
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
