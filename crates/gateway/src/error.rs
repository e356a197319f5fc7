//! The one place where causes become answers.

use crate::rendering::NoPage;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use blastshield_limits::Refused;
use blastshield_store::StoreError;
use blastshield_upstream::SearchError;
use blastshield_web::FetchError;
use serde::Serialize;
use utoipa::ToSchema;

/// An error as clients see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
    /// Which field, which status, and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<serde_json::Value>,
}

/// No answer of the usual kind, and why.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub(crate) enum ApiError {
    /// The request is not as it should be.
    #[error("{message}")]
    BadRequest {
        /// The field at fault.
        field: Option<String>,
        /// What is wrong with it.
        message: String,
    },
    /// The body is too large.
    #[error("the body may have at most {limit} bytes")]
    BodyTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The body is not declared as JSON.
    #[error("send the body as application/json")]
    NotJson,
    /// No token, or a wrong one.
    #[error("a valid bearer token is needed")]
    Unauthorized,
    /// A valid token that does not open this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// No such thing.
    #[error("{0}")]
    NotFound(&'static str),
    /// It was so once, and is not any more or not yet.
    #[error("{message}")]
    Conflict {
        /// For programs.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// It is not allowed, or cannot be as it is asked for.
    #[error("{message}")]
    Refused {
        /// How.
        status: StatusCode,
        /// For programs.
        code: &'static str,
        /// For people.
        message: String,
        /// Figures and fields.
        details: Option<serde_json::Value>,
    },
    /// Its time is over.
    #[error("{0}")]
    Gone(&'static str),
    /// Too much of it at a time.
    #[error("{0}")]
    TooMany(&'static str),
    /// Switched off by the owner.
    #[error("{0}")]
    Disabled(&'static str),
    /// A session that may not go on.
    #[error("{0}")]
    Session(Refused),
    /// No room; try again.
    #[error("{0}")]
    Busy(&'static str),
    /// Somebody else failed.
    #[error("{message}")]
    Upstream {
        /// For programs.
        code: &'static str,
        /// For people.
        message: String,
        /// The status that the other side gave.
        status: Option<u16>,
    },
    /// It took too long.
    #[error("the request took too long")]
    Timeout,
    /// Our own fault.
    #[error("something went wrong here; the log says more")]
    Internal,
}

impl ApiError {
    /// A complaint about a field.
    pub(crate) fn field(field: &str, message: impl Into<String>) -> Self {
        Self::BadRequest {
            field: Some(field.to_owned()),
            message: message.into(),
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest { .. } => StatusCode::BAD_REQUEST,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            Self::Refused { status, .. } => *status,
            Self::Gone(_) => StatusCode::GONE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Session(refused) => session_status(refused),
            Self::Disabled(_) | Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Upstream { .. } => StatusCode::BAD_GATEWAY,
            Self::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The code on the wire and in logs.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::BadRequest { .. } => "bad_request",
            Self::BodyTooLarge { .. } => "body_too_large",
            Self::NotJson => "not_json",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden(_) => "forbidden",
            Self::NotFound(_) => "not_found",
            Self::Conflict { code, .. } => code,
            Self::Refused { code, .. } => code,
            Self::Gone(_) => "gone",
            Self::TooMany(_) => "too_many",
            Self::Disabled(_) => "disabled",
            Self::Session(refused) => refused.code(),
            Self::Busy(_) => "busy",
            Self::Upstream { code, .. } => code,
            Self::Timeout => "timeout",
            Self::Internal => "internal",
        }
    }

    fn details(&self) -> Option<serde_json::Value> {
        match self {
            Self::BadRequest {
                field: Some(field), ..
            } => Some(serde_json::json!({ "field": field })),
            Self::BodyTooLarge { limit } => Some(serde_json::json!({ "limit": limit })),
            Self::Upstream {
                status: Some(status),
                ..
            } => Some(serde_json::json!({ "status": status })),
            Self::Refused { details, .. } => details.clone(),
            _ => None,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorBody {
            error: ErrorDetail {
                code: self.code().to_owned(),
                message: self.to_string(),
                details: self.details(),
            },
        };
        let mut response = (self.status(), Json(body)).into_response();
        let headers = response.headers_mut();
        match self {
            Self::Busy(_) | Self::TooMany(_) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Session(refused) => {
                if let Some(wait) = refused.retry_after() {
                    let seconds = wait.as_millis().div_ceil(1000);
                    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
                    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
                }
            }
            Self::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

/// Waiting helps, or only the owner does.
fn session_status(refused: &Refused) -> StatusCode {
    match refused {
        Refused::Key => StatusCode::BAD_REQUEST,
        Refused::Blocked { .. } | Refused::Terminated { .. } => StatusCode::FORBIDDEN,
        Refused::Full { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Refused::Cooldown { .. }
        | Refused::Messages { .. }
        | Refused::ToolCalls { .. }
        | Refused::Tokens { .. } => StatusCode::TOO_MANY_REQUESTS,
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(target: "upstream", dependency = "store", %error, "the store failed");
        if error.is_temporary() {
            Self::Busy("the store cannot take this now; try again")
        } else {
            Self::Internal
        }
    }
}

impl From<crate::ids::NoRandomness> for ApiError {
    fn from(_: crate::ids::NoRandomness) -> Self {
        Self::Internal
    }
}

impl From<SearchError> for ApiError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Query(problem) => Self::field(problem.field, problem.to_string()),
            SearchError::Disabled => {
                Self::Disabled("search is disabled, or no provider is configured")
            }
            SearchError::QueueFull => {
                Self::Busy("too many searches are waiting; try again shortly")
            }
            SearchError::Call(_) | SearchError::BadAnswer => Self::Upstream {
                code: "search_failed",
                message: error.to_string(),
                status: None,
            },
        }
    }
}

impl From<NoPage> for ApiError {
    fn from(error: NoPage) -> Self {
        let status = match error {
            NoPage::Fetch(FetchError::Status(status)) => Some(status),
            _ => None,
        };
        Self::Upstream {
            code: error.code(),
            message: error.to_string(),
            status,
        }
    }
}
