//! The one way out for workers. Each request is checked as if the worker lied: against the task, the capability, the
//! limits, the leak filter and the owner's yes. Core builds the address, adds the credential and dials; the worker gets
//! a status and bytes.

mod consent;
mod dial;
mod limiter;

pub use dial::Dialler;

pub(crate) use consent::request as consent;
pub(crate) use limiter::{Limiter, wall_ms};

use crate::aside::aside;
use crate::capability::{Capability, Uncovered};
use crate::definition::{Definition, Input, Operation};
use crate::leaks::texts_of;
use crate::protocol::{Answer, Ask, Phase, Refused, Why};
use blastshield_audit::{Category, Decision, Event, Fingerprint, Severity};
use blastshield_leak::{Scanner, Scope};
use blastshield_limits::proxy::{Answer as Counted, Declined, Opened};
use blastshield_owner::{Approvals, ClaimError, Recorder, Unrecorded};
use bytes::Bytes;
use dial::Outgoing;
use http::{HeaderName, HeaderValue};
use limiter::No;
use serde_json::json;
use std::time::Duration;
use zeroize::Zeroizing;

/// A credential's value. It has no `Display`, and its `Debug` says nothing.
#[derive(Clone)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Takes a text as a credential.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a broker works with, for one session.
pub(crate) struct Broker<'a> {
    pub(crate) definition: &'a Definition,
    pub(crate) operation: &'a Operation,
    pub(crate) input: &'a Input,
    pub(crate) phase: Phase,
    pub(crate) task: &'a str,
    pub(crate) capability: Capability,
    pub(crate) token: Option<&'a Token>,
    /// The owner's yes, if one is needed.
    pub(crate) approval: Option<(&'a str, &'a blastshield_owner::Ask)>,
    pub(crate) limiter: &'a Limiter,
    pub(crate) dialler: &'a Dialler,
    pub(crate) approvals: &'a Approvals,
    pub(crate) recorder: &'a dyn Recorder,
    pub(crate) scanner: Scanner,
    pub(crate) seen: Seen,
}

/// What core saw for itself.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    pub(crate) violations: Vec<&'static str>,
    pub(crate) burned: bool,
    /// The status that the service gave.
    pub(crate) status: Option<u16>,
    /// What kept a request from being sent or answered.
    pub(crate) trouble: Option<(Why, String, Option<Duration>)>,
    /// Whether bytes left for the service.
    pub(crate) sent: bool,
}

/// What a worker is told.
pub(crate) enum Reply {
    Answer(Answer, Bytes),
    Refused(Refused),
}

impl Broker<'_> {
    /// Notes something that no honest worker does.
    pub(crate) fn violated(&mut self, what: &'static str) {
        self.seen.violations.push(what);
        self.note(
            Severity::Warn,
            "proxy_violation",
            "A worker asked for what it may not have",
            what,
        );
    }

    /// Answers one request of the worker.
    pub(crate) async fn answer(&mut self, ask: &Ask) -> Reply {
        self.seen.requests += 1;
        match self.checked(ask).await {
            Ok((head, body)) => Reply::Answer(head, body),
            Err(refused) => {
                if refused.why == Why::Forbidden {
                    self.seen.violations.push("forbidden request");
                }
                let wait = refused.retry_after_ms.map(Duration::from_millis);
                self.seen.trouble = Some((refused.why, refused.detail.clone(), wait));
                self.decided(Decision::Deny, &refused.detail);
                Reply::Refused(refused)
            }
        }
    }

    async fn checked(&mut self, ask: &Ask) -> Result<(Answer, Bytes), Refused> {
        self.allowed(ask)?;
        self.leaks()?;
        let credential = self.credential()?;
        let permit = match aside(|| self.limiter.request()) {
            Ok(permit) => permit,
            Err(No::Unkept) => return Err(core("the limiter's state cannot be kept")),
            Err(No::Declined(declined)) => return Err(self.declined(declined)),
        };
        crate::fault::point("core:counted");
        if let Some((id, request)) = self.approval {
            self.approvals
                .claim(id, request)
                .await
                .map_err(|error| match error {
                    ClaimError::Store(_) | ClaimError::Unrecorded | ClaimError::Old => {
                        refused(Why::Core, error.to_string(), None)
                    }
                    _ => forbidden(error.to_string()),
                })?;
        }
        self.decided_on_disk()?;
        crate::fault::point("core:claimed");
        let outgoing = Outgoing {
            method: self.operation.method,
            target: self.operation.target(self.input),
            body: self.input.body.as_ref().map(ToString::to_string),
            credential,
        };
        self.seen.sent = true;
        let sent = self.dialler.send(self.definition, outgoing).await;
        crate::fault::point("core:answered");
        let counted = match &sent {
            Ok(came) if came.status == 429 => Counted::TooMany {
                retry_after: came.retry_after,
            },
            Ok(_) => Counted::Served,
            Err(_) => Counted::Lost,
        };
        if let Some(opened) = aside(|| self.limiter.answered(permit, counted)) {
            self.paused(opened);
        }
        let came = sent.map_err(|error| refused(Why::Unreachable, error.to_string(), None))?;
        self.seen.status = Some(came.status);
        let head = Answer {
            status: came.status,
            content_type: came.content_type,
            retry_after_ms: came.retry_after.map(millis),
        };
        Ok((head, came.body))
    }

    /// One request for a task, the task's own, by the worker that has it.
    fn allowed(&self, ask: &Ask) -> Result<(), Refused> {
        self.capability
            .covers(&ask.capability, &ask.operation)
            .map_err(|error| match error {
                Uncovered::Expired => refused(Why::Auth, error.to_string(), None),
                _ => forbidden(error.to_string()),
            })?;
        if self.phase == Phase::Draft {
            return Err(forbidden("a draft is not sent"));
        }
        if self.seen.requests > 1 {
            return Err(forbidden("more than one request for a task"));
        }
        if !self.definition.tools.contains(&self.operation.tool()) {
            return Err(forbidden("a tool that is not allowed"));
        }
        if ask.params != self.input.texts || ask.body != self.input.body {
            return Err(forbidden("not what the task says"));
        }
        Ok(())
    }

    /// Stage 6b again, with the values that only core knows.
    fn leaks(&self) -> Result<(), Refused> {
        let text = texts_of(self.definition, self.operation, self.input);
        let found = self.scanner.scan_with(&text, Scope::OUTBOUND);
        if found.is_empty() {
            return Ok(());
        }
        let mut rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        self.blocked(&rules);
        Err(refused(Why::Leak, rules.join(", "), None))
    }

    /// Tells that stage 6b stopped what was to go out.
    pub(crate) fn blocked(&self, rules: &[&str]) {
        let text = texts_of(self.definition, self.operation, self.input);
        let _ = self.record(&Event::OutboundBlocked {
            service: &self.definition.name,
            session: Some(self.task),
            patterns: rules,
            content: Fingerprint::of(&text),
        });
    }

    fn credential(&self) -> Result<Option<(HeaderName, HeaderValue)>, Refused> {
        let Some(credential) = &self.definition.credential else {
            return Ok(None);
        };
        let missing = || refused(Why::Auth, "the credential is not set".to_owned(), None);
        let token = self.token.ok_or_else(missing)?;
        let text = if credential.bearer {
            Zeroizing::new(format!("Bearer {}", token.reveal()))
        } else {
            Zeroizing::new(token.reveal().to_owned())
        };
        let mut value = HeaderValue::try_from(text.as_str())
            .map_err(|_| refused(Why::Auth, "the credential is malformed".to_owned(), None))?;
        value.set_sensitive(true);
        let name = HeaderName::try_from(credential.header.as_str())
            .map_err(|_| core("the credential's header cannot be used"))?;
        Ok(Some((name, value)))
    }

    fn declined(&mut self, declined: Declined) -> Refused {
        let why = match declined {
            Declined::Burned { .. } => {
                self.seen.burned = true;
                Why::Burned
            }
            _ => Why::Limited,
        };
        refused(why, declined.to_string(), declined.retry_after())
    }

    /// The service asks for a pause: the owner hears of it.
    fn paused(&self, opened: Opened) {
        let detail = format!(
            "repeated 429 answers: paused for {} s, for the {}. time",
            opened.pause.as_secs(),
            opened.times
        );
        self.note(
            Severity::Critical,
            "proxy_paused",
            "A service answers 429: its proxy pauses",
            &detail,
        );
    }

    fn note(&self, severity: Severity, name: &str, message: &str, why: &str) {
        let details = json!({"proxy": self.definition.name, "task": self.task, "why": why});
        let _ = self.record(&Event::Note {
            severity,
            category: Category::Proxy,
            name,
            message,
            details: details.as_object().cloned().unwrap_or_default(),
        });
    }

    fn record(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        aside(|| self.recorder.record(event))
    }

    fn decided(&self, decision: Decision, why: &str) {
        let _ = self.decision(decision, why);
    }

    fn decision(&self, decision: Decision, why: &str) -> Result<(), Unrecorded> {
        let host = self.definition.host();
        self.record(&Event::HttpDecision {
            host: &host,
            method: self.operation.method.as_str(),
            session: Some(self.task),
            decision,
            why,
        })
    }

    /// What goes out is in the log first.
    fn decided_on_disk(&self) -> Result<(), Refused> {
        let unrecorded = |_| core("the audit log does not take it");
        let place = format!("{} {}", self.definition.name, self.operation.name);
        self.decision(Decision::Allow, &place).map_err(unrecorded)?;
        if self.operation.sends() {
            let text = texts_of(self.definition, self.operation, self.input);
            self.record(&Event::Post {
                service: &self.definition.name,
                session: Some(self.task),
                decision: Decision::Allow,
                content: Fingerprint::of(&text),
            })
            .map_err(unrecorded)?;
        }
        Ok(())
    }
}

fn refused(why: Why, detail: String, retry_after: Option<Duration>) -> Refused {
    Refused {
        why,
        detail,
        retry_after_ms: retry_after.map(millis),
    }
}

fn forbidden(detail: impl Into<String>) -> Refused {
    refused(Why::Forbidden, detail.into(), None)
}

fn core(detail: &str) -> Refused {
    refused(Why::Core, detail.to_owned(), None)
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
