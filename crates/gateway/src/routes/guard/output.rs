//! `POST /v1/output/validate`: what an agent says, before anybody hears it.

use super::wire::{BodyErrors, SessionErrors};
use crate::error::ApiError;
use crate::guard::answer_blocked;
use crate::json::Large;
use crate::state::App;
use crate::work::work;
use axum::Json;
use axum::extract::State;
use blastshield_guard::output::{Context, Validation};
use blastshield_leak::Scope;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What an agent is about to say.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OutputRequest {
    /// All of it.
    content: String,
    /// The session.
    #[schema(min_length = 1, max_length = 256)]
    session_key: Option<String>,
    /// Tools that ran for it.
    #[serde(default)]
    #[schema(max_items = 256)]
    tools_called: Vec<String>,
}

/// Whether it may be said.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutputResponse {
    /// Nothing in it blocks.
    pub(crate) safe: bool,
    /// What was found: what blocks first, then by place.
    pub(crate) issues: Vec<IssueBody>,
    /// What to say instead, if it is not safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sanitized_content: Option<String>,
}

/// One thing that is wrong with an answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IssueBody {
    /// `credential_leak`, `instruction_leak`, `data_exfiltration` or `suspicious_content`.
    #[serde(rename = "type")]
    kind: String,
    /// For a person.
    description: String,
    /// Bytes of the answer.
    location: LocationBody,
    /// `warn` or `block`.
    severity: String,
}

/// A place in an answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LocationBody {
    /// First byte.
    start: usize,
    /// First byte after it.
    end: usize,
}

impl From<&blastshield_guard::output::Issue> for IssueBody {
    fn from(issue: &blastshield_guard::output::Issue) -> Self {
        Self {
            kind: issue.kind.name().to_owned(),
            description: issue.description.clone(),
            location: LocationBody {
                start: issue.location.start,
                end: issue.location.end,
            },
            severity: issue.severity.name().to_owned(),
        }
    }
}

impl From<Validation> for OutputResponse {
    fn from(validation: Validation) -> Self {
        Self {
            safe: validation.safe,
            issues: validation.issues.iter().map(IssueBody::from).collect(),
            sanitized_content: validation.sanitized_content,
        }
    }
}

/// Validates what an agent is about to say.
#[utoipa::path(
    post,
    path = "/v1/output/validate",
    request_body = OutputRequest,
    responses(
        (status = 200, body = OutputResponse),
        BodyErrors,
        SessionErrors
    )
)]
pub(crate) async fn validate(
    State(app): State<Arc<App>>,
    Large(request): Large<OutputRequest>,
) -> Result<Json<OutputResponse>, ApiError> {
    let many = request.tools_called.len() > 256;
    if many || request.tools_called.iter().any(|tool| tool.len() > 256) {
        return Err(ApiError::field(
            "toolsCalled",
            "toolsCalled may hold 256 names of 256 bytes",
        ));
    }
    app.guard.admit(request.session_key.as_deref())?;
    let Some(validator) = app.guard.validator() else {
        return Ok(Json(OutputResponse {
            safe: true,
            issues: Vec::new(),
            sanitized_content: None,
        }));
    };
    let context = Context {
        session_key: request.session_key.clone(),
        tools_called: request.tools_called,
    };
    let content = request.content;
    let (content, validation) = work(content.len(), move || {
        let validation = validator.validate(&content, &context);
        (content, validation)
    })
    .await?;
    if !validation.safe {
        let findings = app.guard.scanner().scan_with(&content, Scope::SECRETS);
        let kinds: Vec<&str> = validation
            .issues
            .iter()
            .map(|issue| issue.kind.name())
            .collect();
        let session = request.session_key.as_deref();
        answer_blocked(&app, session, &kinds, &findings, &content).await?;
    }
    Ok(Json(validation.into()))
}
