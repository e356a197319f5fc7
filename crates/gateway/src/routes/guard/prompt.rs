//! `GET /v1/prompt-sections`: rules for the beginning of a system prompt, with a hash that shows they are unaltered.

use crate::error::ErrorBody;
use axum::Json;
use blastshield_guard::prompt::Sections;
use serde::Serialize;
use utoipa::ToSchema;

/// The sections.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PromptSections {
    /// The version of the words.
    version: String,
    /// SHA-256 of `text`.
    hash: String,
    /// All sections as one markdown text.
    text: String,
    /// Each by itself.
    sections: Vec<PromptSection>,
}

/// A section.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PromptSection {
    /// Its name for programs.
    id: String,
    /// Its heading.
    title: String,
    /// What stands under the heading.
    text: String,
}

/// The prompt sections.
#[utoipa::path(
    get,
    path = "/v1/prompt-sections",
    responses(
        (status = 200, body = PromptSections),
        (status = 401, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn sections() -> Json<PromptSections> {
    let shipped = Sections::shipped();
    Json(PromptSections {
        version: shipped.version.to_owned(),
        text: shipped.render(),
        sections: shipped
            .sections
            .iter()
            .map(|section| PromptSection {
                id: section.id.to_owned(),
                title: section.title.to_owned(),
                text: section.text.to_owned(),
            })
            .collect(),
        hash: shipped.hash,
    })
}
