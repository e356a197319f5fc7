//! Strict JSON bodies: declared, bounded, and refused with the field named.

use crate::error::ApiError;
use crate::state::App;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A JSON body of this type.
pub(crate) struct Strict<T>(pub(crate) T);

/// The same with the guard's larger limit: whole pages and tool results are sent there.
pub(crate) struct Large<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Strict<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        body(request, app.settings.server.max_body_bytes)
            .await
            .map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Large<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        body(request, app.settings.security.max_body_bytes)
            .await
            .map(Self)
    }
}

async fn body<T: DeserializeOwned>(request: Request, limit: usize) -> Result<T, ApiError> {
    let declared = request
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !declared {
        return Err(ApiError::NotJson);
    }
    // The request's turn is kept until its body is here.
    let (parts, body) = request.into_parts();
    let bytes = read(body, limit).await?;
    drop(parts);
    parse(&bytes)
}

async fn read(body: Body, limit: usize) -> Result<bytes::Bytes, ApiError> {
    to_bytes(body, limit).await.map_err(|error| {
        let text = std::error::Error::source(&error).map(ToString::to_string);
        if text.is_some_and(|text| text.contains("length limit")) {
            ApiError::BodyTooLarge { limit }
        } else {
            ApiError::BadRequest {
                field: None,
                message: "the body ended early".to_owned(),
            }
        }
    })
}

/// The error names the field and never repeats a value.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // A list of values in the right order would be taken for an object.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if is_json(bytes) && first != Some(&b'{') {
        return Err(ApiError::BadRequest {
            field: None,
            message: "the body must be a JSON object".to_owned(),
        });
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut reader);
    let value: T = parsed.map_err(|error| complaint(&error, is_json(bytes)))?;
    reader.end().map_err(|_| ApiError::BadRequest {
        field: None,
        message: "something follows the JSON value".to_owned(),
    })?;
    Ok(value)
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// What is wrong with a body. The parser calls some wrong types a fault of syntax, so `is_json` is asked separately.
fn complaint(error: &serde_path_to_error::Error<serde_json::Error>, is_json: bool) -> ApiError {
    let inner = error.inner();
    if !is_json && !matches!(inner.classify(), serde_json::error::Category::Data) {
        return ApiError::BadRequest {
            field: None,
            message: "the body is not valid JSON".to_owned(),
        };
    }
    let path = error.path().to_string();
    let text = inner.to_string();
    let named = text.split('`').nth(1).filter(|name| is_name(name));
    let (field, message) = match (named, text.split_whitespace().next()) {
        (Some(field), Some("unknown")) if text.starts_with("unknown field") => {
            (Some(field), format!("the field {field} is not known"))
        }
        (Some(field), Some("missing")) => (Some(field), format!("the field {field} is missing")),
        (Some(field), Some("duplicate")) => (Some(field), format!("the field {field} comes twice")),
        _ if text.starts_with("unknown field") => (None, "a field is not known".to_owned()),
        _ if is_name(&path) => (
            Some(path.as_str()),
            format!("the field {path} has a wrong value"),
        ),
        _ => (None, "the body must be a JSON object".to_owned()),
    };
    ApiError::BadRequest {
        field: field.map(str::to_owned),
        message,
    }
}

/// Whether a name may be repeated: what looks like a key of ours, and not like a key to something.
fn is_name(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.len() <= 32
        && digits <= 3
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{SearchRequest, WebFetchRequest};

    fn problem<T: DeserializeOwned>(text: &str) -> String {
        match parse::<T>(text.as_bytes()) {
            Ok(_) => panic!("accepted {text}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_field_is_named_and_the_value_is_not() {
        assert_eq!(
            problem::<SearchRequest>(r#"{"query": "a", "qery": 1}"#),
            "the field qery is not known"
        );
        assert_eq!(problem::<SearchRequest>("{}"), "the field query is missing");
        let wrong = problem::<WebFetchRequest>(r#"{"url": "x", "extractMode": "sk-secret"}"#);
        assert_eq!(wrong, "the field extractMode has a wrong value");
        for mode in ["null", "7", "[]", "{}"] {
            let wrong = format!(r#"{{"url": "x", "extractMode": {mode}}}"#);
            assert_eq!(
                problem::<WebFetchRequest>(&wrong),
                "the field extractMode has a wrong value"
            );
        }
        assert_eq!(
            problem::<SearchRequest>(r#"{"query": "a", "query": "b"}"#),
            "the field query comes twice"
        );
        assert_eq!(
            problem::<SearchRequest>(r#"{"query": "a", "k4j7x9q2m5": 1}"#),
            "a field is not known"
        );
        assert_eq!(
            problem::<SearchRequest>("[]"),
            "the body must be a JSON object"
        );
        assert_eq!(problem::<SearchRequest>("{"), "the body is not valid JSON");
    }
}
