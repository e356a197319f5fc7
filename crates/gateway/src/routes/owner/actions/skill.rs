//! `POST /v1/actions/skill-install`: a skill's files are looked at, and the owner sees what is in them. Always asked.

use super::{ActionResponse, Terms, ask_owner, name, recorded};
use crate::error::ApiError;
use crate::front::Turn;
use crate::json::Large;
use crate::owner::Owner;
use crate::routes::guard::wire::BodyErrors;
use crate::routes::owner::wire::{WaitErrors, patience};
use crate::state::App;
use crate::tokens::Role;
use crate::work::work;
use axum::Json;
use axum::extract::{Extension, State};
use blastshield_audit::{Digest, Event, Fingerprint};
use blastshield_owner::{Action, Ask, Value};
use blastshield_skills::{Examination, Examiner, File, FilesError, Finding};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

const REASON: &str = "Installing or enabling a skill requires approval";
/// Findings that the owner sees one by one.
const SHOWN: usize = 8;
/// Characters of the hosts in one line.
const HOSTS: usize = 500;

/// A skill.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillRequest {
    /// Its name.
    #[schema(min_length = 1, max_length = 128)]
    name: String,
    /// Where it comes from.
    #[schema(max_length = 1024)]
    source: Option<String>,
    /// Every file of it.
    #[schema(min_items = 1, max_items = 200)]
    files: Vec<SkillFile>,
    /// The session that installs.
    #[schema(min_length = 1, max_length = 128)]
    session_key: Option<String>,
    /// A request that was made for exactly this before.
    approval: Option<String>,
    /// Seconds to wait for the owner.
    #[schema(minimum = 0, maximum = 60)]
    wait: Option<u64>,
}

/// A file of a skill.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SkillFile {
    /// Its name within the skill.
    #[schema(min_length = 1, max_length = 256)]
    path: String,
    /// Its text.
    content: String,
}

/// Whether the agent may install this skill: the owner decides, and sees what was found in its files.
#[utoipa::path(
    post,
    path = "/v1/actions/skill-install",
    request_body = SkillRequest,
    responses((status = 200, body = ActionResponse), BodyErrors, WaitErrors)
)]
pub(crate) async fn install(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Extension(turn): Extension<Turn>,
    Large(request): Large<SkillRequest>,
) -> Result<Json<ActionResponse>, ApiError> {
    name("name", &request.name, 128)?;
    if let Some(source) = &request.source {
        name("source", source, 1024)?;
    }
    let terms = Terms {
        role,
        approval: request.approval,
        wait: patience(&app, request.wait)?,
    };
    app.guard.admit(request.session_key.as_deref())?;
    let seen = examined(&app, request.files).await?;
    turn.end();
    let mut ask = asked(role, &request.name, request.source, &seen);
    ask.session = request.session_key;
    let mut answer = ask_owner(&app, &ask, &terms).await?;
    // A file may be named after a secret.
    let redactor = app.guard.redactor();
    let line = |found: &Finding| redactor.redact(&found.to_line()).into_owned();
    answer.findings = seen.findings.iter().map(line).collect();
    let content = Fingerprint {
        sha256: Digest::parse(&seen.sha256).ok_or(ApiError::Internal)?,
        length: seen.bytes as u64,
    };
    let event = Event::SkillInstall {
        name: &request.name,
        decision: answer.decision.decision(),
        findings: seen.count() as u64,
        content,
    };
    if terms.is_news(&answer) {
        recorded(&app, &event)?;
    }
    Ok(Json(answer))
}

async fn examined(app: &App, files: Vec<SkillFile>) -> Result<Examination, ApiError> {
    let detector = Arc::clone(&app.detector);
    let secrets = app.guard.scanner();
    let bytes = files.iter().map(|file| file.content.len()).sum();
    let examined = work(bytes, move || {
        let files: Vec<File<'_>> = files
            .iter()
            .map(|file| File {
                path: &file.path,
                content: &file.content,
            })
            .collect();
        Examiner::new(&detector, &secrets).examine(&files)
    })
    .await?;
    examined.map_err(|error: FilesError| ApiError::field("files", error.to_string()))
}

/// The request; everything in it follows from the skill, so that the same skill makes the same request.
fn asked(role: Role, name: &str, source: Option<String>, seen: &Examination) -> Ask {
    let number = |count: usize| Value::Number(i64::try_from(count).unwrap_or(i64::MAX));
    let mut ask = Ask::new(Action::SkillInstall, REASON, Owner::requester(role))
        .with("name", Value::Text(name.to_owned()));
    if let Some(source) = source {
        ask = ask.with("source", Value::Text(source));
    }
    ask = ask
        .with("files", number(seen.files))
        .with("bytes", number(seen.bytes))
        .with("files_sha256", Value::Text(seen.sha256.clone()))
        .with("findings", Value::Text(seen.summary()));
    for (found, place) in seen.findings.iter().take(SHOWN).zip(1..) {
        ask = ask.with(format!("finding_{place}"), Value::Text(found.to_line()));
    }
    if !seen.hosts.is_empty() {
        ask = ask.with("hosts", Value::Text(hosts(seen)));
    }
    ask
}

fn hosts(seen: &Examination) -> String {
    let mut line = String::new();
    let mut left = seen.hosts.len() + seen.more_hosts;
    for host in &seen.hosts {
        if line.len() + host.len() > HOSTS {
            break;
        }
        line.push_str(if line.is_empty() { "" } else { ", " });
        line.push_str(host);
        left -= 1;
    }
    if left > 0 {
        line.push_str(&format!(" and {left} more"));
    }
    line
}
