//! A task, step by step. Each step that fails says how the worker is to end.

use super::inbound::{Clean, Inbound, Rejected};
use super::life::{Last, Life, now};
use super::{Heard, Kit};
use crate::definition::{Input, Operation, Strictness, Tool};
use crate::protocol::{
    Answer, Ask, FromWorker, Job, Outcome, Phase, Refused, ToWorker, Why, waiting,
};
use blastshield_detect::Profile;
use blastshield_limits::Moment;
use blastshield_limits::proxy::{Declined, Outbound};
use blastshield_recovery::drafts::DraftState;
use blastshield_recovery::relationships::{Relationships, Tier};
use blastshield_recovery::workspace::RELATIONSHIPS;
use blastshield_recovery::{RelPath, Suspicious, Trigger};
use serde_json::Value;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::Receiver;
use std::time::Duration;

pub(super) struct Act<'a> {
    pub(super) line: UnixStream,
    pub(super) heard: &'a Receiver<Heard>,
    pub(super) kit: &'a Kit,
    pub(super) job: Job,
    pub(super) life: &'a Life,
}

/// How it went, and how the process ends.
pub(super) struct Finish {
    pub(super) outcome: Option<Outcome>,
    pub(super) last: Last,
}

/// A step did not go on.
pub(super) enum Stop {
    /// The task came to nothing; the worker ends well.
    Failed(Outcome),
    /// The worker ends for another reason.
    Died(Last),
}

impl From<Last> for Stop {
    fn from(last: Last) -> Self {
        Self::Died(last)
    }
}

pub(super) fn died(trigger: Trigger, detail: impl Into<String>) -> Stop {
    Stop::Died(Last::new(trigger, detail))
}

pub(super) fn failed(
    code: &str,
    message: impl Into<String>,
    retry_after: Option<Duration>,
) -> Stop {
    Stop::Failed(Outcome::Failed {
        code: code.to_owned(),
        message: message.into(),
        retry_after_ms: retry_after.map(millis),
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Act<'_> {
    pub(super) fn all(&mut self) -> Finish {
        let complete = |detail: &str| Last::new(Trigger::TaskComplete, detail);
        match self.steps() {
            Ok(outcome) => Finish {
                outcome: Some(outcome),
                last: complete("task completed"),
            },
            Err(Stop::Failed(outcome)) => Finish {
                last: complete(match &outcome {
                    Outcome::Failed { code, .. } => code,
                    _ => "task completed",
                }),
                outcome: Some(outcome),
            },
            Err(Stop::Died(last)) => Finish {
                outcome: (last.trigger == Trigger::Exception).then(|| Outcome::Failed {
                    code: if last.detail.starts_with("Stage") {
                        "bad_answer".to_owned()
                    } else {
                        "exception".to_owned()
                    },
                    message: String::new(),
                    retry_after_ms: None,
                }),
                last,
            },
        }
    }

    fn steps(&mut self) -> Result<Outcome, Stop> {
        crate::fault::point("worker:start");
        let kit = self.kit;
        let operation = kit
            .definition
            .operations
            .get(&self.job.operation)
            .ok_or_else(|| died(Trigger::PolicyViolation, "an operation that does not exist"))?;
        self.allowed(operation.tool())?;
        let mut input = Input {
            texts: self.job.params.clone(),
            body: self.job.body.clone(),
        };
        let mut draft = None;
        if operation.sends() {
            let (kept, body) = self.drafted(operation, &input)?;
            if self.job.phase == Phase::Draft {
                return Ok(Outcome::Drafted {
                    draft: kept.id().to_owned(),
                });
            }
            input.body = body;
            draft = Some(kept);
        }
        let answered = self.exchange(operation, &input);
        crate::fault::point("worker:answered");
        crate::fault::breakdown("worker:panic");
        if let Some(mut draft) = draft {
            let sent = matches!(&answered, Ok((head, _)) if (200..300).contains(&head.status));
            let state = if sent {
                DraftState::Sent
            } else {
                DraftState::Abandoned
            };
            let kept = self
                .life
                .with(|workspace, _| draft.become_state(workspace, state, now()));
            kept.map_err(|_| died(Trigger::Exception, "a draft cannot be kept"))?;
            self.life.wrote(draft.path());
        }
        let (head, bytes) = answered?;
        let clean = self.clean(operation, &head, &bytes)?;
        self.keep(operation, &input, &clean)?;
        self.remember(operation, &input)?;
        let count = count(operation, &clean.data);
        Ok(Outcome::Data {
            summary: operation.summary(&input, count),
            data: clean.data,
            flags: clean.flags,
        })
    }

    /// A tool that is not on the list ends the worker.
    fn allowed(&self, tool: Tool) -> Result<(), Stop> {
        if self.kit.definition.tools.contains(&tool) {
            Ok(())
        } else {
            let detail = format!("forbidden tool: {}", tool.as_str());
            Err(died(Trigger::PolicyViolation, detail))
        }
    }

    /// Asks core to send the request; only if the worker's own limiter has room.
    fn exchange(
        &mut self,
        operation: &Operation,
        input: &Input,
    ) -> Result<(Answer, Vec<u8>), Stop> {
        let mut limiter = Outbound::resume(self.kit.definition.limits, self.job.limits.clone());
        let moment = Moment::from_millis(self.job.now_ms.max(now().millis()));
        let permit = limiter.request(moment).map_err(|declined| match declined {
            Declined::Burned { .. } => died(Trigger::BurnLimit, declined.to_string()),
            _ => failed("rate_limited", declined.to_string(), declined.retry_after()),
        })?;
        drop(permit);
        let place = format!("{} {}", self.kit.definition.name, operation.name);
        let body = input.body.as_ref().map(Value::to_string);
        self.life.call(
            operation.tool().as_str(),
            &place,
            body.as_deref().map(str::as_bytes),
        )?;
        let ask = FromWorker::Ask(Ask {
            capability: self.life.capability(),
            operation: operation.name.clone(),
            params: input.texts.clone(),
            body: input.body.clone(),
        });
        self.life.asked();
        crate::fault::point("worker:asking");
        waiting::send(&mut self.line, &ask)
            .map_err(|_| died(Trigger::Exception, "core is gone"))?;
        let wait = Duration::from_millis(self.job.time_ms);
        match self.heard.recv_timeout(wait) {
            Ok((ToWorker::Answer(head), bytes)) => Ok((head, bytes)),
            Ok((ToWorker::Refused(refused), _)) => Err(refusal(refused)),
            Ok(_) => Err(died(Trigger::Exception, "core said something else")),
            Err(_) => Err(died(Trigger::Exception, "time-out")),
        }
    }

    fn clean(&self, operation: &Operation, head: &Answer, bytes: &[u8]) -> Result<Clean, Stop> {
        let retry = head.retry_after_ms.map(Duration::from_millis);
        match head.status {
            200..=299 => {}
            401 | 403 => {
                let detail = format!("the service answered {}", head.status);
                return Err(died(Trigger::AuthFailure, detail));
            }
            429 => return Err(failed("rate_limited", "the service answered 429", retry)),
            status => {
                let message = format!("the service answered {status}");
                return Err(failed("service_status", message, retry));
            }
        }
        if bytes.is_empty() && operation.sends() {
            return Ok(Clean {
                data: Value::Null,
                flags: Vec::new(),
            });
        }
        let inbound = Inbound {
            detector: &self.kit.detector,
            profile: profile(&self.job.profile),
            operation,
            strictness: self.strictness(),
            most: self.kit.definition.bounds.response_bytes,
        };
        inbound
            .run(bytes, head.content_type.as_deref())
            .map_err(|rejected| match rejected {
                Rejected::Injection(_) => Stop::Died(Last {
                    trigger: Trigger::InjectionDetected,
                    detail: rejected.to_string(),
                    suspicious: Some(Suspicious::of(bytes)),
                }),
                Rejected::Stage { .. } => died(Trigger::Exception, rejected.to_string()),
            })
    }

    /// A tier changes how undeclared fields are taken. What was scanned before is the same for everybody.
    fn strictness(&self) -> Strictness {
        let tier = match self.job.with.as_ref().map(|person| person.tier.as_str()) {
            Some("Ally") => Tier::Ally,
            Some("Friend") => Tier::Friend,
            _ => Tier::Acquaintance,
        };
        self.kit.definition.tiers.of(tier).schema
    }

    /// Keeps the cleaned answer in the workspace.
    fn keep(&self, operation: &Operation, input: &Input, clean: &Clean) -> Result<(), Stop> {
        let Some(file) = operation.file(input) else {
            return Ok(());
        };
        self.allowed(Tool::Write)?;
        let text = serde_json::to_vec_pretty(&clean.data)
            .map_err(|_| died(Trigger::Exception, "an answer cannot be kept"))?;
        self.life.call(Tool::Write.as_str(), &file, Some(&text))?;
        let path = RelPath::new(&file)
            .map_err(|_| died(Trigger::Exception, "an answer cannot be kept"))?;
        self.life.wrote(path.clone());
        self.life
            .with(|workspace, _| workspace.write(&path, &text))
            .map_err(|error| died(Trigger::Exception, error.to_string()))?;
        crate::fault::point("worker:written");
        Ok(())
    }

    /// Notes in the relationships with whom something passed.
    fn remember(&self, operation: &Operation, input: &Input) -> Result<(), Stop> {
        let Some(person) = &self.job.with else {
            return Ok(());
        };
        let broken = |_| died(Trigger::Exception, "the relationships cannot be kept");
        let place = operation.target(input);
        let summary = operation.summary(input, 0);
        self.life
            .with(|workspace, _| {
                let mut all = Relationships::read(workspace)?;
                all.note(&person.name, &operation.name, &place, &summary, now())?;
                all.write(workspace)
            })
            .map_err(broken)?;
        if let Ok(path) = RelPath::new(RELATIONSHIPS) {
            self.life.wrote(path);
        }
        Ok(())
    }
}

fn refusal(refused: Refused) -> Stop {
    let retry = refused.retry_after_ms.map(Duration::from_millis);
    match refused.why {
        Why::Forbidden => died(Trigger::PolicyViolation, refused.detail),
        Why::Burned => died(Trigger::BurnLimit, refused.detail),
        Why::Auth => died(Trigger::AuthFailure, refused.detail),
        Why::Core => died(Trigger::Exception, refused.detail),
        Why::Limited => failed("rate_limited", refused.detail, retry),
        Why::Leak => failed("leak_blocked", refused.detail, None),
        Why::Unreachable => failed("unreachable", refused.detail, retry),
    }
}

pub(crate) fn profile(name: &str) -> Profile {
    match name {
        "baseline" => Profile::Baseline,
        "paranoid" => Profile::Paranoid,
        _ => Profile::Strict,
    }
}

/// How many items an answer has.
pub(crate) fn count(operation: &Operation, data: &Value) -> usize {
    let items = operation
        .items
        .as_deref()
        .map_or(Some(data), |pointer| data.pointer(pointer));
    match items {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Null) | None => 0,
        Some(_) => 1,
    }
}
