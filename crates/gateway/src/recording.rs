//! What the store and the log learn about a fetch.

use crate::clock::now_ms;
use crate::retrieve::{Arrived, Wanted};
use crate::routes::guard::wire::{is_suspicious, risk, round};
use crate::state::App;
use crate::wire::{DecisionName, Safety};
use blastshield_audit::{Decision, Digest, Event, Origin};
use blastshield_pipeline::Fingerprint;
use blastshield_store::{FetchDecision, FetchEvent, FlaggedPayload};
use std::time::Instant;
use url::Url;

/// A longer name is none, and refused as such; the record says "-".
const MAX_HOST: usize = 253;

/// What is recorded about a decision.
pub(crate) fn event(
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

/// What is recorded about a fetch of which nothing more is known.
pub(crate) fn bare_event(wanted: &Wanted, started: Instant) -> FetchEvent {
    let host = Url::parse(&wanted.url)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .filter(|host| host.len() <= MAX_HOST);
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

/// What is kept for the owner.
pub(crate) fn payload(
    app: &App,
    wanted: &Wanted,
    content: String,
    safety: &Safety,
) -> FlaggedPayload {
    let print = Fingerprint::of(&content);
    let kept = i64::from(app.settings.store.retention_days) * 86_400_000;
    FlaggedPayload {
        fetch_id: wanted.fetch_id.clone(),
        at_ms: now_ms(),
        sha256: print.sha256,
        len: print.length as u64,
        content: content.into_bytes(),
        score: f64::from(safety.score),
        flags: safety.flags.clone(),
        expires_at_ms: now_ms().saturating_add(kept),
    }
}

/// Counts what reads like an attack, and looks for canaries in what came in.
pub(crate) fn note(
    app: &App,
    arrived: Option<&Arrived>,
    safety: &Safety,
    print: Option<&Fingerprint>,
    content: Option<&str>,
) {
    let host = arrived.and_then(|a| a.final_url.host_str());
    let digest = print.and_then(|print| Digest::parse(&print.sha256));
    if let (true, Some(print), Some(sha256)) = (is_suspicious(safety.score), print, digest) {
        let flags: Vec<&str> = safety.flags.iter().map(String::as_str).collect();
        app.guard.note(&Event::Injection {
            origin: Origin::Web,
            source: host.unwrap_or("-"),
            session: None,
            score: round(safety.score),
            risk: risk(safety.score),
            rules: &flags,
            content: blastshield_audit::Fingerprint {
                sha256,
                length: print.length as u64,
            },
            decision: match safety.decision {
                DecisionName::Allow => Decision::Allow,
                DecisionName::Block => Decision::Block,
            },
        });
    }
    if let Some(content) = content {
        app.guard.canaries_in(content, false, None);
    }
}

/// Says in the security log what was decided: hash and length, never content.
pub(crate) fn log(
    app: &App,
    wanted: &Wanted,
    arrived: Option<&Arrived>,
    safety: &Safety,
    print: Option<&Fingerprint>,
) {
    tracing::info!(
        target: "security",
        fetch_id = wanted.fetch_id,
        result_id = wanted.result_id,
        host = arrived
            .and_then(|a| a.final_url.host_str())
            .map(|host| app.guard.named(host)),
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
