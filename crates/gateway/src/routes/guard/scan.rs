//! `POST /v1/scan`: a text, or bytes with a type, before the model reads it.

use super::wire::{
    AssessmentBody, BodyErrors, CanaryLeak, DecisionBody, SessionErrors, TextKind, Trust,
    is_suspicious, risk, round,
};
use crate::error::ApiError;
use crate::json::Large;
use crate::state::App;
use crate::work::work;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use blastshield_audit::{Decision, Event, Fingerprint};
use blastshield_detect::Profile;
use blastshield_limits::Sighting;
use blastshield_pipeline::{Mode, Raw, Report, StageError, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Texts in one call at most.
const MAX_ITEMS: usize = 256;

/// One text, or many.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanRequest {
    /// The text. Either this, `content` or `items`.
    text: Option<String>,
    /// Bytes in base64, read by their type.
    content: Option<String>,
    /// The type of `content`, such as `text/html; charset=utf-8`.
    #[schema(max_length = 256)]
    content_type: Option<String>,
    /// What it is to the agent.
    #[serde(default)]
    kind: TextKind,
    /// Where it came from, in the caller's words.
    #[schema(max_length = 512)]
    source: Option<String>,
    /// The session that it belongs to.
    #[schema(min_length = 1, max_length = 256)]
    session_key: Option<String>,
    /// How well the agent knows the author; scanned in any case.
    trust: Option<Trust>,
    /// Many texts; then none of the above but `session_key`.
    #[schema(max_items = 256)]
    items: Option<Vec<ScanItem>>,
}

/// One text of many.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanItem {
    /// The text. Either this or `content`.
    text: Option<String>,
    /// Bytes in base64, read by their type.
    content: Option<String>,
    /// The type of `content`.
    #[schema(max_length = 256)]
    content_type: Option<String>,
    /// What it is to the agent.
    #[serde(default)]
    kind: TextKind,
    /// Where it came from.
    #[schema(max_length = 512)]
    source: Option<String>,
    /// How well the agent knows the author.
    trust: Option<Trust>,
}

/// What was decided about a text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScanResult {
    /// Whether the model may read it.
    decision: DecisionBody,
    /// Why.
    assessment: AssessmentBody,
    /// The text of `content`, as it was scored, if it may be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Canaries in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    canaries: Vec<CanaryLeak>,
}

/// What was decided about each text, in order; for a single text the result itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ScanResponse {
    /// One text.
    One(Box<ScanResult>),
    /// Many.
    Many {
        /// In the order of `items`.
        results: Vec<ScanResult>,
    },
}

enum Body {
    Text(String),
    Bytes(Vec<u8>, Option<String>),
}

struct Item {
    body: Body,
    kind: TextKind,
    source: Option<String>,
}

/// What came of an item, on the way to its consequences.
struct Looked {
    result: ScanResult,
    categories: Vec<&'static str>,
    score: f32,
    text: String,
}

/// Scores texts before a model reads them.
#[utoipa::path(
    post,
    path = "/v1/scan",
    request_body = ScanRequest,
    responses(
        (status = 200, body = ScanResponse),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn scan(
    State(app): State<Arc<App>>,
    Large(request): Large<ScanRequest>,
) -> Result<(StatusCode, Json<ScanResponse>), ApiError> {
    let session = request.session_key.clone();
    app.guard.admit(session.as_deref())?;
    let (items, single) = items(request)?;
    let mut results = Vec::with_capacity(items.len());
    for item in items {
        let (kind, source) = (item.kind, item.source.clone());
        let mut looked = look(&app, item).await?;
        consequences(
            &app,
            session.as_deref(),
            kind,
            source.as_deref(),
            &mut looked,
        )
        .await?;
        results.push(looked.result);
    }
    let body = match (single, results.pop()) {
        (true, Some(one)) => ScanResponse::One(Box::new(one)),
        (_, last) => {
            results.extend(last);
            ScanResponse::Many { results }
        }
    };
    Ok((StatusCode::OK, Json(body)))
}

fn items(request: ScanRequest) -> Result<(Vec<Item>, bool), ApiError> {
    let Some(many) = request.items else {
        let one = ScanItem {
            text: request.text,
            content: request.content,
            content_type: request.content_type,
            kind: request.kind,
            source: request.source,
            trust: request.trust,
        };
        return Ok((vec![item(one)?], true));
    };
    if request.text.is_some() || request.content.is_some() {
        return Err(ApiError::field("items", "send items, or text, or content"));
    }
    if many.is_empty() || many.len() > MAX_ITEMS {
        return Err(ApiError::field(
            "items",
            format!("items must hold 1 to {MAX_ITEMS} texts"),
        ));
    }
    Ok((many.into_iter().map(item).collect::<Result<_, _>>()?, false))
}

fn item(item: ScanItem) -> Result<Item, ApiError> {
    if item
        .source
        .as_ref()
        .is_some_and(|source| source.len() > 512)
    {
        return Err(ApiError::field("source", "source may have 512 bytes"));
    }
    // Trust changes nothing here: that it is read and dropped is the point.
    let _ = item.trust;
    let body = match (item.text, item.content) {
        (Some(text), None) if item.content_type.is_none() => Body::Text(text),
        (Some(_), None) => {
            return Err(ApiError::field(
                "content_type",
                "content_type goes with content",
            ));
        }
        (None, Some(content)) => {
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(content.as_bytes())
                .map_err(|_| ApiError::field("content", "content must be base64"))?;
            Body::Bytes(bytes, item.content_type)
        }
        _ => return Err(ApiError::field("text", "send either text or content")),
    };
    Ok(Item {
        body,
        kind: item.kind,
        source: item.source,
    })
}

async fn look(app: &Arc<App>, item: Item) -> Result<Looked, ApiError> {
    let profile = app.settings.policy.profile;
    let (app, kind) = (Arc::clone(app), item.kind);
    match item.body {
        Body::Text(text) => {
            let length = text.len();
            work(length, move || {
                let assessment = app.detector.assess(&text, kind.detector());
                Looked {
                    result: ScanResult {
                        decision: profile.decide(assessment.score).into(),
                        assessment: AssessmentBody::from(&assessment),
                        text: None,
                        canaries: Vec::new(),
                    },
                    categories: assessment.categories().iter().map(|c| c.name()).collect(),
                    score: assessment.score,
                    text,
                }
            })
            .await
        }
        Body::Bytes(bytes, content_type) => {
            let length = bytes.len().saturating_mul(4);
            work(length, move || {
                read(&app, &bytes, content_type.as_deref(), profile)
            })
            .await?
        }
    }
}

/// Stages 1 to 4.
fn read(
    app: &App,
    bytes: &[u8],
    content_type: Option<&str>,
    profile: Profile,
) -> Result<Looked, ApiError> {
    let stages = || -> Result<Verdict, StageError> {
        Ok(Raw::new(bytes, content_type, None)
            .sized(app.settings.security.max_body_bytes)?
            .sanitised(Mode::Text, None)?
            .scanned(&app.detector)
            .validated(None)?
            .judged_by(profile))
    };
    let verdict =
        stages().map_err(|error| ApiError::field("content", format!("content: {error}")))?;
    let (decision, text, shown) = match &verdict {
        Verdict::Safe(safe) => (DecisionBody::Allow, safe.text().to_owned(), true),
        Verdict::Gray(gray) => (DecisionBody::Allow, gray.text().to_owned(), true),
        Verdict::Blocked(blocked) => (DecisionBody::Block, blocked.payload(), false),
    };
    let report = verdict.report();
    Ok(Looked {
        result: ScanResult {
            decision,
            assessment: assessment(report),
            text: shown.then(|| text.clone()),
            canaries: Vec::new(),
        },
        categories: Vec::new(),
        score: report.score,
        text,
    })
}

fn assessment(report: &Report) -> AssessmentBody {
    AssessmentBody {
        score: round(report.score),
        severity: blastshield_detect::Severity::of(report.score)
            .name()
            .to_owned(),
        matches: Vec::new(),
        reason: report.reason.clone(),
    }
}

/// Events, canaries, and what the session has to answer for.
async fn consequences(
    app: &App,
    session: Option<&str>,
    kind: TextKind,
    source: Option<&str>,
    looked: &mut Looked,
) -> Result<(), ApiError> {
    let guard = &app.guard;
    if is_suspicious(looked.score) {
        guard.note(&Event::Injection {
            origin: kind.origin(),
            source: source.unwrap_or("unnamed"),
            session,
            score: round(looked.score),
            risk: risk(looked.score),
            rules: &looked.categories,
            content: Fingerprint::of(&looked.text),
            decision: if looked.result.decision == DecisionBody::Block {
                Decision::Block
            } else {
                Decision::Allow
            },
        });
    }
    let belongs = kind == TextKind::Memory;
    let leaks = guard.canaries_in(&looked.text, belongs, session);
    looked.result.canaries = leaks.iter().map(CanaryLeak::from).collect();
    let Some(key) = session else { return Ok(()) };
    let seen = match kind {
        TextKind::Message => Sighting::message(&looked.text),
        _ => Sighting::content(&looked.text),
    };
    let seen = seen.scored(looked.score, &looked.categories);
    guard.observe(&app.store, key, &seen).await?;
    Ok(())
}
