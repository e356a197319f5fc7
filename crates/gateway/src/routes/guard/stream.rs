//! `POST /v1/output/stream`: what an agent says while it says it.
//!
//! The request's body is the text, as it comes; the answer is a stream of server-sent events that starts at once:
//! `release` with text that may go out, `issue` for each finding, and one `end`. After a finding that blocks nothing
//! more is released. A client that goes away ends it.

use super::output::IssueBody;
use crate::error::{ApiError, ErrorBody};
use crate::guard::answer_blocked;
use crate::state::App;
use axum::body::{Body, BodyDataStream, HttpBody as _};
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use blastshield_guard::output::{BLOCKED, Context};
use blastshield_guard::stream::{OutputStream, Released};
use blastshield_leak::Scope;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use serde::Deserialize;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;
use utoipa::IntoParams;

/// No answer takes longer to write.
const LONGEST: Duration = Duration::from_secs(1800);
/// What of an answer is kept so that a finding can be told by its hash.
const KEPT: usize = 64 << 10;

/// Whose answer it is.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// The session.
    #[param(min_length = 1, max_length = 256)]
    session_key: Option<String>,
}

/// Validates an answer while it is written.
#[utoipa::path(
    post,
    path = "/v1/output/stream",
    params(Whose),
    request_body(content = String, content_type = "text/plain", description = "The answer, as it comes"),
    responses(
        (status = 200, description = "Server-sent events: `release`, `issue` and one `end`"),
        (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody, description = "The session is blocked"),
        (status = 429, body = ErrorBody, description = "The session has to wait"),
        (status = 503, body = ErrorBody)
    )
)]
pub(crate) async fn validate(
    State(app): State<Arc<App>>,
    whose: Result<Query<Whose>, axum::extract::rejection::QueryRejection>,
    body: Body,
) -> Result<Response, ApiError> {
    let Query(whose) =
        whose.map_err(|_| ApiError::field("sessionKey", "the query may hold sessionKey alone"))?;
    if body.is_end_stream() {
        return Err(ApiError::BadRequest {
            field: None,
            message: "send the answer's text as the body".to_owned(),
        });
    }
    app.guard.admit(whose.session_key.as_deref())?;
    let stream = app.guard.validator().map(|validator| {
        let context = Context {
            session_key: whose.session_key.clone(),
            tools_called: Vec::new(),
        };
        OutputStream::new(validator, context)
    });
    let Ok(turn) = Arc::clone(&app.guard.streams).try_acquire_owned() else {
        return Err(ApiError::Busy("too many answers at once; try again"));
    };
    let checked = Checked {
        _turn: turn,
        deadline: Instant::now() + LONGEST,
        limit: app.settings.security.max_body_bytes,
        app,
        session: whose.session_key,
        body: body.into_data_stream(),
        stream,
        cut: Vec::new(),
        taken: 0,
        recent: String::new(),
        ready: VecDeque::new(),
        ended: false,
    };
    let mut response = Body::from_stream(events(checked)).into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    Ok(response)
}

/// An answer on its way.
struct Checked {
    _turn: OwnedSemaphorePermit,
    deadline: Instant,
    app: Arc<App>,
    session: Option<String>,
    body: BodyDataStream,
    /// Absent when validation is switched off.
    stream: Option<OutputStream>,
    /// The first bytes of a character whose rest has not come.
    cut: Vec<u8>,
    taken: usize,
    limit: usize,
    recent: String,
    ready: VecDeque<Bytes>,
    ended: bool,
}

fn events(checked: Checked) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(checked.run(sender));
    futures_util::stream::unfold(receiver, |mut receiver| async move {
        let event = receiver.recv().await?;
        Some((Ok(event), receiver))
    })
}

impl Checked {
    /// Goes on until the end, at the pace of the slower of the two sides, and gives up a reader that does not read.
    ///
    /// A task of its own: whoever says a secret and hangs up is judged all the same.
    async fn run(mut self, reader: mpsc::Sender<Bytes>) {
        loop {
            while let Some(event) = self.ready.pop_front() {
                let sent = tokio::time::timeout_at(self.patience(), reader.send(event)).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
            if self.ended {
                return;
            }
            self.step().await;
        }
    }

    fn patience(&self) -> Instant {
        let idle = Instant::now() + self.app.settings.server.request_timeout;
        idle.min(self.deadline)
    }

    /// Takes the next piece of the body and queues what comes of it.
    async fn step(&mut self) {
        let Ok(piece) = tokio::time::timeout_at(self.patience(), self.body.next()).await else {
            return self.end("too_slow").await;
        };
        match piece {
            Some(Ok(bytes)) => {
                self.taken = self.taken.saturating_add(bytes.len());
                if self.taken > self.limit {
                    return self.end("too_large").await;
                }
                match self.text(&bytes) {
                    Some(text) => self.push(&text).await,
                    None => self.end("not_utf8").await,
                }
            }
            Some(Err(_)) => self.end("broken_off").await,
            None if !self.cut.is_empty() => self.end("not_utf8").await,
            None => self.finish().await,
        }
    }

    /// Whole characters of what has come; nothing when it is no UTF-8.
    fn text(&mut self, bytes: &[u8]) -> Option<String> {
        self.cut.extend_from_slice(bytes);
        let valid = match std::str::from_utf8(&self.cut) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return None,
        };
        let rest = self.cut.split_off(valid);
        let whole = std::mem::replace(&mut self.cut, rest);
        String::from_utf8(whole).ok()
    }

    async fn push(&mut self, text: &str) {
        self.recent.push_str(text);
        let excess = self.recent.len().saturating_sub(KEPT);
        let excess = self.recent.ceil_char_boundary(excess);
        self.recent.drain(..excess);
        let released = match &mut self.stream {
            Some(stream) => stream.push(text),
            None => Released {
                text: text.to_owned(),
                ..Released::default()
            },
        };
        self.release(released).await;
    }

    async fn finish(&mut self) {
        let released = self
            .stream
            .as_mut()
            .map_or_else(Released::default, OutputStream::finish);
        self.release(released).await;
        if !self.ended {
            self.queue("end", &json!({"safe": true}));
            self.ended = true;
        }
    }

    async fn release(&mut self, released: Released) {
        if !released.text.is_empty() {
            self.queue("release", &json!({"text": released.text}));
        }
        for issue in &released.issues {
            let body = serde_json::to_value(IssueBody::from(issue));
            self.queue("issue", &body.unwrap_or_default());
        }
        if released.blocked {
            self.report(&released).await;
            self.queue("end", &json!({"safe": false, "sanitizedContent": BLOCKED}));
            self.ended = true;
        }
    }

    /// What was said is held against whoever said it. The answer is over in any case; that the session could not be ended
    /// is in the log.
    async fn report(&mut self, released: &Released) {
        let issues = released.issues.iter();
        let kinds: Vec<&str> = issues.map(|issue| issue.kind.name()).collect();
        let scanner = self.app.guard.scanner();
        let findings = scanner.scan_with(&self.recent, Scope::SECRETS);
        let session = self.session.as_deref();
        let _ = answer_blocked(&self.app, session, &kinds, &findings, &self.recent).await;
    }

    /// Ends an answer that cannot be checked to its end: what is held back stays back, and is judged as it is.
    async fn end(&mut self, why: &str) {
        let rest = self.stream.as_mut().map(OutputStream::finish);
        if let Some(rest) = rest.filter(|rest| rest.blocked) {
            self.report(&rest).await;
        }
        self.queue(
            "end",
            &json!({"safe": false, "error": why, "sanitizedContent": BLOCKED}),
        );
        self.ended = true;
    }

    fn queue(&mut self, event: &str, data: &serde_json::Value) {
        let text = format!("event: {event}\ndata: {data}\n\n");
        self.ready.push_back(Bytes::from(text));
    }
}
