//! Discord and signed webhooks: they carry requests and alerts, and a link to where the owner can decide. No answer comes
//! back through them.

use crate::message::decided;
use crate::outbox::{Courier, Fail, Running};
use crate::pace::Pace;
use crate::words::Word;
use crate::{Approvals, Request};
use blastshield_upstream::{CallError, Discord, Webhook};
use serde_json::{Value, json};
use url::Url;

/// Requests and alerts in a Discord channel.
#[derive(Debug)]
pub struct DiscordChannel;

impl DiscordChannel {
    /// Starts posting. `link` is the page on which requests are decided; the id is appended as a path segment.
    #[must_use]
    pub fn start(
        approvals: &Approvals,
        discord: Discord,
        link: Option<Url>,
        pace: Pace,
    ) -> Running {
        let courier = DiscordCourier {
            discord,
            link,
            approvals: approvals.clone(),
        };
        Running::start(courier, approvals.clone(), pace)
    }
}

/// Requests, decisions and alerts as signed JSON.
#[derive(Debug)]
pub struct WebhookChannel;

impl WebhookChannel {
    /// Starts posting; `link` as for [`DiscordChannel::start`].
    #[must_use]
    pub fn start(
        approvals: &Approvals,
        webhook: Webhook,
        link: Option<Url>,
        pace: Pace,
    ) -> Running {
        let courier = WebhookCourier {
            webhook,
            link,
            approvals: approvals.clone(),
        };
        Running::start(courier, approvals.clone(), pace)
    }
}

struct DiscordCourier {
    discord: Discord,
    link: Option<Url>,
    approvals: Approvals,
}

impl DiscordCourier {
    async fn post(&self, text: &str, below: Option<&str>) -> Result<(), Fail> {
        let at = seconds(&self.approvals);
        self.discord.post(text, below, at).await.map_err(fail)
    }
}

impl Courier for DiscordCourier {
    fn name(&self) -> &'static str {
        "discord"
    }

    async fn show(&self, request: &Request) -> Result<i64, Fail> {
        let link = link(self.link.as_ref(), request);
        self.post(&request.shown, link.as_deref()).await.map(|()| 0)
    }

    async fn settle(&self, request: &Request, _: i64) -> Result<(), Fail> {
        let text = format!(
            "Request {}: {}",
            request.id,
            crate::telegram::outcome(request)
        );
        self.post(&text, None).await
    }

    async fn say(&self, word: &Word) -> Result<(), Fail> {
        self.post(word.text(), None).await
    }
}

struct WebhookCourier {
    webhook: Webhook,
    link: Option<Url>,
    approvals: Approvals,
}

impl WebhookCourier {
    async fn post(&self, body: &Value) -> Result<(), Fail> {
        let at = seconds(&self.approvals);
        self.webhook.post(body.to_string(), at).await.map_err(fail)
    }
}

impl Courier for WebhookCourier {
    fn name(&self) -> &'static str {
        "webhook"
    }

    async fn show(&self, request: &Request) -> Result<i64, Fail> {
        let body = json!({
            "type": "approval_requested", "id": request.id.as_str(), "action": request.action.as_str(),
            "text": request.shown, "shown_sha256": request.shown_sha256, "expires_ms": request.expires_ms,
            "link": link(self.link.as_ref(), request),
        });
        self.post(&body).await.map(|()| 0)
    }

    async fn settle(&self, request: &Request, _: i64) -> Result<(), Fail> {
        let outcome = crate::telegram::outcome(request);
        let body = json!({
            "type": "approval_decided", "id": request.id.as_str(), "action": request.action.as_str(),
            "state": request.state.as_str(), "by": request.decided_by, "text": decided(&request.shown, &request.id, &outcome),
        });
        self.post(&body).await
    }

    async fn say(&self, word: &Word) -> Result<(), Fail> {
        let body = match word {
            Word::Text(text) => json!({"type": "text", "text": text}),
            Word::Alert { text, body } => {
                let mut body = body.clone();
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("type".to_owned(), "alert".into());
                    fields.insert("text".to_owned(), text.as_str().into());
                }
                body
            }
        };
        self.post(&body).await
    }
}

fn link(base: Option<&Url>, request: &Request) -> Option<String> {
    let mut url = base?.clone();
    url.path_segments_mut()
        .ok()?
        .pop_if_empty()
        .push(request.id.as_str());
    Some(url.into())
}

fn seconds(approvals: &Approvals) -> u64 {
    u64::try_from(approvals.now_ms() / 1000).unwrap_or(0)
}

fn fail(error: CallError) -> Fail {
    let later = |wait, grave| Fail::Later {
        wait,
        why: error.to_string(),
        grave,
    };
    match error {
        CallError::RateLimited { retry_after } => later(retry_after, false),
        CallError::Rejected {
            status: 400 | 413 | 422,
        } => Fail::Never {
            why: error.to_string(),
        },
        CallError::Rejected { .. } | CallError::Denied { .. } | CallError::Redirected { .. } => {
            later(None, true)
        }
        _ => later(None, false),
    }
}
