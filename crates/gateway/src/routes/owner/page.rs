//! `GET /approve/{id}`: the page behind a link in a message. It is the same for everybody and holds nothing; the owner
//! types the token, and only then is the request fetched. No GET decides anything, so that a preview does not.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

const HTML: &str = include_str!("page/page.html");
const SCRIPT: &str = include_str!("page/page.js");
const STYLE: &str = include_str!("page/page.css");
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
#[utoipa::path(
    get,
    path = "/approve/{id}",
    params(("id" = String, Path, description = "The request; the page reads it from its address")),
    responses((status = 200, body = String, content_type = "text/html"))
)]
pub(crate) async fn page() -> Response {
    answer("text/html; charset=utf-8", HTML)
}

/// What the page does.
pub(crate) async fn script() -> Response {
    answer("text/javascript; charset=utf-8", SCRIPT)
}

/// What the page looks like.
pub(crate) async fn style() -> Response {
    answer("text/css; charset=utf-8", STYLE)
}

fn answer(kind: &'static str, text: &'static str) -> Response {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    (headers, text).into_response()
}
